"""How fast a training step of the classifier is, against PyTorch.

    python benchmarks/attention_step.py [--quick] [--turns 7] [--lengths 256,1024]

One step: forward with dropout, backward, Adam, float32, batch 16, on 2 layers, D = 64,
hidden 128, 2 heads, 256 tokens. Every contestant takes one step in turn, then again, so
that all see the same machine; medians are reported, with the load at the end.

- *piste*: attention in blocks, the batch shared out over as many host devices as cores;
- *piste, one device*: the same with one device, so with one thread for most of it;
- *plain JAX*: all attention weights in memory, gradients by autodiff, one device;
- *PyTorch SDPA* (softmax): `scaled_dot_product_attention`, one thread per core;
- *plain PyTorch*: the weights written out, one thread per core.

PyTorch (`pip install '.[oracle]'`) has the same layers and parameters.
"""

import argparse
import json
import os
import pathlib
import statistics
import time
from functools import partial

import jax

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
jax.config.update("jax_num_cpu_devices", CORES)  # before anything is computed

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402

from piste.attention import heads  # noqa: E402
from piste.models import Classifier  # noqa: E402
from piste.models.classifier import cross_entropy, logits  # noqa: E402
from piste.training.sharded import (  # noqa: E402
    compiler_options,
    host_mesh,
    sharded_gradient,
)

BATCH, VOCABULARY, CLASSES, LEARNING_RATE = 16, 256, 2, 1e-3


def draw_batch(length: int):
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, VOCABULARY, (BATCH, length))
    return tokens, rng.integers(0, CLASSES, BATCH)


# --- piste ---------------------------------------------------------------------------


class Ours:
    """A training step by piste, on some devices, its attention in blocks or plain."""

    def __init__(self, kernel: str, length: int, *, devices: int, blocks: bool = True):
        self.model, self.blocks = Classifier(kernel=kernel), blocks
        sizes = {"vocabulary": VOCABULARY, "length": length, "classes": CLASSES}
        self.weights = self.model.init(key=jax.random.key(0), **sizes)
        self.rule = optax.adam(LEARNING_RATE)
        self.state, self.turn = self.rule.init(self.weights), 0
        tokens, labels = draw_batch(length)
        self.batch = jnp.array(tokens), jnp.ones(tokens.shape, bool), jnp.array(labels)
        piece = 2 if blocks else None
        mesh = host_mesh(devices)
        self.gradient = sharded_gradient(self.loss, mesh, piece=piece)
        options = compiler_options(mesh) if blocks else None
        self.update = jax.jit(self._update, compiler_options=options)

    def loss(self, weights, batch):
        """The mean cross-entropy, with dropout."""
        tokens, mask, labels, keys = batch
        found = logits(self.model, weights, tokens, mask, keys=keys)
        return cross_entropy(found, labels)

    def _update(self, weights, state, batch, key):
        keys = jax.random.split(key, BATCH)
        loss, gradient = self.gradient(weights, (*batch, keys))
        change, state = self.rule.update(gradient, state, weights)
        return optax.apply_updates(weights, change), state, loss

    def step(self) -> float:
        """Train on the batch once more."""
        key, self.turn = jax.random.key(self.turn), self.turn + 1
        with _attention_in_blocks(self.blocks):
            done = self.update(self.weights, self.state, self.batch, key)
        self.weights, self.state, loss = jax.block_until_ready(done)
        return float(loss)

    def parameters(self) -> int:
        """Numbers that are trained."""
        return sum(leaf.size for leaf in jax.tree.leaves(self.weights))


class _attention_in_blocks:
    """While a step is traced, decide whether kernels have their blockwise form."""

    def __init__(self, blocks: bool):
        self.kept = {} if blocks else dict(heads.FAST)

    def __enter__(self):
        for name in self.kept:
            del heads.FAST[name]

    def __exit__(self, *_):
        heads.FAST.update(self.kept)


# --- PyTorch -------------------------------------------------------------------------


