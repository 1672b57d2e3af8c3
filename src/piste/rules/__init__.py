"""How a model is trained; ``_base.py`` is the contract of a rule."""

from ._base import RULES, AbstractDescent, AbstractRule, rule
from .descent import GD, NormalisedGD, SignGD
from .flow import Flow
from .momentum import Adam, Lion

__all__ = [
    "GD",
    "RULES",
    "AbstractDescent",
    "AbstractRule",
    "Adam",
    "Flow",
    "Lion",
    "NormalisedGD",
    "SignGD",
    "rule",
]
