"""The format of what is on disk: one number, and a refusal of every other one."""

import functools
import json
import re
import stat
from pathlib import Path
from typing import Any

from piste.errors import InputError, shown

FORMAT = 3
"""Number of the layout of a folder; raised whenever a name or an array changes there."""

FILE = "manifest.json"

_RESULT = re.compile(r".+-[0-9a-f]{8}(-[0-9a-f]{8})?(\.partial)?")
"""Names of folders of results; in format 1 an address had one part."""


def format_error(folder: Path, found: Any) -> InputError:
    """Word the refusal of a result of another format."""
    return InputError(
        f"store {folder}: format = {shown(found)}: written by another version of piste, "
        f"and this one reads format {FORMAT}; keep it with the piste that wrote it, "
        "and give another folder with --out"
    )


def refuse_other_formats(root: Path) -> None:
    """Refuse a folder that holds a result of another format, whatever its experiment.

    New results beside it would pass for all there is, and the old ones for lost.
    """
    for folder in sorted(root.glob("*-*")):
        if _RESULT.fullmatch(folder.name):
            found = _stored_format(folder / FILE)
            if found not in (None, FORMAT):
                raise format_error(folder, found)


def _stored_format(path: Path) -> int | None:
    """Read the number in a manifest; None where there is no manifest or no number."""
    try:
        facts = path.stat()
        # A pipe would wait for its writer.
        regular = stat.S_ISREG(facts.st_mode)
        return _read(path, facts.st_mtime_ns, facts.st_size) if regular else None
    except OSError:  # not there, or renamed meanwhile by another process
        return None


@functools.lru_cache(maxsize=4096)
def _read(path: Path, modified: int, size: int) -> int | None:
    """Read it once for each state of the file: many are asked about the same folder."""
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError):  # damaged; whoever needs it says so
        return None
    found = data.get("format") if isinstance(data, dict) else None
    return found if type(found) is int else None
