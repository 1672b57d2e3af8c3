"""Reproduce a paper: its studies, the evidence that they leave, what is made of it.

Read ``_study.py`` first: what every kind of study can be asked.
"""

from ._study import Description, ProgressCallback, Study, no_progress
from .calculation_study import Calculation, CalculationStudy
from .contents import Contents
from .coverage import Item, coverage_rows, coverage_table
from .describing import describe_run, print_stages, print_verdicts, tally
from .displays import Figure, Table, Tables, draw_figures, make_tables
from .evidence import Datasets, Evidence
from .landscape_study import LandscapeStudy
from .run_study import RunStudy
from .running import (
    Results,
    Verification,
    check_data,
    check_sizes,
    reproduce,
    to_run,
    verify,
)
from .sweep_study import SweepStudy

__all__ = [
    "Calculation",
    "CalculationStudy",
    "Contents",
    "Datasets",
    "Description",
    "Evidence",
    "Figure",
    "Item",
    "LandscapeStudy",
    "ProgressCallback",
    "Results",
    "RunStudy",
    "Study",
    "SweepStudy",
    "Table",
    "Tables",
    "Verification",
    "check_data",
    "check_sizes",
    "coverage_rows",
    "coverage_table",
    "describe_run",
    "draw_figures",
    "make_tables",
    "no_progress",
    "print_stages",
    "print_verdicts",
    "reproduce",
    "tally",
    "to_run",
    "verify",
]
