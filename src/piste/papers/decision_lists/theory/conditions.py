"""Conditions that both theorems make, each with the numbers that decide it."""

from piste.claims import Condition

ROUNDING = 1e-9
r"""Relative error that a product of $\eta$ and $\lambda_{max}$ may have."""


def zero_start(size: float, name: str = "W₀ = 0") -> Condition:
    r"""Training starts at uniform attention, given $\max|W_0|$."""
    return Condition(name, bool(size == 0), f"max |W₀| = {size:.3g}")


def positive_mass(symbol: str, mass: float) -> Condition:
    r"""The least probability $\gamma$ or $\delta$ is positive."""
    return Condition(f"{symbol} > 0", bool(mass > 0), f"{symbol} = {mass:.3g}")


def is_small_step(learning_rate: float, curvature: float) -> bool:
    r"""Whether $0 < \eta\lambda_{max} \leq 1$, up to rounding.

    >>> is_small_step(0.05, 20.0), is_small_step(0.1, 20.0), is_small_step(-0.1, 1.0)
    (True, False, False)
    """
    return bool(0 < learning_rate * curvature <= 1 + ROUNDING)
