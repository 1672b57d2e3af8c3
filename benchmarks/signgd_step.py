"""How fast a run of sign descent is, against PyTorch and against the machine.

    python benchmarks/signgd_step.py [--quick] [--out results/benchmarks/signgd_step.json]

Four numbers from one process, measured in turn and repeated, medians reported:

1. a run at the default size in float32, all probes recorded, by piste;
2. the same work as a plain PyTorch autograd script (`pip install '.[oracle]'`);
3. GD by the Gram form against GD by the full form, both by piste;
4. the time that the floating-point operations of a step would take at the rate of a
   large float32 matrix product on this machine.
"""

import argparse
import json
import pathlib
import platform
import statistics
import time

import jax
import numpy as np

from piste import training
from piste.experiment import Experiment
from piste.papers.signgd.presets import stages
from piste.values import override

jax.config.update("jax_enable_x64", True)


def timed(work) -> tuple[float, object]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def piste_run(system, plan) -> dict[str, np.ndarray]:
    """Train, with all records on the host at the end."""
    chunks = list(training.train(system, plan, system.start()))
    return {
        name: np.concatenate([chunk.records[name] for chunk in chunks])
        for name in chunks[0].records
    }


def compile_seconds(system, plan) -> float:
    arguments = system, system.start(), plan.gaps(0), plan.flags(0)
    lowering, lowered = timed(lambda: training.run_chunk.lower(*arguments))
    return lowering + timed(lowered.compile)[0]


# --- the plain PyTorch script --------------------------------------------------------


class TorchScript:
    """Full weights, softmax attention, autograd, sign steps; probes by inner products."""

    def __init__(self, start: training.InitialState, learning_rate: float):
        import torch

        self.torch, self.learning_rate = torch, learning_rate
        self.train_set, self.test_set = self._data(start.data), self._data(start.test)
        self.start, self.mu = start.weights, self._tensor(start.data.basis[0])

    def _tensor(self, array):
        return self.torch.tensor(np.asarray(array), dtype=self.torch.float32)

    def _data(self, data):
        return self._tensor(data.tokens()), self._tensor(data.labels)

    def _parameters(self):
        names = ("value_plus", "value_minus", "query", "key")
        parts = [self._tensor(getattr(self.start, name)) for name in names]
        return [part.requires_grad_() for part in parts]

    def forward(self, parameters, x):
        """The outputs and the attention weights of all samples."""
        plus, minus, query, key = parameters
        scores = (x @ query.T) @ (x @ key.T).transpose(1, 2)
        attention = self.torch.softmax(scores, -1)
        mixed = (attention @ x).sum(1)
        f = (mixed @ plus.T).mean(1) - (mixed @ minus.T).mean(1)
        return f, attention

    def loss(self, parameters, data):
        """The mean logistic loss, the margins and the attention weights."""
        x, y = data
        f, attention = self.forward(parameters, x)
        return self.torch.nn.functional.softplus(-y * f).mean(), y * f, attention

    def measure(self, parameters, test: bool) -> dict[str, np.ndarray]:
        """All probes, those on the test set if asked for."""
        with self.torch.no_grad():
            plus, minus, query, key = parameters
            loss, _, attention = self.loss(parameters, self.train_set)
            x, y = self.train_set
            v, noise = (plus - minus).mean(0), y[:, None] * x[:, 1]
            seen = {
                "train_loss": loss,
                "value_signal": v @ self.mu,
                "value_noise": noise @ v,
                "query_signal": query @ self.mu,
                "key_signal": key @ self.mu,
                "query_noise": query @ noise.T,
                "key_noise": key @ noise.T,
                "attention_signal_signal": attention[:, 0, 0],
                "attention_noise_signal": attention[:, 1, 0],
            }
            if test:
                test_loss, margins, _ = self.loss(parameters, self.test_set)
                seen |= {
                    "test_loss": test_loss,
                    "test_error": (margins <= 0).float().mean(),
                }
            return {name: part.numpy().copy() for name, part in seen.items()}

    def run(self, plan) -> list[dict[str, np.ndarray]]:
        """Train with the plan's schedule of records."""
        parameters, records = self._parameters(), []
        for gap, test in zip(np.diff(plan.times, prepend=0), plan.tests, strict=True):
            for _ in range(gap):
                loss, _, _ = self.loss(parameters, self.train_set)
                loss.backward()
                with self.torch.no_grad():
                    for part in parameters:
                        part -= self.learning_rate * part.grad.sign()
                        part.grad = None
            records.append(self.measure(parameters, bool(test)))
        return records


# --- the machine's own limit ---------------------------------------------------------


def matmul_rate(size: int = 2048, repetitions: int = 5) -> float:
    """Floating-point operations per second of a large float32 matrix product."""
    rng = np.random.default_rng(0)
    a, b = (jax.numpy.asarray(rng.normal(size=(size, size)), "float32") for _ in "ab")
    product = jax.jit(lambda a, b: a @ b)
    product(a, b).block_until_ready()
    times = [
        timed(lambda: product(a, b).block_until_ready())[0] for _ in range(repetitions)
    ]
    return 2 * size**3 / min(times)


def step_operations(columns: int, experiment: Experiment) -> int:
    """A step's two dense products: inner products forward, coefficients backward."""
    rows = experiment.task.samples + 1
    return 2 * 2 * rows * columns * (2 * experiment.model.key_width + 1)


# --- the comparison ------------------------------------------------------------------


def interleaved(works: dict, repetitions: int) -> dict[str, list[float]]:
    """Each piece of work once in turn, then again, so that all see the same machine."""
    seconds = {name: [] for name in works}
    for _ in range(repetitions):
        for name, work in works.items():
            seconds[name].append(timed(work)[0])
    return seconds


