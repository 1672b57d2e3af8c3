"""The paper end to end at a small size, and its presets on the command line."""

import dataclasses
import json

import pandas as pd
import pytest
import xarray as xr

import piste
from piste.cli import main
from piste.papers import find_paper
from piste.papers.decision_lists import presets, studies
from piste.papers.decision_lists.results import random_weights, value_alone
from piste.papers.decision_lists.results.descent_on_w import AttentionDescents
from piste.papers.decision_lists.results.instances import RandomInstances
from piste.papers.decision_lists.results.theorem_1.first_perfect_times import (
    FirstPerfect,
)
from piste.papers.decision_lists.results.theorem_1.persistence import Persistence
from piste.papers.decision_lists.results.theorem_1.repetition import Repetition
from piste.papers.decision_lists.results.theorem_1.scale import ScaleSweep
from piste.papers.decision_lists.results.theorem_1.unseen_sequences import (
    UnseenSequences,
)
from piste.papers.decision_lists.results.theorem_2.descents import Descents
from piste.reproduction import CalculationStudy, RunStudy, Study, SweepStudy
from piste.sweeps import Sweep
from support.studies import in_place_of

SIZES = ((6, 3, 2),)


def small_studies() -> tuple[Study, ...]:
    """Every study at a size of seconds."""
    flow = dataclasses.replace(presets.thm_1_dirichlet(), steps=60)
    flow = dataclasses.replace(flow, task=dataclasses.replace(flow.task, vocabulary=7))
    run = dataclasses.replace(presets.joint(6, 3, 2, "gd"), steps=40)
    # One size and two of each, so that few programs are compiled.
    draws = RandomInstances(count=2, min_vocabulary=8, max_vocabulary=8, max_length=3)
    others, each, weighted = (
        dataclasses.replace(draws, family=family)
        for family in ("others", "each", "dirichlet-support")
    )
    scale = ScaleSweep(8, 3, 2, min_factor=1e-2, max_factor=1.0, factors=5)
    sweeps = tuple(
        SweepStudy(
            random_weights.study_name(SIZES[0], rule),
            "joint",
            Sweep(
                dataclasses.replace(presets.joint(6, 3, 2, rule), steps=40),
                {"seed": range(2)},
            ),
            probes=random_weights.PROBES,
            batch=1,
        )
        for rule in presets.RULES
    )
    alone = dataclasses.replace(presets.value_alone(), steps=40)
    repetition = Repetition((6, 7), (3, 3), (2, 1), patience=2.0)
    descents = Descents((40,), (19,), (1,), (20,), limit=5)
    return (
        RunStudy("theorem-1", "flow", (flow,)),
        CalculationStudy("uniform", "uniform", FirstPerfect(draws)),
        CalculationStudy("others", "others", FirstPerfect(others)),
        CalculationStudy("dirichlet-support", "few", FirstPerfect(weighted)),
        RunStudy("dirichlet", "flow", (flow,)),
        CalculationStudy("scale", "scale", scale),
        CalculationStudy("scale-small", "scale", dataclasses.replace(scale, seed=4)),
        CalculationStudy("unseen", "others", UnseenSequences(weighted)),
        CalculationStudy("persistence", "kept", persistence(each)),
        CalculationStudy("attention-descents", "gd", AttentionDescents(draws)),
        CalculationStudy("repetition", "iid", repetition),
        CalculationStudy("theorem-2", "descent", descents),
        RunStudy("empirics", "joint", (run,)),
        *sweeps,
        SweepStudy(
            "value-alone",
            "V alone",
            Sweep(alone, {"seed": range(2)}),
            probes=value_alone.PROBES,
            batch=1,
        ),
    )


def persistence(draws: RandomInstances) -> Persistence:
    return Persistence(draws, horizon=3.0, records=20)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("lists")
    with pytest.MonkeyPatch.context() as patch:
        made = in_place_of(studies.studies, small_studies())
        patch.setattr(studies, "studies", lambda quick: made)
        patch.setattr(presets, "JOINT_SIZES", SIZES)
        names = [random_weights.study_name(SIZES[0], rule) for rule in presets.RULES]
        for part in ("claims", "figures", "tables"):
            need_only(patch, find_paper("decision-lists").part(part), part, names)
        command = ["reproduce", "decision-lists", "--out", str(root)]
        assert main(command) == 0
        assert main(command) == 0
        assert main(["verify", "decision-lists", "--out", str(root)]) == 0
    return root / "decision-lists"


