"""The gradient over shares and pieces of a batch against that of the whole batch."""

import os
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.errors import InputError
from piste.testing import assert_close
from piste.training.sharded import host_mesh, sharded_gradient


def loss(weights, batch):
    x, y = batch
    return ((jnp.tanh(x @ weights["matrix"]).sum(-1) - y) ** 2).mean()


def problem():
    rng = np.random.default_rng(0)
    weights = {"matrix": jnp.asarray(rng.normal(size=(5, 3)))}
    return weights, tuple(
        jnp.asarray(rng.normal(size=shape)) for shape in ((12, 5), (12,))
    )


@pytest.mark.parametrize("piece", [None, 1, 3, 12])
def test_pieces_add_up_to_the_whole(piece):
    weights, batch = problem()
    gradient = sharded_gradient(loss, host_mesh(1), piece=piece)
    truth = jax.value_and_grad(loss)(weights, batch)
    assert_close(jax.jit(gradient)(weights, batch), truth)


def test_a_batch_that_does_not_divide_is_one_line():
    gradient = sharded_gradient(loss, host_mesh(1), piece=5)
    with pytest.raises(InputError) as caught:
        gradient(*problem())
    line = "batch = 12: must be a multiple of 5 = 1 devices × 5 per piece"
    assert str(caught.value) == line


@pytest.mark.parametrize("devices", [0, 99])
def test_devices_that_do_not_exist_are_one_line(devices):
    with pytest.raises(InputError, match=f"^devices = {devices}: must be from 1 to "):
        host_mesh(devices)


SCRIPT = """
    import jax
    jax.config.update("jax_num_cpu_devices", 2)
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import numpy as np
    from piste.training.sharded import compiler_options, host_mesh, sharded_gradient
    from piste.models.classifier import Classifier, cross_entropy, logits

    model = Classifier(layers=1, dimension=8, hidden=8, kernel="gaussian")
    weights = model.init(key=jax.random.key(0), vocabulary=9, length=6, classes=2)
    tokens = jax.random.randint(jax.random.key(1), (8, 6), 0, 9)
    lengths = jnp.arange(8)[:, None] % 6 + 1
    batch = tokens, jnp.arange(6) < lengths, jnp.arange(8) % 2

    steps = jax.random.split(jax.random.key(2), 20)

    def loss(weights, batch):
        tokens, mask, labels, keys = batch
        return cross_entropy(logits(model, weights, tokens, mask, keys=keys), labels)

    def train(mesh, piece):
        gradient = sharded_gradient(loss, mesh, piece=piece)
        def step(weights, key):
            keys = jax.random.split(key, 8)
            value, slope = gradient(weights, (*batch, keys))
            return jax.tree.map(lambda w, g: w - 0.1 * g, weights, slope), value
        scan = lambda weights: jax.lax.scan(step, weights, steps)
        done = jax.jit(scan, compiler_options=compiler_options(mesh))(weights)
        assert len(jax.tree.leaves(done)[0].sharding.device_set) == mesh.size
        return [np.asarray(leaf) for leaf in jax.tree.leaves(done)]

    def difference(one, other):
        return max(abs(a - b).max() for a, b in zip(one, other))

    two = train(host_mesh(2), 2)
    assert difference(two, jax.tree.leaves(weights)) > 1e-3
    assert difference(two, train(host_mesh(2), 2)) == 0, "not the same bits again"
    assert difference(two, train(host_mesh(1), None)) < 1e-12
"""


def test_two_devices_train_as_one_does_and_repeat_themselves():
    """In a process of its own, because JAX fixes the number of devices at its start."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        env=os.environ | {"JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
