"""Gradient flow: what descent becomes as its steps become small."""

from piste.values import option, value


@value
class Flow:
    r"""Gradient flow, $\dot w = -\nabla L(w)$, integrated with adaptive steps.

    A step of the run is a time $\Delta t$; between two records the solver takes as many
    steps of its own as the tolerances need.
    """

    time_step: float = option(default=0.1, above=0)
    r"""Time that a step of the run lasts, $\Delta t$."""
    solver: str = option(default="auto", among=("auto", "tsit5", "kvaerno5"))
    """Explicit (tsit5), implicit for stiff flows (kvaerno5), or chosen by stiffness."""
    rtol: float = option(default=1e-6, above=0)
    """Relative tolerance of a solver's step."""
    atol: float = option(default=1e-7, above=0)
    """Absolute tolerance of a solver's step, in the form's natural unit of a weight."""
    max_steps: int = option(default=16_384, least=1)
    """Solver's steps between two records after which the run ends unfinished."""
