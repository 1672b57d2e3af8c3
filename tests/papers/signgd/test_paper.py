"""The paper end to end at a small size: files, claims, figures, page."""

import dataclasses
import html.parser
import json
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import piste
from piste.claims import Judgements
from piste.cli import main
from piste.errors import InputError
from piste.papers import find_paper
from piste.papers.signgd import figures, presets, studies
from piste.report.page import render
from piste.reproduction import Evidence, Results, RunStudy
from support.studies import in_place_of


@pytest.fixture(scope="module")
def small():
    """A run with all stages in a few seconds."""
    return dataclasses.replace(presets.stages_quick(), steps=1400)


@pytest.fixture(scope="module")
def results(small, tmp_path_factory):
    """`piste reproduce signgd --quick` on small runs."""
    root = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        few = (RunStudy("stages", "small", studies.seeds(small, 2)),)
        made = in_place_of(studies.studies, few)
        patch.setattr(studies, "studies", lambda quick: made)
        assert main(["reproduce", "signgd", "--quick", "--out", str(root)]) == 0
        assert main(["verify", "signgd", "--out", str(root)]) == 0
    return root / "signgd-quick"


def test_every_preset_is_an_experiment():
    paper = find_paper("signgd")
    for name in paper.presets:
        assert piste.preset(f"signgd/{name}").steps > 0
        assert getattr(presets, name.replace("-", "_")).__doc__.startswith(
            "``piste run"
        )


def test_every_figure_has_pdf_png_and_data(results):
    names = {path.stem for path in (results / "figures").glob("*.png")}
    assert {"overview", "switches", "snapshots", "attention"} <= names
    for name in names:
        assert (results / "figures" / f"{name}.pdf").read_bytes()[:5] == b"%PDF-"
        assert len(pd.read_csv(results / "figures" / f"{name}.csv")) > 0


def test_figure_data_are_the_run(results, small):
    frame = pd.read_csv(results / "figures" / "attention.csv")
    (folder,) = (results / "runs").glob("stages-seed=0-*")
    run = piste.open_run(folder).trajectory()
    part = frame[(frame.series == "attention_noise_signal") & (frame.step == 50)]
    np.testing.assert_allclose(part.value, run.attention_noise_signal.sel(step=50))


def test_every_claim_has_a_verdict_and_its_arithmetic(results):
    verdicts = json.loads((results / "verdicts.json").read_text())
    claims = find_paper("signgd").part("claims").CLAIMS
    claims = [claim for claim in claims if claim.needs == ("stages",)]
    assert [verdict["claim"] for verdict in verdicts] == [
        claim.name for claim in claims
    ]
    for verdict in verdicts:
        assert (results / "figures" / f"{verdict['figure']}.png").exists()
        for instance in verdict["instances"]:
            assert instance["predicted"] and instance["measured"]


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.outside, self.ids, self.links, self.open = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        for name in ("src", "href"):
            target = attrs.get(name, "")
            if target.startswith("#"):
                self.links.append(target[1:])
            elif target and not target.startswith("data:"):
                self.outside.append(target)
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_is_whole_and_needs_no_network(results):
    text = (results / "report.html").read_text()
    reader = Reader()
    reader.feed(text)
    assert not reader.outside and not reader.open
    assert set(reader.links) <= reader.ids and reader.links
    assert "@import" not in text and "url(" not in text
    assert text.count("data:image/png") == len(
        list((results / "figures").glob("*.png"))
    )


def test_verify_says_which_runs_it_judged(small, results, monkeypatch, capsys):
    few = (RunStudy("stages", "small", studies.seeds(small, 2)),)
    made = in_place_of(studies.studies, few)
    monkeypatch.setattr(studies, "studies", lambda quick: made)
    assert main(["verify", "signgd", "--out", str(results.parent)]) == 0
    shown = capsys.readouterr().out.replace("\n", "")
    assert f"judged in {results}: stages (2)" in shown


def test_a_page_says_what_its_runs_say(results):
    text = (results / "report.html").read_text()
    again = f"piste reproduce signgd --quick --out {results.parent}"
    assert f"<pre>{again}</pre>" in text and "Of stored results" not in text
    note = "it was made in another environment: jax 0.1 (now 0.2)"
    run = xr.Dataset({"x": ("step", [0.0])}, attrs={"notes": [note]})
    evidence = Evidence(runs={"other": [run]})
    nothing = Results(results, (), (), evidence, Judgements(), {}, {}, ())
    page = render(find_paper("signgd"), nothing, again)
    assert f"other: {note}" in page and "This page was made with" in page


@pytest.fixture(scope="module")
def run(small):
    return piste.run(dataclasses.replace(small, steps=300), quiet=True)


def test_verify_on_a_trajectory_of_ones_own(run):
    judgements = piste.verify("signgd", run)
    first = judgements[0]
    assert (
        first.summary_text() == "inconclusive"
    )  # 300 steps do not see the query align
    assert re.search(
        r"IVa is o\(1\): not reached; .*IVc ends", first.verdicts[0].measured
    )


def test_claims_can_be_violated(small):
    """GD neither votes nor fails to generalise: the claims must notice."""
    run = piste.run(
        dataclasses.replace(small, rule=piste.rules.GD(learning_rate=2.0)), quiet=True
    )
    words = {j.claim.name: j.summary_text() for j in piste.verify("signgd", run)}
    assert words["test loss stays Θ(1)"] == "violated"
    assert words["attention goes to the noise token"] == "violated"


def test_two_experiments_are_never_pooled_as_seeds(run):
    settings = run.attrs["experiment"]
    task = settings["task"] | {"noise_scale": 0.5}
    other = run.assign_attrs(experiment=settings | {"task": task})
    judgements = piste.verify("signgd", [run, other])
    said = {v.instance for v in judgements[0].verdicts}
    assert any("task.noise-scale = 0.5, seed 0" in words for words in said)
    picture = figures.losses([run, other])
    assert "2 experiments, each over one seed" in picture.caption
    assert picture.data["runs"].nunique() == 2
    assert "over one seed" in figures.losses([run]).caption
    with pytest.raises(InputError, match="must be of one experiment"):
        figures.switches([run, other])


def test_initial_state_checks_a_run_with_other_code(small):
    """The first recorded numbers, from the arrays and NumPy alone."""
    state = piste.initial_state(small)
    run = piste.run(dataclasses.replace(small, steps=1), quiet=True)
    v = (state["value_plus"] - state["value_minus"]).mean(0)
    noise = state["tokens"][:, 1] * state["labels"][:, None]
    np.testing.assert_allclose(run.value_noise[0], noise @ v, rtol=1e-12)
    np.testing.assert_allclose(
        run.query_noise[0], state["query"] @ noise.T, rtol=1e-10, atol=1e-15
    )
