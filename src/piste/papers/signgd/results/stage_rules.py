"""Beyond the paper: the stages under sign descent with momentum, Lion and Muon.

On the paper's model at d = 500. All rules move a neuron by one length, SignGD's step times
√d, which for Muon is the spectral norm of its step.
"""

from collections.abc import Callable

import pandas as pd

from piste.claims import Claim, Verdict
from piste.reproduction import Evidence, Table

from ..stages import STAGE_ENDS
from ..study_names import STAGE_RULES
from .adam import judge_stage, summarise_rule
from .persistence import VariantSummary, summarise_variant, tabulate_boundaries

REFERENCE, *OTHERS = STAGE_RULES
"""The study of SignGD, and those of the other rules."""


def summarise_stage_rules(evidence: Evidence) -> list[VariantSummary]:
    """Summarise the rules of which there is evidence, SignGD first."""
    return [
        summarise_variant(evidence, name, title)
        for name, title in STAGE_RULES.items()
        if evidence.has(name)
    ]


def _judge_rule(study: str) -> Callable[[Evidence], list[Verdict]]:
    """Make a judge of one rule: every boundary is met where SignGD meets it."""

    def judge(evidence: Evidence) -> list[Verdict]:
        signgd, rule = (
            summarise_rule(STAGE_RULES[name], None, evidence.dataset(name))
            for name in (REFERENCE, study)
        )
        return [judge_stage(signgd, rule, boundary) for boundary in STAGE_ENDS]

    return judge


CLAIMS = tuple(
    Claim(
        f"the stages persist under {STAGE_RULES[study]}",
        f"{STAGE_RULES[study]} meets every boundary of the stages that SignGD meets (the "
        "paper does not claim it).",
        _judge_rule(study),
        needs=(REFERENCE, study),
        figure="stage_rules",
        remark="Each boundary by its own condition, whatever the order. Muon's matrices "
        "are decomposed exactly.",
    )
    for study in OTHERS
)


def stage_rule_table(evidence: Evidence) -> pd.DataFrame:
    """Tabulate for each rule and boundary the median step, or what happened."""
    return tabulate_boundaries("rule", evidence.once(summarise_stage_rules))


TABLES = (
    Table(
        "stage_rules",
        "Median step of each boundary under other rules, or what happened to it, on the "
        "paper's model at d = 500.",
        stage_rule_table,
        any_of=tuple(STAGE_RULES),
    ),
)
