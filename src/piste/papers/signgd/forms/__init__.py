"""Arithmetics of two-token models; ``assembly.py`` says when each holds."""

from . import assembly as assembly
from .labelled_images import ImageClassifierForm
from .stack import StackForm
from .two_layer import FullForm, GramForm, ReducedWeights, SupportForm

__all__ = [
    "FullForm",
    "GramForm",
    "ImageClassifierForm",
    "ReducedWeights",
    "StackForm",
    "SupportForm",
]
