"""What several commands do."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from piste.errors import InputError, shown

if TYPE_CHECKING:  # a wrong option is to be found without waiting for it
    from rich.console import Console


def devices_for(*experiments: Any) -> None:
    """A device per core for models that share out their batches.

    Nothing may have been computed before.
    """
    from piste.devices import one_device_per_core

    models = (getattr(experiment, "model", None) for experiment in experiments)
    if any(getattr(model, "shares_batches", False) for model in models):
        one_device_per_core()


def no_more(rest: list[str]) -> None:
    """Refuse words that are no option of a command."""
    if rest:
        raise InputError(f"no option '{shown(rest[0])}' here (--help shows all)")


def print_notes(out: "Console", notes: Iterable[str]) -> None:
    """What a reader must know of a result, a line for each."""
    for note in notes:
        out.print(f"note: {note}", markup=False)
