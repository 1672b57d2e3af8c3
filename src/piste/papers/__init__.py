"""Papers: the only place that knows their names."""

from ._base import Paper, Preset, Study, find_paper, papers, preset

__all__ = ["Paper", "Preset", "Study", "find_paper", "papers", "preset"]
