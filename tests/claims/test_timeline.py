"""Crossings on series whose answer is known by construction."""

import numpy as np
import pytest
import xarray as xr

from piste.claims import (
    crossing,
    detect,
    misaligned,
    sign_contingency,
    summary,
    turning,
)
from piste.claims.contingency import GROUPS, kept
from piste.errors import InputError


def series(values, steps=None):
    steps = np.arange(len(values)) if steps is None else steps
    return xr.DataArray(np.array(values, float), dims="step", coords={"step": steps})


def test_first_and_lasting_crossings_differ():
    wave = series([0, 2, 0, 2, 2], [0, 10, 20, 30, 40])
    first = crossing("x", "", wave, 1.0, rising=True, lasting=False)
    lasting = crossing("x", "", wave, 1.0, rising=True, lasting=True)
    assert (first.step, lasting.step) == (10, 30)
    assert first.before == (0, 0.0) and first.after == (10, 2.0)


def test_crossing_that_never_happens_or_was_always_there():
    flat = series([0.5, 0.5])
    assert crossing("x", "", flat, 0.9, rising=True, lasting=False).step is None
    always = crossing("x", "", flat, 0.9, rising=False, lasting=True)
    assert always.step == 0 and always.before is None


def test_turning_point_is_inside_the_run():
    assert turning("x", "", series([0, -1, -2, -1, 3])).step == 2
    assert turning("x", "", series([0, -1, -2, -3])).step is None


def made_up_run() -> xr.Dataset:
    """A run whose boundaries are placed by hand: 3, 5, 7; 8, 12; 10 and 14; 13 and 17."""
    steps, neurons, samples = 21, 20, 4
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
    s21 = np.interp(t, [0, 7, 8, 11, 12, 20], [0.5, 0.5, 0.4, 0.1, 0.001, 0])
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
        (7, 20),
    ]


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


def test_missing_probe_is_named():
    with pytest.raises(InputError, match="key_signal"):
        detect(made_up_run().drop_vars("key_signal"))


def test_summary_counts_runs_that_do_not_arrive():
    run = made_up_run()
    short = run.isel(step=slice(0, 13))
    table = summary([detect(run), detect(short)])
    assert table.loc["I", "runs"] == 2 and table.loc["I", "median"] == 3
    assert table.loc["IVc ends", "reached"] == 1


def test_sign_contingency_against_enumeration():
    rng = np.random.default_rng(0)
    shape = (2, 7, 5)
    run = xr.Dataset(
        {
            "query_noise": (("step", "neuron", "sample"), rng.normal(size=shape)),
            "key_noise": (("step", "neuron", "sample"), rng.normal(size=shape)),
        },
        coords={"step": [0, 10]},
    )
    table = sign_contingency(run)

    def group(t, s, i):
        key, query = float(run.key_noise[t, s, i]), float(run.query_noise[t, s, i])
        return f"K{'+' if key > 0 else '-'},Q{'+' if query > 0 else '-'}"

    pairs = [(s, i) for s in range(7) for i in range(5)]
    for a in GROUPS:
        for b in GROUPS:
            both = sum(group(0, *p) == a and group(1, *p) == b for p in pairs)
            assert table.loc[a, b] == both
    assert misaligned(table) == sum(group(1, *p) in ("K+,Q-", "K-,Q+") for p in pairs)
    same = [p for p in pairs if group(0, *p) in ("K+,Q+", "K-,Q-")]
    stayed = sum(group(0, *p) == group(1, *p) for p in same)
    assert kept(table) == pytest.approx(stayed / len(same))