def check_same_losses(ours: np.ndarray, theirs: np.ndarray, early: int = 20) -> float:
    """Both scripts train the same model: early losses agree to float32 rounding."""
    difference = np.abs(ours[:early] - theirs[:early]).max()
    assert difference < 1e-5, f"early training losses differ by {difference}"
    return float(difference)


def sign_descent(steps: int, repetitions: int) -> dict:
    # The reduced form takes plain signs, as the script does; the exact one does more.
    changes = {"precision": "float32", "steps": steps, "form": "reduced"}
    experiment = override(stages(), changes)
    system, plan = training.build(experiment), training.Plan.of(experiment)
    exact = training.build(override(experiment, {"form": "exact"}))
    piste_run(exact, plan)
    compiling = compile_seconds(system, plan)
    first, records = timed(lambda: piste_run(system, plan))
    works = {
        "piste": lambda: piste_run(system, plan),
        "exact": lambda: piste_run(exact, plan),
    }
    found = {"steps": steps, "records": int(plan.times.size)}
    try:
        script = TorchScript(training.draw(experiment), experiment.rule.learning_rate)
    except ImportError:
        print("PyTorch is not installed (pip install '.[oracle]'): no comparison")
    else:
        theirs = np.array([record["train_loss"] for record in script.run(plan)])
        found["early loss difference"] = check_same_losses(
            records["train_loss"], theirs
        )
        works["torch"] = lambda: script.run(plan)
    seconds = interleaved(works, repetitions)
    found |= {"seconds": seconds, "compile": compiling, "first run": first}
    rate = matmul_rate()
    columns = system.form.data.basis.shape[1]
    dense = step_operations(experiment.task.dimension, experiment)
    return found | {
        "matmul GFLOP/s": rate / 1e9,
        "step MFLOP": step_operations(columns, experiment) / 1e6,
        "dense step MFLOP": dense / 1e6,
        "limit": steps * step_operations(columns, experiment) / rate,
        "dense limit": steps * dense / rate,
    }


def gram_against_full(steps: int, repetitions: int) -> dict:
    works, compiling, losses = {}, {}, {}
    for form in ("gram", "full"):
        experiment = override(
            stages(),
            {"rule": "gd", "rule.learning-rate": 0.1, "form": form, "steps": steps},
        )
        system, plan = training.build(experiment), training.Plan.of(experiment)
        compiling[form] = compile_seconds(system, plan)
        losses[form] = piste_run(system, plan)["train_loss"]
        works[form] = lambda system=system, plan=plan: piste_run(system, plan)
    difference = np.abs(losses["gram"] - losses["full"]).max()
    assert difference < 1e-12, f"the forms' losses differ by {difference}"
    return {
        "steps": steps,
        "seconds": interleaved(works, repetitions),
        "compile": compiling,
        "loss difference": float(difference),
    }


def report(sign: dict, gram: dict) -> dict[str, float]:
    median = {name: statistics.median(t) for name, t in sign["seconds"].items()}
    per_step = 1e3 / sign["steps"]
    print(f"\nSignGD, default size, float32, {sign['steps']} steps, all probes")
    row("piste", median["piste"], median["piste"] * per_step)
    row("piste, exact signs", median["exact"], median["exact"] * per_step)
    ratios = {}
    if "torch" in median:
        row("PyTorch autograd", median["torch"], median["torch"] * per_step)
        ratios["torch / piste"] = median["torch"] / median["piste"]
        ratios["torch / piste, exact signs"] = median["torch"] / median["exact"]
        whole = median["piste"] + sign["compile"]
        ratios["torch / (piste + compile)"] = median["torch"] / whole
    row("piste, compiling", sign["compile"])
    print(f"\nA large float32 product: {sign['matmul GFLOP/s']:.0f} GFLOP/s")
    row("the step's products at it", sign["limit"], sign["limit"] * per_step)
    row("the dense step's at it", sign["dense limit"], sign["dense limit"] * per_step)
    ratios["piste / limit"] = median["piste"] / sign["limit"]
    ratios["piste / dense limit"] = median["piste"] / sign["dense limit"]
    forms = {name: statistics.median(t) for name, t in gram["seconds"].items()}
    print(f"\nGD, default size, float64, {gram['steps']} steps, all probes")
    for name, seconds in forms.items():
        row(f"{name} form", seconds, 1e3 * seconds / gram["steps"])
    ratios["full / gram"] = forms["full"] / forms["gram"]
    print()
    for name, ratio in ratios.items():
        print(f"{name:<28}{ratio:10.2f} ×")
    return ratios


def row(name: str, seconds: float, milliseconds: float | None = None) -> None:
    step = "" if milliseconds is None else f"{milliseconds:10.3f} ms per step"
    print(f"{name:<28}{seconds:10.3f} s {step}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer steps and turns")
    parser.add_argument("--out", type=pathlib.Path, help="write the numbers as JSON")
    parser.add_argument("--turns", type=int, help="repetitions of each (default 5)")
    options = parser.parse_args()
    steps, turns = (300, 2) if options.quick else (2000, 5)
    turns = options.turns or turns
    sign, gram = sign_descent(steps, turns), gram_against_full(steps, turns)
    ratios = report(sign, gram)
    if options.out:
        machine = {"processor": platform.processor(), "jax": jax.__version__}
        options.out.parent.mkdir(parents=True, exist_ok=True)
        numbers = {"sign": sign, "gram": gram, "ratios": ratios, "machine": machine}
        options.out.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()
