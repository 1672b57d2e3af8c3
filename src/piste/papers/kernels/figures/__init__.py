"""The paper's figures: ``declared.py`` says which, the others draw them."""

from .declared import FIGURES

__all__ = ["FIGURES"]
