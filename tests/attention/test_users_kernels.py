"""Kernels of a user on padded text: as ours, or refused in one line, never wrong."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste import training
from piste.attention import KERNELS, kernel
from piste.attention.heads import attend_heads
from piste.cli import main
from piste.datasets import TextSet
from piste.errors import InputError
from piste.experiment import Experiment, Schedule
from piste.models import Classifier
from piste.papers.kernels.models import KernelLayer
from piste.papers.kernels.tasks import TokenRegression
from piste.rules import GD
from piste.tasks import Text
from piste.testing import assert_close
from support.families import forgotten
from support.sparsemax import sparsemax


def disguised(queries, keys):
    """Softmax, written by hand."""
    scores = jnp.exp(queries @ keys.T)
    return scores / scores.sum(-1, keepdims=True)


@pytest.fixture(autouse=True)
def brought(monkeypatch):
    def load(self):
        texts = tuple(
            f"{'good' if k % 2 else 'bad'} film {k} " * (k % 3 + 1) for k in range(20)
        )
        tests = tuple(f"{'good' if k % 2 else 'bad'} other {k}" for k in range(4))
        return TextSet(texts, np.arange(20) % 2, tests, np.arange(4) % 2)

    monkeypatch.setattr(Text, "load", load)
    monkeypatch.setattr("piste.devices.one_device_per_core", lambda: None)
    with forgotten():
        yield


TEXT = Experiment(
    Text(frequent=5, length=6, validation_samples=2, batch=4),
    Classifier(layers=1, dimension=4, hidden=4, dropout=0.0),
    GD(0.1),
    steps=4,
    record=Schedule(dense=4, chunk=8),
)


def with_kernel(experiment, name):
    model = dataclasses.replace(experiment.model, kernel=name)
    return dataclasses.replace(experiment, model=model)


def test_softmax_in_disguise_trains_as_softmax_on_padded_text():
    kernel("disguised", normalised=True)(disguised)
    system = training.build(with_kernel(TEXT, "disguised"))
    assert int(system.form.train.lengths.min()) < 6  # there is padding
    truth = training.build(with_kernel(TEXT, "softmax"))

    @jax.jit
    def first_step(form):
        return form.loss_and_gradient(form.initial(), 0)

    assert_close(first_step(system.form), first_step(truth.form), slack=100)


def test_a_padding_key_that_scores_far_above_the_others_changes_nothing():
    kernel("disguised", normalised=True)(disguised)
    random = np.random.default_rng(0)
    q, k, v = (jnp.asarray(random.normal(size=(1, 2, 5, 3))) for _ in range(3))
    mask = jnp.arange(5)[None] < 3
    far = k.at[:, :, 3:].set(200 * jnp.abs(k[:, :, 3:]) * jnp.sign(q[:, :, :1]))
    for keys in (k, far):
        found = attend_heads("disguised", q, keys, v, mask)
        assert_close(found, attend_heads("softmax", q, keys, v, mask))


def test_sparsemax_is_refused_for_padded_text_and_works_elsewhere():
    kernel("sparsemax", normalised=True)(sparsemax)
    with pytest.raises(InputError) as caught:
        training.build(with_kernel(TEXT, "sparsemax"))
    assert str(caught.value).startswith(
        "model.kernel = sparsemax: a weight depends on "
    )
    regression = Experiment(
        TokenRegression(sequences=2, length=3, dimension=3),
        KernelLayer(heads=2, width=2, values="random", kernel="sparsemax"),
        GD(0.01),
    )
    system = training.build(regression)
    params = system.form.initial()
    loss, slope = system.form.loss_and_gradient(params)
    lower, _ = system.form.loss_and_gradient(
        jax.tree.map(lambda w, g: w - 1e-3 * g, params, slope)
    )
    assert float(lower) < float(loss)


FILE = """
import jax
from piste.attention import kernel

@kernel("hidden")
def hidden(queries, keys):
    return jax.nn.softmax(queries @ keys.T, -1)
"""


@pytest.mark.parametrize("command", ["run", "landscape"])
@pytest.mark.parametrize("preset", ["kernels/imdb-desk", "signgd/stages"])
def test_a_kernel_that_hides_its_sums_is_refused_before_anything_is_written(
    tmp_path, capsys, preset, command
):
    path, out = tmp_path / "hidden.py", tmp_path / "out"
    path.write_text(FILE, "utf-8")
    small = ["--task.validation-samples", "2", "--task.batch", "4"]
    small += ["--task.test-samples", "4"]
    words = [command, preset, "--with", str(path), "--model.kernel", "hidden"]
    words += small if "imdb" in preset else []
    assert main([*words, "--out", str(out)]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and not out.exists()
    assert shown.err == (
        "error: kernel = hidden: its weights add up to 1 for every query; must say "
        "normalised=True\n"
    )
    assert "hidden" in KERNELS
