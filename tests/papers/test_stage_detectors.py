"""Every stage detector passes the contract that users call too, on a small run."""

import pytest

import piste
from piste.claims import DETECTORS
from piste.tasks import Text
from piste.testing import check_stage_detector
from support.contract_rows import collected
from support.small import reviews

RUNS = collected("DETECTED")


def test_every_detector_has_a_run():
    assert set(RUNS) == set(DETECTORS)


@pytest.mark.parametrize("name", RUNS)
def test_every_detector_passes_the_contract(name, monkeypatch):
    monkeypatch.setattr(Text, "load", lambda self: reviews())
    preset, changes = RUNS[name]
    run = piste.run(piste.preset(preset, **changes), quiet=True)
    check_stage_detector(name, run)
