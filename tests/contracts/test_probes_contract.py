"""One table: what every probe must say and do, by the contract test of users' too."""

import functools

import jax
import numpy as np
import pytest

from piste import training
from piste.papers.signgd.probes import LAYERS, PROBES, TwoTokenView
from piste.probes import BROUGHT, Probe, probe
from piste.testing import check_probe
from support.small import REGRESSION, finish, run
from support.two_token import small

SIZES = {"sample": 6, "neuron": 7, "layer": len(LAYERS)}
NAMES = [probe.name for probe in PROBES]


@functools.cache
def system():
    return training.build(small(form="exact"))


def test_names_and_symbols_are_unique():
    assert len(set(NAMES)) == len(NAMES)
    assert len({probe.symbol for probe in PROBES}) == len(PROBES)


@pytest.mark.parametrize("name", NAMES)
def test_every_probe_passes_the_contract(name):
    check_probe(name, system())


def test_probes_of_a_regression_pass_it_too():
    regression = training.build(REGRESSION)
    for each in regression.probes():
        check_probe(each.name, regression)


@pytest.mark.parametrize("probe", PROBES, ids=NAMES)
def test_a_probe_has_the_axes_that_it_declares(probe):
    done = run(small(form="exact"))
    recorded = done.records[probe.name]
    assert recorded.shape[1:] == tuple(SIZES[dim] for dim in probe.dims)
    assert np.isfinite(recorded).all()


@pytest.mark.parametrize("probe", PROBES, ids=NAMES)
def test_a_probe_is_pure_and_keeps_the_type_of_numbers(probe):
    """After training too, where numbers are less smooth than at the start."""
    done = run(small(form="exact"))
    form, params = done.system.form, done.state.params
    view = form.test_view(params) if probe.on_test else form.view(params)
    here, there = probe.compute(view), jax.jit(probe.compute)(view)
    assert here.dtype == view.margins().dtype
    np.testing.assert_allclose(here, there, rtol=1e-12)


GOOD = {"symbol": "$x$", "meaning": "a number"}


def spread(view):
    return view.margins().std()


class Counter:
    calls = 0

    def __call__(self, view):
        Counter.calls += 1
        return spread(view) + Counter.calls


BROKEN = {
    "its symbol 'x' is no LaTeX between dollars": (spread, {"symbol": "x"}),
    "its symbol '$$' is no LaTeX between dollars": (spread, {"symbol": "$$"}),
    "must have a meaning in one line": (spread, {"meaning": "one\ntwo"}),
    "is measured along 'often'; must be step or test_step": (
        spread,
        {"along": "often"},
    ),
    "declares 1 axes (sample) but gives an array of 0": (spread, {"dims": ("sample",)}),
    "must be different words, and none a step": (
        lambda view: view.margins()[:, None],
        {"dims": ("sample", "sample")},
    ),
    "has no finite number at the start": (lambda view: spread(view) / 0 * 0, {}),
    "is in float32 where the run is in float64": (
        lambda view: spread(view).astype("float32"),
        {},
    ),
    "differs when measured again; not pure": (Counter(), {}),
}


@pytest.fixture(autouse=True)
def brought():
    yield
    BROUGHT.clear()


@pytest.mark.parametrize("words", BROKEN)
def test_a_broken_one_is_told_what_is_wrong(words):
    compute, more = BROKEN[words]
    probe("mine", of=TwoTokenView, **(GOOD | more))(compute)
    with pytest.raises(AssertionError) as caught:
        check_probe("mine", small(form="exact"))
    line = str(caught.value)
    assert line.startswith("probe mine: ") and words in line and "\n" not in line


def test_one_of_a_user_passes():
    probe("mine", of=TwoTokenView, **GOOD)(spread)
    check_probe("mine", small(form="exact"))
    assert isinstance(BROUGHT[TwoTokenView]["mine"], Probe)


def test_a_probe_that_is_added_between_two_runs_is_measured_by_the_second_alone():
    """The compiled program of the first one must not be taken for the second."""
    experiment = small(form="exact", steps=20)

    def measured():
        return finish(training.build(experiment), training.Plan.of(experiment)).records

    before = set(measured())
    probe("mine", of=TwoTokenView, **GOOD)(spread)
    assert set(measured()) == before | {"mine"}
    BROUGHT.clear()
    assert set(measured()) == before


def test_one_that_is_not_measured_is_caught():
    with pytest.raises(AssertionError, match="probe mine: is not measured here; there"):
        check_probe("mine", system())
