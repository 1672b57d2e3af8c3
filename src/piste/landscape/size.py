"""Whether a machine can hold a comparison of landscapes."""

from pathlib import Path

from piste.experiment import Experiment
from piste.training import needs_of
from piste.training.size import STEP, Size, refuse, room_of, size_of, variations

from .comparison import Comparison


def size_of_comparison(experiment: Experiment, settings: Comparison) -> Size:
    """Two stages of every model, their snapshots, and the surfaces around them."""
    run, params = size_of(experiment), needs_of(experiment).params
    steps = settings.steps_two or experiment.steps
    snapshots = min(settings.snapshots, steps + 1) * params
    points = 8.0 * settings.points**2
    # Snapshots are stacked, projected and compared in float64; the schedule is a list
    # of all that are asked for.
    held = 12 * snapshots + 6 * points + 24.0 * settings.snapshots
    surfaces = settings.planes() * 2 * points
    return Size(
        memory=run.memory + held,
        disk=settings.models * (run.disk + 2 * snapshots + surfaces),
        seconds=STEP * settings.work(experiment.steps, settings.pairs()),
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
