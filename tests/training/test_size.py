"""Sizes that no machine holds are refused, and those of the papers never are."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from piste import api
from piste.devices import cores, free_disk, free_memory
from piste.errors import InputError
from piste.experiment import Experiment
from piste.landscape.comparison import Comparison
from piste.landscape.size import check_size as check_comparison
from piste.papers import papers, preset
from piste.papers.decision_lists.forms.needs import list_form
from piste.papers.decision_lists.tasks import DecisionLists
from piste.papers.kernels.forms import regression
from piste.papers.kernels.models import KernelLayer
from piste.papers.kernels.tasks import RegressionData
from piste.registry import name_of
from piste.training import (
    InitialState,
    Size,
    System,
    check_size,
    choose_form,
    draw,
    forms_for,
    needs_of,
    size_of,
)
from piste.training.size import YEAR, in_bytes, variations
from piste.values import override
from support.contract_rows import collected, modules_of_papers
from support.small import REGRESSION

LAPTOP = Size(memory=6.5e9, disk=50e9, seconds=YEAR)
"""What a machine with 8 GB has left beside its system."""
SERVER = Size(memory=64e9, disk=1e12, seconds=YEAR)
LAYER = preset("kernels/thm-1-softmax")
PRESETS = [f"{p.name}/{name}" for p in papers().values() for name in p.presets]


def message(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("name", PRESETS)
def test_no_preset_is_refused_on_a_laptop(name):
    check_size(preset(name), Path("results"), room=LAPTOP)


@pytest.mark.parametrize("name", PRESETS)
def test_nor_a_landscape_of_it(name):
    check_comparison(preset(name), Comparison(), Path("results"), room=LAPTOP)


BILLION, TRILLION = 10**9, 10**12
ABSURD = collected("ABSURD") + [
    ("decision-lists/thm-1", {"task.vocabulary": 10**7}, "memory"),
    ("decision-lists/thm-1", {"task.list-bound": 29}, "memory"),
    ("decision-lists/thm-2", {"task.support-sets": BILLION}, "memory"),
    ("decision-lists/repetition", {"task.vocabulary": 10**7}, "memory"),
    ("decision-lists/empirics", {"task.vocabulary": 10**7}, "memory"),
    (
        "decision-lists/empirics",
        {"task.batch": BILLION, "task.vocabulary": 64},
        "memory",
    ),
    (
        "decision-lists/empirics",
        {"task.vocabulary": 10**7, "task.distribution": "poisson"},
        "memory",
    ),
    (
        "decision-lists/thm-1-dirichlet",
        {"task.vocabulary": 10**6, "task.length": 1},
        "memory",
    ),
    ("kernels/thm-1-softmax", {"model.heads": 10**7}, "memory"),
    ("kernels/thm-1-softmax", {"model.width": 10**7}, "memory"),
    ("kernels/thm-1-softmax", {"task.length": 10**5}, "memory"),
    ("kernels/thm-1-softmax", {"task.sequences": 10**7}, "memory"),
    ("kernels/imdb-desk", {"model.dimension": 10**6}, "memory"),
    ("kernels/imdb-desk", {"model.hidden": BILLION}, "memory"),
    ("kernels/imdb-desk", {"task.length": 10**8}, "memory"),
    ("kernels/imdb-desk", {"task.frequent": TRILLION}, "memory"),
    ("kernels/pathfinder-desk", {"task.train-samples": BILLION}, "memory"),
    ("kernels/pathfinder-desk", {"task.test-samples": BILLION}, "memory"),
]


@pytest.mark.parametrize(("name", "changes", "what"), ABSURD)
def test_absurd_sizes_name_the_field_and_what_fits(name, changes, what):
    experiment = override(preset(name), changes)
    said = message(lambda: check_size(experiment, Path("results"), room=SERVER))
    field, given = next(iter(changes.items()))
    assert said.startswith(f"{field} = {given}: ") and what in said
    most = int(said.split("at most about ")[1].split()[0])
    assert 0 < most < int(given)
    fits = override(experiment, {field: most})
    check_size(fits, Path("results"), room=SERVER)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"points": 10**6 + 1}, "memory"),
        ({"models": BILLION}, "disk"),
        ({"directions": BILLION}, "disk"),
        ({"snapshots": TRILLION}, "memory"),
        ({"steps_two": 10**15}, "years"),
    ],
)
def test_absurd_landscapes(changes, what):
    settings, experiment = Comparison(**changes), preset("kernels/thm-1-softmax")
    said = message(
        lambda: check_comparison(experiment, settings, Path("x"), room=SERVER)
    )
    field, given = next(iter(changes.items()))
    assert said.startswith(f"{field.replace('_', '-')} = {given}: ") and what in said
    most = int(said.split("at most about ")[1].split()[0])
    fits = dataclasses.replace(settings, **{field: most})
    check_comparison(experiment, fits, Path("x"), room=SERVER)


def test_a_flow_may_have_any_number_of_steps():
    experiment = override(LAYER, {"rule": "flow", "steps": 10**18})
    check_size(experiment, Path("x"), room=LAPTOP)


# --- what the estimates are made of ---------------------------------------------------


def shapes_of(experiment: Experiment) -> InitialState:
    """What a run begins with, as shapes: nothing is drawn."""
    task, model, key = experiment.task, experiment.model, jax.random.key(0)
    if isinstance(model, KernelLayer):
        data, weights = jax.eval_shape(regression._draw, task, model, 0)
        return InitialState(data, data, weights)
    for module in modules_of_papers():
        if shapes := getattr(module, "shapes_of", lambda given: None)(experiment):
            return shapes
    drawn = jax.eval_shape(lambda key: model.draw_weights(task, key=key), key)
    return InitialState(None, None, drawn)


def bytes_in(tree) -> int:
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *collected("COUNTED"),
        ("kernels/control", {"task.outputs": 3}),
        ("decision-lists/empirics", {}),
        ("kernels/imdb-desk", {"model.layers": 3}),
        ("kernels/pathfinder-desk", {}),
    ],
)
def test_weights_and_data_are_counted_exactly(name, changes):
    experiment = override(preset(name), changes)
    start, needs = shapes_of(experiment), needs_of(experiment)
    assert bytes_in(start.weights) == needs.weights
    if hasattr(start.data, "basis"):
        assert needs.data == bytes_in((start.data.basis, start.test.basis))
    if isinstance(start.data, RegressionData):
        assert needs.data == bytes_in(start.data)


@pytest.mark.parametrize(
    "experiment",
    [
        *collected("RECORDED"),
        preset("kernels/thm-1-softmax"),
        preset("decision-lists/empirics"),
    ],
    ids=lambda experiment: name_of(experiment.model),
)
def test_records_are_counted_exactly_or_a_little_too_large(experiment):
    is_lists = isinstance(experiment.task, DecisionLists)
    start = draw(experiment) if is_lists else shapes_of(experiment)
    form = "enumeration" if is_lists else "full"
    (entry,) = (e for e in forms_for(experiment) if e.name == form)
    system = System(entry.build(experiment, start, False), experiment.rule)
    state = jax.eval_shape(System.start, system)
    measured = jax.eval_shape(System.measure, system, state, np.array(True))
    sizes = {"step": 0, "test_step": 0}
    for probe in system.probes():
        sizes[probe.along] += bytes_in(measured[probe.name])
    needs = needs_of(experiment)
    assert sizes["step"] <= needs.record <= 1.3 * sizes["step"]
    assert sizes["test_step"] <= needs.test_record <= 3 * sizes["test_step"]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        *collected("SIZES"),
        (
            "kernels/thm-1-softmax",
            "task.sequences task.length task.dimension model.heads model.width steps",
        ),
        (
            "kernels/pathfinder-desk",
            "task.canvas task.train-samples task.validation-samples task.test-samples "
            "model.layers model.dimension model.hidden steps",
        ),
        ("decision-lists/empirics", "task.vocabulary steps"),
        ("decision-lists/thm-1", "task.vocabulary task.list-bound steps"),
        ("decision-lists/thm-2", "task.support-sets"),
    ],
)
def test_every_size_counts(name, fields):
    experiment, known = preset(name), {}
    for field in variations(experiment, size_of):
        known[field.name] = field
    now = size_of(experiment)
    for name in fields.split():
        larger = known[name].size(2 * known[name].given)
        assert larger.memory > now.memory or larger.disk > now.disk, name


def test_the_form_of_lists_is_the_one_that_is_chosen():
    for name in (n for n in PRESETS if n.startswith("decision")):
        assert list_form(preset(name)) == choose_form(preset(name))


def test_what_is_done_needs_no_room_on_the_disk():
    experiment = override(LAYER, {"steps": 100_000, "record.every": 10})
    whole, half = size_of(experiment), size_of(experiment, done=50_000)
    assert 0.45 < half.disk / whole.disk < 0.55
    assert size_of(experiment, stored=False).memory > whole.memory + whole.disk


def test_in_memory_records_count_as_memory():
    experiment = override(REGRESSION, {"steps": BILLION, "record.every": 1})
    said = message(lambda: check_size(experiment, None, room=SERVER))
    assert said.startswith("steps = 1000000000: needs about") and "memory" in said


def test_the_python_interface_refuses_too(monkeypatch, tmp_path):
    monkeypatch.setattr("piste.training.size.room_of", lambda folder: LAPTOP)
    huge = override(REGRESSION, {"task.dimension": BILLION})
    for out in (None, tmp_path / "out"):
        assert "memory" in message(lambda out=out: api.run(huge, out, quiet=True))
    assert not (tmp_path / "out").exists()


# --- what the machine has -------------------------------------------------------------


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


MACHINE = "MemTotal: 9000 kB\nMemAvailable:   5000 kB\nSwapFree: 1000 kB\n"


def test_the_memory_of_the_machine(tmp_path):
    assert free_memory(put(tmp_path, {"proc/meminfo": MACHINE})) == 6000 * 1024


@pytest.mark.parametrize("own", ["a/b", "a", ""])
def test_groups_of_processes_limit_it(tmp_path, own):
    put(tmp_path, {"proc/meminfo": MACHINE, "proc/self/cgroup": f"0::/{own}\n"})
    groups = tmp_path / "sys/fs/cgroup"
    put(groups, {"memory.max": "max", "memory.current": "7"})
    limited = {
        "memory.max": "100000\n",
        "memory.current": "90000\n",
        "memory.stat": "anon 1\ninactive_file 5000\n",
    }
    put(groups / "a", limited)
    put(groups / "a/b", limited | {"memory.max": "max\n"})
    assert free_memory(tmp_path) == (15000 if own else 6000 * 1024)


def test_older_groups_limit_it_too(tmp_path):
    line = "4:memory:/x\n0::/\n"
    put(tmp_path, {"proc/meminfo": MACHINE, "proc/self/cgroup": line})
    limited = {"memory.limit_in_bytes": "1000", "memory.usage_in_bytes": "400"}
    put(tmp_path / "sys/fs/cgroup/memory/x", limited)
    assert free_memory(tmp_path) == 600


def test_a_folder_that_is_not_there_yet_has_the_room_of_its_parent(tmp_path):
    assert free_disk(tmp_path / "a" / "b") == pytest.approx(
        free_disk(tmp_path), rel=0.1
    )


def test_cores_are_those_that_we_may_use(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {3}, raising=False)
    assert cores() == 1


def test_bytes_in_words():
    shown = [in_bytes(n) for n in (0, 12, 1e3, 6.5e9, 3.92e14)]
    assert shown == ["0 B", "12 B", "1 kB", "6.5 GB", "390 TB"]


# --- against reality ------------------------------------------------------------------

MEASURE = """
import pathlib, resource, sys, tempfile
import jax
from piste.papers import preset
from piste.store import Store
from piste.values import override

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

experiment = override(preset(sys.argv[1]), dict(w.split("=") for w in sys.argv[2:]))
jax.devices()
before = peak()
with tempfile.TemporaryDirectory() as folder:
    Store(pathlib.Path(folder)).run(experiment)
    files = (f for f in pathlib.Path(folder).rglob("*") if f.is_file())
    print(peak() - before, sum(f.stat().st_size for f in files))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        *collected("MEASURED"),
        "kernels/thm-2-gaussian steps=3 task.length=64",
        "decision-lists/empirics steps=3 task.vocabulary=500",
        "kernels/pathfinder-desk steps=3 task.train-samples=400000",
    ],
)
def test_the_estimate_is_within_a_factor_of_three(words):
    name, *changes = words.split()
    command = [sys.executable, "-c", MEASURE, name, *changes]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    memory, disk = map(float, done.stdout.split())
    size = size_of(override(preset(name), dict(c.split("=") for c in changes)))
    assert memory / 3 < size.memory < 3 * memory
    assert disk / 3 < size.disk  # what is stored is compressed
