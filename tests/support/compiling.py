"""Programs of the tests: compiled quickly, and once for all processes of a run."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile

import jax

# Most of a test's time was the compiler's. XLA's own passes stay on: what they change in
# the arithmetic is tested as users get it.
FLAGS = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
)
START = "import jax; jax.devices()"


def compile_quickly() -> None:
    """Give XLA the flags that it knows, unless it has been given some."""
    if "XLA_FLAGS" not in os.environ:
        os.environ["XLA_FLAGS"] = " ".join(known_flags())


def known_flags(flags: tuple[str, ...] = FLAGS) -> tuple[str, ...]:
    """Those flags that the installed XLA takes; any other would end the process.

    It is asked in a process of its own. Names in its library would not tell: those of
    flags that were taken away stay in it.
    """
    if _starts_with(flags):
        return flags
    return tuple(flag for flag in flags if _starts_with((flag,)))


def _starts_with(flags: tuple[str, ...]) -> bool:
    told = os.environ | {"XLA_FLAGS": " ".join(flags), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", START]
    return subprocess.run(command, env=told, capture_output=True).returncode == 0


def share_programs() -> None:
    """Keep all compiled programs in one folder, for this process and those it starts.

    It ends with the process that made it, so that every run of the tests begins alike.
    """
    if not os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        folder = tempfile.mkdtemp(prefix="piste-programs-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["JAX_COMPILATION_CACHE_DIR"] = folder
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    # JAX read the environment when it was imported.
    folder = os.environ["JAX_COMPILATION_CACHE_DIR"]
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
