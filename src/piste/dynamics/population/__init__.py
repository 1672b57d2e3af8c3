"""Exact population losses of decision lists, and training on them.

Read ``cases.py`` first: every exact engine is a table of cases, and differs only in how
it groups the sequences (``listed``, ``reduced``, ``partitions``). ``perfection`` follows
the gradient flow of Theorem 1, ``descent`` the gradient descent of Theorem 2.
"""

from ._base import AbstractPopulation
from .cases import Cases
from .choose import (
    ENGINES,
    choose_engine,
    enumeration_rows,
    exact_loss,
    population_loss,
)
from .descent import (
    Descent,
    descend,
    descend_to_perfection,
    descend_with,
    largest_curvature,
    least_margin,
)
from .listed import Listed
from .monte_carlo import Estimate, MonteCarlo
from .partitions import Partitions
from .perfection import (
    FlowData,
    Perfection,
    Problem,
    attention_gradient,
    first_perfect,
    lead,
    margins_at,
)
from .reduced import Reduced

__all__ = [
    "ENGINES",
    "AbstractPopulation",
    "Cases",
    "Descent",
    "Estimate",
    "FlowData",
    "Listed",
    "MonteCarlo",
    "Partitions",
    "Perfection",
    "Problem",
    "Reduced",
    "attention_gradient",
    "choose_engine",
    "descend",
    "descend_to_perfection",
    "descend_with",
    "enumeration_rows",
    "exact_loss",
    "first_perfect",
    "largest_curvature",
    "lead",
    "least_margin",
    "margins_at",
    "population_loss",
]
