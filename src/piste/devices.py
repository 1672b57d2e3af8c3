"""What this machine has for a run: cores, devices, free memory, room on the disk."""

import os
import shutil
from pathlib import Path

PLATFORMS = "JAX_PLATFORMS"
"""The variable that tells JAX which kind of device to use."""


def cores() -> int:
    """The cores that this process may use: fewer than there are in many containers."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_device_per_core(maximum: int = 8) -> None:
    """Split the host into a device for each core; nothing if JAX has begun to compute.

    Training on batches of sequences uses them. Other work runs on one device, whose
    operations use all cores by themselves; so this is for classifiers alone.
    """
    import jax

    try:
        jax.config.update("jax_num_cpu_devices", min(cores(), maximum))
    except RuntimeError:
        pass


def missing_platform() -> str:
    """The kind of device that the user asked JAX for and this machine lacks, if any."""
    asked = os.environ.get(PLATFORMS, "")
    if asked in ("", "cpu"):
        return ""  # always there, and asking JAX would settle how many devices it has
    import jax

    try:
        jax.devices()
    except Exception:  # of several types, by platform and version
        return asked
    return ""


# --- memory ---------------------------------------------------------------------------


def free_memory(root: Path = Path("/")) -> int | None:
    """Bytes that can still be had: of the machine, and of the group that limits us.

    None where the system does not tell. ``root`` is where its files are.
    """
    known = [_of_machine(root), *_of_groups(root)]
    return min((free for free in known if free is not None), default=None)


def _of_machine(root: Path) -> int | None:
    found = _numbers(root / "proc/meminfo")
    if "MemAvailable:" in found:
        # /proc/meminfo counts in units of 1,024 bytes.
        return 1024 * (found["MemAvailable:"] + found.get("SwapFree:", 0))
    try:  # macOS tells how much there is, not how much is free
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


GROUPS = {
    "sys/fs/cgroup": ("memory.max", "memory.current", "inactive_file"),
    "sys/fs/cgroup/memory": (
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
}
"""Where Linux keeps groups of processes, versions 2 and 1: the files with the limit and
with what is used, and the name of what of that can be given back at once."""


def _of_groups(root: Path) -> list[int]:
    """What is free in our group of processes, and in all groups around it."""
    free = []
    for mount, (limit, used, cached) in GROUPS.items():
        for path in _own_groups(root, version=1 if mount.endswith("memory") else 2):
            folder = root / mount / path
            most, now = _number(folder / limit), _number(folder / used)
            if most is not None and now is not None:
                back = _numbers(folder / "memory.stat").get(cached, 0)
                free.append(max(0, most - now + back))
    return free


def _own_groups(root: Path, version: int) -> list[Path]:
    """Our group and those around it, from its line ``number:controllers:/path``."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = (line + "::").split(":")[:3]
        if (version == 2) == (controllers == "") and (
            version == 2 or "memory" in controllers.split(",")
        ):
            own = Path(path.lstrip("/"))
            return [own, *own.parents]
    return [Path()]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdecimal() else None  # "max" is no limit


def _numbers(path: Path) -> dict[str, int]:
    """The lines ``name number …`` of a file."""
    lines = (line.split() for line in _text(path).splitlines())
    return {
        line[0]: int(line[1]) for line in lines if len(line) > 1 and line[1].isdecimal()
    }


# --- disk -----------------------------------------------------------------------------


def free_disk(folder: Path) -> int | None:
    """Bytes of room where a folder is, or will be; None where the system does not tell."""
    for place in (folder, *folder.absolute().parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return None
