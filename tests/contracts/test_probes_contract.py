"""One table: what every probe must say and do, by the contract test of users' too."""

import functools

import pytest

from piste import training
from piste.probes import BROUGHT, Probe, probe
from piste.testing import check_probe
from support.contract_rows import collected
from support.small import finish
from support.tiny import TinyView, tiny

SYSTEMS = [tiny(), *collected("PROBES")]


@functools.cache
def system(row: int = 0):
    return training.build(SYSTEMS[row])


@pytest.mark.parametrize("row", range(len(SYSTEMS)))
def test_every_probe_passes_the_contract(row):
    probes = system(row).probes()
    assert len({probe.symbol for probe in probes}) == len(probes)
    for each in probes:
        check_probe(each.name, system(row))


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
    BROUGHT[TinyView].pop("mine", None)


@pytest.mark.parametrize("words", BROKEN)
def test_a_broken_one_is_told_what_is_wrong(words):
    compute, more = BROKEN[words]
    probe("mine", of=TinyView, **(GOOD | more))(compute)
    with pytest.raises(AssertionError) as caught:
        check_probe("mine", tiny())
    line = str(caught.value)
    assert line.startswith("probe mine: ") and words in line and "\n" not in line


def test_one_of_a_user_passes():
    probe("mine", of=TinyView, **GOOD)(spread)
    check_probe("mine", tiny())
    assert isinstance(BROUGHT[TinyView]["mine"], Probe)


def test_a_probe_that_is_added_between_two_runs_is_measured_by_the_second_alone():
    """The compiled program of the first one must not be taken for the second."""
    experiment = tiny(steps=20)

    def measured():
        return finish(training.build(experiment), training.Plan.of(experiment)).records

    before = set(measured())
    probe("mine", of=TinyView, **GOOD)(spread)
    assert set(measured()) == before | {"mine"}
    del BROUGHT[TinyView]["mine"]
    assert set(measured()) == before


def test_one_that_is_not_measured_is_caught():
    with pytest.raises(AssertionError, match="probe mine: is not measured here; there"):
        check_probe("mine", system())
