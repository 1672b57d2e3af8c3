"""A stored run answers only for equal data, form and code; other versions are said."""

import dataclasses
import gzip
import importlib
import inspect
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from piste.attention import KERNELS, kernel
from piste.datasets import ImageSet, cache, digits, mnist
from piste.errors import InputError, field_error
from piste.experiment import Experiment
from piste.landscape.comparison import Comparison
from piste.landscape.survey import Survey
from piste.models import Classifier
from piste.rules import SignGD
from piste.store import Manifest, Store, inputs, inputs_of, runs
from piste.store.manifest import environment
from piste.store.sealed import seal
from piste.sweeps import Sweep, sweep_parts
from piste.tasks import Text
from piste.training import find_form
from piste.values import override, to_json


@pytest.fixture
def untrained(monkeypatch):
    """Runs that are stored without being trained: enough to be found or not."""

    def begin_and_end(site, experiment, place, watch):
        about = to_json(experiment)
        begun = Manifest(place.name, experiment.digest, about, place.inputs)
        return site.finish(site.begin(begun))

    monkeypatch.setattr(runs, "_train", begin_and_end)


def pictures(seed: int, side: int) -> ImageSet:
    random = np.random.RandomState(seed)
    images = random.rand(2, 20, side**2).astype(np.float32)
    labels = np.arange(20) % 2 * 4 + 3  # threes and sevens
    return ImageSet(images[0], labels, images[1], labels)


@pytest.fixture
def images(monkeypatch):
    """An experiment on images, and a way to change the images behind its back."""

    def change(seed: int) -> None:
        monkeypatch.setattr(digits, "_load", lambda: pictures(seed, 8))
        monkeypatch.setattr(mnist, "_load", lambda folder: pictures(seed, 28))

    change(0)
    monkeypatch.setattr(inputs, "_ABSENT", {})
    signgd = pytest.importorskip("piste.papers.signgd")
    task = signgd.tasks.NoisyImages(dataset="digits", samples=4)
    model = signgd.models.TwoLayer(key_width=3, value_width=2)
    return Experiment(task, model, SignGD(1e-3), steps=3), change


def test_other_data_are_another_run(images, untrained, tmp_path):
    experiment, change = images
    store = Store(tmp_path)
    first = store.run(experiment, "images")
    assert first.manifest.inputs.data and store.find(experiment) == first
    change(1)
    assert store.find(experiment) is None
    second = store.run(experiment, "images")
    assert second.folder != first.folder
    change(0)
    assert store.find(experiment) == first  # nothing of it was touched


def test_an_interrupted_run_does_not_go_on_with_other_data(
    images, tmp_path, monkeypatch
):
    experiment, change = images

    def begin(site, experiment, place, watch):
        site.begin(Manifest("", experiment.digest, {}, place.inputs))
        seal(site.folder / "checkpoint.npz", {"chunks": 0, "steps": 2, "seconds": 0})
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "_train", begin)
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).run(experiment, "images")
    assert Store(tmp_path).interrupted(experiment).steps == 2
    change(1)
    assert Store(tmp_path).interrupted(experiment) is None


def test_sweeps_have_the_data_of_all_cells(images, tmp_path):
    experiment, change = images
    sweep = Sweep(experiment, {"task.snr": (0.1, 0.2), "seed": range(2)})
    before = sweep_parts(sweep, tmp_path, ("train_loss",)).place.address
    change(1)
    assert sweep_parts(sweep, tmp_path, ("train_loss",)).place.address != before


def test_landscapes_and_their_second_stages_have_the_data_too(images, tmp_path):
    experiment, change = images

    def addresses() -> set[str]:
        survey = Survey(experiment, Comparison(), tmp_path)
        return {survey.parts().place.address, survey.stage(0, "gaussian").address}

    before = addresses()
    assert addresses() == before and len(before) == 2
    change(1)
    assert not addresses() & before


def test_another_folder_of_texts_is_other_data(tmp_path, monkeypatch):
    """Today's fault: another PISTE_DATA got the old answer."""
    for name, word in (("a", "good"), ("b", "fine")):
        rows = "\n".join(f"{k % 2},{word} film {k}" for k in range(8))
        for part in ("train", "test"):
            (tmp_path / name).mkdir(exist_ok=True)
            text = f"label,text\n{rows}".replace("film", part)
            path = tmp_path / name / f"{part}.csv.gz"
            path.write_bytes(gzip.compress(text.encode()))
    task = Text(validation_samples=0, batch=2, length=4)
    experiment = Experiment(task, Classifier(), SignGD())
    found = []
    for name in ("a", "b", "a"):
        monkeypatch.setenv("PISTE_DATA", str(tmp_path / name))
        found.append(inputs_of(experiment))
    assert found[0] == found[2] and found[0].data != found[1].data
    monkeypatch.setenv("PISTE_DATA", str(tmp_path / "none"))
    with pytest.raises(InputError, match="PISTE_DATA = .*none: is not a folder"):
        inputs_of(experiment)


@pytest.fixture
def without_network(monkeypatch):
    def absent(source):
        raise field_error("dataset", source.name, "cannot be downloaded (no network)")

    def set_absent(is_absent: bool) -> None:
        monkeypatch.delenv("PISTE_DATA", raising=False)
        monkeypatch.setattr(inputs, "_ABSENT", {})
        found = absent if is_absent else lambda source: Path("cache")
        monkeypatch.setattr(cache, "_cached", found)

    return set_absent