def need_only(patch, module, part: str, names: list[str]) -> None:
    """Whatever needs all sizes of the training from random weights needs these."""
    every = [
        dataclasses.replace(each, needs=tuple(names))
        if any(name.startswith("joint-") for name in each.needs)
        else each
        for each in getattr(module, part.upper())
    ]
    patch.setattr(module, part.upper(), tuple(every))


def test_every_preset_is_an_experiment():
    for name in find_paper("decision-lists").presets:
        assert piste.preset(f"decision-lists/{name}").steps > 0
        words = getattr(presets, name.replace("-", "_")).__doc__
        assert words.startswith("``piste run decision-lists/" + name)


@pytest.mark.slow
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


@pytest.mark.slow
def test_figures_and_tables_have_their_data(results):
    names = ("task", "scores", "margins", "bounds", "scale", "descents", "success")
    for name in (*names, "persistence", "values"):
        assert (results / "figures" / f"{name}.pdf").read_bytes()[:5] == b"%PDF-"
        assert len(pd.read_csv(results / "figures" / f"{name}.csv")) > 0
    frame = pd.read_csv(results / "tables" / "smallest.csv")
    assert frame["smallest n"].tolist() == [19, 29, 38, 45]
    page = (results / "report.html").read_text()
    assert page.count("<figure") == len(list((results / "figures").glob("*.png")))


def test_a_calculation_goes_on_with_the_first_part_that_is_missing(tmp_path):
    study = CalculationStudy(
        "few", "few", FirstPerfect(RandomInstances(count=2, max_vocabulary=6), 1)
    )
    whole = study.run(tmp_path / "whole").dataset("few")

    def stop(done, loss):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(tmp_path / "parts", stop)
    told = []
    again = study.run(tmp_path / "parts", lambda done, loss: told.append(done))
    assert told == [1, 2]
    xr.testing.assert_equal(again.dataset("few"), whole)


@pytest.mark.slow
def test_captions_say_what_was_run(results):
    page = (results / "report.html").read_text()
    assert "2 seeds" in page and "8 seeds" not in page
    assert "100 bounds" not in page
    words = find_paper("decision-lists").summary
    assert "random instances" not in words and "checked" not in words


def test_a_page_of_few_studies_speaks_of_few(tmp_path, monkeypatch):
    kept = [s for s in small_studies() if s.name in ("uniform", "persistence")]
    made = in_place_of(studies.studies, kept)
    monkeypatch.setattr(studies, "studies", lambda quick: made)
    assert main(["reproduce", "decision-lists", "--out", str(tmp_path)]) == 0
    folder = tmp_path / "decision-lists"
    page = (folder / "report.html").read_text()
    before, rest = page.split('<table id="table-coverage">')  # it names every claim
    others = before + rest.partition("</table>")[2]
    assert "with repetition" not in others and "descent on" not in others
    coverage = pd.read_csv(folder / "tables" / "coverage.csv")
    run = coverage[coverage["verdict"] != "not run"]
    assert run["claim"].tolist() == ["Theorem 1 on uniform sets"]
    verdicts = json.loads((folder / "verdicts.json").read_text())
    named = [verdict["claim"] for verdict in verdicts]
    assert named == ["Theorem 1 on uniform sets", "Perfection is kept"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--task.list-bound", "30"], "task.list-bound = 30: must be below vocabulary"),
        (["--task.length", "31"], "task.length = 31: must be at most vocabulary = 30"),
        (
            ["--form", "enumeration", "--task.vocabulary", "80"],
            "task.vocabulary = 80: needs about",
        ),
        (["--form", "gram"], "form = gram: does not hold for model one-hot"),
        (["--rule.time-step", "0"], "rule.time-step = 0.0: must be greater than 0"),
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
