"""What the poster says, item by item: the study, the claim and the verdict of each.

See :mod:`piste.reproduction.coverage`.
"""

from piste.reproduction import Item, coverage_table

from .claims import CLAIMS

POSTER_ITEMS = (
    Item(
        "Figure 1: test accuracy and loss on IMDb with both kernels",
        ("IMDb is learnt", "IMDb by SGD is learnt", "IMDb as bytes is learnt"),
    ),
    Item(
        "Figure 1: test accuracy and loss on Pathfinder with both kernels",
        ("Pathfinder leaves ln 2",),
    ),
    Item(
        "Observation: the Gaussian kernel is easier to train in some cases",
        (
            "Gaussian trains at least as fast, IMDb",
            "Gaussian trains at least as fast, IMDb by SGD",
            "Gaussian trains at least as fast, IMDb as bytes",
            "Gaussian trains at least as fast, Pathfinder",
        ),
    ),
    Item(
        "Contribution, Theorem 1: with HD ≥ Nn, a start and a step size, GD goes to a "
        "global optimum, f(M_t) ≤ (1 − ηβ)^t f(M₀)",
        (
            "Theorem 1, β per head",
            "Theorem 1, β per head, for as long as it takes",
        ),
    ),
    Item(
        "Theorem 1: β = σ²_min(W^O) σ²_min(B₀)",
        ("Theorem 1, β with stacked W^O",),
    ),
    Item(
        "Remark: the start is in a nearly convex region",
        ("The start is in a nearly convex region",),
    ),
    Item(
        "Remark: weights move a bit in it and converge to a global solution",
        ("Weights move a bit in the nearly convex region",),
    ),
    Item(
        "Contribution: the variables to be optimised are a key factor",
        (
            "HD = Nn is the boundary for W^V alone",
            "Q and K reach zero loss below HD = Nn",
        ),
    ),
    Item(
        "Contribution, Theorem 2: the activation is a key factor; with W^Q alone the "
        "Gaussian kernel converges",
        ("Theorem 2: the Gaussian kernel converges at a linear rate",),
    ),
    Item(
        "Remark: the gradient of softmax vanishes (why softmax can be slow)",
        ("Theorem 2: softmax stalls", "‖∇f‖ is held up by J_Q"),
    ),
    Item(
        "Figure 3 and conclusion: smoother with the Gaussian kernel, text",
        ("Gaussian landscape smoother, IMDb",),
    ),
    Item(
        "Figure 3 and conclusion: smoother with the Gaussian kernel, Pathfinder",
        ("Gaussian landscape smoother, Pathfinder",),
    ),
)
"""In the order of the poster; a contribution stands with the theorem that backs it."""

BEYOND_THE_POSTER = (
    "The bound's rate is attained",
    "HD ≥ Nn suffices",
    "Controls",
    "Large independent Q and K harm the Gaussian kernel first",
    "Pathfinder is more than its cues",
    "… of which by the kernel, IMDb",
    "… of which by leaving out the normalisation, IMDb",
    "… of which by the kernel, Pathfinder",
    "… of which by leaving out the normalisation, Pathfinder",
)
"""Claims of ours, which the poster does not make."""


TABLES = (
    coverage_table(
        POSTER_ITEMS,
        CLAIMS,
        "What the poster states or draws, and where it is judged. Parts of its text are "
        "damaged, among them Theorem 2, which is read as a pair of runs.",
        heading="poster item",
    ),
)
