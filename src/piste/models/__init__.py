"""What is trained, and how it attends; ``_base.py`` is the contract of a model."""

from ._base import MODELS, AbstractModel, model
from .attention import (
    KERNELS,
    Kernel,
    KernelFunction,
    attend,
    kernel,
    two_key_softmax,
)
from .classifier import Classifier, ClassifierWeights
from .kernel_layer import KernelLayer, KernelWeights
from .one_hot import OneHot, OneHotWeights
from .stack import (
    HiddenWeights,
    LayerView,
    Stack,
    StackWeights,
    by_head,
    layer_norm,
    stack_form,
)
from .two_layer import (
    TwoLayer,
    TwoLayerWeights,
    logistic_loss,
    matrix_form,
    scalar_form,
)

__all__ = [
    "KERNELS",
    "MODELS",
    "AbstractModel",
    "Classifier",
    "ClassifierWeights",
    "HiddenWeights",
    "Kernel",
    "KernelFunction",
    "KernelLayer",
    "KernelWeights",
    "LayerView",
    "OneHot",
    "OneHotWeights",
    "Stack",
    "StackWeights",
    "TwoLayer",
    "TwoLayerWeights",
    "attend",
    "by_head",
    "kernel",
    "layer_norm",
    "logistic_loss",
    "matrix_form",
    "model",
    "scalar_form",
    "stack_form",
    "two_key_softmax",
]
