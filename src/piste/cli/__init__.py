"""The command line. Heavy imports wait until a command needs them."""

from .entry import main

__all__ = ["main"]
