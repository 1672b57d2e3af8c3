"""Claims of the paper on kernels, judged on made-up studies of which all of them hold."""

from piste.claims import Outcome, Verdict, judge
from piste.papers.kernels.claims import CLAIMS

from .evidence import evidence_of
from .kernel_evidence import everything

GOOD = everything()


def study_of(name: str) -> str:
    """The study that a claim looks at, the first if there are several."""
    (claim,) = (claim for claim in CLAIMS if claim.name == name)
    return claim.needs[0]


def verdicts(name: str, **changed) -> list[Verdict]:
    """Judge a claim on the good evidence with some studies replaced."""
    (claim,) = (claim for claim in CLAIMS if claim.name == name)
    (judgement,) = judge([claim], evidence_of(GOOD | changed))
    return list(judgement.verdicts)


def outcomes(name: str, **changed) -> list[Outcome]:
    """The outcomes of the same."""
    return [verdict.outcome for verdict in verdicts(name, **changed)]
