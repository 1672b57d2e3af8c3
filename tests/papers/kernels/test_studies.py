"""The paper on kernels end to end at a small size."""

import contextlib
import dataclasses
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from piste.cli import main
from piste.papers.kernels import PAPER, presets, studies
from piste.papers.kernels.results.theorem_1.acceptance import Acceptance
from piste.papers.kernels.results.theorem_1.region import Region
from piste.papers.kernels.results.theorem_1.runs import PromisedRuns, Transition
from piste.papers.kernels.results.theorem_1.scale import Scale
from piste.papers.kernels.results.theorem_2.cases import CONSTRUCTION
from piste.papers.kernels.results.theorem_2.queries import Queries
from piste.reproduction import CalculationStudy, RunStudy
from support.studies import in_place_of

pytestmark = pytest.mark.usefixtures("installed")

PRINTED = "printed.txt"
"""What the command printed, kept with what it wrote."""


def small_studies():
    short = dataclasses.replace(presets.thm_2_gaussian(), steps=40)
    softmax = dataclasses.replace(presets.thm_2_softmax(), steps=40)
    queries = Queries.of_cases(CONSTRUCTION[0], seeds=2, steps=300)
    return (
        RunStudy("pair", "small", (softmax, short)),
        CalculationStudy("acceptance", "small", Acceptance((4,), 2, steps=300)),
        CalculationStudy("transition", "small", Transition((4,), 2, steps=100)),
        CalculationStudy("scale", "small", Scale((1.0, 3.0), 4, 2)),
        CalculationStudy("queries", "small", queries),
        RunStudy("images", "needs data", (short,), needs_data=True),
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("piste.papers.discovery.papers", lambda: {"kernels": PAPER})
        made = in_place_of(studies.studies, small_studies())
        patch.setattr(studies, "studies", lambda quick: made)
        words = ["reproduce", "kernels", "--theory", "--out", str(root)]
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            assert main(words) == 0
        (root / "kernels" / PRINTED).write_text(shown.getvalue(), "utf-8")
        assert main(["verify", "kernels", "--out", str(root)]) == 0
    return root / "kernels"


def test_the_summary_prints_its_tables(results):
    shown = (results / PRINTED).read_text("utf-8")
    assert (
        "W^Q alone" in shown and "H = 8, matched" in shown and "object at" not in shown
    )


def test_theory_leaves_out_what_needs_data(results):
    assert not list((results / "runs").glob("images-*"))
    assert len(list((results / "runs").glob("pair-*"))) == 2


def test_verdicts_have_arithmetic_and_a_figure(results):
    verdicts = json.loads((results / "verdicts.json").read_text())
    words = {verdict["claim"]: verdict for verdict in verdicts}
    assert len(words) == 10
    for verdict in verdicts:
        assert (results / "figures" / f"{verdict['figure']}.png").exists()
        for instance in verdict["instances"]:
            assert instance["predicted"] and instance["measured"]
    assert words["The bound's rate is attained"]["verdict"] == "holds"
    (stalls,) = words["Theorem 2: softmax stalls"]["instances"]
    solved = stalls["conditions"][1]  # a number, not a promise
    assert solved["met"] and re.search(r"leaves f/f₀ = \S+e-(2|3)\d$", solved["detail"])
    (*_, last) = words["Theorem 1, β per head"]["instances"]
    assert last["outcome"] == "inconclusive"  # 100 steps: the bound says nothing
    assert "the bound promises only f_T/f₀ ≤ " in last["measured"]


def test_the_summary_and_the_page_say_how_many_runs_are_tests(results):
    words = "8 of 8 runs are within the bound per head"
    more = "in 8 of them the bound per head asks for less than f_T/f₀ ≤ 0.5, so 0 are tests"
    caption = json.loads((results / "tables" / "transition.json").read_text())[
        "caption"
    ]
    page = (results / "report.html").read_text()
    for text in (caption, page):
        assert words in text and more in text
    rows = pd.read_csv(results / "tables" / "transition.csv")
    assert (rows["(1 − ηβ)^T"] > 0.5).all() and (rows.tests == 0).all()


def test_captions_speak_of_what_was_run(results):
    page = (results / "report.html").read_text()
    said = (
        "2 seeds, 100 to 101; 100 steps",
        "HD/Nn = 1; 300 steps",
        "the better of η = 0.05 and 0.5, 300 steps, 2 seeds, 1000 to 1001",
        "heads 1 to 3, before and after 40 steps of W^Q (seed 0)",
        "H = 8, matched, scale 6. Below the dotted line",
    )
    for words in said:
        assert words in page, words
    assert (
        "16×16" not in page and "controls" not in page.split("Tables")[0].lower()[:20]
    )


def test_the_pair_is_told_apart(results):
    frame = pd.read_csv(results / "tables" / "success.csv").set_index("kernel")
    assert frame.succeed["gaussian"] > frame.succeed["softmax"] == 0
    # Softmax's J_Q has rank zero but for rounding: a limit, and no digits below it.
    assert frame["resolved at 0"].to_dict() == {
        "softmax": "0 of 2",
        "gaussian": "2 of 2",
    }
    limit = np.finfo(float).eps * 512 * frame["σ_max(J_Q) at 0"]["softmax"]
    assert frame["σ_min(J_Q) at 0"]["softmax"] == pytest.approx(limit, rel=0.9)


def test_every_figure_has_pdf_png_and_data(results):
    names = {path.stem for path in (results / "figures").glob("*.png")}
    wanted = "kernels bounds acceptance transition scale success attention "
    wanted += "singular-values"
    assert names == set(wanted.split())
    for name in names:
        assert (results / "figures" / f"{name}.pdf").read_bytes()[:5] == b"%PDF-"
        assert len(pd.read_csv(results / "figures" / f"{name}.csv")) > 0


@pytest.mark.slow
def test_promised_and_region_from_end_to_end(tmp_path, monkeypatch):
    promised = PromisedRuns((16,), seeds=2, max_steps_v=800, max_steps_qkv=20)
    region = Region((16,), seeds=2, steps=5)
    made = (
        CalculationStudy("promised", "small", promised),
        CalculationStudy("region", "small", region),
    )
    made = in_place_of(studies.studies, made)
    monkeypatch.setattr(studies, "studies", lambda quick: made)
    assert main(["reproduce", "kernels", "--theory", "--out", str(tmp_path)]) == 0
    found = pd.read_csv(tmp_path / "kernels" / "tables" / "promised.csv")
    assert (found["within per head"] == 2).all() and found.tests.sum() > 0
