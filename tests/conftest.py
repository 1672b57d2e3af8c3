"""All tests: float64, and every annotation checked as the package is imported."""

import os

import hypothesis
import jax
import jaxtyping
import pytest

# Half of a test's time was LLVM's. XLA's own passes stay on: what they change in the
# arithmetic is tested as users get it. XLA_FLAGS of one's own are left alone.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

# Before the first import of the package, so that all of it is checked.
jax.config.update("jax_enable_x64", True)
jaxtyping.install_import_hook("piste", "support.checker")

hypothesis.settings.register_profile(
    "fixed", derandomize=True, deadline=None, max_examples=40, database=None
)
hypothesis.settings.load_profile("fixed")


@pytest.fixture(autouse=True, scope="module")
def programs_are_dropped():
    """Compiled programs of a file serve that file: all of them would take gigabytes."""
    yield
    jax.clear_caches()
