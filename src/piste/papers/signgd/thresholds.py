"""What counts as what in the claims: readings of ours, fixed before the runs.

The slides say "close to", "small", "linear", "nearly equal"; every such word is a number
here, and every verdict prints the one that it used. The thresholds that define the
stages themselves are part of the rules in ``stages.py``.
"""

import math

import numpy as np

from .stages import VANISHING_ATTENTION

# --- what a run must show before it can be judged -------------------------------------

TRAINED_LOSS = 0.01
"""Training loss at which a run counts as trained: 70 times below log 2, where it starts.

What a theorem says about the end of training cannot be read off an earlier record."""
SLIDES_TRAINING_TIME = 0.2
"""η·T of the slides' runs, 2,000 steps of 1e-4: a shorter run may miss a stage."""

# --- the four stages ------------------------------------------------------------------

SMALLEST_POSITIVE = float(np.finfo(float).tiny)
"""A minimum that means "above 0", because a measurement may be equal to its minimum."""
MIN_LINEAR_R2 = 0.99
"""R² of a straight line from which on a quantity grows linearly."""
MAX_RELATIVE_CHANGE = 0.5
"""Largest change that is "close to initialisation": its RMS over that of the start.

What has moved by less than half of its size is still mostly where it started."""
MAX_GROWTH_RATIO = 1.5
"""Factor within which two rates of growth are the same: stages II and III are short, and
a slope over ten steps is not known better."""
MAX_SIGNAL_TO_NOISE = 0.1
"""Share of the value's noise up to which its signal is negligible."""
MAX_SPLIT_IMBALANCE = 0.1
"""How far from ½ the share of positive pairs may be: "nearly equal" in number."""
MIN_VOTING_SHARE = 0.9
"""Share of neurons whose signal must follow the vote: some votes are almost tied."""
MAX_DISTANCE_FROM_HALF = 0.1
"""How far from ½ attention may be and still count as concentrated there."""
MAX_SMALL_ATTENTION = VANISHING_ATTENTION
"""What counts as o(1) for an attention weight at the end, as in the rules of stage IV."""
MAX_POWER_DEVIATION = 0.1
"""How far from 1 the power p of −log s₂₁ ∝ t^p may be for an exponential decay."""
DECAY_LOGITS = (5.0, 600.0)
"""−log s₂₁ between which the decay is fitted: small weights, far above underflow."""
MIN_DECAY_RECORDS = 5
"""Records in that range without which a fitted power means nothing."""

# --- Table 1 --------------------------------------------------------------------------

TABLE_1_STEP = 10
"""The later step of the slides' Table 1; the other one is the start."""
MIN_INDEPENDENCE_P = 0.01
"""p of Fisher's exact test below which the signs at the start are not independent.

Lower than 0.05, because every seed is tested."""
MIN_TABLE_ALIGNED = 0.95
"""Share of pairs with one sign at the step of Table 1; the slides have 0.984."""
MIN_SIGNS_KEPT = 0.9
"""Share of the pairs that agree at the start and keep their sign; the slides: 0.934."""

# --- the theorem ----------------------------------------------------------------------

LOSS_DECADES = (0.1, 0.01, 0.001)
"""Training losses whose times are to be evenly spaced: T = O(log 1/ε)."""
MAX_DECADE_IMBALANCE = 0.25
"""Largest relative difference between the steps of two decades that count as equal."""
MIN_FINAL_TEST_LOSS = math.log(2) / 2
"""Test loss that counts as Θ(1): half of what an output of zero has."""
MIN_MEMORISED = 1.0
"""min_i⟨v, y_iξ_i⟩ that counts as Ω(1)."""
SIGNAL_EXPONENT = -0.5
"""The exponent of s in ⟨v, μ⟩/⟨v, y_iξ_i⟩ by theory.

All s coordinates of a noise move alike, so that ⟨v, y_iξ_i⟩ grows with the 1-norm of ξ_i:
like √s, if its Euclidean norm is fixed. ⟨v, μ⟩ does not depend on s."""
MAX_SIGNAL_EXPONENT = -0.4
"""Largest exponent that counts as falling like that: a fit over five sizes is not exact."""

# --- rules compared -------------------------------------------------------------------

LEAD_DEADLINE = 0.1
"""Part of the run within which a rule that trains faster must lead, for good."""
MAX_SLOWER_RATIO = 0.8
"""Share of SignGD's slope of log loss up to which a rule is slower."""
LONG_MEMORY = 0.99
"""β₂ from which on Adam's second moment has a long memory: 100 steps or more."""
MAX_SLOPE_RATIO = 1.25
"""Factor within which two slopes of log loss are the same: the inverse of 0.8."""
MAX_ERROR_DIFFERENCE = 0.05
"""Difference of test errors up to which two rules generalise alike."""
MAX_LOSS_RATIO = 1.25
"""Factor within which two test losses are alike."""
MAX_GOOD_ERROR = 0.05
"""Test error up to which GD generalises well."""
MIN_POOR_ERROR = 0.1
"""Test error from which on SignGD generalises poorly: twice a good one."""
LEARNT_ERROR = MIN_POOR_ERROR
"""Test error at which data count as learnt, to compare the SNR that rules need.

One number with the above: what is no longer poor is learnt."""
MATCHED_LOSS = TRAINED_LOSS
"""Training loss at which rules are compared on images, as they train at other speeds.

Each is compared when it counts as trained."""

# --- rules on a CNN and on a transformer ----------------------------------------------

TUNING_SEEDS = (0, 1, 2)
"""Seeds by which a learning rate is chosen; the others compare the rules."""
MAX_COMPARABLE_RATIO = 2.0
"""Factor within which two training losses at the last step are comparable.

A rule is better where its loss is lower by more than that."""
MAX_ACCURACY_DIFFERENCE = 0.02
"""Difference of test accuracies up to which they are comparable."""
SMALLEST_LOSS = 1e-6
"""Training loss below which float32 does not tell losses apart: ten rounding errors."""
