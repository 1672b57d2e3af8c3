"""Training: the forms of a model, the pure step, and the compiled chunks."""

# The modules of forms register what they hold as they are imported.
from . import classification as classification
from ._base import AbstractForm, InitialState, State
from .abilities import (
    ABILITIES,
    apply_updates,
    evaluation_loss,
    fixed_loss,
    gradient_norm,
    shares_of,
)
from .assemble import build, draw, load_data
from .autodiff import LossView, autodiff_form
from .batch_order import batch_of
from .batches import at_rates, run_batch, stack_systems, train_cells
from .engine import Chunk, Plan, Stop, System, run_chunk, train
from .flow import EVENT, OUTCOMES, FlowSettings, FlowSolution, Units, flow, flow_until
from .forms import (
    FORMS,
    FormEntry,
    choose_form,
    find_form,
    form,
    forms_for,
    ranked_forms,
)
from .needs import DRAWN, Needs, width_of
from .size import Size, check_size, needs_of, room_of, size_of

__all__ = [
    "ABILITIES",
    "DRAWN",
    "EVENT",
    "FORMS",
    "OUTCOMES",
    "FlowSettings",
    "FlowSolution",
    "Needs",
    "Units",
    "flow",
    "flow_until",
    "width_of",
    "AbstractForm",
    "Chunk",
    "FormEntry",
    "InitialState",
    "LossView",
    "Plan",
    "Size",
    "State",
    "Stop",
    "System",
    "apply_updates",
    "at_rates",
    "autodiff_form",
    "batch_of",
    "build",
    "check_size",
    "choose_form",
    "draw",
    "evaluation_loss",
    "find_form",
    "fixed_loss",
    "form",
    "forms_for",
    "gradient_norm",
    "load_data",
    "needs_of",
    "ranked_forms",
    "room_of",
    "run_batch",
    "run_chunk",
    "shares_of",
    "size_of",
    "stack_systems",
    "train",
    "train_cells",
]
