"""Decision lists over a vocabulary, and distributions over sequences of tokens."""

from .decision_lists import DISTRIBUTIONS, FEW_SETS, DecisionLists, Instance

__all__ = ["DISTRIBUTIONS", "FEW_SETS", "DecisionLists", "Instance"]
