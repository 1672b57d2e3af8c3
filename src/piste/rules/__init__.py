"""How a model is trained."""

from piste.values import family

from .descent import GD, NormalisedGD, SignGD
from .flow import Flow
from .momentum import Adam, Lion

Rule = SignGD | GD | NormalisedGD | Adam | Lion | Flow

RULES = family(
    {
        "signgd": SignGD,
        "gd": GD,
        "normalised-gd": NormalisedGD,
        "adam": Adam,
        "lion": Lion,
        "flow": Flow,
    }
)

__all__ = ["GD", "RULES", "Adam", "Flow", "Lion", "NormalisedGD", "Rule", "SignGD"]
