"""The paper's two-layer transformer, stacks of it, and two small classifiers."""

from .patch_transformer import PatchTransformer, PatchWeights
from .small_cnn import CNNWeights, SmallCNN
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
    "CNNWeights",
    "HiddenWeights",
    "LayerView",
    "PatchTransformer",
    "PatchWeights",
    "SmallCNN",
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
