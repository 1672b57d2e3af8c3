"""The paper end to end at a small size, and its claims on evidence with known answers."""

import dataclasses
import json

import jax
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import piste
from piste.claims import Outcome
from piste.cli import main
from piste.dynamics.flow import END, EVENT
from piste.papers import Study, find_paper
from piste.papers.decision_lists import (
    empirical_claims,
    presets,
    studies,
    theorem_claims,
)
from piste.papers.decision_lists.calculations import (
    FirstPerfect,
    Repetition,
    ScaleSweep,
)
from piste.papers.decision_lists.descents import Descents
from piste.sweeps import Sweep

SIZES = ((6, 3, 2),)


@pytest.fixture(autouse=True)
def no_cache_of_the_user(monkeypatch):
    monkeypatch.setattr("piste.caching.keep_compiled_programs", lambda: None)


def small_studies(quick: bool = False) -> tuple[Study, ...]:
    """Every study at a size of seconds."""
    flow = dataclasses.replace(presets.thm_1_dirichlet(), steps=60)
    flow = dataclasses.replace(flow, task=dataclasses.replace(flow.task, vocabulary=7))
    run = dataclasses.replace(presets.joint(6, 3, 2, "gd"), steps=40)
    few = FirstPerfect(instances=3, batch=2, largest=8, longest=3)
    others = dataclasses.replace(few, distribution="others")
    scale = ScaleSweep(8, 3, 2, smallest=1e-2, largest=1.0, factors=5)
    sweeps = tuple(
        Study(
            studies.joint_name(SIZES[0], rule),
            "joint",
            sweep=Sweep(
                dataclasses.replace(presets.joint(6, 3, 2, rule), steps=40),
                {"seed": range(2)},
            ),
            probes=studies.JOINT_PROBES,
            batch=1,
        )
        for rule in presets.RULES
    )
    alone = dataclasses.replace(presets.value_alone(), steps=40)
    return (
        Study("theorem-1", "flow", (flow,)),
        Study("uniform", "uniform", calculation=few),
        Study("others", "others", calculation=others),
        Study("dirichlet", "flow", (flow,)),
        Study("scale", "scale", calculation=scale),
        Study("scale-small", "scale", calculation=dataclasses.replace(scale, seed=4)),
        Study("persistence", "kept", calculation=dataclasses.replace(few, follow=3.0)),
        Study(
            "persistence-others",
            "kept",
            calculation=dataclasses.replace(others, follow=3.0),
        ),
        Study("repetition", "iid", calculation=Repetition("6,3,2 7,3,1", patience=2.0)),
        Study("theorem-2", "descent", calculation=Descents("40,19,1,20", limit=5)),
        Study("empirics", "joint", (run,)),
        *sweeps,
        Study(
            "value-alone",
            "V alone",
            sweep=Sweep(alone, {"seed": range(2)}),
            probes=("train_loss", "accuracy", "value_cosine", "value_cosine_centred"),
            batch=1,
        ),
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("lists")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(studies, "studies", small_studies)
        for module in ("studies", "empirical_claims", "figures", "tables"):
            patch.setattr(f"piste.papers.decision_lists.{module}.SIZES", SIZES)
        names = [studies.joint_name(SIZES[0], rule) for rule in presets.RULES]
        claims = find_paper("decision-lists").part("claims")
        *rest, last = claims.CLAIMS
        last = dataclasses.replace(last, needs=tuple(names))
        patch.setattr(claims, "CLAIMS", (*rest, last))
        patch.setattr("piste.caching.keep_compiled_programs", lambda: None)
        command = ["reproduce", "decision-lists", "--out", str(root)]
        assert main(command) == 0
        assert main(command) == 0
        assert main(["verify", "decision-lists", "--out", str(root)]) == 0
    return root / "decision-lists"


def test_every_preset_is_an_experiment():
    for name in find_paper("decision-lists").presets:
        assert piste.preset(f"decision-lists/{name}").steps > 0
        words = getattr(presets, name.replace("-", "_")).__doc__
        assert words.startswith("``piste run decision-lists/" + name)


def test_every_claim_has_a_verdict_and_a_figure(results):
    verdicts = json.loads((results / "verdicts.json").read_text())
    assert len(verdicts) == len(find_paper("decision-lists").part("claims").CLAIMS)
    for verdict in verdicts:
        figure = verdict["figure"]
        assert not figure or (results / "figures" / f"{figure}.png").exists()
        assert all(one["predicted"] and one["measured"] for one in verdict["instances"])
    named = {verdict["claim"]: verdict["verdict"] for verdict in verdicts}
    assert named["Theorem 1 on uniform sets"] == "holds"
    assert named["Theorem 2"] == "holds"
    assert named["Theorem 2 at short sequences"] == "conditions unmet"


def test_figures_and_tables_have_their_data(results):
    for name in ("task", "scores", "margins", "bounds", "scale", "descents", "success"):
        assert (results / "figures" / f"{name}.pdf").read_bytes()[:5] == b"%PDF-"
        assert len(pd.read_csv(results / "figures" / f"{name}.csv")) > 0
    frame = pd.read_csv(results / "tables" / "smallest.csv")
    assert frame["smallest n"].tolist() == [19, 29, 38, 45]
    page = (results / "report.html").read_text()
    assert page.count("<figure") == len(list((results / "figures").glob("*.png")))


def test_a_calculation_goes_on_with_the_first_part_that_is_missing(tmp_path):
    study = Study(
        "few", "few", calculation=FirstPerfect(instances=2, batch=1, largest=6)
    )
    from piste.run_study import run_study

    whole = run_study(study, tmp_path / "whole", lambda done, loss: None)

    def stop(done, loss):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(study, tmp_path / "parts", stop)
    told = []
    again = run_study(study, tmp_path / "parts", lambda done, loss: told.append(done))
    assert told == [1, 2]
    xr.testing.assert_equal(again, whole)


def test_an_instance_depends_on_its_number_alone():
    few, more = FirstPerfect(instances=2), FirstPerfect(instances=9, batch=3)
    for number in range(2):
        (task, one), (other, two) = few.draw(number), more.draw(number)
        assert task == other
        np.testing.assert_array_equal(one.lists, two.lists)


def cell(**changes) -> xr.Dataset:
    row = {
        "vocabulary": 8,
        "length": 3,
        "list_bound": 2,
        "distribution": 0,
        "gamma": 0.1,
        "delta": 0.2,
        "scale": 10.0,
        "bound": 5.0,
        "proved_bound": 50.0,
        "time_unit": 0.1,
        "time": 1.0,
        "outcome": EVENT,
    }
    return xr.Dataset(
        {name: ("cell", [value]) for name, value in (row | changes).items()}
    )


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, Outcome.HOLDS),
        ({"time": 5.1}, Outcome.VIOLATED),
        ({"time": np.inf, "outcome": END}, Outcome.VIOLATED),
    ],
)
def test_theorem_1_is_judged_on_both_sides_of_its_bound(changes, outcome):
    claim = theorem_claims.CLAIMS[0]
    (verdict,) = claim.judge({"uniform": cell(**changes)})
    assert verdict.outcome == outcome


