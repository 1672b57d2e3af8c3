"""The four stages of runs whose boundaries are known by construction."""

import functools

import numpy as np
import pytest
import xarray as xr

from papers.signgd.judging import SPOILS, spoilt
from piste.claims import Status, summary
from piste.errors import InputError
from piste.papers.signgd.stages import detect


def made_up_run() -> xr.Dataset:
    """A run whose boundaries are placed by hand: 3, 5, 7; 8, 12; 10 and 14; 13 and 17."""
    steps, neurons, samples = 25, 20, 4
    t = np.arange(steps)
    vote = np.where(np.arange(neurons) < 10, 1.0, -1.0)
    ones = np.ones((steps, neurons, samples))
    own = np.where(np.arange(neurons) % 2 == 0, 1.0, -1.0)[:, None]

    def noise(turn, end):
        # Grows to its own side, turns at `turn`, is on the side of the vote from `end`.
        lost = (own[:, 0] * vote < 0)[:, None]
        depth = np.where(t <= turn, t, turn * (1 - (t - turn) / (end - 0.5 - turn)))
        against = depth[:, None, None] * own * ones
        return np.where(lost, against, t[:, None, None] * own * ones + own * 0.1)

    query = noise(13, 17)
    key = noise(10, 14)
    key = np.where((t < 5)[:, None, None], -query, key)
    signal = np.where((t >= 7)[:, None], vote, -vote) * (t[:, None] + 1.0)
    s21 = np.interp(t, [0, 7, 8, 11, 12, 24], [0.5, 0.5, 0.4, 0.1, 0.001, 0])
    return xr.Dataset(
        {
            "value_noise": (("step", "sample"), (t - 2.5)[:, None] * ones[:, 0]),
            "query_noise": (("step", "neuron", "sample"), query),
            "key_noise": (("step", "neuron", "sample"), key),
            "query_signal": (("step", "neuron"), signal),
            "key_signal": (("step", "neuron"), -signal),
            "attention_noise_signal": (("step", "sample"), s21[:, None] * ones[:, 0]),
        },
        coords={"step": t},
    )


def test_four_stages_of_a_made_up_run():
    timeline = detect(made_up_run())
    found = {name: b.step for name, b in timeline.boundaries.items()}
    assert found == {
        "I": 3,
        "II": 5,
        "III": 7,
        "IVa leaves ½": 8,
        "IVa is o(1)": 12,
        "IVb starts": 10,
        "IVb ends": 14,
        "IVc starts": 13,
        "IVc ends": 17,
    }
    assert [(s.start, s.end) for s in timeline.stages] == [
        (0, 3),
        (3, 5),
        (5, 7),
        (7, 24),
    ]
    assert timeline.stages[-1].open and not timeline.missing


def test_stages_do_not_depend_on_scale():
    run = made_up_run()
    scaled = run.copy()
    for name in (
        "value_noise",
        "query_noise",
        "key_noise",
        "query_signal",
        "key_signal",
    ):
        scaled[name] = 1e-7 * run[name]
    assert (
        detect(scaled).frame()["step"].tolist() == detect(run).frame()["step"].tolist()
    )


def changed(name, change) -> xr.Dataset:
    run = made_up_run()
    return run.assign({name: run[name].copy(data=change(run[name].values))})


def status(run: xr.Dataset) -> dict[str, Status]:
    return {name: b.status for name, b in detect(run).boundaries.items()}


def test_weights_that_do_not_start_at_half_cannot_leave_it():
    """The cosine kernel of the docs starts near 0, the Gaussian one near 1."""
    for start in (-0.012, 0.999):
        scaled = functools.partial(np.multiply, start / 0.5)
        timeline = detect(changed("attention_noise_signal", scaled))
        for name in ("IVa leaves ½", "IVa is o(1)"):
            boundary = timeline.boundaries[name]
            assert boundary.status == Status.DOES_NOT_APPLY
            assert f"{start:g}" in boundary.evidence
        assert [stage.name for stage in timeline.stages] == ["I", "II", "III"]
        assert "do not start at ½" in timeline.missing["IV"]


def test_attention_that_rises_is_no_stage_four():
    """Under GD s₂₁ goes to 1: nothing decays, whatever else happens."""
    timeline = detect(changed("attention_noise_signal", lambda v: 1 - v))
    assert "IV" in timeline.missing and len(timeline.stages) == 3
    assert timeline.boundaries["IVa leaves ½"].status == Status.NOT_REACHED


