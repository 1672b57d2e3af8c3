"""What several test modules share."""

from .shapes import checker

__all__ = ["checker"]
