"""The decay of attention: the power of time that it follows."""

import numpy as np

from papers.signgd.judging import judge_one
from piste.claims import Outcome

DECAY = "IV: s₂₁ decays exponentially"


def test_decay_names_its_power(run):
    (verdict,) = judge_one(run, DECAY).verdicts
    assert verdict.outcome == Outcome.VIOLATED and "faster than" in verdict.measured
    t = run.step.values
    s21 = np.broadcast_to(
        0.5 * np.exp(-0.05 * t)[:, None], run.attention_noise_signal.shape
    )
    true = run.assign(attention_noise_signal=run.attention_noise_signal.copy(data=s21))
    (verdict,) = judge_one(true, DECAY).verdicts
    assert verdict.outcome == Outcome.HOLDS and abs(verdict.numbers["p"] - 1) < 0.1


def test_no_power_is_no_slow_decay(run):
    early = run.sel(step=slice(0, 60), test_step=slice(0, 60))
    (verdict,) = judge_one(early, DECAY).verdicts
    assert verdict.outcome == Outcome.INCONCLUSIVE
    assert "slower" not in verdict.measured and "nan" not in verdict.measured
