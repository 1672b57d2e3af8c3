"""Softmax against Gaussian attention: when gradient descent reaches zero loss."""

from piste.papers import Paper, Preset

PAPER = Paper(
    name="kernels",
    title="Unraveling the Gradient Descent Dynamics of Transformers",
    authors="authors not named",
    venue="poster",
    link="",
    summary=(
        "Regression by one multi-head attention layer, with softmax weights or with "
        "Gaussian ones that are not normalised. Theorem 1 bounds the loss of gradient "
        "descent at every step where HD ≥ Nn; Theorem 2 trains the query matrices alone, "
        "which the Gaussian kernel can from a start at which softmax stalls. The paper "
        "then trains two-layer transformers with both kernels on IMDb and Pathfinder, and "
        "draws the loss around their weights."
    ),
    package=__name__,
    main="pair",
    presets={
        "thm-1-softmax": Preset("Theorem 1: Q, K, V trained, HD/Nn = 2", "~10 s"),
        "thm-1-gaussian": Preset("the same with the Gaussian kernel", "~10 s"),
        "thm-2-softmax": Preset("Theorem 2: Q alone, matched start, H = 8", "~10 s"),
        "thm-2-gaussian": Preset("the same with the Gaussian kernel", "~10 s"),
        "control": Preset("Q alone, Gaussian, random start of scale 2", "~10 s"),
        "imdb-desk": Preset("IMDb reviews as 128 words", "~2 min"),
        "imdb-sgd": Preset("the same by SGD", "~3 min"),
        "imdb-bytes": Preset("IMDb reviews as 256 bytes", "~4 min"),
        "imdb-paper": Preset("IMDb at the paper's scale, 4,000 bytes", "days"),
        "pathfinder-desk": Preset("Pathfinder, two strokes, 16×16 pixels", "~1 min"),
        "pathfinder-paper": Preset("Pathfinder, hard, 32×32 pixels", "days"),
        "landscape-desk": Preset("first stage of `piste landscape`, IMDb", "~1 min"),
        "landscape-paper": Preset("the same at the paper's scale", "days"),
    },
)
