"""Made-up runs of classifiers on real tasks, and the claims judged on them."""

import numpy as np
import xarray as xr

from piste.claims import Verdict, judge
from piste.papers.kernels.results.real_tasks import learning, speed

from .evidence import evidence_of
from .kernel_evidence import curves


def trained(kernel: str, seed: int, losses, **changed) -> xr.Dataset:
    """A classifier with a training loss that stays at its last value; test loss alike."""
    run = curves(kernel, seed)
    losses = np.array([*losses, losses[-1], losses[-1]], float)
    steps = 100 * np.arange(losses.size)
    run = run.isel(step=slice(losses.size), test_step=slice(losses.size))
    series = {"train_loss": ("step", losses), "test_loss": ("test_step", losses)}
    run = run.assign(series).assign_coords(step=steps, test_step=steps)
    return run.assign_attrs(**changed)


def pairs_of(gaussian, softmax=(0.69, 0.5, 0.4), seeds=1) -> list[xr.Dataset]:
    """Runs of both kernels over some seeds."""
    both = {"softmax": softmax, "gaussian": gaussian}
    return [trained(k, seed, x) for seed in range(seeds) for k, x in both.items()]


def verdicts(name: str, **evidence) -> tuple[Verdict, ...]:
    """Judge the claim whose name has these words."""
    claims = [c for c in (*learning.CLAIMS, *speed.CLAIMS) if name in c.name]
    (judgement,) = judge(claims, evidence_of(evidence))
    return judgement.verdicts
