"""How a model is trained."""

from piste.values import family

from .descent import GD, NormalisedGD, SignGD
from .momentum import Adam, Lion

Rule = SignGD | GD | NormalisedGD | Adam | Lion

RULES = family(
    {
        "signgd": SignGD,
        "gd": GD,
        "normalised-gd": NormalisedGD,
        "adam": Adam,
        "lion": Lion,
    }
)

__all__ = ["GD", "RULES", "Adam", "Lion", "NormalisedGD", "Rule", "SignGD"]