def test_no_vote_no_alignment_with_it():
    """Equal signs of query and key signals are no vote, though the noise aligns."""
    found = status(changed("key_signal", lambda v: -v))
    assert found["III"] == Status.NOT_REACHED
    late = {name: s for name, s in found.items() if name[:3] in ("IVb", "IVc")}
    assert set(late.values()) == {Status.NEEDS_EARLIER}


def test_signals_of_zero_are_no_vote_and_noise_of_zero_is_not_aligned():
    run = made_up_run()
    still = run.assign(query_signal=0 * run.query_signal, key_signal=0 * run.key_signal)
    assert status(still)["III"] == Status.NOT_REACHED
    quiet = run.assign(query_noise=0 * run.query_noise, key_noise=0 * run.key_noise)
    assert status(quiet)["II"] == Status.NOT_REACHED


def test_stages_backwards_are_no_stages():
    run = made_up_run()
    names = list(run.data_vars)
    back = run.assign({n: run[n].copy(data=run[n].values[::-1]) for n in names})
    assert detect(back).stages == ()


def test_a_vote_before_the_alignment_is_out_of_order():
    """What `stages-quick --task.noise-scale 0.5` shows: no stage III from 83 to 55."""

    run = made_up_run()
    late = run.query_noise.where(run.step >= 9, -run.query_noise)
    timeline = detect(run.assign(key_noise=late))
    assert timeline.boundaries["III"].status == Status.OUT_OF_ORDER
    assert timeline.met("III") == 7 and np.isnan(timeline.step("III"))
    assert [stage.name for stage in timeline.stages] == ["I", "II"]
    assert all(stage.start <= stage.end for stage in timeline.stages)


def test_no_stage_four_where_the_second_is_not_known():
    """Records so coarse that I and II fall between the same two of them."""
    run = made_up_run().isel(step=[0, 6, 7, 8, 9, *range(10, 25)])
    timeline = detect(run)
    assert timeline.boundaries["II"].status == Status.TOO_COARSE
    assert timeline.boundaries["III"].status == Status.FOUND
    assert [stage.name for stage in timeline.stages] == ["I"]
    assert "in the same gap of the records as I" in timeline.missing["IV"]


def test_missing_probe_is_named():
    with pytest.raises(InputError, match="key_signal"):
        detect(made_up_run().drop_vars("key_signal"))


def test_summary_counts_runs_that_do_not_arrive():
    run = made_up_run()
    short = run.isel(step=slice(0, 13))
    table = summary([detect(run), detect(short)])
    assert table.loc["I", "runs"] == 2 and table.loc["I", "median"] == 3
    assert table.loc["IVc ends", "reached"] == 1


def test_without_a_losing_side_nothing_can_turn():
    run = made_up_run()
    vote = np.sign(run.query_signal.isel(step=-1))
    agreed = run.assign(query_noise=abs(run.query_noise) * vote)
    agreed = agreed.assign(key_noise=abs(run.key_noise) * vote)
    for name in ("key", "query"):
        start = {"key": "IVb starts", "query": "IVc starts"}[name]
        boundary = detect(agreed).boundaries[start]
        assert boundary.status == Status.DOES_NOT_APPLY
        assert f"no {name} noise is against the vote" in boundary.evidence


def test_attention_that_left_long_before_the_vote_is_no_stage_four():
    early = np.interp(np.arange(25), [0, 5, 6, 24], [0.5, 0.5, 0.4, 0.1])
    run = changed("attention_noise_signal", lambda v: 0 * v + early[:, None])
    assert detect(run).boundaries["IVa leaves ½"].step == 6
    vote = run.query_signal.where(run.step >= 9, -abs(run.query_signal) * 0 + 0.0)
    late = run.assign(query_signal=vote)
    boundary = detect(late).boundaries["IVa leaves ½"]
    assert boundary.status == Status.OUT_OF_ORDER
    assert boundary.evidence.endswith("long before III (t = 9)")
    assert "IV" in detect(late).missing


def test_weights_that_start_near_zero_are_not_said_to_be_zero():
    run = changed("attention_noise_signal", lambda v: v * 2e-9)
    why = detect(run).boundaries["IVa leaves ½"].evidence
    assert why.endswith("do not start at ½ but at 1e-09")


def test_stages_of_a_spoilt_run_are_not_named(run):
    gone = spoilt(run, ["key_noise"], SPOILS["all NaN"])
    assert detect(gone).stages == ()
    assert {b.status for b in detect(gone).boundaries.values()} <= {
        Status.NOT_MEASURED,
        Status.NEEDS_EARLIER,
    }
