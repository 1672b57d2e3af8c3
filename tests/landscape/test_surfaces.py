"""Planes, surfaces and metrics on functions whose landscapes are known."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.errors import InputError
from piste.landscape import Plane, Surface, metrics, planes, surface, trajectory
from piste.landscape.matched import match, mismatch
from piste.probes.curvature import top_eigenpairs
from piste.testing import assert_close

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
TREE = {
    "blocks": [{"query": RNG.normal(size=(3, 4)), "key": RNG.normal(size=(3, 4))}],
    "value": RNG.normal(size=(2, 3, 5)),
    "bias": RNG.normal(size=5),
}
PARAMS = jax.tree.map(jnp.asarray, TREE)
AXES = Plane(jnp.zeros(2), jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]))


def bowl(params):
    """Positive definite, with curvatures 1, 2, 3, … along the entries."""
    entries = jnp.concatenate([x.ravel() for x in jax.tree.leaves(params)])
    weights = jnp.arange(1, entries.size + 1, dtype=entries.dtype)
    return (weights * (entries - 0.3) ** 2).sum() / 2


def test_a_quadratic_is_convex_and_explained():
    for plane in (planes.random(PARAMS, key=KEY), planes.qk(PARAMS, key=KEY)):
        found = metrics.measure(surface.compute(bowl, plane, points=11))
        assert found.non_convex == 0 and found.not_finite == 0
        assert abs(found.unexplained) < 1e-20
        assert_close(found.centre_loss, float(bowl(PARAMS)))
        weights = np.arange(1.0, planes.flat(PARAMS).size + 1)
        u, v = planes.flat(plane.first), planes.flat(plane.second)
        small = np.array([[u @ (weights * u), u @ (weights * v)]] * 2)
        small[1] = [u @ (weights * v), v @ (weights * v)]
        ends = found.curvature_least, found.curvature_largest
        assert_close(np.array(ends), np.linalg.eigvalsh(small), slack=1e3)


def test_a_grid_is_the_function_point_by_point():
    def wavy(x):
        return jnp.sin(3 * x[0]) + x[1] ** 3

    seen = []
    found = surface.compute(
        wavy, AXES, 21, 2.0, batch=4, watch=lambda done, total: seen.append(done)
    )
    a, b = np.meshgrid(np.linspace(-2, 2, 21), np.linspace(-2, 2, 21), indexing="ij")
    assert_close(found.loss, np.sin(3 * a) + b**3)
    assert found.axis[10] == 0 and seen == [256, 441]


def test_the_saddle_and_the_waves_are_not_convex():
    saddle = surface.compute(lambda x: x[0] * x[1], AXES, 9)
    found = metrics.measure(saddle)
    assert found.non_convex == 1 and abs(found.unexplained) < 1e-20
    assert found.minima == 0
    assert_close([found.curvature_least, found.curvature_largest], [-1.0, 1.0])
    # cos(πx)cos(πy): minima where one cosine is 1 and the other −1.
    waves = surface.compute(lambda x: jnp.cos(jnp.pi * x).prod(), AXES, 41, 2.0)
    places = [(i, j) for i in range(-2, 3) for j in range(-2, 3) if (i + j) % 2]
    inside = sum(max(abs(i), abs(j)) < 2 for i, j in places)
    assert metrics.interior_minima(waves.loss) == inside
    # By hand: convex where both diagonal terms are positive and win over the mixed one.
    a, b = np.meshgrid(waves.axis[1:-1], waves.axis[1:-1], indexing="ij")
    step = np.pi * 0.1
    same = 2 * (np.cos(step) - 1) * np.cos(np.pi * a) * np.cos(np.pi * b)
    mixed = np.sin(step) ** 2 * np.sin(np.pi * a) * np.sin(np.pi * b)
    convex = same >= np.abs(mixed) - 1e-14
    assert_close(metrics.non_convex_share(waves.loss), 1 - float(convex.mean()))
    assert metrics.measure(waves).unexplained > 0.9


def test_rounding_is_not_curvature():
    flat = Surface(np.linspace(-1, 1, 7), np.full((7, 7), 1e6, np.float32))
    assert metrics.non_convex_share(flat.loss) == 0
    assert metrics.quadratic_residual(flat.loss) == 0
    noisy = flat.loss * (1 + 1e-7 * RNG.uniform(-1, 1, (7, 7))).astype(np.float32)
    assert metrics.non_convex_share(noisy.astype(np.float32)) == 0
    # The very same numbers as exact ones have bumps.
    assert metrics.non_convex_share(noisy.astype(float)) > 0.5


def test_what_is_not_finite_stays_so_and_is_counted():
    def broken(x):
        return jnp.where(x[0] > 0.95, jnp.nan, jnp.where(x[1] > 0.95, jnp.inf, x @ x))

    found = surface.compute(broken, AXES, 21)
    assert np.isnan(found.loss[-1]).all() and np.isposinf(found.loss[:-1, -1]).all()
    said = metrics.measure(found)
    assert said.not_finite == 41 / 441
    assert said.non_convex == 0 and abs(said.unexplained) < 1e-20
    nothing = metrics.measure(Surface(found.axis, np.full((21, 21), np.nan)))
    assert math.isnan(nothing.non_convex) and math.isnan(nothing.unexplained)


def test_precisions():
    plane = planes.random(PARAMS, key=KEY)
    double = surface.compute(bowl, plane, 5)
    single = surface.compute(bowl, plane, 5, precision="float32")
    assert (double.loss.dtype, single.loss.dtype) == (np.float64, np.float32)
    assert_close(single.loss, double.loss)
    with pytest.raises(InputError, match="precision = float16: must be one of"):
        surface.compute(bowl, plane, 5, precision="float16")


@pytest.mark.parametrize(
    ("points", "reach", "message"),
    [
        (50, 1.0, "points = 50: must be odd and at least 5"),
        (3, 1.0, "points = 3: must be odd"),
        (5, 0.0, "reach = 0.0: must be a number above 0"),
        (5, math.nan, "reach = nan: must be a number above 0"),
    ],
)
def test_a_bad_grid(points, reach, message):
    with pytest.raises(InputError, match=message):
        surface.compute(bowl, AXES, points, reach)


# --- planes ---------------------------------------------------------------------------


@pytest.mark.parametrize("over", [-1, -2])
def test_filters_have_the_norms_of_the_weights(over):
    direction = planes.random_direction(PARAMS, key=KEY, over=over)
    assert not direction["bias"].any()
    for d, w in [
        (direction["value"], TREE["value"]),
        (direction["blocks"][0]["key"], TREE["blocks"][0]["key"]),
    ]:
        sizes = [np.sqrt((np.asarray(x) ** 2).sum(over)) for x in (d, w)]
        assert_close(sizes[0], sizes[1])
    # Normalising the weights themselves changes nothing.
    same = planes.filter_normalised(PARAMS, PARAMS, over)
    assert_close(same | {"bias": PARAMS["bias"]}, PARAMS)


def test_the_query_key_plane_moves_nothing_else():
    plane = planes.qk(PARAMS, key=KEY)
    moved = plane.at(1.0, 0.0)
    assert planes.names(PARAMS)[1:3] == ["blocks.0.key", "blocks.0.query"]
    assert (moved["blocks"][0]["query"] != PARAMS["blocks"][0]["query"]).all()
    still = moved["blocks"][0]["key"], moved["value"], moved["bias"]
    truth = PARAMS["blocks"][0]["key"], PARAMS["value"], PARAMS["bias"]
    assert_close(still, truth)
    rule = "plane = qk: there is no trained matrix 'query' among attention, value"
    with pytest.raises(InputError, match=rule):
        planes.qk({"attention": jnp.ones((2, 2)), "value": jnp.ones(2)}, key=KEY)
    with pytest.raises(InputError, match="direction: zero"):
        planes.random({"value": jnp.zeros((2, 2))}, key=KEY)


def test_directions_must_fit():
    with pytest.raises(InputError, match="second: must have the structure"):
        Plane(jnp.zeros(2), jnp.zeros(2), jnp.zeros(3))


def test_a_planar_trajectory_is_explained_and_comes_back():
    u, v = RNG.normal(size=(2, 12))
    away = RNG.normal(size=(9, 2))
    away[-1] = 0
    snapshots = [{"w": jnp.asarray((a * u + b * v).reshape(3, 4))} for a, b in away]
    plane, shares = planes.pca(snapshots)
    assert_close(shares.sum(), 1.0)
    truth = np.linalg.svd(np.stack([planes.flat(s) for s in snapshots]))[1]
    assert_close(shares, (truth**2 / (truth**2).sum())[:2], slack=100)

    def loss(params):
        return (params["w"] ** 2).sum()

    seen = trajectory.project(loss, plane, snapshots)
    assert_close(seen.explained_share, 1.0)
    assert_close(np.abs(seen.coordinates).max(), 1.0)
    assert_close(seen.projected_loss, seen.true_loss, slack=10)
    back = np.stack([planes.flat(plane.at(a, b)) for a, b in seen.coordinates])
    assert_close(back, np.stack([planes.flat(s) for s in snapshots]), slack=10)


def test_what_leaves_the_plane_is_not_explained():
    snapshots = [jnp.array([3.0, 0, 4]), jnp.array([0.0, 0, 0])]
    plane = Plane(jnp.zeros(3), jnp.array([2.0, 0, 0]), jnp.array([1.0, 1, 0]))
    seen = trajectory.project(lambda x: x @ x, plane, snapshots)
    assert_close(seen.coordinates, np.array([[1.5, 0], [0, 0]]))
    assert_close(seen.explained_share, 9 / 25)
    assert_close(seen.true_loss, np.array([25.0, 0]))
    assert_close(seen.projected_loss, np.array([9.0, 0]))
    still = trajectory.project(lambda x: x @ x, plane, snapshots[1:])
    assert math.isnan(still.explained_share)


def test_a_line_is_no_plane():
    line = [jnp.array([1.0, 2.0]) * t for t in (2.0, 1.0, 0.0)]
    with pytest.raises(InputError, match="snapshots: 3 of them.*one line"):
        planes.pca(line)
    with pytest.raises(InputError, match="snapshots: 1 of them"):
        planes.pca(line[:1])


def test_hessian_planes_are_those_of_dense_eigenvectors():
    params = {"query": jnp.asarray(RNG.normal(size=(2, 3))), "value": jnp.ones(2)}

    def loss(params):
        hidden = jnp.tanh(params["query"] @ jnp.arange(3.0))
        return (hidden @ params["value"]) ** 2 + bowl(params)

    def flat_loss(x):
        return loss({"query": x[:6].reshape(2, 3), "value": x[6:]})

    dense = jax.hessian(flat_loss)(jnp.asarray(planes.flat(params)))
    values, vectors = np.linalg.eigh(dense)
    plane, found = planes.hessian(loss, params)
    assert_close(found, values[:-3:-1], slack=100)
    size = np.linalg.norm(planes.flat(params))
    for direction, truth in zip(
        (plane.first, plane.second), vectors.T[:-3:-1], strict=True
    ):
        assert_close(abs(planes.flat(direction) @ truth), size, slack=1e3)


@pytest.mark.parametrize("spectrum", [[5.0, 5, 1], [-3.0, -3, -3], [-1.0, -2, -3]])
def test_double_and_negative_eigenvalues(spectrum):
    scale = jnp.array(spectrum)
    found = top_eigenpairs(lambda x: scale * x, jnp.zeros(3))
    assert_close(jnp.array(found.values), np.sort(spectrum)[:-3:-1])
    vectors = np.stack(found.vectors)
    assert_close(vectors @ vectors.T, np.eye(2))
    assert_close(vectors * scale, vectors * np.array(found.values)[:, None], slack=10)


# --- comparisons ----------------------------------------------------------------------


def test_matched_loss():
    found = match([1.0, 0.5, 0.2, 0.1], [2.0, math.nan, 0.48, 0.4, 0.41])
    assert (found.first, found.second) == (1, 3)
    assert_close(mismatch(found.first_loss, found.second_loss), 0.2)
    assert match([1.0, 1.0], [1.0]).first == 1
    assert mismatch(0.0, 0.0) == 0
    for one, other in ((math.nan, 0.3), (0.3, math.nan), (math.inf, math.inf)):
        assert math.isnan(mismatch(one, other))
    turned = match([2.0, 0.4], [1.0, 0.1])
    assert (turned.first, turned.second) == (1, 1)
    with pytest.raises(InputError, match="second: no finite loss in 2"):
        match([1.0], [math.nan, math.inf])


def test_metrics_are_plain_numbers():
    said = metrics.measure(surface.compute(bowl, planes.qk(PARAMS, key=KEY), 5))
    kinds = {type(part) for part in dataclasses.asdict(said).values()}
    assert kinds <= {float, int}
