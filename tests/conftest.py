"""All tests: float64, and every annotation checked as the package is imported."""

import hypothesis
import jax
import pytest

from support import compiling, shapes

compiling.compile_quickly()
compiling.share_programs()

# Before the first import of the package, so that all of it is checked.
jax.config.update("jax_enable_x64", True)
shapes.check_annotations("piste")

hypothesis.settings.register_profile(
    "fixed", derandomize=True, deadline=None, max_examples=40, database=None
)
hypothesis.settings.load_profile("fixed")


@pytest.fixture(autouse=True, scope="module")
def programs_are_dropped():
    """Compiled programs of a file serve that file: all of them would take gigabytes."""
    yield
    jax.clear_caches()
