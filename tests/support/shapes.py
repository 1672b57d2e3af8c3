"""The type checker behind the annotations, while tests run."""

import functools
import inspect
import typing
from typing import Annotated, Any

import jaxtyping
from beartype import BeartypeConf, FrozenDict, beartype
from beartype.vale import Is
from jaxtyping import _decorator

# A value checks its own numbers, and JAX rebuilds it around tracers and placeholders.
# (A plain ``Any`` would do, but beartype does not take it inside a union.)
ANYTHING = Annotated[object, Is[lambda _: True]]
NUMBERS = FrozenDict({float: ANYTHING, int: ANYTHING})

# A TypeError, as jaxtyping's is: what reads a stranger's file expects one.
checker = beartype(conf=BeartypeConf(hint_overrides=NUMBERS, violation_type=TypeError))

_with_shapes = _decorator.jaxtyped


def check_annotations(package: str) -> None:
    """Check every annotation of a package that is imported afterwards.

    Names of axes are compared in the functions that have some. Around all others
    jaxtyping would do the same work, thirty times that of the check itself.
    """
    jaxtyping.jaxtyped = _decorator.jaxtyped = _checked
    jaxtyping.install_import_hook(package, "support.checker")


def _checked(*code: Any, **options: Any) -> Any:
    """What jaxtyping's decorator gives; for a function without axes the checker's."""
    if not code:
        return functools.partial(_checked, **options)
    typechecker = options.get("typechecker")
    if typechecker is None or not inspect.isfunction(code[0]):
        return _with_shapes(*code, **options)
    hints = code[0].__annotations__.values()
    if any(map(may_have_axes, hints)):
        return _with_shapes(*code, **options)
    return typechecker(code[0])


def may_have_axes(hint: Any) -> bool:
    """Whether an annotation names axes of an array, or cannot be read yet.

    >>> may_have_axes(tuple[int, str]), may_have_axes("Weights")
    (False, True)
    >>> may_have_axes(list[jaxtyping.Float[jaxtyping.Array, "row"]])
    True
    """
    if isinstance(hint, str):
        return True
    if isinstance(hint, (list, tuple)):
        return any(map(may_have_axes, hint))
    homes = getattr(hint, "__module__", ""), type(hint).__module__
    if any(str(home).split(".")[0] == "jaxtyping" for home in homes):
        return True
    return any(map(may_have_axes, typing.get_args(hint)))
