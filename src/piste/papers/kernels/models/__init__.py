"""The layer of the theorems, and what the classifier is compared with on images."""

from .kernel_layer import (
    MATRICES,
    SUBSETS,
    KernelLayer,
    KernelWeights,
    attention,
    draw_data_and_weights,
    features,
    multi_head,
    squared_loss,
    teacher_key,
    teacher_weights,
)
from .pixel_mlp import PixelMLP, PixelWeights

__all__ = [
    "MATRICES",
    "SUBSETS",
    "KernelLayer",
    "KernelWeights",
    "PixelMLP",
    "PixelWeights",
    "attention",
    "draw_data_and_weights",
    "features",
    "multi_head",
    "squared_loss",
    "teacher_key",
    "teacher_weights",
]
