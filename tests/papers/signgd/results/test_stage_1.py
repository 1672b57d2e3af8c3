"""Stage I on runs in which it takes no time, or has no first step."""

import numpy as np

from papers.signgd.judging import judge_runs, spoilt
from piste.claims import Outcome


def test_a_stage_that_took_no_time_shows_nothing(run):
    """A run that is at its end from the start: nothing moves during stage I."""
    names = [n for n in run.data_vars if run[n].dims[0] == "step"]
    ended = spoilt(
        run, names, lambda s: s.copy(data=np.broadcast_to(s.values[-1:], s.shape))
    )
    near = judge_runs(ended)["I: other quantities stay near their start"]
    assert near.outcome == Outcome.INCONCLUSIVE
    assert "needs I to take time" in near.verdicts[0].measured


def test_records_without_the_first_step_are_judged(run):
    judged = judge_runs(run.isel(step=slice(-3, None)))
    of_stage_1 = [j for name, j in judged.items() if name[:2] == "I:"]
    assert of_stage_1 and all(j.outcome != Outcome.HOLDS for j in of_stage_1)
