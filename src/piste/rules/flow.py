"""Gradient flow: what descent becomes as its steps become small."""

import dataclasses

from piste.values import option

from ._base import AbstractFlow, SolverSettings, Surroundings, rule


@rule("flow")
class Flow(AbstractFlow):
    r"""Gradient flow, $\dot w = -\nabla L(w)$, integrated with adaptive steps.

    A step of the run is a time $\Delta t$; between two records the solver takes as many
    steps of its own as the tolerances need.
    """

    odd = True
    entrywise = True
    along_gradient = True
    time_step: float = option(default=0.1, greater_than=0)
    r"""Time that a step of the run lasts, $\Delta t$."""
    solver: str = option(default="auto", choices=("auto", "tsit5", "kvaerno5"))
    """Explicit (tsit5), implicit for stiff flows (kvaerno5), or chosen by stiffness."""
    rtol: float = option(default=1e-6, greater_than=0)
    """Relative tolerance of a solver's step."""
    atol: float = option(default=1e-7, greater_than=0)
    """Absolute tolerance of a solver's step, in the form's natural unit of a weight."""
    max_steps: int = option(default=16_384, minimum=1)
    """Solver's steps between two records after which the run ends unfinished."""

    def settle(self, form: Surroundings) -> "Flow":
        """Choose the solver, if it is left open: implicit where the flow is stiff."""
        if self.solver != "auto":
            return self
        solver = "kvaerno5" if form.stiff(self.time_step) else "tsit5"
        return dataclasses.replace(self, solver=solver)

    def time_per_step(self) -> float:
        """Give the time that a step of the run lasts."""
        return self.time_step

    def solver_settings(self) -> SolverSettings:
        """Give what the solver is to do between two records."""
        return SolverSettings(self.solver, self.rtol, self.atol, self.max_steps)
