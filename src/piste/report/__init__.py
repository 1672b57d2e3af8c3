"""One self-contained HTML page for a paper's results."""

from .page import render, write_page

__all__ = ["render", "write_page"]
