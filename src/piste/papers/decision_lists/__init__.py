"""A one-layer transformer that learns decision lists on the population loss."""

from piste.papers import Paper, Preset

PAPER = Paper(
    name="decision-lists",
    title="Provable Gradient-Descent-Based Learning of Decision Lists by Transformers",
    authors="Anonymous authors",
    venue="extended abstract",
    link="",
    summary=(
        "Every token of a sequence has a list of tokens; the first of it that occurs in "
        "the sequence determines its label. The paper proves that a one-layer transformer "
        "with one-hot tokens learns this on the population loss. Theorem 1 trains the "
        "attention scores W by gradient flow with the value matrix V = cP fixed; Theorem 2 "
        "trains both by gradient descent from near cP. Training from small random weights "
        "is left open."
    ),
    package=__name__,
    main="theorem-1",
    presets={
        "thm-1": Preset("gradient flow on W, uniform sets, (30, 6, 4)", "~5 s"),
        "thm-1-dirichlet": Preset("the same, weighted sets, (12, 4, 3)", "~10 s"),
        "thm-2": Preset("descent on W and V from cP, (64, 32, 2)", "~30 s"),
        "empirics": Preset("W and V from random weights, GD, (10, 4, 3)", "~5 s"),
        "empirics-signgd": Preset("the same by SignGD", "~5 s"),
        "empirics-adam": Preset("the same by Adam", "~5 s"),
        "beyond": Preset("the same by GD, (16, 4, 3)", "~20 s"),
        "value-alone": Preset("V alone under uniform attention, (8, 3, 2)", "~5 s"),
        "repetition": Preset("flow where tokens repeat, (16, 5, 3)", "~30 s"),
    },
)