def test_losing_perfection_is_seen():
    claim = next(c for c in theorem_claims.CLAIMS if c.name == "Perfection is kept")
    kept = cell().assign(lost_from=("cell", [np.nan]), at_the_end=("cell", [1.0]))
    kept = kept.assign(lost_to=("cell", [np.nan]))
    lost = kept.assign(lost_from=("cell", [3.5]), lost_to=("cell", [49.0]))
    short = kept.assign(at_the_end=("cell", [np.nan]))
    found = claim.judge({"persistence": kept, "persistence-others": lost})
    assert [v.outcome for v in found] == [Outcome.HOLDS, Outcome.VIOLATED]
    assert "3.5 to 49 t*" in found[1].measured
    found = claim.judge({"persistence": short, "persistence-others": kept})
    assert found[0].outcome == Outcome.INCONCLUSIVE


def test_a_run_that_never_is_perfect_is_counted():
    margin = np.array([[-1.0, 0.5, 0.4], [-1.0, -0.5, -0.1]])
    data = xr.Dataset({"margin": (("cell", "step"), margin)}, {"step": [0, 5, 9]})
    np.testing.assert_array_equal(
        empirical_claims.first_perfect_steps(data), [5, np.nan]
    )


def test_theorem_2_names_the_condition_that_fails():
    with jax.enable_x64(True):
        part = Descents("12,4,2,20", limit=3).part(0)
    (verdict,) = theorem_claims.CLAIMS[5].judge({"theorem-2": part})
    assert verdict.outcome == Outcome.UNMET
    failed = [c.name for c in verdict.conditions if not c.met]
    assert failed == ["A² > 4mL₀/ε"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--task.list-bound", "30"], "task.list-bound = 30: must be below vocabulary"),
        (["--task.length", "31"], "task.length = 31: must be at most vocabulary = 30"),
        (["--form", "enumeration", "--task.vocabulary", "80"], "form = enumeration: "),
        (["--form", "gram"], "form = gram: does not hold for model one-hot"),
        (["--rule.time-step", "0"], "rule.time-step = 0.0: must be above 0"),
        (["--model", "two-layer"], "model = two-layer: cannot read the data of task"),
        (["--task", "signal-noise"], "model = one-hot: cannot read the data of task"),
        (["--rule.solver", "euler"], "rule.solver = euler: must be one of auto, tsit5"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(words, message, capsys, tmp_path):
    out = tmp_path / "out"
    command = ["run", "decision-lists/thm-1", "--out", str(out), *words]
    assert main(command) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"error: {message}") and shown.err.count("\n") == 1
    assert not list(out.glob("runs/*"))


def test_a_flow_that_does_not_get_there_is_said(capsys, tmp_path):
    words = ["--steps", "4", "--rule.max-steps", "1", "--task.vocabulary", "8"]
    command = ["run", "decision-lists/thm-1", "--out", str(tmp_path), *words]
    assert main(command) == 0
    assert "✗ stopped at step" in capsys.readouterr().out
