"""Claims about single runs, from anybody: every run that measures enough is judged."""

from collections.abc import Callable, Sequence

import xarray as xr

from piste.errors import field_error, reason

from .judging import undecided
from .verdict import Claim, Judgements, Verdict, judge

JudgeRun = Callable[[xr.Dataset], Verdict | Sequence[Verdict]]

RUN_CLAIMS: dict[str, Claim] = {}
"""Claims about a run by name; :func:`claim` adds to it."""


def claim(
    name: str, *, statement: str, needs: Sequence[str], remark: str = ""
) -> Callable[[JudgeRun], JudgeRun]:
    """Add a function from a trajectory to a verdict, or several, as a claim.

    ``needs`` names the probes that it reads; runs without them are not judged. ``piste
    run`` and ``piste show`` print the verdicts.
    """
    if not isinstance(name, str) or not name.strip():
        raise field_error("claim", name, "must be a few words")
    if name in RUN_CLAIMS:
        rule = "is the name of another one already; choose another name"
        raise field_error("claim", name, rule)
    if isinstance(needs, str) or not needs:
        rule = f"must say which probes it needs, not {needs!r}"
        raise field_error("claim", name, rule)

    def add(judge_run: JudgeRun) -> JudgeRun:
        careful = _several(statement, judge_run)
        RUN_CLAIMS[name] = Claim(name, statement, careful, tuple(needs), remark=remark)
        return judge_run

    return add


def _several(statement: str, judge_run: JudgeRun):
    def judged(trajectory: xr.Dataset) -> Sequence[Verdict]:
        try:
            found = judge_run(trajectory)
        except Exception as error:  # a stranger's mistake must not cost a finished run
            why = f"the claim's own code fails ({reason(error)})"
            return [undecided("this run", statement, why)]
        return [found] if isinstance(found, Verdict) else found

    return judged


def judge_run(trajectory: xr.Dataset) -> Judgements:
    """Judge all such claims for which a run has measured enough."""
    return judge(list(RUN_CLAIMS.values()), trajectory)
