"""One device for every core: what training on batches of sequences can use.

Other work runs on one device, whose operations use all cores by themselves; so this is
for classifiers, and must come before anything is computed.
"""

import os


def one_device_a_core(most: int = 8) -> None:
    """Split the host into a device for each core; nothing if JAX has begun to compute."""
    import jax

    cores = min(len(os.sched_getaffinity(0)), most) if _linux() else os.cpu_count() or 1
    try:
        jax.config.update("jax_num_cpu_devices", cores)
    except RuntimeError:
        pass


def _linux() -> bool:
    return hasattr(os, "sched_getaffinity")
