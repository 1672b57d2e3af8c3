"""Write results: tables, plain data and pictures, for papers and landscapes alike."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from piste.figures import Picture
from piste.store import make_folder, write_atomically

from .displays import Tables


def write_csv(path: Path, table: pd.DataFrame) -> None:
    """Write the rows of a table for a spreadsheet."""
    write_atomically(path, table.to_csv(index=False).encode())


def write_json(path: Path, content: Any) -> None:
    """Write plain data; a number that JSON does not have becomes null."""
    text = json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(path, text.encode())


def write_tables(folder: Path, tables: Tables) -> None:
    """Write every table twice: its rows, and its rows with the caption."""
    make_folder(folder)
    for name, (caption, table) in tables.items():
        write_csv(folder / f"{name}.csv", table)
        content = {"caption": caption, "rows": rows_of(table)}
        write_json(folder / f"{name}.json", content)


def write_pictures(folder: Path, pictures: Mapping[str, Picture]) -> None:
    """Write every picture as PDF and PNG, with its data."""
    for name, picture in pictures.items():
        picture.save(folder, name)


def write_captions(folder: Path, pictures: Mapping[str, Picture]) -> None:
    """Write the caption of every picture beside it."""
    for name, picture in pictures.items():
        write_atomically(folder / f"{name}.txt", f"{picture.caption}\n".encode())


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as plain data."""
    return json.loads(str(table.to_json(orient="records")))


def _finite(content: Any) -> Any:
    """Plain data without numbers that JSON does not have."""
    if isinstance(content, dict):
        return {name: _finite(part) for name, part in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(part) for part in content]
    missing = isinstance(content, float) and not math.isfinite(content)
    return None if missing else content
