"""Made-up studies of the paper on kernels, of which every claim holds."""

import numpy as np
import xarray as xr

from piste.papers.kernels import presets
from piste.papers.kernels.results.theorem_2.cases import Case
from piste.values import override, to_json

STEPS = np.array([0, 1, 10, 100, 1000])
KERNELS = ("softmax", "gaussian")
TRAINED = ("V", "QKV")
SIZE = {"rows": 32, "columns": 64}


def cells(seeds: int, **fields) -> xr.Dataset:
    """Numbers by cell, the same for every seed unless there is one for each."""
    each = {k: np.broadcast_to(np.asarray(v), (seeds,)) for k, v in fields.items()}
    known = {name: ("cell", part.copy()) for name, part in each.items()}
    return xr.Dataset(known | {"seed": ("cell", np.arange(seeds))})


def along(data: xr.Dataset, **series) -> xr.Dataset:
    """The same with numbers at every step."""
    shape = data.sizes["cell"], STEPS.size
    known = {
        k: (("cell", "step"), np.broadcast_to(v, shape).copy())
        for k, v in series.items()
    }
    return data.assign(known).assign_coords(step=STEPS)


def constants(kernel: str, seeds: int = 5, **more) -> xr.Dataset:
    """Theorem 1's constants: ηβ = 0.002, so half of the loss is promised in 347 steps."""
    known = {
        "eta": 0.01,
        "beta": 0.2,
        "stacked_beta": 0.2,
        "feature_min": 0.5,
        "feature_resolution": 1e-14,
        "head_output_min": 1.0,
        "jacobian_max": np.sqrt(50.0),
        "initial_loss": 1.0,
        "hundredth_steps": 2300.0,
    }
    return cells(seeds, kernel=kernel, **(known | SIZE | more))


def both(make) -> xr.Dataset:
    return xr.concat([make(kernel) for kernel in KERNELS], "cell")


def transition() -> xr.Dataset:
    """HD/Nn = ½ and 2, W^V alone and all three."""
    bound = 0.998**STEPS
    wide, narrow = {"floor": 1e-20}, {"floor": 0.2, "columns": 16, "feature_min": 0.0}
    parts = [
        along(
            constants(kernel, train=train, **more),
            loss=np.where(STEPS > 0, 1e-9 ** (STEPS / 1000), 1.0),
            bound=bound,
            stacked_bound=bound,
        )
        for kernel in KERNELS
        for train in TRAINED
        for more in (wide, narrow)
    ]
    return xr.concat(parts, "cell")


def promised() -> xr.Dataset:
    more = {"share": 1e-9, "steps": 1000}
    for name in ("bound", "stacked_bound"):
        more |= {f"{name}_promise": 0.1, f"{name}_excess": 0.9}
    parts = [constants(k, train=train, **more) for k in KERNELS for train in TRAINED]
    return xr.concat(parts, "cell")


def acceptance() -> xr.Dataset:
    loss = np.exp(-0.004 * STEPS)
    return both(lambda kernel: along(constants(kernel, measured_rate=0.004), loss=loss))


def scale() -> xr.Dataset:
    return both(lambda kernel: constants(kernel, key_scale=1.0))


def region() -> xr.Dataset:
    norms = {f"{name}_norm": 1.0 for name in ("query", "key")} | {"value_norm": 0.0}
    moved = {f"{name}_distance": 1e-5 * STEPS for name in ("query", "key", "value")}
    return both(
        lambda kernel: along(
            constants(kernel, reach=3.0, **norms),
            loss=np.where(STEPS > 0, 1e-9 ** (STEPS / 1000), 1.0),
            curvature_min=-0.01,
            curvature_max=1.0,
            **moved,
        )
    )


