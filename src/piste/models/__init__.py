"""What is trained, and how it attends."""

from piste.values import family

from .attention import KERNELS, Kernel, add_kernel, attend, two_key_softmax
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

Model = TwoLayer | Stack | OneHot | KernelLayer | Classifier

MODELS = family(
    {
        "two-layer": TwoLayer,
        "stack": Stack,
        "one-hot": OneHot,
        "kernel-layer": KernelLayer,
        "classifier": Classifier,
    }
)

__all__ = [
    "KERNELS",
    "MODELS",
    "Classifier",
    "ClassifierWeights",
    "HiddenWeights",
    "Kernel",
    "KernelLayer",
    "KernelWeights",
    "LayerView",
    "Model",
    "OneHot",
    "OneHotWeights",
    "Stack",
    "StackWeights",
    "TwoLayer",
    "TwoLayerWeights",
    "add_kernel",
    "attend",
    "by_head",
    "layer_norm",
    "logistic_loss",
    "matrix_form",
    "scalar_form",
    "stack_form",
    "two_key_softmax",
]
