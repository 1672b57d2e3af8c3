"""The paper on kernels end to end at a small size, and its arithmetic by hand."""

import dataclasses
import json

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from piste.claims import convergence, stages
from piste.cli import main
from piste.dynamics import build
from piste.errors import InputError
from piste.models import KERNELS, KernelLayer
from piste.papers import Study
from piste.papers.kernels import PAPER, presets, studies
from piste.papers.kernels import calculations as parts
from piste.papers.kernels.descents import descend, first_theorem, floors, starts
from piste.papers.kernels.theorem_1_claims import bound, chosen, end
from piste.papers.kernels.theorem_2_claims import sign_test
from piste.testing import assert_close
from piste.theory.kernels import convergence_theorem


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """The paper as an installed one, whatever the metadata of this environment."""
    monkeypatch.setattr("piste.papers._base.papers", lambda: {"kernels": PAPER})
    monkeypatch.setattr("piste.caching.keep_compiled_programs", lambda: None)


def small_studies(quick):
    short = dataclasses.replace(presets.thm_2_gaussian(), steps=40)
    softmax = dataclasses.replace(presets.thm_2_softmax(), steps=40)
    queries = parts.Queries("8,matched,6", seeds=2, steps=300)
    return (
        Study("pair", "small", (softmax, short)),
        Study("acceptance", "small", calculation=parts.Acceptance("4", 3, steps=300)),
        Study("transition", "small", calculation=parts.Transition("2 4", 2, steps=100)),
        Study("scale", "small", calculation=parts.Scale("1 3", 4, 2)),
        Study("queries", "small", calculation=queries),
        Study("images", "needs data", (short,), theory=False),
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("piste.papers._base.papers", lambda: {"kernels": PAPER})
        patch.setattr(studies, "studies", small_studies)
        patch.setattr("piste.caching.keep_compiled_programs", lambda: None)
        words = ["reproduce", "kernels", "--theory", "--out", str(root)]
        assert main(words) == 0
        assert main(["verify", "kernels", "--out", str(root)]) == 0
    return root / "kernels"


def test_theory_leaves_out_what_needs_data(results):
    assert not list((results / "runs").glob("images-*"))
    assert len(list((results / "runs").glob("pair-*"))) == 2


def test_every_preset_is_an_experiment_that_states_its_command():
    for name in PAPER.presets:
        preset = getattr(presets, name.replace("-", "_"))
        assert preset().steps > 0
        command = "landscape" if name.startswith("landscape") else "run"
        start = f"``piste {command} kernels/{name}``: "
        assert preset.__doc__.startswith(start)


def test_verdicts_have_arithmetic_and_a_figure(results):
    verdicts = json.loads((results / "verdicts.json").read_text())
    words = {verdict["claim"]: verdict for verdict in verdicts}
    assert len(words) == 11  # all but the control on 100 seeds
    for verdict in verdicts:
        assert (results / "figures" / f"{verdict['figure']}.png").exists()
        for instance in verdict["instances"]:
            assert instance["predicted"] and instance["measured"]
    assert words["The bound's rate is attained"]["verdict"] == "holds"
    below = words["Theorem 1, β per head"]["instances"][0]
    assert below["outcome"] == "conditions unmet"  # HD/Nn = 1/2
    assert not below["conditions"][0]["met"]


def test_the_pair_is_told_apart(results):
    frame = pd.read_csv(results / "tables" / "success.csv").set_index("kernel")
    assert frame.succeed["gaussian"] > frame.succeed["softmax"] == 0
    assert frame["σ_min(J_Q) at 0"]["softmax"] < 1e-20


def test_every_figure_has_pdf_png_and_data(results):
    names = {path.stem for path in (results / "figures").glob("*.png")}
    wanted = "kernels bounds transition scale success attention singular-values"
    assert names == set(wanted.split())
    for name in names:
        assert (results / "figures" / f"{name}.pdf").read_bytes()[:5] == b"%PDF-"
        assert len(pd.read_csv(results / "figures" / f"{name}.csv")) > 0


SEEDS = range(3)


def test_constants_do_not_depend_on_what_is_trained():
    start = starts(presets.REGRESSION, KernelLayer(heads=2), SEEDS)
    batched = first_theorem("gaussian", *start)
    experiment = presets.thm_1_gaussian()
    model = KernelLayer(heads=2, kernel="gaussian", train="QKV")
    for seed in SEEDS:
        form = build(dataclasses.replace(experiment, model=model, seed=seed)).form
        one = convergence_theorem("gaussian", form.weights, form.data, "QKV")
        assert_close(batched.learning_rate[seed], one.learning_rate, slack=1e3)
        assert_close(batched.rate[seed], one.rate, slack=1e3)


def test_a_batched_descent_is_the_residual_recursion():
    """W^V alone: R ← R − η Σ_h B_h B_hᵀ R W_h^Oᵀ W_h^O, in NumPy."""
    data, weights = starts(presets.REGRESSION, KernelLayer(heads=2), SEEDS)
    rates, times = jnp.array([0.01, 0.02, 0.03]), np.array([0, 1, 7])
    found = descend("softmax", "V", (data, weights), rates, times, parts._loss)["loss"]
    for seed in SEEDS:
        b = features_by_head(data.tokens[seed], weights, seed)
        norms = (np.asarray(weights.output[seed]) ** 2).sum((1, 2))
        kernel = np.einsum("h,hrd,hsd->rs", norms, b, b)
        rest, losses = np.asarray(data.targets[seed]).reshape(-1), []
        for step in range(8):
            if step in times:
                losses.append((rest**2).sum() / 2)
            rest = rest - float(rates[seed]) * kernel @ rest
        assert_close(found[seed], np.array(losses), slack=1e3)


def features_by_head(tokens, weights, seed):
    tokens, found = np.asarray(tokens), []
    for query, key in zip(weights.query[seed], weights.key[seed], strict=True):
        scores = np.einsum("ind,dw,ew,ime->inm", tokens, query, key, tokens)
        s = np.exp(scores / query.shape[1] ** 0.5)
        s = s / s.sum(-1, keepdims=True)
        found.append((s @ tokens).reshape(-1, tokens.shape[-1]))
    return np.stack(found)


def test_the_floor_is_zero_exactly_where_heads_suffice():
    for heads, enough in ((3, False), (4, True)):
        data, weights = starts(presets.REGRESSION, KernelLayer(heads=heads), SEEDS)
        share = floors("gaussian", data, weights) / (data.targets**2).sum((1, 2, 3))
        assert ((share < 1e-12) == enough).all()


def test_bound_and_choice_by_hand():
    data = xr.Dataset(
        {
            "kernel": ("cell", [0, 1]),
            "eta": ("cell", [0.5, 0.1]),
            "beta": ("cell", [0.2, 0.0]),
            "initial_loss": ("cell", [3.0, 2.0]),
            "loss": (("cell", "step"), [[3.0, 1.0], [2.0, 2.0]]),
        },
        {"step": [0, 5]},
    )
    expected = np.array([[3.0, 3 * 0.9**5], [2.0, 2.0]])
    assert_close(bound(data, "beta").values, expected, slack=100)
    assert end(chosen(data, kernel=1)).tolist() == [1.0]


def test_sign_test_is_the_binomial_tail():
    assert sign_test(2, 0) == 0.25 and sign_test(0, 3) == 1 and sign_test(0, 0) == 1


def test_a_run_that_is_not_finite_is_never_the_better_one():
    losses = [np.array([[1.0, np.nan], [1.0, 2.0]]), np.array([[1.0, 5.0], [1.0, 3.0]])]
    assert parts._better(losses).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: parts.Transition(heads="2 x"), "heads = '2 x': must be positive"),
        (lambda: parts.Transition(heads=""), "heads = '': must be positive"),
        (lambda: parts.Acceptance(heads="0"), "heads = '0': must be positive"),
        (lambda: parts.Scale(scales="-1"), "scales = '-1': must be positive"),
        (lambda: parts.Queries(cases="8"), "cases = '8': must be H,start,scale"),
        (lambda: parts.Queries(cases="8,other,1"), "init = other: must be one of"),
        (lambda: parts.Queries(seeds=0), "seeds = 0: must be at least 1"),
    ],
)
def test_bad_sizes_are_one_line(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_stages_of_a_regression():
    loss = xr.DataArray([4.0, 1e-1, 1e-3, 1e-9], dims="step")
    run = xr.Dataset(
        {"train_loss": loss, "gradient_norm": loss * 0}, {"step": [0, 1, 2, 5]}
    )
    found = stages(run)
    assert (found.step("falling"), found.step("converged")) == (2, 5)
    still = convergence.detect(run.assign(train_loss=loss * 0 + 1))
    assert np.isnan(still.step("falling")) and still.stages[0].end == 5
    assert convergence.detect(run.assign(train_loss=loss * 0)).step("converged") == 0


KERNEL = """
from piste.models import add_kernel
from piste.models.attention import squared_distances

@add_kernel("{name}")
def cauchy(queries, keys):
    return 1 / (1 + squared_distances(queries, keys))
"""


def test_a_kernel_from_a_file_of_ones_own(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(KERNEL.format(name="cauchy-of-mine"))
    words = ["--model.kernel", "cauchy-of-mine", "--steps", "3", "--out", str(tmp_path)]
    assert main(["run", "kernels/control", "--with", str(file), *words]) == 0
    shown = capsys.readouterr().out
    assert "cauchy-of-mine" in shown and "converged" in shown
    del KERNELS["cauchy-of-mine"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "is not a file"),
        ("1 / 0", r"cannot be imported (ZeroDivisionError: division by zero)"),
        ("def", "cannot be imported (SyntaxError:"),
        ("raise SystemExit(3)", "cannot be imported (SystemExit: 3)"),
        (KERNEL.format(name="softmax"), "kernel = softmax: is there already"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path, capsys, text, message):
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_text(text)
    assert main(["run", "kernels/control", "--with", str(file)]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"error: with = {file}: ") and shown.count("\n") == 1
    assert message in shown
