"""What a folder of the store says about itself."""

import dataclasses
import functools
import os
import platform
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax

import piste
from piste.devices import cores
from piste.errors import InputError
from piste.experiment import Experiment
from piste.values import from_json

from .formats import FILE, FORMAT, format_error, refuse_other_formats
from .inputs import Inputs
from .sealed import Files, damaged, file_digest, seal_json, unseal_json

RUN, PARTS, STAGE = "run", "parts", "stage"
"""Kinds of results: a run, a result in parts, a second stage of training."""


def environment() -> dict[str, Any]:
    """Versions, device and cores: what besides the experiment can change a bit."""
    return {
        "versions": dict(_versions()),
        "source": source_digest(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": str(jax.devices()[0].device_kind),
        "cores": cores(),
        "devices": len(jax.devices()),
    }


@functools.cache
def _versions() -> dict[str, str]:
    packages = ("piste", "jax", "jaxlib", "optax", "numpy")
    return {name: version(name) for name in packages}


@functools.cache
def source_digest() -> str:
    """Digest of the code of piste: a version may have been edited."""
    folder = Path(str(piste.__file__)).parent
    files = sorted(path for path in folder.rglob("*.py"))
    parts = [f"{path.relative_to(folder)} {file_digest(path)}" for path in files]
    return Inputs(code="\n".join(parts)).digest


def differences(before: dict[str, Any], now: dict[str, Any]) -> str:
    """What differs between two environments, in words; empty if nothing does."""
    old, new = _facts(before), _facts(now)
    changed = [
        f"{name} {old.get(name)} (now {new.get(name)})"
        for name in sorted(old | new)
        if old.get(name) != new.get(name)
    ]
    # A new version of piste has another source: that need not be said as well.
    if len(changed) > 1 and old.get("piste") != new.get("piste"):
        changed = [words for words in changed if not words.startswith("source ")]
    return ", ".join(changed)


def _facts(given: dict[str, Any]) -> dict[str, Any]:
    """One level; how many devices were made of the cores is compared elsewhere."""
    plain = {name: fact for name, fact in given.items() if name != "devices"}
    return plain | plain.pop("versions", {})


@dataclass(frozen=True)
class Manifest:
    """What was run, from which inputs, where and how, and how it ended."""

    name: str
    what: str
    """Digest of what was run: the first part of the folder's address."""
    experiment: Any
    """The experiment, resolved; of other kinds, all that fixes the result."""
    inputs: Inputs
    """Form, data and code: the second part of the address."""
    kind: str = RUN
    format: int = FORMAT
    environments: list[dict[str, Any]] = field(default_factory=lambda: [environment()])
    """Where it ran; more than one if it was resumed in another."""
    started: str = field(default_factory=lambda: now())
    seconds: float = 0.0
    steps: int = 0
    diverged: int = -1
    ended: str = ""
    """Why the run stopped early; empty if it did not."""
    still: int = -1
    """Step of the first record from which on all have the same weights; −1 if none."""
    shares: int = 1
    """Devices that the batches were shared out over; rounding depends on how many."""
    fresh: str = ""
    """A word of its own if it was begun to replace what was there."""
    complete: bool = False
    """Whether nothing is left to run."""
    files: Files = field(default_factory=dict)
    """Size and digest of every file that belongs to what is done."""

    @property
    def environment(self) -> dict[str, Any]:
        """Where it ran last."""
        return self.environments[-1]

    @property
    def form(self) -> str:
        """The arithmetic."""
        return self.inputs.form

    def write(self, folder: Path) -> None:
        """Replace the manifest of a folder."""
        seal_json(folder / FILE, asdict(self))

    def value(self) -> Experiment:
        """The experiment as a value."""
        return from_json(Experiment, self.experiment)

    def resumed(self) -> "Manifest":
        """With the present environment, if it is another than the last one."""
        present = environment()
        if not differences(self.environment, present):
            return self
        together = [*self.environments, present]
        return dataclasses.replace(self, environments=together)

    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the environments, in sentences."""
        found = []
        for before, after in zip(
            self.environments, self.environments[1:], strict=False
        ):
            changed = differences(before, after).replace("(now", "(then")
            found.append(f"it was resumed in another environment: {changed}; {BITS}")
        if changed := differences(self.environment, environment()):
            found.append(f"it was made in another environment: {changed}; {BITS}")
        return tuple(found)


BITS = "bits may differ from those of one uninterrupted run here"


def now() -> str:
    """The time of day, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_manifest(folder: Path, kind: str = RUN) -> Manifest:
    """Read a folder's manifest, or say in one line why it is none of ours."""
    path = folder / FILE
    if not os.path.lexists(path):
        refuse_other_formats(folder)  # it may be a folder of runs, of an older piste
        raise InputError(f"run {folder}: no {FILE} here; must be a run of piste")
    data = unseal_json(path)
    found = data.get("format")
    if found != FORMAT:
        raise format_error(folder, found)
    if data.pop("digest", None) is None:
        raise damaged(path, "is damaged")
    if data.get("kind") != kind:
        raise InputError(f"manifest {path}: must be that of a single {kind}")
    try:
        data["inputs"] = Inputs(**data["inputs"])
        manifest = Manifest(**data)
        _check_types(manifest)
        return manifest
    except (KeyError, TypeError):  # its digest is right, so nothing was damaged
        raise InputError(
            f"store {folder}: has other facts than this version of piste writes; "
            "choose another folder with --out"
        ) from None


def _check_types(manifest: Manifest) -> None:
    """Raise a TypeError where a fact is of another kind than those who read it expect."""
    words = [manifest.name, manifest.what, manifest.kind, manifest.started]
    words += [manifest.ended, manifest.fresh, *vars(manifest.inputs).values()]
    counts = [manifest.steps, manifest.diverged, manifest.still, manifest.shares]
    environments = manifest.environments
    sound = (
        all(isinstance(word, str) for word in words)
        and all(type(count) is int for count in counts)
        and type(manifest.seconds) in (int, float)
        and type(manifest.complete) is bool
        and isinstance(manifest.files, dict)
        and isinstance(environments, list)
        and len(environments) > 0
        and all(_is_environment(each) for each in environments)
    )
    if not sound:
        raise TypeError("a fact of another kind")


def _is_environment(given: Any) -> bool:
    versions = given.get("versions") if isinstance(given, dict) else None
    return isinstance(versions, dict) and "piste" in versions and "device" in given
