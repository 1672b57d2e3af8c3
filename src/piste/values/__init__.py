"""Frozen values: what an experiment is made of, with checks, JSON and overrides.

A *value* is a frozen dataclass that JAX treats as a tree: its floats are leaves
(traced, so a sweep over them compiles once), everything else is static. The same
dotted names address its fields in Python, in JSON and on the command line.

Why not a library: tyro turns a choice of class into a subcommand, and chz wants
``rule=adam`` without dashes; neither answers a mistake with one line in our form.
"""

from ._fields import LARGEST, has_default, option, register, value
from ._json import digest, from_json, to_json, unknown_field
from ._override import ChangeResult, change, fields_of, override

__all__ = [
    "LARGEST",
    "ChangeResult",
    "change",
    "digest",
    "fields_of",
    "from_json",
    "has_default",
    "option",
    "override",
    "register",
    "to_json",
    "unknown_field",
    "value",
]
