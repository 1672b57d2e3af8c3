"""Fixtures of the paper's tests."""

import pytest

from piste.papers.kernels import PAPER


@pytest.fixture
def installed(monkeypatch):
    """The paper as an installed one, whatever the metadata of this environment."""
    monkeypatch.setattr("piste.papers.discovery.papers", lambda: {"kernels": PAPER})
