"""How rough a surface is, on surfaces whose answer is known."""

import math

import numpy as np
import pytest

from piste.landscape import Surface, metrics
from piste.testing import assert_close

AXIS = np.linspace(-1, 1, 21)
A, B = np.meshgrid(AXIS, AXIS, indexing="ij")
RNG = np.random.default_rng(0)


def measured(loss: np.ndarray) -> metrics.Metrics:
    return metrics.measure(Surface(np.linspace(-1, 1, len(loss)), loss))


def quadratic(angle: float, ratio: float) -> np.ndarray:
    """A bowl, or a saddle, with curvatures 1 and ``ratio`` along turned axes."""
    u = math.cos(angle) * A + math.sin(angle) * B
    v = math.cos(angle) * B - math.sin(angle) * A
    return (u**2 + ratio * v**2) / 2


def largest_of_planes() -> np.ndarray:
    """A random convex function with kinks: the largest of several linear ones."""
    slopes = RNG.normal(size=(5, 3))
    return np.max([s[0] + s[1] * A + s[2] * B for s in slopes], axis=0)


ANGLES = np.linspace(0, np.pi, 7)
CONVEX = {
    "exp": np.exp(A + B),
    "softplus": np.logaddexp(0, 3 * (A + B)),
    "steep exp": np.exp(8 * A - 5 * B),
    "norm": np.hypot(A - 0.13, 0.1 * B),
    "constant": np.full_like(A, 3.0),
    "zero": np.zeros_like(A),
    "linear": 2 * A - B,
    **{f"bowl at {t:.2f}": quadratic(t, 3.0) for t in ANGLES},
    **{f"narrow bowl at {t:.2f}": quadratic(t, 1e-6) for t in ANGLES},
    **{f"planes {n}": largest_of_planes() for n in range(10)},
}


@pytest.mark.parametrize("name", CONVEX)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_convex_surface_is_never_non_convex(name, dtype):
    found = measured(CONVEX[name].astype(dtype))
    assert found.non_convex == 0 and found.negative_curvature == 0
    assert found.not_finite == 0


def test_the_same_surfaces_turned_over_bend_down():
    for name in ("exp", "softplus", "norm", "bowl at 0.00"):
        assert measured(-CONVEX[name]).non_convex > 0.9, name


def test_what_is_straight_along_a_line_is_called_flat():
    # Along a − b neither bends, so rounding decides which sign the difference has.
    assert measured(np.exp(A + B)).flat == 1
    for name in ("constant", "zero", "linear"):
        assert measured(CONVEX[name]).flat == 1
    assert measured(quadratic(0.3, 3.0)).flat == 0


def test_a_saddle_bends_down_everywhere():
    found = measured(A * B)
    # Least along a − b: the curvature −1. On the border |ab| is |a| or |b|: median ½.
    assert found.non_convex == 1 and found.flat == 0 and found.minima == 0
    assert_close(found.rise, 0.5, slack=10)
    assert_close(found.negative_curvature, 2.0, slack=10)
    assert_close([found.curvature_min, found.curvature_max], [-2.0, 2.0], slack=10)
    assert abs(found.unexplained) < 1e-20


@pytest.mark.parametrize("angle", ANGLES)
def test_four_lines_see_all_but_faint_saddles(angle):
    """Between two lines, 22.5° from either, a sixth of the curvature upwards hides."""
    assert measured(quadratic(angle, -0.18)).non_convex == 1
    hidden = measured(quadratic(np.pi / 8, -0.16))
    assert hidden.non_convex == 0


@pytest.mark.parametrize("waves", [1.0, 2.5, 6.0])
def test_ripples_bend_down_where_they_are_high(waves):
    found = measured(np.sin(waves * A + 0.43))
    # A function of a alone: all lines but b see the difference −4 sin²(ωh/2) sin(ωa).
    height = np.sin(waves * AXIS[1:-1] + 0.43)
    assert found.non_convex == (height > 0).mean()
    step = AXIS[1] - AXIS[0]
    bend = 4 * np.sin(waves * step / 2) ** 2 * np.maximum(height, 0) / step**2
    assert_close(found.negative_curvature, bend.mean() / found.rise, slack=100)


def test_ripples_on_a_bowl_bend_down_from_a_known_height():
    # The curvature 2 of the bowl against 4 sin²(ωh/2)/h² of the ripple at its crest.
    step, waves = AXIS[1] - AXIS[0], 9.0
    critical = 2 / (4 * np.sin(waves * step / 2) ** 2 / step**2)
    shares = [
        measured(A**2 + B**2 + height * critical * np.cos(waves * A)).non_convex
        for height in (0.99, 1.01, 3.0)
    ]
    assert shares[0] == 0 < shares[1] < shares[2]


