"""Which forms there are for a task and a model: an open table.

A form is registered with the tasks and the models that it is for. ``auto`` takes the one
that ranks first among those that hold for an experiment.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from piste.attention.kernels import KERNELS, check_normalised
from piste.errors import did_you_mean, field_error
from piste.experiment import Experiment
from piste.installed import bring_members
from piste.models import MODELS
from piste.registry import NAME, name_of, where_written
from piste.streams import Stream, stream

from ._base import AbstractForm, InitialState
from .needs import Needs

Build = Callable[[Experiment, InitialState, bool], AbstractForm]
Draw = Callable[[Experiment, Any], InitialState]
Rank = Callable[[Experiment], int | None]


def draw_separately(experiment: Experiment, loaded: Any) -> InitialState:
    """Data from the task, weights from the model: all that most pairs need."""
    task, seed = experiment.task, experiment.seed
    data, test = task.datasets(loaded, seed=seed)
    weights = experiment.model.draw_weights(task, key=stream(seed, Stream.INIT))
    return InitialState(data, test, weights)


def always_holds(experiment: Experiment) -> int | None:
    """A form that always holds, and gives way to every other one."""
    return 100


@dataclass(frozen=True)
class FormEntry:
    """One row of the table: a form's name, what it is for, and how it is made."""

    name: str
    tasks: tuple[type, ...]
    models: tuple[type, ...]
    build: Build
    """The form of an experiment on its data and weights. The last argument asks for
    shapes that do not depend on the seed, so that several runs fit one program."""
    rank: Rank
    """The lower the better; None where the form does not hold."""
    draw: Draw
    """Data and initial weights, given what the task loaded. All forms of one task and
    one model must draw alike."""
    needs: Callable[[Experiment], Needs] | None
    """What a run needs in bytes; without it sizes are not checked."""
    own_weights: bool
    """Whether its parameters are the weights themselves, so that its Hessian is that of
    the loss."""
    views: tuple[type, ...]
    """The classes of what its probes see; empty if that is not known."""
    source: Any
    """The class or function that was registered: its code decides what is computed."""

    def fits(self, experiment: Experiment) -> bool:
        """Whether it is for the task and the model of an experiment."""
        return isinstance(experiment.task, self.tasks) and isinstance(
            experiment.model, self.models
        )

    def may_see(self, kind: type) -> bool:
        """Whether a user's probe for some class of views may be measured on this form.

        A form that does not name its views may have any, so the answer is yes.
        """
        return not self.views or any(issubclass(view, kind) for view in self.views)

    def replaces(self, other: "FormEntry") -> bool:
        """Whether this is another form of the same name for a task and a model of both."""
        return self.name == other.name and all(
            any(
                issubclass(one, two) or issubclass(two, one)
                for one in own
                for two in its
            )
            for own, its in ((self.tasks, other.tasks), (self.models, other.models))
        )


FORMS: list[FormEntry] = []
"""All forms; :func:`form` adds to it."""


def form(
    name: str,
    *,
    for_task: type | tuple[type, ...],
    for_model: type | tuple[type, ...],
    rank: Rank = always_holds,
    draw: Draw = draw_separately,
    needs: Callable[[Experiment], Needs] | None = None,
    own_weights: bool = True,
    views: type | tuple[type, ...] = (),
):
    """Register a form: a class with a class method ``build``, or a function like it.

    The experiment of a run picks it by name (``--form full``) or leaves the choice to
    ``auto``. With ``views`` said, stored runs stay where they are when a probe of other
    views is brought.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name) or name == "auto":
        raise field_error("form", name, "must be words of a–z and 0–9, joined by -")

    def add(builder):
        build = builder.build if isinstance(builder, type) else builder
        entry = FormEntry(
            name,
            _several(for_task),
            _several(for_model),
            build,
            rank,
            draw,
            needs,
            own_weights,
            _several(views),
            builder,
        )
        _add(entry)
        return builder

    return add


def _add(entry: FormEntry) -> None:
    for known in [known for known in FORMS if entry.replaces(known)]:
        if where_written(known.source) != where_written(entry.source):
            expected = "is the name of another form for the same task and model already"
            raise field_error("form", entry.name, f"{expected}; choose another name")
        FORMS.remove(known)
    FORMS.append(entry)


def _several(given: type | tuple[type, ...]) -> tuple[type, ...]:
    return given if isinstance(given, tuple) else (given,)


def forms_for(experiment: Experiment) -> list[FormEntry]:
    """The forms for a task and a model, or one line that says which models there are."""
    bring_members()
    found = [entry for entry in FORMS if entry.fits(experiment)]
    if found:
        return found
    task, model = experiment.task, experiment.model
    fitting = [entry.models for entry in FORMS if isinstance(task, entry.tasks)]
    readers = [
        n for n, cls in MODELS.items() if any(issubclass(cls, m) for m in fitting)
    ]
    expected = f"cannot read the data of task {name_of(task)}; must be "
    allowed = " or ".join(readers) or "one for which a form is registered"
    raise field_error("model", name_of(model), expected + allowed)


def ranked_forms(experiment: Experiment) -> list[FormEntry]:
    """The forms that hold for an experiment, the best first."""
    ranks = [(entry.rank(experiment), entry) for entry in forms_for(experiment)]
    held = [(rank, entry) for rank, entry in ranks if rank is not None]
    return [entry for _, entry in sorted(held, key=lambda pair: pair[0])]


def find_form(experiment: Experiment) -> FormEntry:
    """The form that an experiment names, if it holds; for ``auto`` the best one.

    Everything that runs or stores an experiment comes by here first, so this is also
    where a kernel that does not do what it says is refused.
    """
    if experiment.model.attention in KERNELS:
        check_normalised(experiment.model.attention)
    held = ranked_forms(experiment)
    if experiment.record.curvature:
        held = [entry for entry in held if entry.own_weights]
    names = [entry.name for entry in held]
    if experiment.form == "auto" and held:
        return held[0]
    if experiment.form in names:
        return held[names.index(experiment.form)]
    about = f"model {name_of(experiment.model)}, rule {name_of(experiment.rule)}"
    if kernel := experiment.model.attention:
        about += f" and kernel {kernel}"
    allowed = ", ".join(["auto", *names] if names else ["another model or schedule"])
    near = did_you_mean(experiment.form, names)
    expected = f"does not hold for {about}; must be {allowed}{near}"
    raise field_error("form", experiment.form, expected)


def choose_form(experiment: Experiment) -> str:
    """The name of the form in which an experiment trains; checks a choice."""
    return find_form(experiment).name