def test_data_that_cannot_be_had_are_not_compared_and_that_is_said(
    images, untrained, tmp_path, without_network
):
    experiment, change = override(images[0], {"task.dataset": "mnist"}), images[1]
    store = Store(tmp_path)
    without_network(False)
    run = store.run(experiment, "images")
    without_network(True)
    found = store.run(experiment, "images")
    assert found.folder == run.folder
    assert [note for note in found.notes if "data were not compared" in note]
    assert "no network" in " ".join(found.notes)
    other = dataclasses.replace(experiment, steps=4)
    with pytest.raises(InputError, match="dataset = mnist: cannot be downloaded"):
        store.run(other, "images")
    without_network(False)
    change(1)
    store.run(experiment, "images")
    without_network(True)
    with pytest.raises(InputError, match="there are results of several data") as said:
        store.find(experiment)
    assert "\n" not in str(said.value)


def test_another_form_is_another_run(tinier, untrained, tmp_path, monkeypatch):
    store = Store(tmp_path)
    run = store.run(tinier, "tiny")
    assert run.manifest.form == "full" and store.find(tinier)
    other = dataclasses.replace(find_form(tinier), name="other")
    monkeypatch.setattr(inputs, "find_form", lambda experiment: other)
    assert store.find(tinier) is None


# --- code that the user brings --------------------------------------------------------

SCALE = 2.0


def scaled(queries, keys):
    return SCALE * jnp.tanh(queries @ keys.T)


def halved(queries, keys):
    return jnp.tanh(queries @ keys.T) / 2


@pytest.fixture
def bring(monkeypatch):
    def set_kernel(function):
        if "mine" in KERNELS:
            KERNELS.remove("mine")
        kernel("mine")(function)

    yield set_kernel
    if "mine" in KERNELS:
        KERNELS.remove("mine")


def test_a_changed_kernel_is_other_code(tinier, bring, monkeypatch):
    """By its source, and by numbers and helpers that the source only names."""
    bring(scaled)
    mine = override(tinier, {"model.kernel": "mine", "form": "full"})
    code = {"scaled": inputs_of(mine).code}
    assert inputs_of(tinier).code == "" != code["scaled"]
    assert inputs_of(mine).code == code["scaled"]
    bring(halved)
    code["halved"] = inputs_of(mine).code
    bring(scaled)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    code["another number"] = inputs_of(mine).code
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert inputs_of(mine).code == code["scaled"]
    bring(lambda queries, keys: scaled(queries, keys))
    code["another source"] = inputs_of(mine).code
    assert len(set(code.values())) == 4
    source = inspect.getsource
    monkeypatch.setattr(inspect, "getsource", lambda given: source(given) + "# edited")
    assert inputs_of(mine).code not in code.values()


def test_a_changed_kernel_is_never_answered_from_an_old_run(
    tinier, bring, untrained, tmp_path
):
    bring(scaled)
    mine = override(tinier, {"model.kernel": "mine", "form": "full", "steps": 2})
    store = Store(tmp_path)
    old = store.run(mine)
    assert store.find(mine) == old
    bring(halved)
    assert store.find(mine) is None
    bring(scaled)
    assert store.find(mine) == old


def test_an_edited_file_of_a_calculation_is_other_code(tmp_path, monkeypatch):
    """A paper of a third party computes its own numbers."""
    monkeypatch.syspath_prepend(tmp_path)
    text = "import dataclasses\n@dataclasses.dataclass\nclass Count:\n    n: int = 3\n"
    codes = []
    for more in ("", "# edited\n", ""):
        (tmp_path / "third_party.py").write_text(text + more)
        sys.modules.pop("third_party", None)
        importlib.invalidate_caches()
        made = importlib.import_module("third_party").Count()
        codes.append(inputs_of(settings=[made]).code)
    assert codes[0] == codes[2] != codes[1] and all(codes)


# --- versions -------------------------------------------------------------------------


def other_jax() -> dict:
    present = environment()
    return present | {"versions": present["versions"] | {"jax": "0.0.1"}}


@pytest.fixture
def elsewhere(monkeypatch):
    def go(there: bool) -> None:
        for name in ("manifest", "folders", "runs"):
            found = other_jax if there else environment
            monkeypatch.setattr(f"piste.store.{name}.environment", found)

    return go


def test_other_versions_are_said(tinier, tmp_path, elsewhere):
    store = Store(tmp_path)
    elsewhere(True)
    assert store.run(tinier, "tiny").notes == ()
    elsewhere(False)
    (note,) = store.find(tinier).notes
    assert (
        f"another environment: jax 0.0.1 (now {environment()['versions']['jax']})"
        in note
    )
    assert "bits may differ" in note


def test_a_run_that_is_resumed_elsewhere_keeps_both_environments(
    tiny, tmp_path, elsewhere
):
    def stop(step, loss):
        if step > 10:
            raise KeyboardInterrupt

    store = Store(tmp_path)
    elsewhere(True)
    with pytest.raises(KeyboardInterrupt):
        store.run(tiny, "tiny", stop)
    assert store.interrupted(tiny).notes == ()
    elsewhere(False)
    (note,) = store.interrupted(tiny).notes
    assert "jax 0.0.1" in note and "bits may differ" in note
    run = store.run(tiny, "tiny")
    assert [e["versions"]["jax"] for e in run.manifest.environments] == [
        "0.0.1",
        environment()["versions"]["jax"],
    ]
    (note,) = run.notes
    assert "resumed in another environment: jax 0.0.1 (then" in note
    assert store.find(tiny).notes == run.notes


def test_cores_are_those_that_the_process_may_use(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {3}, raising=False)
    assert environment()["cores"] == 1