def test_curvature_is_in_units_of_the_loss():
    bowl = measured(quadratic(0.0, 1.0))
    assert_close([bowl.curvature_min, bowl.curvature_max], [1 / bowl.rise] * 2)
    rough = np.cos(5 * A) * np.cos(4 * B) + A**2
    plain, scaled = measured(rough), measured(7 * rough + 3)
    for name in ("non_convex", "negative_curvature", "unexplained", "curvature_min"):
        assert_close(getattr(scaled, name), getattr(plain, name), slack=1e4)
    assert_close(scaled.rise, 7 * plain.rise, slack=100)


def test_the_share_of_a_finer_grid_is_that_of_the_function():
    # cos(πx)cos(πy) is convex where cos·cos < 0 and |cos·cos| ≥ |sin·sin|.
    fine = np.linspace(-1, 1, 401)
    a, b = np.meshgrid(fine, fine, indexing="ij")
    same = -np.cos(np.pi * a) * np.cos(np.pi * b)
    mixed = np.sin(np.pi * a) * np.sin(np.pi * b)
    bends = np.stack([same, same, same + mixed, same - mixed])
    truth = (bends.min(0) < -1e-9)[1:-1, 1:-1].mean()
    found = metrics.non_convex_share(np.cos(np.pi * a) * np.cos(np.pi * b))
    assert abs(found - truth) < 0.005


def test_minima_are_counted():
    grid = np.linspace(-2, 2, 41)
    a, b = np.meshgrid(grid, grid, indexing="ij")
    # cos(πx)cos(πy): minima where one cosine is 1 and the other −1.
    places = [(i, j) for i in range(-1, 2) for j in range(-1, 2) if (i + j) % 2]
    assert metrics.interior_minima(np.cos(np.pi * a) * np.cos(np.pi * b)) == len(places)


# --- rounding, and points without a number ---------------------------------------------


def test_rounding_is_not_curvature():
    """A convex surface whose curvature is below rounding: it cannot be told."""
    bowl = (1e6 + 1e-3 * (A**2 + B**2)).astype(np.float32)
    found = measured(bowl)
    assert (found.non_convex, found.flat, found.negative_curvature) == (0, 1, 0)
    noisy = (1e6 * (1 + 1e-7 * RNG.uniform(-1, 1, A.shape))).astype(np.float32)
    found = measured(noisy)
    assert (found.non_convex, found.flat, found.unexplained) == (0, 1, 0)
    assert found.curvature_min == found.curvature_max == 0
    # The very same numbers as exact ones have bumps.
    assert measured(noisy.astype(float)).non_convex > 0.5


def test_noise_on_a_bowl_hides_nothing_that_is_larger():
    bowl = 0.3 + quadratic(0.3, 2.0)
    noise = 4 * np.finfo(np.float32).eps * RNG.uniform(-1, 1, A.shape)
    found = measured((bowl * (1 + noise)).astype(np.float32))
    assert (found.non_convex, found.flat) == (0, 0)


def test_what_is_not_finite_is_counted_and_left_out():
    loss = quadratic(0.0, 1.0)
    loss[-1], loss[:-1, -1] = np.nan, np.inf
    found = measured(loss)
    assert found.not_finite == 41 / 441
    assert found.non_convex == 0 and abs(found.unexplained) < 1e-20
    assert_close(found.rise, np.median(np.concatenate([loss[0, :-1], loss[1:-1, 0]])))
    # One point in the middle of a saddle: its own cell and the eight around it.
    loss = A * B
    loss[5, 5] = -np.inf
    assert metrics.second_differences(loss)[0].shape == (4, 19 * 19 - 9)
    assert measured(loss).non_convex == 1


def test_nothing_finite_gives_no_number():
    found = measured(np.full((21, 21), np.nan))
    missing = found.non_convex, found.negative_curvature, found.unexplained, found.flat
    assert all(math.isnan(number) for number in (*missing, found.rise))
    loss = quadratic(0.0, 1.0)
    loss[10, 10] = np.nan  # without the centre there is no rise
    found = measured(loss)
    assert math.isnan(found.rise) and math.isnan(found.curvature_max)
    assert found.non_convex == 0


def test_tiny_surfaces():
    for size in (1, 2):
        found = measured(np.arange(float(size * size)).reshape(size, size))
        assert math.isnan(found.non_convex) and math.isnan(found.curvature_min)
        assert math.isnan(found.unexplained) and found.minima == 0
    found = measured(quadratic(0.0, 1.0)[::10, ::10])
    assert (found.non_convex, found.minima) == (0, 1)


def test_a_surface_that_bends_and_does_not_rise():
    bump = np.zeros_like(A)
    bump[8:13, 8:13] = 1.0
    found = measured(bump - 1)  # 0 at the centre and −1 at the border
    assert math.isfinite(found.negative_curvature)
    ring = np.zeros_like(A)
    ring[5, 5] = 1.0
    assert measured(ring).rise == 0 and measured(ring).negative_curvature == math.inf
