"""Exact population losses of decision lists, and training on them.

Read ``cases.py`` first: every exact engine is a table of cases, and differs only in how
it groups the sequences (``listed``, ``reduced``, ``partitions``).
"""

from ._base import AbstractPopulation
from .cases import Cases
from .choose import ENGINES, choose_engine, enumeration_rows, population_loss
from .listed import Listed
from .monte_carlo import Estimate, MonteCarlo
from .partitions import Partitions
from .reduced import Reduced

__all__ = [
    "ENGINES",
    "AbstractPopulation",
    "Cases",
    "Estimate",
    "Listed",
    "MonteCarlo",
    "Partitions",
    "Reduced",
    "choose_engine",
    "enumeration_rows",
    "population_loss",
]
