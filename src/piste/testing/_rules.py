"""The contract of an update rule; what it promises is checked, and nothing else."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from piste.rules import AbstractDescent, AbstractFlow, AbstractRule
from piste.values import has_default

from ._contract import alike, check_member, dtypes_of, finite, is_key, require, same

PROMISES = ("odd", "entrywise", "along_gradient", "equal_steps", "sign_of_gradient")
ROUNDS = 3
"""Updates in a row, so that what a rule remembers is tried too."""

Tree = dict[str, jax.Array]


def check_rule(rule: AbstractRule | type[AbstractRule], *others: AbstractRule) -> None:
    """Check a rule: a value, or a class with its defaults.

    It must be a frozen value that JSON brings back and give an optax transformation that
    keeps the type of numbers, is pure, has arrays alone as its state (which survives a
    trip to the disk, and never changes shape), stays finite without a gradient, works
    under ``jit``, and under ``vmap`` over its floats; other floats must not compile anew.
    What it promises (``odd``, ``entrywise``, ``along_gradient``, ``equal_steps``,
    ``sign_of_gradient``) is checked; what it does not promise is not asked for.

    ``others`` are more settings of the same class, which pass the same tests and must
    give other updates.

    >>> from piste.rules import GD, Adam
    >>> check_rule(GD)
    >>> check_rule(Adam(0.1), Adam(0.1, b1=0.5))
    """
    first = _with_defaults(rule) if isinstance(rule, type) else rule
    about = check_member(first, AbstractRule)
    for promise in PROMISES:
        given = getattr(first, promise)
        text = f"{about}: {promise} = {given!r}; must be True or False"
        require(isinstance(given, bool), text)
    if isinstance(first, AbstractFlow):
        return  # the solver takes the steps; there is no update to test
    text = f"{about}: inherits from neither AbstractDescent nor AbstractFlow"
    require(isinstance(first, AbstractDescent), text)
    assert isinstance(first, AbstractDescent)
    with jax.enable_x64(True):
        for each in (first, *others):
            assert isinstance(each, AbstractDescent)
            check_member(each, AbstractRule)
            _check_update(each, about)
            _check_promises(each, about)
        _check_floats(first, others, about)


def _with_defaults(kind: type[AbstractRule]) -> AbstractRule:
    missing = [f.name for f in dataclasses.fields(kind) if not has_default(f)]
    text = f"rule {kind.__name__}: {', '.join(missing)} has no default"
    require(not missing, f"{text}; check a value of it, such as {kind.__name__}(…)")
    return kind()


# --- gradients ------------------------------------------------------------------------


def _gradient(seed: int, dtype: str = "float64") -> Tree:
    random = np.random.default_rng(seed)
    shapes = {"matrix": (3, 4), "vector": (5,)}
    return {n: jnp.asarray(random.normal(size=s), dtype) for n, s in shapes.items()}


def _gradients(dtype: str = "float64") -> list[Tree]:
    return [_gradient(seed, dtype) for seed in range(ROUNDS)]


def _length(tree: Any) -> jax.Array:
    """The Euclidean norm of all entries together."""
    return jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(tree)))


def _updates(
    rule: AbstractDescent, gradients: list[Any], norm: Callable = _length
) -> list[Any]:
    """What a rule answers to gradients, one after the other."""
    transform, found = rule.transform(norm), []
    params = jax.tree.map(jnp.zeros_like, gradients[0])
    state = transform.init(params)
    for gradient in gradients:
        update, state = transform.update(gradient, state, params)
        params = optax.apply_updates(params, update)
        found.append(update)
    return found


def _scaled(gradients: list[Any], factor: Any) -> list[Any]:
    return jax.tree.map(lambda leaf: factor * leaf, gradients)


# --- what every rule must do ----------------------------------------------------------


def _check_update(rule: AbstractDescent, about: str) -> None:
    transform = rule.transform(_length)
    text = f"{about}: transform gives a {type(transform).__name__}; must be optax's"
    require(isinstance(transform, optax.GradientTransformation), text)
    for dtype in ("float32", "float64"):
        _check_dtype(rule, dtype, about)
    _check_state(transform, about)
    moved = any(
        np.asarray(leaf).any() for leaf in _leaves(_updates(rule, _gradients()))
    )
    require(moved, f"{about}: does not move anything in {ROUNDS} updates")
    still = [jax.tree.map(jnp.zeros_like, _gradient(0))] * ROUNDS
    text = f"{about}: its update is not finite where the gradient is 0"
    require(finite(_updates(rule, still)), text)


def _leaves(trees: list[Any]) -> Iterator[Any]:
    for tree in trees:
        yield from jax.tree.leaves(tree)


def _check_dtype(rule: AbstractDescent, dtype: str, about: str) -> None:
    cast = jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), rule)
    transform, params = cast.transform(_length), _gradient(9, dtype)
    state = transform.init(params)
    for gradient in _gradients(dtype):
        update, state = transform.update(gradient, state, params)
        kinds = dtypes_of(update)
        text = f"{about}: turns gradients in {dtype} into updates in {_listed(kinds)}"
        require(kinds == {dtype}, text)
        leaves = jax.tree.leaves(state)
        arrays = [leaf for leaf in leaves if np.ndim(leaf) and not is_key(leaf)]
        text = f"{about}: remembers {_listed(dtypes_of(arrays))} in a run in {dtype}"
        require(dtypes_of(arrays) <= {dtype}, text)


def _listed(kinds: set[str]) -> str:
    return " and ".join(sorted(kinds))


def _check_state(transform: optax.GradientTransformation, about: str) -> None:
    gradient, params = _gradient(0), _gradient(9)
    first = transform.init(params)
    _, state = transform.update(gradient, first, params)
    for leaf in jax.tree.leaves(state):
        text = f"{about}: its state holds a {type(leaf).__name__}; must be JAX arrays"
        require(isinstance(leaf, jax.Array), text)
        text = f"{about}: its state holds a random key; must be jax.random.key_data"
        require(not is_key(leaf), f"{text} of it, which can be stored")
    text = f"{about}: its state changes its shape or type with the first update"
    require(_form_of(first) == _form_of(state), text)
    kept = jax.tree.map(np.array, state)
    found = transform.update(gradient, state, params)
    text = f"{about}: gives another update when called again; must be pure"
    require(alike(found, transform.update(gradient, state, params)), text)
    require(alike(state, kept), f"{about}: changes the state that it is given")
    text = f"{about}: goes on otherwise from a state that was stored and read"
    read = jax.tree.map(jnp.asarray, kept)
    require(alike(found, transform.update(gradient, read, params)), text)
    compiled = jax.jit(transform.update)(gradient, state, params)
    same(compiled, found, f"{about}: differs under jit")


def _form_of(tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tree)
    return structure, [(np.shape(leaf), str(jnp.result_type(leaf))) for leaf in leaves]


def _check_floats(rule: AbstractDescent, others: tuple, about: str) -> None:
    if not jax.tree.leaves(rule):
        return  # no floats to vary
    several = [rule, *others] if others else [rule, _varied(rule)]
    traces = []

    @jax.jit
    def last_update(rule, gradients):
        traces.append(rule)
        return _updates(rule, gradients)[-1]

    found = [last_update(each, _gradients()) for each in several]
    text = f"{about}: is compiled {len(traces)} times for {len(several)} settings of "
    require(len(traces) == 1, text + "its floats; must not use their values in Python")
    for other in found[1:]:
        text = f"{about}: two settings of its floats give the same update"
        require(not others or not alike(found[0], other), text)
    stacked = jax.tree.map(lambda *leaves: jnp.stack(jnp.asarray(leaves)), *several)
    mapped = jax.vmap(lambda rule: _updates(rule, _gradients())[-1])(stacked)
    one_by_one = jax.tree.map(lambda *leaves: jnp.stack(leaves), *found)
    same(mapped, one_by_one, f"{about}: differs under vmap over its floats")


def _varied(rule: AbstractDescent) -> Any:
    """The same rule as JAX hands it over, so that no limit of a field is in the way."""
    return jax.tree.map(lambda leaf: jnp.asarray(0.9 * leaf), rule)


# --- what some rules promise ----------------------------------------------------------


def _check_promises(rule: AbstractDescent, about: str) -> None:
    if rule.odd:
        _check_odd(rule, f"{about}: promises odd, but")
    if rule.entrywise:
        _check_entrywise(rule, f"{about}: promises entrywise, but")
    if rule.along_gradient:
        _check_along(rule, f"{about}: promises along_gradient, but")
    if rule.equal_steps:
        _check_equal_steps(rule, f"{about}: promises equal_steps, but")
    if rule.sign_of_gradient:
        _check_sign(rule, f"{about}: promises sign_of_gradient, but")


def _check_odd(rule: AbstractDescent, about: str) -> None:
    gradients = _gradients()
    back = _updates(rule, _scaled(gradients, -1))
    text = f"{about} opposite gradients do not give opposite updates"
    require(alike(back, _scaled(_updates(rule, gradients), -1)), text)


def _check_entrywise(rule: AbstractDescent, about: str) -> None:
    gradients = _gradients()
    found = _updates(rule, gradients)
    holed = [g | {"vector": g["vector"].at[1].set(0)} for g in gradients]
    moved = any(float(update["vector"][1]) for update in _updates(rule, holed))
    require(not moved, f"{about} it moves a weight that never had a gradient")
    # All entries of all arrays in the opposite order: none may know its neighbours.
    turned = _updates(rule, [_turned(gradient) for gradient in gradients])
    text = f"{about} an entry's update depends on where it stands among the others"
    same(turned, [_turned(update) for update in found], text)
    # Every entry twice: how the reduced forms count what moves together.
    double = [jax.tree.map(lambda x: jnp.stack([x, x]), g) for g in gradients]
    halved = _updates(rule, gradients, lambda tree: 2**0.5 * _length(tree))
    text = f"{about} it does not measure gradients by the norm that it is given"
    full = [jax.tree.map(lambda x: x[0], update) for update in _updates(rule, double)]
    same(full, halved, text)


def _turned(tree: Tree) -> Tree:
    flat = jnp.concatenate([leaf.ravel() for leaf in tree.values()])[::-1]
    parts = jnp.split(flat, np.cumsum([leaf.size for leaf in tree.values()])[:-1])
    pairs = zip(tree.items(), parts, strict=True)
    return {name: part.reshape(leaf.shape) for (name, leaf), part in pairs}


def _check_along(rule: AbstractDescent, about: str) -> None:
    """Give it coefficients of some matrices instead: it must do the same in them."""
    random = np.random.default_rng(3)
    basis = jnp.asarray(random.normal(size=(3, 2, 4)))
    coefficients = [jnp.asarray(random.normal(size=3)) for _ in range(ROUNDS)]

    def combined(coefficients):
        return jnp.tensordot(coefficients, basis, 1)

    found = _updates(rule, [combined(c) for c in coefficients])
    inside = _updates(rule, coefficients, lambda c: _length(combined(c)))
    text = f"{about} it leaves the span of the gradients that it has seen"
    same(found, [combined(update) for update in inside], text, slack=100)


def _check_equal_steps(rule: AbstractDescent, about: str) -> None:
    scales = 10.0 ** jnp.linspace(-30, 3, 12).reshape(3, 4)
    gradients = [g | {"matrix": scales * g["matrix"]} for g in _gradients()]
    for update in _updates(rule, gradients):
        lengths = np.concatenate([np.abs(leaf).ravel() for leaf in _leaves([update])])
        low, high = lengths.min(), lengths.max()
        text = f"{about} one entry moves by {low:.3g} and another by {high:.3g}"
        require(bool(high - low <= 1e-12 * high), text)


def _check_sign(rule: AbstractDescent, about: str) -> None:
    gradients = _gradients()
    scaled = [
        jax.tree.map(lambda g, size: (10 * jnp.abs(size) + 0.1) * g, gradient, sizes)
        for gradient, sizes in zip(gradients, _gradients()[::-1], strict=True)
    ]
    text = f"{about} gradients of equal signs and other sizes give another update"
    require(alike(_updates(rule, gradients), _updates(rule, scaled)), text)
