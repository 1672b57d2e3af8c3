"""How queries and keys become weights: kernels, and attention with any of them."""

from .heads import FAST, attend_heads, plain_heads
from .kernels import (
    KERNELS,
    KEY_COUNT,
    KEY_SUM,
    OTHER_KEYS,
    Kernel,
    KernelFunction,
    attend,
    check_normalised,
    kernel,
    normalised_fault,
    softmax,
)

__all__ = [
    "FAST",
    "KERNELS",
    "KEY_COUNT",
    "KEY_SUM",
    "OTHER_KEYS",
    "Kernel",
    "KernelFunction",
    "attend",
    "attend_heads",
    "check_normalised",
    "kernel",
    "normalised_fault",
    "plain_heads",
    "softmax",
]
