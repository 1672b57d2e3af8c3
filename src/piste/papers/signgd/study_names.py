"""Names of studies that results, studies and figures share."""

COMPARED_RULES = ("signgd", "adam", "gd")
"""The rules whose generalisation is compared."""

VARIANTS = {
    "smaller": "the paper's model",
    "heads": "4 heads",
    "deep": "2 layers, residual",
    "deep-norm": "2 layers, residual, LayerNorm",
    "correlated": "correlated noise",
    "shared": "shared noise",
}
"""The studies, and presets, of stages beyond the paper, with their titles."""

STAGE_RULES = {
    "smaller-signgd": "SignGD",
    "smaller-sign-momentum": "SignGD with momentum",
    "smaller-lion": "Lion",
    "smaller-muon-plain": "Muon without momentum",
    "smaller-muon": "Muon",
}
"""The studies of the stages under other rules, with the names of the rules."""

BACKGROUND_MODELS = {"patch-transformer": "transformer", "small-cnn": "CNN"}
"""The models on which rules are compared, with what they are called."""
BACKGROUND_RULES = {
    "gd": "SGD",
    "momentum": "SGD + momentum",
    "signgd": "SignGD",
    "sign-momentum": "SignGD + momentum",
    "adam": "Adam",
    "lion": "Lion",
}
"""The rules that are compared there, with what they are called."""
BACKGROUND_BATCHES = {0: "full batch", 16: "mini-batch"}
"""Images of a step (0 for all of them), with what that is called."""


def studies_on(data: str) -> tuple[str, ...]:
    """Name the studies of all compared rules on one kind of data.

    >>> studies_on("mnist")
    ('mnist-signgd', 'mnist-adam', 'mnist-gd')
    """
    return tuple(f"{data}-{rule}" for rule in COMPARED_RULES)
