"""piste: a laboratory for the training dynamics of transformers.

A preset of a paper, with a word changed, trained and looked at::

    import piste

    experiment = piste.preset("signgd/stages", rule="adam", **{"rule.b2": 0.99})
    trajectory = piste.run(experiment)
    piste.stages(trajectory)
"""

import importlib
from typing import Any

_WHERE = {
    "Experiment": "piste.experiment",
    "initial_state": "piste.api",
    "preset": "piste.api",
    "run": "piste.api",
    "stages": "piste.api",
    "verify": "piste.api",
    "open_run": "piste.api",
    "figures": None,
    "landscape": None,
    "claims": None,
    "tasks": None,
    "models": None,
    "rules": None,
}

__all__ = list(_WHERE)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    # Loaded when first used: `piste --help` must not wait for JAX.
    if name not in _WHERE:
        raise AttributeError(f"module 'piste' has no attribute '{name}'")
    home = _WHERE[name]
    if home is None:
        return importlib.import_module(f"piste.{name}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return __all__
