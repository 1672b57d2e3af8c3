"""Thresholds: what counts as converged, as a test of a bound, as nearly all seeds.

Fixed before the runs were made, with three exceptions. The step size up to which the
linear rate is claimed was added as a condition after a first run had shown that runs with
η = 0.5 overshoot. The test on 100 more seeds was added after twenty had shown a tie (its
seeds had not been looked at, but 200 others had, so the direction was known). What a
bound must promise to be a test was added when it was seen that at HD = Nn the bound
promises 0.3 % in 3,000 steps; no loss can depend on it, only which runs count as tests.
"""

import math

from piste.claims import plateau

from .stages import CONVERGED_SHARE

# --- rounding --------------------------------------------------------------------------

BOUND_ROUNDING = 1e-9
"""How far above a bound a loss may be, relatively.

Rounding of float64 over thousands of steps stays far below it."""
ROUNDING_FLOOR = 1e-26
"""f/f₀ below which rounding decides.

A loss is a sum of squared errors, and an error is known to about 1e-13 of the outputs."""
EIGENVALUE_ROUNDING = 1e-13
"""What rounding leaves of an eigenvalue of 0, in units of the largest: a few hundred ε."""

# --- Theorem 1 -------------------------------------------------------------------------

MAX_PROMISED_SHARE = 0.5
"""The largest share of f₀ that a bound may leave at the last step to be a test.

Almost any descent is below a bound that asks for less than this: half of the loss must
be gone for the inequality to be evidence."""
MAX_RATE_DEVIATION = 0.01
"""How far from 2.00 the measured rate may be, in units of ηβ.

The exact rate is 2 + ηβ + …, and ηβ is less than this at the sizes of the study."""
MIN_LOG_FALL = 1e-8
"""The smallest fall of log f of which rounding (1e-16 per record) leaves a rate good to
1 %."""
MIN_FLOOR = 1e-3
"""The least share of f₀ that W^V alone must leave where it cannot reach zero: far above
what rounding leaves of a zero."""
ZERO_FLOOR = 1e-12
"""The largest share of f₀ that counts as zero where zero can be reached exactly.

Least squares in float64 leave about 1e-28; this allows for bad conditioning."""
USEFUL_SHARE = 0.01
"""The share of the loss whose promise makes a bound useful: two orders of magnitude."""
MAX_USEFUL_STEPS = 1e6
"""Steps in which a bound must promise :data:`USEFUL_SHARE`: 300 times those of a run."""
MAX_NEGATIVE_CURVATURE = 0.1
"""The largest −λ_min/λ_max of the Hessian in a region that is nearly convex.

A tenth: an order of magnitude between the steepest way up and the steepest way down."""
MAX_RELATIVE_MOVE = 0.1
"""The largest ‖M_T − M₀‖/‖M₀‖ of weights that move a bit: a tenth, as above."""

# --- convergence, and shares of seeds --------------------------------------------------

ZERO_LOSS = CONVERGED_SHARE
"""f_T/f₀ below which a run has reached zero loss: where its stage "converged" begins."""
STALLED_LOSS = 0.1
"""f_T/f₀ above which a run with a vanished gradient has stalled: far from any solution."""
VANISHED_GRADIENT = 1e-4
"""‖∇f‖ below which a gradient has vanished: at η = 0.5 the loss then falls by less than
1e-5 in 2,000 steps."""
MAX_STEP_CURVATURE = 1.0
"""ησ²_max(J) up to which a step is small enough for a bound of descent: η ≤ 1/L."""
MIN_SEEDS = 5
"""Seeds below which a share of them says nothing: of five, chance has all alike in 1/16."""
REACHED_SHARE = 0.5
"""Share of seeds that must reach zero loss for it to count as reached: the median one."""
NEARLY_ALL = 0.8
"""Share of seeds from which on all or nearly all succeed: one of five may fail."""
NEARLY_NONE = 0.1
"""Share of seeds up to which none or nearly none succeeds: two of twenty."""
CONTROL_SIGNIFICANCE = 0.01
"""Probability below which the difference on 100 seeds is not taken for chance.

Stricter than usual, because this test was added after the direction was known."""

# --- real tasks ------------------------------------------------------------------------

GUESSING_LOSS = math.log(2)
"""ln 2, the loss of guessing one of two classes."""
GUESSING_BAND = plateau.PLATEAU_DROP
"""How far from ln 2 a loss is no longer that of guessing, as the stage rule has it."""
MIN_LEARNT_ACCURACY = 0.75
"""Test accuracy that counts as well above chance: half-way from guessing to perfect."""

MIN_LEAD = 0.02
"""By how much the mean test accuracy must be above that of a control: twice what the sd
over seeds leaves of a mean of eight. Fixed before the runs of the study, after a pilot on
seed 0 with 5,000 steps, in which both controls were 0.05 behind."""

# --- landscapes ------------------------------------------------------------------------

LANDSCAPE_RISES = (0.02, 0.05, 0.1)
"""Rises of the loss at which surfaces are compared, in units of the loss before training.

Fixed on a model of IMDb with seed 100, which no study has: on its planes, before any
second stage, a tenth is what every kernel reaches; no kernel without normalisation
reaches more than an eighth, because without attention the loss is only so much higher."""
