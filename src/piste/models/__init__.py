"""What is trained, and how it attends."""

from piste.values import family

from .attention import KERNELS, Kernel, attend
from .one_hot import OneHot, OneHotWeights
from .stack import HiddenWeights, Stack, StackWeights, layer_norm, stack_form
from .two_layer import (
    TwoLayer,
    TwoLayerWeights,
    logistic_loss,
    matrix_form,
    scalar_form,
)

Model = TwoLayer | Stack | OneHot

MODELS = family({"two-layer": TwoLayer, "stack": Stack, "one-hot": OneHot})

__all__ = [
    "KERNELS",
    "MODELS",
    "HiddenWeights",
    "Kernel",
    "Model",
    "OneHot",
    "OneHotWeights",
    "Stack",
    "StackWeights",
    "TwoLayer",
    "TwoLayerWeights",
    "attend",
    "layer_norm",
    "logistic_loss",
    "matrix_form",
    "scalar_form",
    "stack_form",
]
