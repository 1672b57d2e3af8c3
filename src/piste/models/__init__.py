"""What is trained, and how it attends."""

from piste.values import family

from .attention import KERNELS, Kernel, attend
from .classifier import Classifier, ClassifierWeights, accuracy, cross_entropy, logits
from .stack import HiddenWeights, Stack, StackWeights, layer_norm, stack_form
from .two_layer import (
    TwoLayer,
    TwoLayerWeights,
    logistic_loss,
    matrix_form,
    scalar_form,
)

Model = TwoLayer | Stack

MODELS = family({"two-layer": TwoLayer, "stack": Stack})

__all__ = [
    "KERNELS",
    "MODELS",
    "Classifier",
    "ClassifierWeights",
    "HiddenWeights",
    "Kernel",
    "Model",
    "Stack",
    "StackWeights",
    "TwoLayer",
    "TwoLayerWeights",
    "accuracy",
    "attend",
    "cross_entropy",
    "layer_norm",
    "logistic_loss",
    "logits",
    "matrix_form",
    "scalar_form",
    "stack_form",
]
