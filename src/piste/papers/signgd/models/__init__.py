"""The paper's two-layer transformer, and stacks of such layers beyond it."""

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
    "HiddenWeights",
    "LayerView",
    "Stack",
    "StackWeights",
    "TwoLayer",
    "TwoLayerWeights",
    "by_head",
    "layer_norm",
    "logistic_loss",
    "matrix_form",
    "scalar_form",
    "stack_form",
]
