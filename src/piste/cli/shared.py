"""What several commands do before they begin."""

from typing import Any

from piste.errors import InputError, shown


def devices_for(*experiments: Any) -> None:
    """A device per core for models that share out their batches.

    Nothing may have been computed before.
    """
    from piste.devices import one_device_a_core

    models = (getattr(experiment, "model", None) for experiment in experiments)
    if any(getattr(model, "shares_batches", False) for model in models):
        one_device_a_core()


def no_more(rest: list[str]) -> None:
    """Refuse words that are no option of a command."""
    if rest:
        raise InputError(f"no option '{shown(rest[0])}' here (--help shows all)")
