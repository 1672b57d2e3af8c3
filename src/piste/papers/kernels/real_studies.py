"""IMDb and Pathfinder at a desk: both kernels over seeds."""

from piste.landscape import Comparison
from piste.reproduction import LandscapeStudy, RunStudy, Study
from piste.values import to_json

from . import real_presets
from .real_runs import task_words

ON_IMDB = ("imdb", "landscape-text")
IMDB_SEEDS, PATHFINDER_SEEDS = 3, 2
TEXT = Comparison(points=25, models=10, directions=2, snapshots=41)
"""Ten models: a sign test can tell 9 of 10 from chance. Few points: each is 64 reviews."""
IMAGES = Comparison(points=25, models=6, directions=1, snapshots=41, steps_two=300)
"""Six models, the fewest of which a sign test can tell; some are those of the study."""


def real_studies() -> tuple[Study, ...]:
    """The studies of the real tasks, none of which belongs to the theory."""
    imdb = real_presets.both(real_presets.imdb_desk(), IMDB_SEEDS)
    pathfinder = real_presets.both(real_presets.pathfinder_desk(), PATHFINDER_SEEDS)
    return (
        RunStudy("imdb", "IMDb as 128 words, both kernels", imdb, needs_data=True),
        RunStudy(
            "pathfinder",
            "Pathfinder, easy, 16×16, both kernels",
            pathfinder,
            needs_data=True,
        ),
        *landscapes(),
    )


def landscapes() -> tuple[LandscapeStudy, ...]:
    """Loss surfaces after two stages, text and images."""
    surveyed = {
        "landscape-text": (real_presets.landscape_desk(), TEXT),
        "landscape-images": (real_presets.pathfinder_desk(), IMAGES),
    }
    return tuple(
        LandscapeStudy(
            name,
            f"loss surfaces of {settings.models} models, softmax first",
            experiment,
            settings,
            needs_data=True,
        )
        for name, (experiment, settings) in surveyed.items()
    )


def surveyed_task(name: str) -> str:
    """What the loss surfaces of a study are of, in words."""
    study = next(study for study in landscapes() if study.name == name)
    return task_words(to_json(study.experiment.task))
