"""The paper in one file: run for real, and what it derives against other code."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import piste
from piste.cli import main
from piste.experiment import Experiment
from piste.papers import bring_file, find_paper
from piste.reproduction import Evidence
from piste.store import inputs_of
from piste.testing import check_form, check_model, check_probe, check_task
from support.families import forgotten

FILE = Path(__file__).parents[2] / "examples" / "imbalance.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The quick reproduction: its folder, and what the command said."""
    folder = tmp_path_factory.mktemp("imbalance")
    shutil.copy(FILE, folder / "imbalance.py")
    with forgotten(), pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = ["reproduce", "--with", "imbalance.py", "imbalance", "--quick"]
        assert main(words) == 0
        yield folder


@pytest.fixture
def module(made):
    """The file as a module."""
    return sys.modules[find_paper("imbalance").package]


@pytest.fixture(scope="module")
def trajectories(made):
    """The runs of both studies, as the claims get them."""
    return {
        name: [
            piste.run(
                piste.preset(f"imbalance/{name}", **{"task.classes": 10}), quiet=True
            )
        ]
        for name in ("flow", "sign")
    }


def test_it_is_short():
    assert len(FILE.read_text("utf-8").splitlines()) <= 150


def test_it_leaves_files_and_verdicts(made):
    results = made / "results" / "imbalance-quick"
    verdicts = json.loads((results / "verdicts.json").read_text("utf-8"))
    assert [verdict["verdict"] for verdict in verdicts] == ["holds"] * 3
    for name in ("losses.pdf", "losses.png", "losses.csv"):
        assert (results / "figures" / name).stat().st_size > 1000
    rows = json.loads((results / "tables/classes.json").read_text("utf-8"))["rows"]
    assert {row["k"] for row in rows} == {1, 3, 10}
    assert all(abs(row["exact"] - 1) < 1e-6 for row in rows)


def test_its_page_says_how_to_make_it_again(made):
    page = (made / "results/imbalance-quick/report.html").read_text("utf-8")
    assert "<pre>piste reproduce --with imbalance.py imbalance --quick</pre>" in page
    for words in ("Heavy-Tailed Class Imbalance", "3 hold", "figure-losses"):
        assert words in page


def test_other_commands_know_it(made, capsys):
    assert main(["list", "--with", "imbalance.py"]) == 0
    out = capsys.readouterr().out
    assert "imbalance: Heavy-Tailed" in out and "imbalance/sign" in out
    assert main(["verify", "--with", "imbalance.py", "imbalance"]) == 0
    assert "3 hold" in capsys.readouterr().out
    words = ["run", "--with", "imbalance.py", "imbalance/sign", "--steps", "32"]
    assert main(words) == 0
    assert "no stages are defined" in capsys.readouterr().out


def test_verify_names_the_file_where_nothing_is_stored(made, capsys):
    words = ["verify", "--with", "imbalance.py", "imbalance", "--out", "nowhere"]
    assert main(words) == 2
    said = "piste reproduce --with imbalance.py imbalance --out nowhere makes them"
    assert said in capsys.readouterr().err and not Path("nowhere").exists()


def test_one_study_alone_is_drawn(made, capsys):
    words = ["reproduce", "--with", "imbalance.py", "imbalance", "--quick"]
    assert main([*words, "--only", "sign", "--out", "alone"]) == 0
    assert "1 hold" in capsys.readouterr().out
    assert (made / "alone/imbalance-quick/figures/losses.png").exists()


def test_edited_code_has_another_address(tmp_path):
    text = FILE.read_text("utf-8").replace("zipf-classes", "zipf-two")
    text = text.replace("linear-softmax", "linear-two")
    edited = text.replace("jax.nn.softplus", "jax.nn.relu")

    def code(name: str, text: str) -> str:
        (tmp_path / name).write_text(text, "utf-8")
        with forgotten():
            bring_file(tmp_path / name)
            return inputs_of(piste.preset("imbalance/sign")).code

    assert code("one.py", text) == code("two.py", text) != code("one.py", edited)


# --- what is derived, by other code ---------------------------------------------------


def loss_of(flat: np.ndarray, pi: np.ndarray) -> float:
    """The population loss, written out."""
    w = flat.reshape(pi.size, pi.size)
    log_p = w - np.log(np.exp(w).sum(0))
    return float(-(pi * np.diag(log_p)).sum())


def slope(flat: np.ndarray, pi: np.ndarray) -> np.ndarray:
    """Its gradient by central differences."""
    steps = 1e-5 * np.eye(flat.size)
    rises = [loss_of(flat + s, pi) - loss_of(flat - s, pi) for s in steps]
    return np.array(rises) / 2e-5


def losses(flat: np.ndarray, c: int) -> np.ndarray:
    w = flat.reshape(c, c)
    return np.log(np.exp(w).sum(0)) - np.diag(w)


