"""The paper's rows of the contract tables."""

from piste.papers.kernels import coverage
from piste.papers.kernels.models import KernelLayer, PixelMLP
from piste.papers.kernels.tasks import TokenRegression
from piste.tasks import Pathfinder
from support.contract_rows import IMAGES, SHORT, Covered, Pair, experiment_of

REGRESSION = TokenRegression(sequences=2, length=2, dimension=3)
LAYER = KernelLayer(heads=2, width=3)
PIXELS = PixelMLP(layers=1, hidden=4)

TASKS = [REGRESSION]
MODELS = [
    (LAYER, REGRESSION),
    (KernelLayer(heads=2, width=3, init="matched", values="signed"), REGRESSION),
    (PIXELS, IMAGES),
]
FORMS = {
    ("kernel-layer", "full"): experiment_of(REGRESSION, LAYER),
    ("pixel-mlp", "full"): experiment_of(IMAGES, PIXELS),
}
ALL_IMAGES = Pathfinder(
    canvas=16, train_samples=4, validation_samples=2, test_samples=2, batch=4
)
PAIRS = {
    "token-regression, kernel-layer": Pair(REGRESSION, KernelLayer(heads=2, width=2)),
    "pathfinder, pixel-mlp": Pair(ALL_IMAGES, PIXELS, in_batches=True),
}
NO_FORM = [("token-regression, kernel-layer", "gaussian", "gd", "reduced")]
PROBES = [experiment_of(REGRESSION, LAYER)]
TEXT = {"task.length": 4, "task.validation_samples": 4, "task.test_samples": 4}
TEXT |= {"task.batch": 4, "task.frequent": 5, "record.every": 5}
TEXT |= {"model.layers": 1, "model.dimension": 4, "model.hidden": 4}
DETECTED = {
    "convergence to zero loss": ("kernels/thm-2-gaussian", SHORT),
    "plateau of a classifier": ("kernels/imdb-desk", SHORT | TEXT),
}
COVERED = [
    Covered(
        "kernels",
        "poster item",
        coverage.POSTER_ITEMS,
        coverage.BEYOND_THE_POSTER,
        coverage.TABLES,
    )
]


def _fit_regression(parts: dict) -> dict:
    """A sphere has two dimensions or more, hardest targets have one output."""
    outputs = 1 if parts["targets"] == "hardest" else parts["outputs"]
    return parts | {"dimension": parts["dimension"] + 1, "outputs": outputs}


FITS = {TokenRegression: _fit_regression}
