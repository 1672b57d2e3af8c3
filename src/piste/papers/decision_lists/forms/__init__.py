"""Exact population losses of decision lists, and training on them.

Read ``cases.py`` first: every exact population is a table of cases, and they differ only
in how they group the sequences (``listed``, ``reduced``, ``partitions``).
``flow_problem``, ``perfection`` and ``flow_records`` follow the gradient flow of
Theorem 1, ``descent`` is gradient descent on $W$ or on $W$ and $V$.
"""

from . import assembly as assembly  # registers the forms
from ._base import AbstractPopulation
from .cases import Cases
from .choose import (
    POPULATION_FORMS,
    choose_population_form,
    enumeration_rows,
    exact_loss,
    listed_loss,
    population_loss,
)
from .descent import (
    AbstractLoss,
    AttentionLoss,
    Descent,
    JointLoss,
    descend_at,
    descend_to_perfection,
    descent_states,
)
from .flow_problem import (
    EVENT_MARGIN,
    FlowData,
    Problem,
    attention_gradient,
    common_sizes,
    event_height,
)
from .flow_records import margins_at, scores_at
from .listed import ListedPopulation
from .monte_carlo import Estimate, MonteCarlo
from .partitions import PartitionPopulation
from .perfection import PERFECT, Perfection, first_perfect
from .reduced import ReducedPopulation

__all__ = [
    "EVENT_MARGIN",
    "PERFECT",
    "POPULATION_FORMS",
    "AbstractLoss",
    "AbstractPopulation",
    "AttentionLoss",
    "Cases",
    "Descent",
    "Estimate",
    "FlowData",
    "JointLoss",
    "ListedPopulation",
    "MonteCarlo",
    "PartitionPopulation",
    "Perfection",
    "Problem",
    "ReducedPopulation",
    "attention_gradient",
    "choose_population_form",
    "common_sizes",
    "descend_at",
    "descend_to_perfection",
    "descent_states",
    "enumeration_rows",
    "event_height",
    "exact_loss",
    "first_perfect",
    "listed_loss",
    "margins_at",
    "population_loss",
    "scores_at",
]