def query_runs(case: Case, kernel: str, seeds: int, wins: bool) -> xr.Dataset:
    about = case._asdict() | {"eta": 0.1, "beta": 0.09 if wins else 0.0}
    about |= {"rows": 16, "columns": 32, "teacher_share": 0.0, "largest_share": 1.0}
    falls = np.where(STEPS > 0, 1e-9 ** (STEPS / 1000), 1.0)
    return along(
        cells(seeds, kernel=kernel, better=True, **about),
        loss=falls if wins else 1.0,
        bound=0.99**STEPS,
        gradient_norm=np.sqrt(falls) if wins else 1e-9,
        jacobian_min=0.3 if wins else 0.0,
        jacobian_max=1.0,
        jacobian_resolution=1e-14,
    )


def queries(seeds: int = 6) -> xr.Dataset:
    """Who succeeds in which case: softmax, and the Gaussian kernel."""
    rates = {
        Case(8, "matched", 6.0): (False, True),
        Case(4, "matched", 1.0): (True, True),
        Case(4, "random", 1.0): (True, True),
        Case(4, "random", 2.0): (True, False),
        Case(4, "random", 4.0): (False, False),
    }
    parts = [
        query_runs(case, kernel, seeds, wins)
        for case, each in rates.items()
        for kernel, wins in zip(KERNELS, each, strict=True)
    ]
    return xr.concat(parts, "cell")


def pair(minimum: float = 0.5) -> list[xr.Dataset]:
    """A run whose gradient is held up by J_Q."""
    loss = np.exp(-np.arange(5.0))
    data = {
        "train_loss": ("step", loss),
        "gradient_norm": ("step", np.sqrt(2 * loss) * 0.6),
        "query_jacobian_min": ("test_step", np.full(5, minimum)),
        "query_jacobian_max": ("test_step", np.ones(5)),
    }
    task = {"sequences": 4, "length": 4, "outputs": 1, "dimension": 8}
    model = {"kernel": "gaussian", "train": "Q", "heads": 8, "width": 8}
    about = {"task": task, "model": model, "seed": 0, "precision": "float64"}
    grid = {"step": np.arange(5), "test_step": np.arange(5)}
    return [xr.Dataset(data, grid, {"experiment": about})]


def curves(
    kernel: str, seed: int, lower: float = 0.0, best: float = 0.82, **more
) -> xr.Dataset:
    """A classifier that learns: losses fall from ln 2."""
    fall = np.array([0.69, 0.5, 0.4, 0.35, 0.35, 0.35]) - lower
    accuracy = np.array([0.5, 0.7, 0.8, 1.0, 1.0, 1.0]) * best
    accuracy[0] = 0.5
    arrays = {
        "train_loss": ("step", fall),
        "train_accuracy": ("step", accuracy),
        "test_loss": ("test_step", fall + 0.05),
        "validation_accuracy": ("test_step", accuracy),
        "test_accuracy": ("test_step", accuracy),
    }
    steps = 100 * np.arange(6)
    about = {
        "experiment": {
            "model": {"kernel": kernel},
            "task": {"type": "text", "tokeniser": "words", "length": 128},
            "seed": seed,
        },
        "seed": seed,
        "name": f"{kernel}-{seed}",
        "seconds": 1.0,
        "diverged": -1,
    }
    return xr.Dataset(arrays, {"step": steps, "test_step": steps}, about | more)


def real(seeds: int = 5) -> list[xr.Dataset]:
    """Both kernels, the Gaussian one a little lower in every seed."""
    gap = {"softmax": 0.0, "gaussian": 0.01}
    return [curves(k, seed, low) for seed in range(seeds) for k, low in gap.items()]


def _on_images(changes: dict, best: float, lower: float = 0.0) -> xr.Dataset:
    """The same of an experiment on images, whose fields are all there."""
    experiment = override(presets.pathfinder_desk(), changes)
    name = f"{changes.get('model.kernel', changes.get('model.hidden'))}"
    run = curves(name, experiment.seed, lower, best)
    return run.assign_attrs(experiment=to_json(experiment))