def margin_at(tau: float, c: int) -> float:
    """The root of the derived equation."""
    return brentq(lambda m: (c - 1) * m + np.expm1(m) - c * tau, 0, np.log1p(c * tau))


def test_the_flow_is_the_one_of_the_whole_matrix(module):
    c, steps = 3, 64
    pi = np.array([6, 3, 2]) / 11
    experiment = piste.preset("imbalance/flow", steps=steps, **{"task.classes": c})
    run = piste.run(experiment, quiet=True)
    solved = solve_ivp(
        lambda t, w: -slope(w, pi), (0, steps), np.zeros(c * c), rtol=1e-8, atol=1e-9
    )
    expected = losses(solved.y[:, -1], c)
    np.testing.assert_allclose(run.class_loss[-1], expected, rtol=1e-5)
    derived = [np.log1p((c - 1) * np.exp(-margin_at(p * steps, c))) for p in pi]
    np.testing.assert_allclose(derived, expected, rtol=1e-5)
    np.testing.assert_allclose(run.train_loss[-1], pi @ expected, rtol=1e-5)


def test_sign_descent_is_the_one_of_the_whole_matrix(module):
    c, steps = 3, 40
    pi = np.array([6, 3, 2]) / 11
    changes = {"task.classes": c, "rule.learning_rate": 0.05}
    run = piste.run(piste.preset("imbalance/sign", steps=steps, **changes), quiet=True)
    w = np.zeros(c * c)
    for _ in range(steps):
        w -= 0.05 * np.sign(slope(w, pi))
    np.testing.assert_allclose(run.class_loss[-1], losses(w, c), rtol=1e-9)
    derived = np.log1p((c - 1) * np.exp(-2 * 0.05 * steps))
    np.testing.assert_allclose(run.class_loss[-1], derived, rtol=1e-12)


@pytest.mark.parametrize("c", [2, 10, 1000])
def test_the_late_law_has_the_stated_error(c):
    """|δ| ≤ log(1 + cτ)/(τ − log(1 + cτ)), and the constant is 1 − 1/c, not 1."""
    for tau in np.geomspace(30, 1e6, 12):
        loss = np.log1p((c - 1) * np.exp(-margin_at(tau, c)))
        logs = np.log1p(c * tau)
        assert abs(loss * tau * c / (c - 1) - 1) <= logs / (tau - logs)


# --- claims that can be fooled judge nothing ------------------------------------------


def _constant(run: xr.Dataset) -> xr.Dataset:
    return run.assign(class_loss=0 * run.class_loss + run.class_loss[0])


def _backwards(run: xr.Dataset) -> xr.Dataset:
    return run.assign(class_loss=("step k".split(), run.class_loss.values[::-1]))


def _missing(run: xr.Dataset) -> xr.Dataset:
    return run.assign(class_loss=run.class_loss * np.nan)


def _too_short(run: xr.Dataset) -> xr.Dataset:
    return run.isel(step=slice(0, 40))


FOOLED = {
    _constant: ["violated"] * 3,
    _backwards: ["violated"] * 3,
    _missing: ["inconclusive"] * 3,
    _too_short: ["holds", "violated", "holds"],
}


@pytest.mark.parametrize("change", FOOLED, ids=lambda change: change.__name__)
def test_claims_on_runs_that_are_not_right(module, trajectories, change):
    changed = {
        name: [change(run) for run in runs] for name, runs in trajectories.items()
    }
    evidence = Evidence(runs=changed)
    outcomes = [str(claim.judge(evidence)[0].outcome) for claim in module.CLAIMS]
    assert outcomes == FOOLED[change]


# --- as an installed module -----------------------------------------------------------


def test_it_can_be_installed(tmp_path):
    """Metadata and one module, as pip would leave them, in a process of its own."""
    shutil.copy(FILE, tmp_path / "class_imbalance.py")
    about = tmp_path / "class_imbalance-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: class-imbalance\nVersion: 1.0\n", "utf-8")
    point = "[piste.papers]\nimbalance = class_imbalance:PAPER\n"
    (about / "entry_points.txt").write_text(point, "utf-8")
    script = (
        "from piste.cli import main\n"
        "assert main(['list']) == 0\n"
        "words = ['reproduce', 'imbalance', '--quick', '--only', 'sign']\n"
        "assert main(words) == 0\n"
    )
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": paths},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert "imbalance/sign" in ran.stdout and "1 hold" in ran.stdout
    page = (tmp_path / "results/imbalance-quick/report.html").read_text("utf-8")
    assert "<pre>piste reproduce imbalance --quick --only sign</pre>" in page


def test_its_members_pass_the_public_contract(module):
    task, model = module.ZipfClasses(4), module.LinearSoftmax()
    check_task(task)
    check_model(model, task)
    for rule in (module.FLOW, module.SIGN):
        small = Experiment(task, model, rule, steps=4)
        check_form(small)
        check_probe("class_loss", small)
