"""Grids of experiments in compiled batches."""

from .grid import Cell, Sweep
from .local import batch_places, run_batch, run_sweep

__all__ = ["Cell", "Sweep", "batch_places", "run_batch", "run_sweep"]
