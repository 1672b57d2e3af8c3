"""The order of the stages: what counts against it, and what leaves it open."""

import xarray as xr

from papers.signgd.judging import judge_one, spoilt
from piste.claims import Status
from piste.papers.signgd.stages import detect

ORDER = "four stages, in order"


def as_long_as_the_slides(run: xr.Dataset) -> xr.Dataset:
    """The same with steps so large that it counts as long as the slides' runs."""
    experiment = run.attrs["experiment"]
    rule = experiment["rule"] | {"learning_rate": 1.0}
    return run.assign_attrs(experiment=experiment | {"rule": rule})


def test_too_short_to_tell_is_not_against_the_order(run):
    end = int(1.1 * detect(run).step("IVc ends"))
    short = as_long_as_the_slides(run.sel(step=slice(0, end), test_step=slice(0, end)))
    assert detect(short).boundaries["IVc ends"].status == Status.TOO_SHORT
    judgement = judge_one(short, ORDER)
    assert judgement.summary_text() == "inconclusive"
    assert "too short to tell" in judgement.verdicts[0].measured
    # One that is not reached within the slides' time is.
    less = as_long_as_the_slides(run.sel(step=slice(0, 200), test_step=slice(0, 200)))
    assert judge_one(less, ORDER).summary_text() == "violated"


def test_stages_that_do_not_apply_are_not_violated(run):
    moved = spoilt(run, ["attention_noise_signal"], lambda s: 0.1 * s)
    judgement = judge_one(as_long_as_the_slides(moved), ORDER)
    assert judgement.summary_text() == "conditions unmet"
