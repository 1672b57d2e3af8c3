"""Examples in docstrings are run."""

import doctest
import importlib
import pkgutil

import pytest

import piste

MODULES = [
    module.name for module in pkgutil.walk_packages(piste.__path__, prefix="piste.")
]


@pytest.mark.parametrize("name", ["piste", *MODULES])
def test_examples(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0
