"""Planes, surfaces and metrics on functions whose landscapes are known."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.errors import InputError
from piste.landscape import Plane, equal_rise, metrics, planes, projection, surface
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
        lines = np.stack([u, v, (u + v) / 2**0.5, (u - v) / 2**0.5])
        curvatures = (lines**2 * weights).sum(1)
        ends = np.array([found.curvature_min, found.curvature_max]) * found.rise
        assert_close(ends, np.array([min(curvatures), max(curvatures)]), slack=1e3)


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
    with pytest.raises(InputError, match="are all zero, so they have no direction"):
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

    seen = projection.project(loss, plane, snapshots)
    assert_close(seen.explained_share, 1.0)
    assert_close(np.abs(seen.coordinates).max(), 1.0)
    assert_close(seen.projected_loss, seen.true_loss, slack=10)
    back = np.stack([planes.flat(plane.at(a, b)) for a, b in seen.coordinates])
    assert_close(back, np.stack([planes.flat(s) for s in snapshots]), slack=10)


def test_what_leaves_the_plane_is_not_explained():
    snapshots = [jnp.array([3.0, 0, 4]), jnp.array([0.0, 0, 0])]
    plane = Plane(jnp.zeros(3), jnp.array([2.0, 0, 0]), jnp.array([1.0, 1, 0]))
    seen = projection.project(lambda x: x @ x, plane, snapshots)
    assert_close(seen.coordinates, np.array([[1.5, 0], [0, 0]]))
    assert_close(seen.explained_share, 9 / 25)
    assert_close(seen.true_loss, np.array([25.0, 0]))
    assert_close(seen.projected_loss, np.array([9.0, 0]))
    still = projection.project(lambda x: x @ x, plane, snapshots[1:])
    assert math.isnan(still.explained_share)


def test_a_line_is_no_plane():
    line = [jnp.array([1.0, 2.0]) * t for t in (2.0, 1.0, 0.0)]
    with pytest.raises(InputError, match="snapshots = 3: they lie on one line"):
        planes.pca(line)
    with pytest.raises(InputError, match="snapshots = 1: they lie"):
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
    curves = [1.0, 0.5, 0.2, 0.1], [2.0, math.nan, 0.48, 0.4, 0.41]
    assert match(curves) == [1, 3]
    assert_close(mismatch([0.5, 0.4]), 0.2)
    assert match([[1.0, 1.0], [1.0]]) == [1, 0]
    assert match([[2.0, 0.4], [1.0, 0.1]]) == [1, 1]
    # Three curves: the second stays highest, and the others go back to it.
    assert match([[1.0, 0.6, 0.1], [1.0, 0.5], [0.9, 0.52, 0.0]]) == [1, 1, 1]
    assert mismatch([0.0, 0.0]) == 0
    for pair in ((math.nan, 0.3), (0.3, math.nan), (math.inf, math.inf)):
        assert math.isnan(mismatch(pair))
    with pytest.raises(InputError, match="curve 1: none of its 2 losses is finite"):
        match([[1.0], [math.nan, math.inf]])


def test_the_reach_of_a_rise_is_that_of_the_function():
    def flat_bowl(x):  # on a border of 16 points, the median of a² + b² is 1.25 r²
        return 3 + x @ x

    rises = equal_rise.rises_at(flat_bowl, AXES)
    assert_close(rises, 1.25 * equal_rise.REACHES**2, slack=100)
    for target in (1e-6, 0.01, 0.3, 5.0):
        found = equal_rise.reach_for(rises, target)
        # Below the first reach that is tried, the change is taken for linear.
        near = target < rises[0]
        assert near or abs(found / (target / 1.25) ** 0.5 - 1) < 1e-9
    assert math.isnan(equal_rise.reach_for(rises, 1e3))
    drawn = surface.compute(flat_bowl, AXES, 41, equal_rise.reach_for(rises, 0.3))
    assert abs(metrics.rise(drawn.loss) / 0.3 - 1) < 0.05


def test_a_surface_that_fades_out_never_rises_so_far():
    rises = equal_rise.rises_at(lambda x: 1 - jnp.exp(-x @ x), AXES)
    assert math.isnan(equal_rise.reach_for(rises, 1.1))
    assert 0.5 < equal_rise.reach_for(rises, 0.5) < 1
    # The least reach where the loss comes back: sin(r²) has risen by ½ first at √(π/6).
    waves = equal_rise.rises_at(lambda x: jnp.sin((jnp.abs(x) ** 2).max()), AXES)
    assert abs(equal_rise.reach_for(waves, 0.5) - math.sqrt(math.pi / 6)) < 0.02


def test_metrics_are_plain_numbers():
    said = metrics.measure(surface.compute(bowl, planes.qk(PARAMS, key=KEY), 5))
    kinds = {type(part) for part in dataclasses.asdict(said).values()}
    assert kinds <= {float, int}
