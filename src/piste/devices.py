"""One device for every core: what training on batches of sequences can use.

Other work runs on one device, whose operations use all cores by themselves; so this is
for classifiers, and must come before anything is computed.
"""

import os


def one_device_a_core(most: int = 8) -> None:
    """Split the host into a device for each core; nothing if JAX has begun to compute."""
    import jax

    try:
        jax.config.update("jax_num_cpu_devices", min(_cores(), most))
    except RuntimeError:
        pass


def _cores() -> int:
    """The cores that this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
