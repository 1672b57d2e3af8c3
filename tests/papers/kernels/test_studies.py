"""The paper on kernels end to end at a small size, and its arithmetic by hand."""

import dataclasses
import json
import re

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from piste.attention import KERNELS
from piste.claims import Status, stages
from piste.cli import main
from piste.errors import InputError
from piste.papers.kernels import PAPER, long_runs, presets, studies
from piste.papers.kernels import calculations as parts
from piste.papers.kernels import stages as convergence
from piste.papers.kernels.cells import chosen, end
from piste.papers.kernels.descents import descend, first_theorem, floors, starts
from piste.papers.kernels.long_runs import excess
from piste.papers.kernels.models import KernelLayer
from piste.papers.kernels.queries import Queries, better
from piste.papers.kernels.theory import ConvergenceTheorem, convergence_theorem
from piste.reproduction import CalculationStudy, RunStudy
from piste.store import run_in_memory
from piste.testing import assert_close
from piste.training import build


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """The paper as an installed one, whatever the metadata of this environment."""
    monkeypatch.setattr("piste.papers.discovery.papers", lambda: {"kernels": PAPER})
    monkeypatch.setattr("piste.caching.keep_compiled_programs", lambda: None)


def small_studies(quick):
    short = dataclasses.replace(presets.thm_2_gaussian(), steps=40)
    softmax = dataclasses.replace(presets.thm_2_softmax(), steps=40)
    queries = Queries("8,matched,6", seeds=2, steps=300)
    return (
        RunStudy("pair", "small", (softmax, short)),
        CalculationStudy("acceptance", "small", parts.Acceptance("4", 2, steps=300)),
        CalculationStudy("transition", "small", parts.Transition("4", 2, steps=100)),
        CalculationStudy("scale", "small", parts.Scale("1 3", 4, 2)),
        CalculationStudy("queries", "small", queries),
        RunStudy("images", "needs data", (short,), needs_data=True),
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("piste.papers.discovery.papers", lambda: {"kernels": PAPER})
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
    found = descend("softmax", "V", (data, weights), rates, times, parts.loss_only)[
        "loss"
    ]
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


def test_cells_are_chosen_by_their_numbers():
    data = xr.Dataset(
        {
            "kernel": ("cell", [0, 1]),
            "loss": (("cell", "step"), [[3.0, 1.0], [2.0, 2.0]]),
        },
        {"step": [0, 5]},
    )
    assert end(chosen(data, kernel=1)).tolist() == [1.0]


def theorem_with(least) -> ConvergenceTheorem:
    """Constants by hand, a cell for each σ_min(B₀); η = ½/5²."""
    one = {"feature_resolution": 1e-15, "head_output_least": 2.0}
    one |= {"stacked_output_least": 3.0, "jacobian_largest": 5.0, "initial_loss": 3.0}
    size = {"rows": 4, "columns": 8, "width": 2, "outputs": 1}

    def make(least):
        arrays = {name: jnp.asarray(x, least.dtype) for name, x in one.items()}
        return ConvergenceTheorem(feature_least=least, **arrays, **size)

    return jax.vmap(make)(jnp.asarray(least))


def test_the_stored_bound_is_the_theorem_s():
    """One formula: what is judged is what ``theory`` computes."""
    times = np.array([0, 1, 7])
    found = xr.Dataset(parts.bounds(theorem_with([0.5, 0.0]), times))
    # ηβ = 0.02 · (2 · 0.5)², and with stacked W^O 0.02 · (3 · 0.5)².
    expected = 3 * np.array([0.98**times, np.ones(3)])
    np.testing.assert_allclose(found.bound, expected, rtol=1e-12)
    expected = 3 * np.array([0.955**times, np.ones(3)])
    np.testing.assert_allclose(found.stacked_bound, expected, rtol=1e-12)


def test_the_largest_excess_by_hand():
    loss = xr.DataArray([[1.0, 0.9, 0.2], [1.0, 0.2, 1e-27]], dims=("cell", "step"))
    bound = xr.DataArray([[1.0, 0.5, 0.4], [1.0, 0.4, 1e-30]], dims=("cell", "step"))
    # 0.9/0.5; and 0.2/0.4, because 1e-27 is rounding of 1.
    np.testing.assert_allclose(excess(loss, bound), [1.8, 0.5])


@pytest.mark.parametrize(
    ("longest", "steps"),
    [(100, 35), (1000, 867), (10, 10)],  # ½ is promised after 34.3 and 866.1 steps
)
def test_promised_runs_go_on_until_half_is_promised_or_no_further(longest, steps):
    assert long_runs._steps(theorem_with([0.5, 0.1, 0.0]), longest) == steps


@pytest.mark.slow
def test_movement_and_curvature_are_those_of_the_run():
    data = long_runs.Region("4", seeds=1, steps=3).part(0)
    experiment = dataclasses.replace(presets.thm_1_softmax(), seed=100, steps=3)
    model = dataclasses.replace(experiment.model, heads=4)
    record = dataclasses.replace(experiment.record, test_every=1, curvature=True)
    run = run_in_memory(dataclasses.replace(experiment, model=model, record=record))
    for name in ("query", "key", "value"):
        moved = run[f"{name}_distance"].sel(step=data.step).values
        np.testing.assert_allclose(data[f"{name}_distance"][0], moved, rtol=1e-6)
    ends = run.hessian_extremes.sel(test_step=data.step.values).values
    np.testing.assert_allclose(data.curvature_least[0], ends[:, 0], rtol=1e-6)
    np.testing.assert_allclose(data.curvature_largest[0], ends[:, 1], rtol=1e-6)


@pytest.mark.slow
def test_promised_and_region_from_end_to_end(tmp_path, monkeypatch):
    promised = long_runs.Promised("16", seeds=2, longest_v=800, longest_qkv=20)
    region = long_runs.Region("16", seeds=2, steps=5)
    made = (
        CalculationStudy("promised", "small", promised),
        CalculationStudy("region", "small", region),
    )
    monkeypatch.setattr(studies, "studies", lambda quick: made)
    assert main(["reproduce", "kernels", "--theory", "--out", str(tmp_path)]) == 0
    found = pd.read_csv(tmp_path / "kernels" / "tables" / "promised.csv")
    assert (found["within per head"] == 2).all() and found.tests.sum() > 0


def test_a_run_that_is_not_finite_is_never_the_better_one():
    losses = [np.array([[1.0, np.nan], [1.0, 2.0]]), np.array([[1.0, 5.0], [1.0, 3.0]])]
    assert better(losses).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: parts.Transition(heads="2 x"), "heads = '2 x': must be positive"),
        (lambda: parts.Transition(heads=""), "heads = '': must be positive"),
        (lambda: parts.Acceptance(heads="0"), "heads = '0': must be positive"),
        (lambda: parts.Scale(scales="-1"), "scales = '-1': must be positive"),
        (lambda: Queries(cases="8"), "cases = '8': must be H,start,scale"),
        (lambda: Queries(cases="8,other,1"), "init = other: must be one of"),
        (lambda: Queries(seeds=0), "seeds = 0: must be at least 1"),
        (lambda: Queries(rates="x"), "rates = 'x': must be positive"),
        (lambda: long_runs.Region(heads="0"), "heads = '0': must be positive"),
        (lambda: long_runs.Promised(heads=""), "heads = '': must be positive"),
    ],
)
def test_bad_sizes_are_one_line(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_stages_of_a_regression():
    steps = [0, 1, 2, 4, 8, 16, 32]
    loss = xr.DataArray([4.0, 1e-1, 1e-3, 1e-9, 1e-9, 1e-9, 1e-9], dims="step")
    run = xr.Dataset({"train_loss": loss, "gradient_norm": loss * 0}, {"step": steps})
    found = stages(run)
    assert (found.step("falling"), found.step("converged")) == (2, 4)
    short = stages(run.isel(step=slice(4)))
    assert not short.stages and short.boundaries["falling"].status == Status.TOO_SHORT
    still = convergence.detect(run.assign(train_loss=loss * 0 + 1))
    assert np.isnan(still.step("falling"))
    assert [(s.name, s.end, s.open) for s in still.stages] == [("fitting", 32, True)]
    nothing = convergence.detect(run.assign(train_loss=loss * 0))
    assert nothing.boundaries["falling"].status == Status.DOES_NOT_APPLY


KERNEL = """
from piste.attention import kernel
from piste.attention.kernels import squared_distances

@kernel("{name}")
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
    KERNELS.remove("cauchy-of-mine")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "is not a file"),
        ("1 / 0", r"cannot be imported (ZeroDivisionError: division by zero)"),
        ("def", "cannot be imported (SyntaxError:"),
        ("raise SystemExit(3)", "cannot be imported (SystemExit: 3)"),
        (
            KERNEL.format(name="softmax"),
            "kernel = softmax: is the name of another one already",
        ),
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
