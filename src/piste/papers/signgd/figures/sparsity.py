"""The figure of what the value learns of the signal, over the size of the noise."""

import numpy as np
import pandas as pd

from piste.figures import BLUE, Picture, canvas, styled

from ..thresholds import SIGNAL_EXPONENT


@styled
def signal_share(s: np.ndarray, ratio: np.ndarray) -> Picture:
    """What the value learns of the signal against s, with the line of theory."""
    figure, axes = canvas(1, 1, 2.6)
    panel, sizes = axes[0, 0], np.unique(s)
    means = np.array([ratio[s == size].mean() for size in sizes])
    panel.plot(s, ratio, "o", color=BLUE, ms=3.5, alpha=0.5)
    panel.plot(sizes, means, color=BLUE, label="mean over seeds")
    line = means[0] * (sizes / sizes[0]) ** SIGNAL_EXPONENT
    panel.plot(sizes, line, color="#666666", ls=":", label=r"$\propto 1/\sqrt{s}$")
    panel.set(xscale="log", yscale="log", xlabel="noise coordinates $s$")
    panel.set_ylabel(r"$\langle v,\mu\rangle\,/\,\langle v,y_i\xi_i\rangle$")
    panel.set_xticks(sizes, [f"{size:g}" for size in sizes])
    panel.set_xticks([], minor=True)
    panel.legend(loc="upper right")
    caption = (
        "What the value has learnt of the signal, as a share of the noise, over s at one "
        "SNR and d = 10 s: each seed, their mean, and the line 1/√s through the first "
        "mean."
    )
    return Picture(figure, pd.DataFrame({"s": s, "ratio": ratio}), caption)
