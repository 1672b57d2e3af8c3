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
        "signal token and one noise token. It states that training passes through four "
        "stages: the value turns to the noise, query and key noise align with each other, "
        "the signals take opposite signs by majority vote, and attention moves to the "
        "noise while the noise aligns with the signals; and that the training loss falls "
        "exponentially while the test loss does not."
    ),
    package=__name__,
    main="stages",
    presets={
        "stages": Preset("four stages of sign descent, default size", "~5 s"),
        "stages-quick": Preset("the same, a tenth of the size", "~3 s"),
        "autodiff": Preset("the same in float32 by automatic differentiation", "~15 s"),
        "dense": Preset("sign descent on dense noise, to compare rules", "~6 s"),
        "adam": Preset("Adam (0.9, 0.999) on dense noise", "~10 s"),
        "gd": Preset("gradient descent on dense noise, by the Gram form", "~3 s"),
        "normalised-gd": Preset("normalised GD with the step length of SignGD", "~3 s"),
        "smaller": Preset("the paper's model at d = 500, by autodiff", "~4 s"),
        "heads": Preset("four heads: which stages persist?", "~4 s"),
        "deep": Preset("two layers with residuals", "~10 s"),
        "deep-norm": Preset("two layers with residuals and LayerNorm", "~10 s"),
        "correlated": Preset("noise correlated between coordinates", "~4 s"),
        "shared": Preset("noise with a direction that all samples share", "~4 s"),
        "mnist": Preset("3 against 7 with a noise token, SNR 0.35", "~10 s"),
        "digits": Preset("the same with 8×8 digits, no download", "~5 s"),
        "patches": Preset("a small transformer on patches of digits, Adam", "~10 s"),
        "cnn": Preset("a small CNN on the same digits, Adam", "~5 s"),
    },
)
