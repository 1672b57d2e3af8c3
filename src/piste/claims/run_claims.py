"""Claims about single runs, from anybody: every run that measures enough is judged."""

from collections.abc import Callable, Sequence

import xarray as xr

from piste.registry import PHRASE, Family

from .by_probes import check_needs
from .verdict import Claim, Judgements, Verdict, judge

JudgeRun = Callable[[xr.Dataset], Verdict | Sequence[Verdict]]

RUN_CLAIMS: Family[Claim] = Family("claim", PHRASE)
"""Claims about a run by name; :func:`claim` adds to it."""


def claim(
    name: str, *, statement: str, needs: Sequence[str], remark: str = ""
) -> Callable[[JudgeRun], JudgeRun]:
    """Add a function from a trajectory to a verdict, or several, as a claim.

    ``needs`` names the probes that it reads; runs without them are not judged. ``piste
    run`` and ``piste show`` print the verdicts.
    """
    RUN_CLAIMS.check_name(name)
    check_needs(RUN_CLAIMS.noun, name, needs)

    def add(judge_run: JudgeRun) -> JudgeRun:
        made = Claim(name, statement, judge_run, needs=tuple(needs), remark=remark)
        RUN_CLAIMS.add(name, made, judge_run)
        return judge_run

    return add


def judge_run(trajectory: xr.Dataset) -> Judgements:
    """Judge all such claims for which a run has measured enough."""
    return judge(list(RUN_CLAIMS.values()), trajectory)
