"""What is trained, and how it attends."""

from piste.values import family

from .attention import KERNELS, Kernel, attend
from .two_layer import (
    TwoLayer,
    TwoLayerWeights,
    logistic_loss,
    matrix_form,
    scalar_form,
)

Model = TwoLayer

MODELS = family({"two-layer": TwoLayer})

__all__ = [
    "KERNELS",
    "MODELS",
    "Kernel",
    "Model",
    "TwoLayer",
    "TwoLayerWeights",
    "attend",
    "logistic_loss",
    "matrix_form",
    "scalar_form",
]
