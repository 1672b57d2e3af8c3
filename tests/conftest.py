"""All tests: float64, and every annotation checked as the package is imported."""

import hypothesis
import jax
import jaxtyping

# Before the first import of the package, so that all of it is checked.
jax.config.update("jax_enable_x64", True)
jaxtyping.install_import_hook("piste", "support.checker")

hypothesis.settings.register_profile(
    "fixed", derandomize=True, deadline=None, max_examples=40, database=None
)
hypothesis.settings.load_profile("fixed")
