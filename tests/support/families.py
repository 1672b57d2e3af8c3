"""Forget what a test brings: every family and table as it was before."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from piste import registry
from piste.attention import KERNELS
from piste.brought import PREFIX
from piste.claims import DETECTORS, RUN_CLAIMS
from piste.figures import OVERVIEWS
from piste.installed import bring_members
from piste.models import MODELS
from piste.papers import discovery
from piste.probes import BROUGHT
from piste.rules import RULES
from piste.tasks import TASKS
from piste.training import FORMS

FAMILIES = (KERNELS, MODELS, RULES, TASKS, DETECTORS, RUN_CLAIMS, OVERVIEWS)
TABLES = [family._members for family in FAMILIES]
TABLES += [registry._NAMES, BROUGHT, discovery._FROM_FILES]


@contextmanager
def forgotten() -> Iterator[None]:
    """Whatever is brought inside is gone afterwards, its modules too."""
    bring_members()  # what is installed stays
    before, forms = [dict(table) for table in TABLES], list(FORMS)
    modules = {name for name in sys.modules if name.startswith(PREFIX)}
    try:
        yield
    finally:
        FORMS[:] = forms
        for table, kept in zip(TABLES, before, strict=True):
            table.clear()
            table.update(kept)
        for name in [name for name in sys.modules if name.startswith(PREFIX)]:
            if name not in modules:
                del sys.modules[name]
