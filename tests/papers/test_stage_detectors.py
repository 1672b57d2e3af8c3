"""Every stage detector passes the contract that users call too, on a small run."""

import pytest

import piste
from piste.claims import DETECTORS
from piste.tasks import Text
from piste.testing import check_stage_detector
from support.small import reviews

SHORT = {"steps": 30, "record.dense": 4, "record.chunk": 4, "record.test_every": 2}
TEXT = SHORT | {"model.layers": 1, "model.dimension": 4, "model.hidden": 4}
TEXT |= {"task.length": 4, "task.validation_samples": 4, "task.test_samples": 4}
TEXT |= {"record.every": 5, "task.batch": 4, "task.frequent": 5}
RUNS = {
    "four stages of sign descent": ("signgd/stages-quick", SHORT),
    "convergence to zero loss": ("kernels/thm-2-gaussian", SHORT),
    "perfect classification": (
        "decision-lists/empirics",
        SHORT | {"task.vocabulary": 6, "task.length": 3, "task.list_bound": 2},
    ),
    "plateau of a classifier": ("kernels/imdb-desk", TEXT),
}
"""For each detector a preset whose runs it reads, made small."""


def test_every_detector_has_a_run():
    assert set(RUNS) == set(DETECTORS)


@pytest.mark.parametrize("name", RUNS)
def test_every_detector_passes_the_contract(name, monkeypatch):
    monkeypatch.setattr(Text, "load", lambda self: reviews())
    preset, changes = RUNS[name]
    run = piste.run(piste.preset(preset, **changes), quiet=True)
    check_stage_detector(name, run)
