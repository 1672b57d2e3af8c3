"""Compiled programs are kept between commands, so that the second one starts at once."""

import jax
import platformdirs


def keep_compiled_programs() -> None:
    """Use the user's cache folder, unless JAX has been given one or it cannot be made."""
    if jax.config.values.get("jax_compilation_cache_dir"):
        return
    folder = platformdirs.user_cache_path("piste") / "xla"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)
