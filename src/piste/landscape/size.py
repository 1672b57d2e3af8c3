"""Whether a machine can hold a comparison of landscapes."""

from pathlib import Path

from piste.experiment import Experiment
from piste.training import needs_of
from piste.training.size import STEP, Size, refuse, room_of, size_of, variations

from .comparison import Comparison


def size_of_comparison(experiment: Experiment, settings: Comparison) -> Size:
    """All stages of every model, their snapshots, and the surfaces around them."""
    run, params = size_of(experiment), needs_of(experiment).params
    steps = settings.steps_two or experiment.steps
    snapshots = min(settings.snapshots, steps + 1) * params
    stages = 1 + len(settings.kernels)
    points = 8.0 * settings.points**2 * settings.surfaces() * stages
    # Snapshots are stacked, projected and compared in float64; the schedule is a list
    # of all that are asked for.
    held = 6 * stages * snapshots + 3 * points + 24.0 * settings.snapshots
    surfaces = settings.planes() * points
    return Size(
        memory=run.memory + held,
        disk=settings.models * (run.disk + stages * snapshots + surfaces),
        seconds=STEP * settings.work(experiment.steps, settings.parts()),
    )


def check_size(
    experiment: Experiment,
    settings: Comparison,
    folder: Path,
    room: Size | None = None,
) -> None:
    """Refuse a comparison that this machine cannot hold; name the field to blame."""
    fields = variations(experiment, lambda given: size_of_comparison(given, settings))
    fields += variations(
        settings, lambda given: size_of_comparison(experiment, given), Comparison()
    )
    size = size_of_comparison(experiment, settings)
    refuse(size, room or room_of(folder), fields)
