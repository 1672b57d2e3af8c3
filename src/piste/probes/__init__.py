"""What is measured while a model trains; ``_base.py`` is the contract of a probe."""

from ._base import BROUGHT, OFTEN, RARELY, Probe, probe

__all__ = ["BROUGHT", "OFTEN", "RARELY", "Probe", "probe"]