def torch_step(form: str, length: int):
    """The same model and step in PyTorch: a function that trains once, and its size."""
    import torch
    from torch import nn
    from torch.nn import functional

    torch.set_num_threads(CORES)
    size, hidden, heads, width = 64, 128, 2, 32
    gelu = partial(nn.GELU, approximate="tanh")  # that of our classifier

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.mlp_norm = nn.LayerNorm(size), nn.LayerNorm(size)
            self.mixed = nn.Linear(size, 3 * size, bias=False)
            self.output = nn.Linear(size, size)
            self.mlp = nn.Sequential(
                nn.Linear(size, hidden), gelu(), nn.Linear(hidden, size)
            )
            self.drop = nn.Dropout(0.1)

        def forward(self, x):
            split = self.mixed(self.norm(x)).view(*x.shape[:2], 3, heads, width)
            q, k, v = split.permute(2, 0, 3, 1, 4)
            if form == "sdpa":
                y = functional.scaled_dot_product_attention(q, k, v)
            else:
                y = plain_weights(q, k) @ v
            x = x + self.drop(self.output(y.transpose(1, 2).reshape(x.shape)))
            return x + self.drop(self.mlp(self.mlp_norm(x)))

    def plain_weights(q, k):
        products = q @ k.mT
        if form == "softmax":
            return torch.softmax(products / width**0.5, -1)
        norms = (q**2).sum(-1)[..., None] + (k**2).sum(-1)[..., None, :]
        return torch.exp((products - norms / 2) / width**0.5)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(VOCABULARY, size)
            self.position = nn.Parameter(0.02 * torch.randn(length, size))
            self.blocks = nn.Sequential(Block(), Block())
            self.norm, self.drop = nn.LayerNorm(size), nn.Dropout(0.1)
            self.head = nn.Sequential(
                nn.Linear(size, hidden), gelu(), nn.Linear(hidden, CLASSES)
            )

        def forward(self, tokens):
            x = self.drop(self.embedding(tokens) + self.position)
            return self.head(self.norm(self.blocks(x)).mean(1))

    model = Model()
    rule = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    tokens, labels = map(torch.tensor, draw_batch(length))

    def step() -> float:
        rule.zero_grad()
        loss = functional.cross_entropy(model(tokens), labels)
        loss.backward()
        rule.step()
        return loss.item()

    return step, sum(part.numel() for part in model.parameters())


# --- the comparison ------------------------------------------------------------------


def contestants(length: int) -> dict[tuple[str, str], object]:
    steps, sizes = {}, set()
    for kernel in ("softmax", "gaussian"):
        build = partial(Ours, kernel, length)
        ours = {
            f"piste, {CORES} devices": build(devices=CORES),
            "piste, one device": build(devices=1),
            "plain JAX": build(devices=1, blocks=False),
        }
        steps |= {(kernel, name): part.step for name, part in ours.items()}
        sizes |= {part.parameters() for part in ours.values()}
    forms = ("softmax", "sdpa"), ("softmax", "softmax"), ("gaussian", "gaussian")
    for kernel, form in forms:
        name = "PyTorch SDPA" if form == "sdpa" else "plain PyTorch"
        try:
            steps[kernel, name], size = torch_step(form, length)
        except ImportError:
            print("PyTorch is not installed (pip install '.[oracle]'): no comparison")
            break
        sizes.add(size)
    assert len(sizes) == 1, f"models of different sizes: {sizes}"
    return steps


def interleaved(steps: dict, turns: int) -> dict[tuple[str, str], float]:
    """Median seconds of a step, everyone in turn; the first two turns do not count."""
    seconds = {name: [] for name in steps}
    for _ in range(turns + 2):
        for name, step in steps.items():
            begun = time.perf_counter()
            loss = step()
            seconds[name].append(time.perf_counter() - begun)
            assert np.isfinite(loss), f"{name}: loss {loss}"
    return {name: statistics.median(found[2:]) for name, found in seconds.items()}


def report(length: int, median: dict[tuple[str, str], float]) -> None:
    print(f"\nbatch {BATCH}, length {length}: one training step")
    ours = f"piste, {CORES} devices"
    for kernel in ("softmax", "gaussian"):
        best = median[kernel, ours]
        for (of, name), seconds in median.items():
            if of == kernel:
                ratio = seconds / best
                print(f"{kernel:<10}{name:<20}{1e3 * seconds:9.1f} ms{ratio:8.2f} ×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="length 64, three turns")
    parser.add_argument("--turns", type=int, default=9, help="repetitions (default 9)")
    parser.add_argument("--lengths", default="256,1024", help="default 256,1024")
    parser.add_argument("--out", type=pathlib.Path, help="write the numbers as JSON")
    options = parser.parse_args()
    lengths = "64" if options.quick else options.lengths
    turns = 3 if options.quick else options.turns
    found = {}
    for length in map(int, lengths.split(",")):
        median = interleaved(contestants(length), turns)
        report(length, median)
        found[length] = {", ".join(name): part for name, part in median.items()}
    load = os.getloadavg()[0]
    print(f"\n{CORES} cores, load {load:.1f} (of which this process {CORES})")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        numbers = {"seconds": found, "load": load, "jax": jax.__version__}
        options.out.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()
