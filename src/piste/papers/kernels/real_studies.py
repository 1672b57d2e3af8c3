"""IMDb and Pathfinder at a desk: both kernels over seeds."""

import os

from piste.errors import InputError
from piste.papers import Study

from . import real_presets

IMDB_SEEDS, PATHFINDER_SEEDS = 3, 3


def real_studies() -> tuple[Study, ...]:
    """The studies of the real tasks, none of which belongs to the theory."""
    imdb = real_presets.both(real_presets.imdb_desk(), IMDB_SEEDS)
    pathfinder = real_presets.both(real_presets.pathfinder_desk(), PATHFINDER_SEEDS)
    return (
        Study("imdb", "IMDb as 128 words, both kernels", imdb, theory=False),
        Study(
            "pathfinder",
            "Pathfinder, easy, 16×16, both kernels",
            pathfinder,
            theory=False,
        ),
    )


def imdb_at_hand() -> bool:
    """Whether IMDb can be loaded; a folder that the user named must be right."""
    try:
        real_presets.imdb_desk().task.load()
    except InputError:
        if os.environ.get("PISTE_DATA"):
            raise
        return False
    return True
