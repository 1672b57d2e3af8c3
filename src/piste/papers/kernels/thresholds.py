"""What counts as what.

Fixed before the runs were made, with three exceptions. The step size up to which the
linear rate is claimed was added as a condition after a first run had shown that runs with
η = 0.5 overshoot. The test on 100 more seeds was added after twenty had shown a tie (its
seeds had not been looked at, but 200 others had, so the direction was known). What a
bound must promise to be a test was added when it was seen that at HD = Nn the bound
promises 0.3 % in 3,000 steps; no loss can depend on it, only which runs count as tests.
"""

ROUNDING = 1e-9
"""How far above a bound a loss may be, relatively: rounding, not a violation."""
PROMISE = 0.5
"""The largest share of f₀ that a bound may leave at the last step to be a test.

Almost any descent is below a bound that asks for less than this: half of the loss must
be gone for the inequality to be evidence."""
RATIO_SPREAD = 0.01
"""How far from 2.00 the acceptance ratio may be."""
RESOLVED_FALL = 1e-8
"""The smallest fall of log f of which rounding leaves a rate good to 1 %."""
LEAST_FLOOR = 1e-3
"""The least share of f₀ that W^V alone must leave where it cannot reach zero."""
NO_FLOOR = 1e-12
"""The largest share of f₀ that counts as zero where zero can be reached exactly."""
ZERO_LOSS = 1e-6
"""f_T/f₀ below which a run has reached zero loss."""
FEWEST_SEEDS = 5
"""Seeds below which a share of them says nothing: of five, chance has all alike in 1/16."""
HALF = 0.5
"""Share of seeds that must reach zero loss for it to count as reached."""
MOST_STEPS = 1e6
"""Steps in which a bound must promise a hundredth of the loss to be of use."""
NEARLY_CONVEX = 0.1
"""The largest −λ_min/λ_max of the Hessian in a region that is nearly convex.

A tenth: an order of magnitude between the steepest way up and the steepest way down."""
A_BIT = 0.1
"""The largest ‖M_T − M₀‖/‖M₀‖ of weights that move a bit: a tenth, as above."""
NEAR_ALL = 0.8
"""Share of seeds from which on all or near all succeed."""
NEAR_NONE = 0.1
"""Share of seeds up to which none or near none succeeds."""
VANISHED = 1e-4
"""‖∇f‖ below which a gradient has vanished."""
STALLED_LOSS = 0.1
"""f_T/f₀ above which a run with a vanished gradient has stalled."""
LARGEST_STEP = 1.0
"""ησ²_max(J) up to which a step is small enough for a bound of descent."""
ROUNDING_FLOOR = 1e-26
"""f/f₀ below which rounding decides."""
CONTROL_LEVEL = 0.01
"""Probability below which the difference on 100 seeds is not taken for chance."""