def images(seeds: int = 5) -> list[xr.Dataset]:
    """Both kernels on images, the Gaussian one a little better."""
    better = {"softmax": (0.8, 0.0), "gaussian": (0.82, 0.01)}
    return [
        _on_images({"seed": seed, "model.kernel": kernel}, *each)
        for seed in range(seeds)
        for kernel, each in better.items()
    ]


def image_controls(seeds: int = 5) -> list[xr.Dataset]:
    """No attention, and networks on all pixels, of which the larger one is better."""
    networks = [
        {"model": "pixel-mlp", "model.hidden": 208},
        {"model": "pixel-mlp", "model.hidden": 512},
    ]
    models = [({"model.kernel": "none"}, 0.7), (networks[0], 0.7), (networks[1], 0.9)]
    return [
        _on_images({"seed": seed} | model, best)
        for seed in range(seeds)
        for model, best in models
    ]


def markers(seeds: int = 5) -> xr.Dataset:
    """Forests that know no more than chance, and such as do."""
    kinds = {"desk": 0.5, "desk, as drawn": 0.7}
    parts = [cells(seeds, accuracy=best, images=name) for name, best in kinds.items()]
    return xr.concat(parts, "cell")


def surfaces(roughness: dict[str, float], model: int, centre=0.3) -> xr.Dataset:
    """A bowl with ripples of a height for each kernel; the first has a given centre."""
    axis = np.linspace(-1, 1, 21)
    a, b = np.meshgrid(axis, axis, indexing="ij")
    ripples = np.cos(12 * a) * np.cos(12 * b) - 1
    kernels, centres = list(roughness), [centre] + [0.3] * (len(roughness) - 1)
    loss = [
        [[a**2 + b**2 + c + height * ripples] * 2] * 2
        for c, height in zip(centres, roughness.values(), strict=True)
    ]
    count = len(kernels)
    shots = np.ones((count, 3))
    arrays = {
        "loss": (("kernel", "weights", "window", "first", "second"), np.array(loss)),
        "reach": (("kernel", "weights", "window"), np.ones((count, 2, 2))),
        "true_loss": (("kernel", "snapshot"), shots),
        "projected_loss": (("kernel", "snapshot"), shots),
        "coordinates": (("kernel", "snapshot", "axis"), np.zeros((count, 3, 2))),
        "step": (("kernel", "snapshot"), shots.astype(int)),
        "explained_share": ("kernel", np.full(count, 0.1)),
        "centre": (("kernel", "weights"), np.full((count, 2), 2)),
    }
    about = {"model": model, "direction": 0, "labels": ["$W^Q$", "$W^K$"]}
    words = {"kernel": kernels, "weights": ["trained", "swapped"]}
    words["window"] = ["rise 0.02", "rise 0.1"]
    grid = {"first": axis, "second": axis}
    return xr.Dataset(arrays, words | grid, about)


def heights(softmax: float, rows: float, gaussian: float) -> dict[str, float]:
    """Heights of ripples, in the order of the kernels of a study."""
    given = {"softmax": softmax, "gaussian": gaussian, "gaussian-rows": rows}
    return given | {"gaussian-mean": gaussian}


ROUGH, SMOOTH = heights(0.1, 0.05, 0.0), heights(0.0, 0.05, 0.1)


def everything() -> dict:
    """Evidence for all claims."""
    landscape = [surfaces(ROUGH, model) for model in range(6)]
    return {
        "transition": transition(),
        "promised": promised(),
        "acceptance": acceptance(),
        "scale": scale(),
        "region": region(),
        "queries": queries(),
        "control-100": queries(12),
        "pair": pair(),
        "imdb": real(),
        "imdb-sgd": real(),
        "imdb-bytes": real(),
        "pathfinder": images(),
        "pathfinder-controls": image_controls(),
        "pathfinder-markers": markers(),
        "landscape-text": landscape,
        "landscape-images": landscape,
    }
