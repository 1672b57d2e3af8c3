"""Forget what a test brings: every family and table as it was before."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from piste import registry
from piste.brought import PREFIX
from piste.claims import DETECTORS, RUN_CLAIMS
from piste.dynamics import FORMS
from piste.models import KERNELS, MODELS
from piste.probes import BROUGHT
from piste.rules import RULES
from piste.tasks import TASKS

TABLES = [family._members for family in (KERNELS, MODELS, RULES, TASKS)]
TABLES += [registry._NAMES, BROUGHT, DETECTORS, RUN_CLAIMS]


@contextmanager
def forgotten() -> Iterator[None]:
    """Whatever is brought inside is gone afterwards, its modules too."""
    before, forms = [dict(table) for table in TABLES], list(FORMS)
    try:
        yield
    finally:
        FORMS[:] = forms
        for table, kept in zip(TABLES, before, strict=True):
            table.clear()
            table.update(kept)
        for name in [name for name in sys.modules if name.startswith(PREFIX)]:
            del sys.modules[name]
