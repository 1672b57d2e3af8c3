"""Two-layer transformers trained by sign gradient descent (Li et al., ICLR 2025)."""

from piste.papers import Paper, Preset

PAPER = Paper(
    name="signgd",
    title=(
        "On the Optimization and Generalization of Two-layer Transformers "
        "with Sign Gradient Descent"
    ),
    authors="Li, Huang, Han, Zhou, Suzuki, Zhu, Chen",
    venue="ICLR 2025",
    link="arXiv:2410.04870",
    summary=(
        "A two-layer transformer is trained by sign gradient descent on data with one "
        "signal token and one noise token. Training passes through four stages: the value "
        "turns to the noise, query and key noise align with each other, the signals take "
        "opposite signs by majority vote, and attention moves to the noise while the noise "
        "aligns with the signals. The training loss falls exponentially; the test loss "
        "does not."
    ),
    package=__name__,
    presets={
        "stages": Preset("four stages of sign descent, default size", "~5 s"),
        "stages-quick": Preset("the same, a tenth of the size", "~3 s"),
        "autodiff": Preset("the same in float32 by automatic differentiation", "~15 s"),
        "adam": Preset("Adam (0.9, 0.999) on the same data", "~10 s"),
        "gd": Preset("gradient descent on the same data, by the Gram form", "~2 s"),
    },
)
