"""Files of a user, imported for one test and forgotten after it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from piste.brought import PREFIX
from piste.dynamics import FORMS
from piste.models import KERNELS, MODELS
from piste.papers import discovery
from piste.probes import BROUGHT
from piste.rules import RULES
from piste.tasks import TASKS


@contextmanager
def forgotten() -> Iterator[None]:
    """Take out again what is added to the families and papers inside."""
    families = (TASKS, MODELS, RULES, KERNELS)
    before = [set(family) for family in families]
    forms, probes = len(FORMS), {kind: dict(each) for kind, each in BROUGHT.items()}
    files = discovery._FROM_FILES.copy()
    modules = {name for name in sys.modules if name.startswith(PREFIX)}
    try:
        yield
    finally:
        for family, names in zip(families, before, strict=True):
            for name in set(family) - names:
                family.remove(name)
        del FORMS[forms:]
        BROUGHT.clear()
        BROUGHT.update(probes)
        discovery._FROM_FILES.clear()
        discovery._FROM_FILES.update(files)
        for name in [name for name in sys.modules if name.startswith(PREFIX)]:
            if name not in modules:
                del sys.modules[name]
