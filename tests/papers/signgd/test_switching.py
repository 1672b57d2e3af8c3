"""Fields that depend on each other, when another task takes the place of one."""

import pytest

from papers.signgd.stages_preset import DEFAULT
from papers.signgd.stages_preset import experiment as signgd_experiment
from piste.errors import InputError
from piste.papers.kernels.tasks import TokenRegression
from piste.papers.signgd.tasks import NoisyImages, SignalNoise
from piste.values import change

SHORT = signgd_experiment(task=TokenRegression(dimension=8))


def test_a_field_that_only_fails_beside_the_new_defaults_is_dropped():
    found = change(SHORT, {"task": "signal-noise"})
    assert found.value.task == SignalNoise()
    (said,) = found.dropped
    assert said == (
        "task = signal-noise: dimension = 8 of token-regression is dropped (with it, "
        "noise-coordinates = 200: must be between 1 and dimension − 1 = 7)"
    )


def test_a_field_that_is_valid_beside_what_is_given_too_is_kept():
    changes = {"task": "signal-noise", "task.noise-coordinates": 4}
    found = change(SHORT, changes)
    assert found.value.task == SignalNoise(dimension=8, noise_coordinates=4)
    assert found.dropped == ()


def test_several_fields_can_be_dropped_at_once():
    task = SignalNoise(samples=7, test_samples=5, noise_scale=3.0)
    found = change(signgd_experiment(task=task), {"task": "noisy-images"})
    assert isinstance(found.value.task, NoisyImages)
    assert found.value.task.samples == NoisyImages().samples
    assert found.value.task.test_samples == 5
    assert any(
        "samples = 7 of signal-noise is dropped (must be even" in said
        for said in found.dropped
    )


def test_what_the_user_gives_wrongly_is_an_error_and_no_note():
    changes = {"task": "noisy-images", "task.samples": 7}
    with pytest.raises(InputError, match="^task.samples = 7: must be even"):
        change(DEFAULT, changes)
