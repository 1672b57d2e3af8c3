"""What a run directory says about itself."""

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax

from piste.errors import InputError
from piste.experiment import Experiment
from piste.values import from_json

from .checkpoint import write_atomically

FORMAT = 1
"""Version of the layout of a run directory; another one is refused."""

FILE = "manifest.json"


def environment() -> dict[str, Any]:
    """Versions, device and cores: what besides the experiment can change a bit."""
    packages = ("piste", "jax", "jaxlib", "optax", "numpy")
    return {
        "versions": {name: version(name) for name in packages},
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": str(jax.devices()[0].device_kind),
        "cores": os.cpu_count(),
        "devices": len(jax.devices()),
    }


@dataclass(frozen=True)
class Manifest:
    """The resolved experiment, where and how it ran, and how it ended."""

    name: str
    experiment: dict[str, Any]
    form: str
    format: int = FORMAT
    environment: dict[str, Any] = field(default_factory=environment)
    started: str = field(default_factory=lambda: now())
    seconds: float = 0.0
    steps: int = 0
    diverged: int = -1
    ended: str = ""
    """Why the run stopped early; empty if it did not."""
    shares: int = 1
    """Devices that the batches were shared out over; rounding depends on how many."""
    data: str = ""
    """Digest of data that came from a user's own files."""

    def write(self, folder: Path) -> None:
        """Replace the manifest of a run directory."""
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        write_atomically(folder / FILE, text.encode())

    def value(self) -> Experiment:
        """The experiment as a value."""
        return from_json(Experiment, self.experiment)


def now() -> str:
    """The time of day, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_manifest(folder: Path) -> Manifest:
    """Read a run's manifest, or say in one line why it is none of ours."""
    path = folder / FILE
    try:
        data = json.loads(path.read_text())
    except FileNotFoundError:
        raise InputError(
            f"run {folder}: no {FILE} here; must be a run of piste"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"manifest {path}: cannot be read ({error})") from None
    found = data.get("format") if isinstance(data, dict) else None
    if found != FORMAT:
        raise InputError(
            f"store {folder}: format = {found}: written by another version of piste; "
            f"must be {FORMAT}; choose another folder with --out"
        )
    try:
        return Manifest(**data)
    except TypeError:
        raise InputError(f"manifest {path}: must be that of a single run") from None
