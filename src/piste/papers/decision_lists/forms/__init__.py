"""Exact population losses of decision lists, and training on them.

Read ``cases.py`` first: every exact engine is a table of cases, and differs only in how
it groups the sequences (``listed``, ``reduced``, ``partitions``). ``perfection`` follows
the gradient flow of Theorem 1, ``descent`` gradient descent on $W$ or on $W$ and $V$.
"""

from . import assembly as assembly
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
    AbstractLoss,
    AttentionLoss,
    Descent,
    JointLoss,
    descend,
    descend_to_perfection,
    descend_with,
    look,
)
from .listed import Listed
from .monte_carlo import Estimate, MonteCarlo
from .partitions import Partitions
from .perfection import (
    FlowData,
    Perfection,
    Problem,
    attention_gradient,
    common_sizes,
    first_perfect,
    lead,
    margins_at,
    scores_at,
)
from .reduced import Reduced

__all__ = [
    "ENGINES",
    "AbstractLoss",
    "AbstractPopulation",
    "AttentionLoss",
    "Cases",
    "Descent",
    "Estimate",
    "FlowData",
    "JointLoss",
    "Listed",
    "MonteCarlo",
    "Partitions",
    "Perfection",
    "Problem",
    "Reduced",
    "attention_gradient",
    "choose_engine",
    "common_sizes",
    "descend",
    "descend_to_perfection",
    "descend_with",
    "enumeration_rows",
    "exact_loss",
    "first_perfect",
    "lead",
    "look",
    "margins_at",
    "population_loss",
    "scores_at",
]
