"""Grids of experiments in compiled batches."""

from .grid import Cell, Sweep
from .local import run_sweep, sweep_parts

__all__ = ["Cell", "Sweep", "run_sweep", "sweep_parts"]
