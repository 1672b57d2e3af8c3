"""Compiled programs: kept on disk between commands, and in memory while they are used."""

import contextlib
import ctypes
import gc

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


def free_memory(programs: bool = True) -> None:
    """Give what is free back to the system, and drop compiled programs.

    The C library keeps what was freed, and JAX every program that it has compiled, a few
    of which are 100 MB. To be called between things that share no program; what is
    needed again is read from the cache on disk.
    """
    if programs:
        jax.clear_caches()
    gc.collect()  # JAX's arrays are large, and Python sees only small objects
    with contextlib.suppress(OSError, AttributeError):  # a C library other than glibc
        ctypes.CDLL(None).malloc_trim(0)


LARGE_BLOCK = 2**20
_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of glibc's malloc.h


def return_freed_memory() -> None:
    """Let the C library give blocks of a megabyte back as soon as they are free.

    By default it learns to keep ever larger ones, up to 32 MB each, for every thread.
    """
    with contextlib.suppress(OSError, AttributeError):  # a C library other than glibc
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, LARGE_BLOCK)
