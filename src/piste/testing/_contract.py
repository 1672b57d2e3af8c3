"""What several contract tests need: requirements, values, trees of arrays."""

import dataclasses
from typing import Any

import jax
import numpy as np

from piste.errors import InputError, reason
from piste.registry import family_of, name_of
from piste.values import digest, from_json, to_json

from ._close import assert_close


def require(holds: bool, sentence: str) -> None:
    """Raise an AssertionError with a sentence unless something holds."""
    if not holds:
        raise AssertionError(sentence)


def same(actual: Any, desired: Any, sentence: str, slack: float = 10.0) -> None:
    """Require two trees to agree; the sentence is followed by the worst place."""
    try:
        assert_close(actual, desired, slack=slack)
    except AssertionError as error:
        where = " ".join(str(error).split())
        raise AssertionError(f"{sentence} ({where})") from None


def alike(one: Any, other: Any) -> bool:
    """Whether two trees have the same bits."""
    leaves, tree = jax.tree.flatten(one)
    others, other_tree = jax.tree.flatten(other)
    if tree != other_tree:
        return False
    pairs = zip(leaves, others, strict=True)
    return all(_same_array(np.asarray(x), np.asarray(y)) for x, y in pairs)


def _same_array(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return one.tobytes() == other.tobytes()


def dtypes_of(tree: Any) -> set[str]:
    """The floating-point types in a tree."""
    kinds = [np.asarray(leaf).dtype for leaf in plain_leaves(tree)]
    return {kind.name for kind in kinds if np.issubdtype(kind, np.inexact)}


def plain_leaves(tree: Any) -> list[Any]:
    """All leaves that are numbers; random keys are none."""
    leaves = jax.tree.leaves(tree)
    return [x for x in leaves if not is_key(x)]


def is_key(leaf: Any) -> bool:
    """Whether a leaf is a random key of JAX."""
    kind = getattr(leaf, "dtype", None)
    return kind is not None and jax.numpy.issubdtype(kind, jax.dtypes.prng_key)


def finite(tree: Any) -> bool:
    """Whether all numbers of a tree are finite."""
    return all(np.isfinite(np.asarray(leaf)).all() for leaf in plain_leaves(tree))


def check_member(given: Any, base: type) -> str:
    """Require a value of a family that is frozen and survives JSON; returns its name."""
    family = family_of(base)
    assert family is not None
    noun, kind = family.noun, type(given).__name__
    require(
        isinstance(given, base),
        f"{noun} {kind}: does not inherit from {base.__name__}",
    )
    name = name_of(given)
    known = bool(name) and family.get(name) is type(given)
    require(known, f"{noun} {kind}: is not known by a name; decorate it with @{noun}")
    about = f"{noun} {name}"
    _check_frozen(given, about)
    _check_json(given, base, about)
    return about


def _check_frozen(given: Any, about: str) -> None:
    for field in dataclasses.fields(given):
        try:
            setattr(given, field.name, getattr(given, field.name))
        except dataclasses.FrozenInstanceError:
            continue
        raise AssertionError(f"{about}: is not frozen; its fields can be assigned")
    try:
        hash(given)
    except TypeError as error:
        raise AssertionError(f"{about}: cannot be hashed ({reason(error)})") from None


def _check_json(given: Any, base: type, about: str) -> None:
    try:
        back = from_json(base, to_json(given))
    except InputError as error:
        raise AssertionError(f"{about}: its JSON cannot be read ({error})") from None
    kept = back == given and type(back) is type(given) and digest(back) == digest(given)
    require(kept, f"{about}: JSON brings back {back}, which is not {given}")
