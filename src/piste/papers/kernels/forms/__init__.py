"""Forms of the multi-head layer on token regression."""

from .regression import RegressionForm

__all__ = ["RegressionForm"]
