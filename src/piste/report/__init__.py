"""One self-contained HTML page for a paper's results."""

from .page import render

__all__ = ["render"]
