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


def studies_on(data: str) -> tuple[str, ...]:
    """Name the studies of all compared rules on one kind of data.

    >>> studies_on("mnist")
    ('mnist-signgd', 'mnist-adam', 'mnist-gd')
    """
    return tuple(f"{data}-{rule}" for rule in COMPARED_RULES)
