"""Papers: the only place that knows their names."""

from piste.papers._base import Paper, Preset, data_at_hand
from piste.papers.discovery import bring_file, find_paper, papers, preset

__all__ = [
    "Paper",
    "Preset",
    "bring_file",
    "data_at_hand",
    "find_paper",
    "papers",
    "preset",
]
