r"""The gradient of a batch whose sequences are shared out over the host's cores.

A loop of small products runs on one thread, so a second core needs a second device:
``jax.config.update("jax_num_cpu_devices", 2)`` before anything is computed. Every device
goes through its share of the batch in pieces of a few sequences, which stay in its cache.

**The same bits again.** Pieces are added first to last and shares first to last, whatever
finishes first; so a run repeats itself to the bit if the number of devices, the size of a
piece and the size of the batch are the same. Other numbers change rounding only.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Float, PyTree

from piste.errors import field_error

AXIS = "share"
Loss = Callable[[Any, Any], Float[Array, ""]]
Gradient = Callable[[Any, Any], tuple[Float[Array, ""], Any]]


def host_mesh(devices: int | None = None) -> Mesh:
    """The first so many devices of the host, or all of them, as a row of shares."""
    found = jax.devices()
    if devices is not None and not 1 <= devices <= len(found):
        expected = (
            f"must be from 1 to {len(found)}, the devices that JAX was started with"
        )
        raise field_error("devices", devices, expected)
    return Mesh(np.array(found[:devices]), (AXIS,))


def compiler_options(mesh: Mesh) -> dict[str, int | bool]:
    """What ``jax.jit`` of a step should be given: about a tenth faster on a CPU.

    XLA takes half of an AVX-512 register by default. And where every core has a device,
    a product that is split over threads only gets in the way of another device.
    """
    wide = {"xla_cpu_prefer_vector_width": 512}
    return wide | ({"xla_cpu_multi_thread_eigen": False} if mesh.size > 1 else {})


def sharded_gradient(loss: Loss, mesh: Mesh, *, piece: int | None = None) -> Gradient:
    r"""The value and gradient of ``loss(weights, batch)``, a mean over a batch.

    The leaves of ``batch`` have one leading axis, the sequences; ``piece`` of them are
    worked on at a time (by default, all of a share). Equal for equal numbers, see above.
    """
    whole, split = PartitionSpec(), PartitionSpec(AXIS)

    def share(weights, batch):
        means = _over_pieces(jax.value_and_grad(loss), weights, batch, piece)
        # Gathered and added in the order of the shares, not in that of their arrival.
        return jax.tree.map(lambda x: jax.lax.all_gather(x, AXIS).mean(0), means)

    shared = jax.shard_map(
        share, mesh=mesh, in_specs=(whole, split), out_specs=whole, check_vma=False
    )

    def gradient(weights, batch):
        _check_size(batch, mesh.size, piece)
        return shared(weights, batch)

    return gradient


def _over_pieces(function, weights, batch: PyTree, piece: int | None):
    size = _size(batch)
    if piece is None or piece == size:
        return function(weights, batch)
    count = size // piece
    cut = jax.tree.map(lambda x: x.reshape(count, piece, *x.shape[1:]), batch)

    def add(total, part):
        return jax.tree.map(jnp.add, total, function(weights, part)), None

    shapes = jax.eval_shape(function, weights, jax.tree.map(lambda x: x[0], cut))
    zeros = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
    total, _ = jax.lax.scan(add, zeros, cut)
    return jax.tree.map(lambda x: x / count, total)


def _size(batch: PyTree) -> int:
    return jax.tree.leaves(batch)[0].shape[0]


def _check_size(batch: PyTree, devices: int, piece: int | None) -> None:
    size, unit = _size(batch), devices * (piece or 1)
    if size % unit:
        expected = (
            f"must be a multiple of {unit} = {devices} devices × {piece or 1} per piece"
        )
        raise field_error("batch", size, expected)


def sharded_outputs(
    function: Callable[[Any, Any], PyTree], mesh: Mesh, *, piece: int
) -> Callable[[Any, Any], PyTree]:
    """``function(weights, batch)`` for every sequence, in pieces, shared out alike.

    A batch that is no multiple of devices and pieces is filled up with its last sequence.
    """
    whole, split = PartitionSpec(), PartitionSpec(AXIS)

    def share(weights, batch):
        count = _size(batch) // piece
        cut = jax.tree.map(lambda x: x.reshape(count, piece, *x.shape[1:]), batch)
        found = jax.lax.map(lambda part: function(weights, part), cut)
        return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), found)

    shared = jax.shard_map(
        share, mesh=mesh, in_specs=(whole, split), out_specs=split, check_vma=False
    )

    def outputs(weights, batch):
        size = _size(batch)
        missing = -size % (mesh.size * piece)
        filled = jax.tree.map(
            lambda x: jnp.concatenate([x, jnp.repeat(x[-1:], missing, 0)]), batch
        )
        return jax.tree.map(lambda x: x[:size], shared(weights, filled))

    return outputs
