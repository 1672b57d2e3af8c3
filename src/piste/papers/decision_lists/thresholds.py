"""What counts as what: every threshold of a claim, with its reason.

Claims, tables and figures read them from here. The tolerances of a theorem's own
conditions are in ``theory/conditions.py``; the margin at which a flow counts as perfect is
``EVENT_MARGIN`` of ``forms/flow_problem.py``.
"""

# --- Theorem 1 ------------------------------------------------------------------------

MAX_RUN_SCALE_ERROR = 1e-6
"""Relative error of c in a run: its weights may have been rounded to float32."""
SCALE_EXPONENT = -2
"""The power of c in the time: the unit of time is (n/c)²/γ."""
MAX_EXPONENT_ERROR = 0.1
"""Distance of a fitted exponent from the predicted one: 5 % of it still count as a
square."""
MIN_FITTED_FACTOR = 0.01
"""The fit uses factors of the stated c from here on: where c is much smaller, a logit c/n
is of order 1, and times no longer follow the power law of large c."""
MIN_FITTED_POINTS = 5
"""A power law through fewer points could be anything."""
MIN_FITTED_RATIO = 10
"""A power law over less than a decade could be anything."""
AMPLE_FACTOR = 0.1
"""If the bound holds down to this factor of the stated c, c is called far above what the
bound needs."""
FIRST_MULTIPLE = 1.01
"""The first multiple of t* that is looked at: at t* itself a label is only just right."""
MAX_TIE = 1e-6
"""A lead of a logit that is at most this is a tie: rounding makes a tie a lead of some
1e-16 times the scores."""

# --- training from random weights -----------------------------------------------------

MIN_VALUE_COSINE = 0.8
"""Doubly centred cosine from which on V counts as turned to P; our choice."""
MAX_SHARE_ROUNDING = 1e-9
"""Relative error that a sum of probabilities may have."""
MIN_LOSS_DECREASE = 0.01
"""A run whose loss falls by a smaller share in its second half has stopped learning."""
