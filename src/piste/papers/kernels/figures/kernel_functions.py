"""The family of kernels as functions of one query."""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from piste.attention import KERNELS
from piste.figures import BLACK, BLUE, ORANGE, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

SHOWN_KERNELS = ("softmax", "gaussian", "gaussian-rows", "gaussian-mean", "linear")
KEY_LOOKS = ((BLUE, "-"), (BLACK, "--"), (ORANGE, ":"))
"""Colour and dashes of each key."""
CAPTION = (
    "The family of kernels in one dimension: weights of the keys −2, 0 and 2 (thin lines) "
    "against the place of the query. The Gaussian kernel, not normalised, forgets keys "
    "that are far; softmax always hands out a total of 1; with its rows normalised the "
    "Gaussian kernel is softmax with a bias for every key."
)


@styled
def kernel_functions(
    weights: Mapping[str, np.ndarray], queries: np.ndarray, keys: np.ndarray, caption
) -> Picture:
    """Draw the weights of three keys on a line against the position of the query."""
    figure, axes = canvas(1, len(weights), 1.75)
    rows = []
    for panel, (name, by_key) in zip(axes[0], weights.items(), strict=True):
        for index, (key, (colour, dashes)) in enumerate(
            zip(keys, KEY_LOOKS, strict=True)
        ):
            panel.plot(queries, by_key[:, index], color=colour, ls=dashes)
            panel.axvline(key, color=colour, lw=0.5, ls=dashes, alpha=0.6)
            line = {"kernel": name, "key": key, "query": queries}
            rows.append(pd.DataFrame(line | {"weight": by_key[:, index]}))
        panel.set_title(name, fontsize=9)
        panel.set(xlabel="query $q$", xticks=list(keys))
    for key, (colour, dashes) in zip(keys, KEY_LOOKS, strict=True):
        label = f"$k$ = {key:g}".replace("-", "−")
        axes[0, 0].plot([], [], color=colour, ls=dashes, label=label)
    axes[0, 0].set_ylabel("weight of key $k$")
    figure.legend(loc="outside lower center", ncols=len(keys))
    return Picture(figure, pd.concat(rows), caption)


def _draw(evidence: Evidence) -> Picture:
    keys, queries = np.array([-2.0, 0.0, 2.0]), np.linspace(-4, 4, 161)
    with jax.enable_x64(True):
        columns = jnp.asarray(queries)[:, None], jnp.asarray(keys)[:, None]
        weights = {name: np.asarray(KERNELS[name](*columns)) for name in SHOWN_KERNELS}
    return kernel_functions(weights, queries, keys, CAPTION)


FIGURES = (Figure("kernels", _draw),)
