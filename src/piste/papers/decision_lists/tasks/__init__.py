"""Decision lists over a vocabulary, and distributions over sequences of tokens."""

from .decision_lists import DecisionLists, Instance

__all__ = ["DecisionLists", "Instance"]
