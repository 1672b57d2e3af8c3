"""What counts as what in this paper's claims: readings of ours, fixed before the runs.

The slides say "close to", "small", "linear", "nearly equal"; every such word is a number
here, and every verdict prints the one that it used.
"""

TRAINED = 0.01
"""Training loss from which on a run counts as trained: before, nothing is decided."""
SLIDES_TIME = 0.2
"""η·T of the slides' runs, 2,000 steps of 1e-4: a shorter run may miss a stage."""

LINEAR = 0.99
"""R² from which on a quantity grows linearly."""
NEAR_START = 0.5
"""Largest RMS of a change, as a share of the quantity's RMS, that is near its start."""
SAME_PACE = 1.5
"""Factor within which two rates of growth are the same."""
NEGLIGIBLE = 0.1
"""Share of the noise up to which the value's signal is negligible."""
EVEN_SPLIT = 0.1
"""How far from ½ the share of positive pairs may be."""
VOTE = 0.9
"""Share of neurons whose signal must follow the vote of their noise."""
CONCENTRATED = 0.1
"""How far from ½ attention may be and still count as concentrated there."""
SMALL = 0.01
"""What counts as o(1) for an attention weight."""
POWER = 0.1
"""How far from 1 the power p of −log s₂₁ ∝ t^p may be for an exponential decay."""

TABLE_STEP = 10
"""The step of the slides' Table 1."""
INDEPENDENT = 0.01
"""Probability below which the signs at the start are not independent (Fisher's test)."""
TABLE_ALIGNED = 0.95
"""Share of pairs with one sign at the step of Table 1."""
KEPT = 0.9
"""Share of the pairs of one sign at the start that keep that sign."""

EVEN = 0.25
"""Largest relative difference between steps per decade of loss that count as equal."""
MEMORISED = 1.0
"""min_i⟨v, y_iξ_i⟩ that counts as Ω(1)."""
EXPONENT = -0.4
"""Largest exponent of s in ⟨v, μ⟩/⟨v, y_iξ_i⟩ that counts as falling (theory: −½)."""

SOON = 0.1
"""Part of the run within which a rule that trains faster must lead, for good."""
SLOWER = 0.8
"""Share of SignGD's slope of log loss up to which a rule is slower."""
SAME_SLOPE = 1.25
"""Factor within which two slopes of log loss are the same."""
ALIKE = 0.05
"""Difference of test errors up to which two rules generalise alike."""
ALIKE_LOSS = 1.25
"""Factor within which two test losses are alike."""
GOOD, POOR = 0.05, 0.1
"""Test errors up to which GD generalises well, and from which SignGD does poorly."""
MATCHED = 0.01
"""Training loss at which rules are compared on images."""
