"""What the abstract says, item by item: the study, the claim and the verdict of each.

See :mod:`piste.reproduction.coverage`.
"""

from piste.reproduction import Item, coverage_table

from .claims import CLAIMS

ABSTRACT_ITEMS = (
    Item(
        "Introduction and conclusion: attention is crucial for the task",
        ("Attention is needed",),
    ),
    Item(
        "Introduction: gradient descent learns W efficiently",
        ("Gradient descent on W",),
    ),
    Item(
        "1) Gradient flow on W from W₀ = 0 with V = cP, c = 4n log(L)/δ, is perfect "
        "within 4M/(log(L) γ)",
        (
            "Theorem 1 on single runs",
            "Theorem 1 on uniform sets",
            "Theorem 1 on other distributions",
            "Theorem 1 with repetition",
            "Theorem 1 on all sequences",
        ),
    ),
    Item(
        "2) Gradient descent on W and V from near cP is perfect at some t ≤ T",
        ("Theorem 2",),
    ),
    Item("2) … on all sequences", ("Theorem 2 on all sequences",)),
    Item(
        "2) … if L and n are large enough for the conditions on A",
        ("Theorem 2 at short sequences",),
    ),
    Item(
        "Conclusion: uniform attention pushes V in the direction of P",
        ("Uniform attention turns V to P",),
    ),
    Item(
        "Conclusion, left open: convergence from small random weights",
        ("Small random weights suffice",),
    ),
)
"""In the order of the abstract."""

BEYOND_THE_ABSTRACT = ("The time falls like 1/c²", "Perfection is kept")
"""Claims of ours, which the abstract does not make."""


TABLES = (
    coverage_table(
        ABSTRACT_ITEMS,
        CLAIMS,
        "What the abstract states, and where it is judged. It has no pictures; 1) and "
        "2) are its main results, Theorems 1 and 2.",
        heading="abstract item",
    ),
)
