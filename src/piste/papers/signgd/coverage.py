"""What the slides say, item by item: the study, the claim and the verdict of each.

See :mod:`piste.reproduction.coverage`.
"""

from piste.reproduction import Item, coverage_table

from .claims import CLAIMS


def _on_images(claim: str) -> tuple[str, ...]:
    """A claim on MNIST, and on the digits that take its place without a network."""
    return (f"{claim} noisy MNIST", f"{claim} noisy digits")


SLIDE_ITEMS = (
    Item(
        "Background: in transformers, Adam performs better than SGD",
        (
            "Adam beats SGD on a transformer",
            "the gap between Adam and SGD is larger on a transformer",
        ),
    ),
    Item(
        "Background: in CNNs, SGD is comparable to Adam",
        ("SGD is comparable to Adam on a CNN",),
    ),
    Item("SignGD is Adam with β₁ = β₂ = ε = 0", ("Adam(0, 0, 0) is SignGD",)),
    Item("SignGD with momentum (Lion) can perform well", ("Lion performs well",)),
    Item(
        "SignGD recovers Adam in the full-batch setting",
        ("sign descent with momentum recovers Adam at full batch",),
    ),
    Item("Four stages and their times", ("four stages, in order",)),
    Item(
        "Stage I: mean value noise shifts, then is linear; the rest stays",
        (
            "I: mean value noise grows linearly",
            "I: other quantities stay near their start",
        ),
    ),
    Item(
        "Stage II: query and key noise align",
        ("II: signs align, evenly split", "II: value noise grows, signals stay"),
    ),
    Item(
        "Table 1: signs at t = 0 and t = 10",
        ("Table 1: independent at first, then aligned",),
    ),
    Item(
        "Stage III: majority voting",
        ("III: majority voting", "III: other quantities go on as before"),
    ),
    Item(
        "Stage IV: noise-signal softmax outputs decay",
        (
            "IV: attention is at ½ before",
            "IV: s₂₁ decays exponentially",
            "IV: s₁₁ is still ½ when s₂₁ = o(1)",
        ),
    ),
    Item(
        "Stage IV: query and key noise align with signals",
        ("IV: one alignment begins when the other is complete",),
    ),
    Item(
        "Theorem: training loss ≤ ε in O(log 1/ε)", ("training loss ≤ ε in O(log 1/ε)",)
    ),
    Item("Theorem: test loss Θ(1)", ("test loss stays Θ(1)",)),
    Item(
        "Theorem: the value memorises noise",
        ("the value memorises noise", "the value does not learn the signal"),
    ),
    Item(
        "Theorem: attention goes to the noise", ("attention goes to the noise token",)
    ),
    Item("Adam and SignGD: similar dynamics", ("Adam keeps the stages",)),
    Item(
        "Adam and SignGD: similar test loss on noisy MNIST",
        _on_images("Adam generalises like SignGD on"),
    ),
    Item(
        "Adam and SignGD: different training loss",
        ("Adam's loss falls more slowly: β₂",),
    ),
    Item("SignGD trains faster than GD", ("SignGD trains faster than GD",)),
    Item(
        "GD generalises better on synthetic data",
        ("GD generalises better at equal SNR",),
    ),
    Item(
        "GD generalises better on noisy MNIST", _on_images("GD generalises better on")
    ),
    Item(
        "… especially when noise is large",
        _on_images("especially when the noise is large,"),
    ),
    Item(
        "Summary: SignGD and Adam require higher data quality",
        (
            "SignGD and Adam need better data",
            "poor generalisation is not solely due to noise",
            "Adam generalises like SignGD",
        ),
    ),
)
"""In the order of the slides."""

BEYOND_THE_SLIDES = (
    "SignGD trains faster than normalised GD",
    "the stages persist beyond the paper",
    "the stages persist under SignGD with momentum",
    "the stages persist under Lion",
    "the stages persist under Muon without momentum",
    "the stages persist under Muon",
)
"""Claims of ours, which the slides do not make."""


TABLES = (
    coverage_table(
        SLIDE_ITEMS,
        CLAIMS,
        "What the slides state or draw, and where it is judged. Noisy digits take the "
        "place of MNIST where that is not at hand.",
        heading="slide item",
    ),
)
