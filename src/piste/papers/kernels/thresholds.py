"""What counts as what.

Fixed before the runs were made, but for the last three: the step size up to which the
linear rate is claimed was added as a condition after a first run had shown that runs with
η = 0.5 overshoot, and the test on 100 more seeds after twenty had shown a tie (its seeds
had not been looked at, but 200 others had, so the direction was known).
"""

ROUNDING = 1e-9
"""How far above a bound a loss may be, relatively: rounding, not a violation."""
PROMISE = 0.5
"""The largest share of f₀ that a bound may leave at the last step to be a test.

Almost any descent is below a bound that asks for less than this: half of the loss must
be gone for the inequality to be evidence."""
NEARLY_CONVEX = 0.1
"""The largest −λ_min/λ_max of the Hessian in a region that is nearly convex.

A tenth: an order of magnitude between the steepest way up and the steepest way down."""
A_BIT = 0.1
"""The largest ‖M_T − M₀‖/‖M₀‖ of weights that move a bit: a tenth, as above."""
RATIO_SPREAD = 0.01
"""How far from 2.00 the acceptance ratio may be."""
LEAST_FLOOR = 1e-3
"""The least share of f₀ that W^V alone must leave where it cannot reach zero."""
NO_FLOOR = 1e-12
"""The largest share of f₀ that counts as zero where W^V alone can reach it."""
ZERO_LOSS = 1e-6
"""f_T/f₀ below which a run has reached zero loss."""
HALF = 0.5
"""Share of seeds that must reach zero loss for it to count as reached."""
MOST_STEPS = 1e6
"""Steps in which a bound must promise a hundredth of the loss to be of use."""
NEAR_ALL = 0.8
"""Share of seeds from which on all or near all succeed."""
NEAR_NONE = 0.1
"""Share of seeds up to which none or near none succeeds."""
VANISHED = 1e-4
"""‖∇f‖ below which a gradient has vanished."""
LEFT = 0.1
"""f_T/f₀ above which a run with a vanished gradient has stalled."""
TELLING = 0.05
"""Probability below which a sign test over models tells one kernel from the other."""
LARGEST_STEP = 1.0
"""ησ²_max(J) up to which a step is small enough for a bound of descent."""
FINEST = 1e-26
"""f/f₀ below which rounding decides."""
CHANCE = 0.01
"""Probability up to which a difference of success rates is not chance."""
