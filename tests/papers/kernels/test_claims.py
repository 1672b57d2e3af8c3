"""No claim of the paper holds for want of data: every judge, and ways to fool it."""

import math

import numpy as np
import pytest
import xarray as xr

from piste.claims import Outcome, Verdict, judge
from piste.papers.kernels.claims import CLAIMS
from piste.papers.kernels.region_claims import movement
from support import kernel_evidence as made
from support.evidence import evidence_of

GOOD = made.everything()


def verdicts(name: str, **changed) -> list[Verdict]:
    """A claim on the good evidence with some studies replaced."""
    (claim,) = (claim for claim in CLAIMS if claim.name == name)
    (found,) = judge([claim], evidence_of(GOOD | changed))
    return list(found.verdicts)


def outcomes(name: str, **changed) -> list[Outcome]:
    return [verdict.outcome for verdict in verdicts(name, **changed)]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_every_claim_can_hold(claim):
    assert Outcome.HOLDS in outcomes(claim.name)


# --- ways to fool ---------------------------------------------------------------------


def _filled(data, value):
    """Every measured number replaced; what the cells are stays."""
    kept = (
        "kernel rows columns train key_scale heads matched seed better eta step".split()
    )
    numbers = [name for name in data if name not in kept]
    return data.assign({name: data[name].astype(float) * 0 + value for name in numbers})


STUDIES = {
    "NaN": lambda data: _filled(data, np.nan),
    "infinite": lambda data: _filled(data, np.inf),
    "zero": lambda data: _filled(data, 0.0),
    "constant": lambda data: _filled(data, 1.0),
    "no cells": lambda data: data.isel(cell=[]),
    "nothing": lambda data: data[[]],
}
RUNS = {
    "none": lambda runs: [],
    "NaN": lambda runs: [_filled(run, np.nan) for run in runs],
    "infinite": lambda runs: [_filled(run, np.inf) for run in runs],
    "zero": lambda runs: [_filled(run, 0.0) for run in runs],
    "constant": lambda runs: [_filled(run, 0.69) for run in runs],
    "no probes": lambda runs: [run[["step"]] for run in runs],
}
# What is true of a constant: a loss of 0.69 is a bowl without ripples, and equal.
LANDSCAPES = ("NaN", "infinite", "zero", "constant", "none")


def _cases():
    for claim in CLAIMS:
        (study,) = claim.needs
        ways = RUNS if isinstance(GOOD[study], list) else STUDIES
        chosen = LANDSCAPES if study.startswith("landscape") else ways
        yield from ((claim.name, study, way) for way in chosen)


def _spoilt(study: str, way: str):
    ways = RUNS if isinstance(GOOD[study], list) else STUDIES
    return ways[way](GOOD[study])


@pytest.mark.parametrize(("name", "study", "way"), list(_cases()))
def test_nothing_holds_for_want_of_data(name, study, way):
    found = outcomes(name, **{study: _spoilt(study, way)})
    if (name, way) not in TRUE:
        assert Outcome.HOLDS not in found, found


TRUE = {
    # A floor of f₀ is one that W^V cannot pass, and below HD = Nn it should not.
    ("HD = Nn is the boundary for W^V alone", "constant"),
}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_study_without_one_of_its_numbers_is_told_so(claim):
    (study,) = claim.needs
    if isinstance(GOOD[study], list):
        return
    for name in GOOD[study].data_vars:
        found = verdicts(claim.name, **{study: GOOD[study].drop_vars(name)})
        lacking = [v for v in found if f"lacks {name}" in v.measured]
        assert not lacking or len(found) == 1
        assert lacking or Outcome.HOLDS in {v.outcome for v in found}  # not needed


SHORT = ["The bound's rate is attained", "Theorem 1, β per head"]
SHORT += ["Weights move a bit in the nearly convex region", "Theorem 2: softmax stalls"]
SHORT += ["Theorem 2: the Gaussian kernel converges at a linear rate"]


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("records", [1, 2])
def test_runs_that_are_too_short_say_nothing(name, records):
    """After the start, or one step of it: nothing is trained, nothing has stalled."""
    (claim,) = (claim for claim in CLAIMS if claim.name == name)
    (study,) = claim.needs
    short = GOOD[study].isel(step=slice(records))
    if (
        name == "The bound's rate is attained"
    ):  # a step of which rounding leaves nothing
        short = short.assign(beta=short.beta * 1e-8, measured_rate=0 * short.beta)
    found = outcomes(name, **{study: short})
    assert set(found) <= {Outcome.INCONCLUSIVE, Outcome.UNMET}


SHARES = ["The start is in a nearly convex region", *SHORT[2:]]
SHARES += ["Q and K reach zero loss below HD = Nn", "Controls"]


@pytest.mark.parametrize("name", SHARES)
def test_one_seed_is_no_share_of_seeds(name):
    (claim,) = (claim for claim in CLAIMS if claim.name == name)
    (study,) = claim.needs
    data = GOOD[study]
    one = data.isel(cell=np.flatnonzero(data.seed == 0))
    found = outcomes(name, **{study: one})
    assert Outcome.HOLDS not in found and Outcome.INCONCLUSIVE in found


def test_controls_that_are_too_short_do_not_fail():
    data = GOOD["queries"].isel(step=slice(2))
    found = verdicts("Controls", queries=data)
    failed = [v for v in found if "scale 4" in v.instance]
    assert {v.outcome for v in failed} == {Outcome.INCONCLUSIVE}
    assert "enough steps" in failed[0].measured


# --- Theorem 1 ------------------------------------------------------------------------

PER_HEAD = "Theorem 1, β per head"


def wide(**changed) -> list[Verdict]:
    """W^V alone with softmax, HD/Nn = 2."""
    data = GOOD["transition"]
    cells = (data.kernel == 0) & (data.train == 0) & (data.columns == 64)
    data = data.isel(cell=np.flatnonzero(cells))
    return verdicts(PER_HEAD, transition=data.assign(changed))


def test_a_bound_that_promises_little_is_no_test():
    weak = made.along(
        GOOD["transition"].isel(cell=slice(5)), b=0.997 ** (made.STEPS / 1000)
    ).b
    (found,) = wide(bound=weak)
    assert found.outcome == Outcome.INCONCLUSIVE
    assert "the bound promises only f_T/f₀ ≤ 0.997" in found.measured
    assert found.numbers["(1 − ηβ)^T (median)"] == pytest.approx(0.997)
    assert found.numbers["f_T/f₀ (median)"] == pytest.approx(1e-9)


def test_a_loss_above_a_bound_that_promises_little_violates_it():
    data = GOOD["transition"].isel(cell=slice(5))
    (found,) = wide(bound=0 * data.loss + 0.9999, loss=0 * data.loss + 1.0)
    assert found.outcome == Outcome.VIOLATED


def test_seeds_are_judged_one_by_one():
    data = GOOD["transition"].isel(cell=slice(5))
    bound = data.bound.copy()
    bound[1] = bound[1] ** 0.1
    found = wide(bound=bound)
    assert [(v.outcome, v.instance[-12:]) for v in found] == [
        (Outcome.HOLDS, "4 of 5 seeds"),
        (Outcome.INCONCLUSIVE, "1 of 5 seeds"),
    ]


def test_one_record_that_is_no_number_is_no_agreement_nor_an_excuse():
    data = GOOD["transition"].isel(cell=slice(5))
    loss = data.loss.copy()
    loss[:, 2] = np.nan
    (found,) = wide(loss=loss)
    assert found.outcome == Outcome.INCONCLUSIVE and "no number" in found.measured
    loss[:, 3] = 2.0  # above the bound, whatever the other was
    assert [v.outcome for v in wide(loss=loss)] == [Outcome.VIOLATED]


@pytest.mark.parametrize(
    ("changed", "condition"),
    [
        ({"feature_least": 1e-16}, "σ_min(B₀) > 0"),
        ({"head_output_least": 0.0}, "W_h^O has full rank"),
        ({"eta": 0.011}, "η = ½/σ²_max(J₀)"),
        ({"columns": 16}, "HD ≥ Nn"),
    ],
)
def test_conditions_are_computed(changed, condition):
    data = GOOD["transition"].isel(cell=slice(5))
    changed = {name: 0 * data[name] + value for name, value in changed.items()}
    (found,) = wide(**changed)
    assert found.outcome == Outcome.UNMET
    assert [c.name for c in found.conditions if not c.met] == [condition]


def test_a_singular_value_below_the_resolution_is_a_limit():
    data = GOOD["transition"].isel(cell=slice(5))
    (found,) = wide(feature_least=0 * data.feature_least)
    (said,) = (c.detail for c in found.conditions if "σ_min(B₀)" in c.name)
    assert said == "least of 5 seeds ≤ 1e-14, the resolution"


def test_the_bound_s_margins_are_none_and_steps_have_their_own():
    assert all(v.margin is None for v in verdicts(PER_HEAD))
    found = verdicts("HD ≥ Nn suffices")
    assert {v.margin for v in found} == {(1e6 - 2300) / 1e6}
    shares = ["Q and K reach zero loss below HD = Nn", "Controls", "IMDb is learnt"]
    shares += ["Theorem 2: softmax stalls", "HD = Nn is the boundary for W^V alone"]
    for name in shares:
        assert all(v.margin is None for v in verdicts(name))


def test_a_bound_that_promises_nothing_is_not_of_use():
    data = GOOD["scale"].assign(feature_least=0 * GOOD["scale"].feature_least)
    found = verdicts("HD ≥ Nn suffices", scale=data)
    assert {v.outcome for v in found} == {Outcome.VIOLATED}
    assert found[0].measured.startswith("never: ")


# --- the region -----------------------------------------------------------------------

MOVES = "Weights move a bit in the nearly convex region"


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({"query_distance": 1.0}, Outcome.VIOLATED),
        ({"value_distance": 0.2}, Outcome.VIOLATED),
        ({"curvature_least": -0.2}, Outcome.VIOLATED),
        ({"loss": 1.0}, Outcome.INCONCLUSIVE),  # no run reaches zero loss
        ({"curvature_largest": 0.0}, Outcome.INCONCLUSIVE),
        ({"curvature_least": np.nan}, Outcome.INCONCLUSIVE),
    ],
)
def test_a_bit_and_nearly_convex_are_both_asked_for(changed, outcome):
    data = GOOD["region"]
    changed = {name: 0 * data[name] + value for name, value in changed.items()}
    assert set(outcomes(MOVES, region=data.assign(changed))) == {outcome}


def test_weights_that_stay_where_they_are_do_not_move_a_bit():
    data = GOOD["region"]
    still = {f"{name}_distance": 0 * data.loss for name in ("query", "key", "value")}
    assert set(outcomes(MOVES, region=data.assign(still))) == {Outcome.VIOLATED}


def test_movement_by_hand():
    data = GOOD["region"].isel(cell=[0])
    # Each matrix moves 0.01; the norms are 1, 1 and 0.
    assert movement(data) == pytest.approx(0.01 * np.sqrt(3 / 2))
    assert movement(data, "query") == pytest.approx(0.01)
    assert np.isnan(movement(data, "value"))  # it starts at zero


# --- Theorem 2 ------------------------------------------------------------------------

STALLS = "Theorem 2: softmax stalls"
LINEAR = "Theorem 2: the Gaussian kernel converges at a linear rate"
CASE = (8, True, 6.0)


def matched(**gaussian):
    """The pair, with other numbers along the Gaussian kernel's runs."""
    softmax = made.query_runs(CASE, 0, 5, wins=False)
    other = made.query_runs(CASE, 1, 5, wins=True)
    changed = {name: 0 * other[name] + value for name, value in gaussian.items()}
    return xr.concat([softmax, other.assign(changed)], "cell")


def test_softmax_stalls_only_beside_a_kernel_that_does_not():
    assert outcomes(STALLS, queries=matched()) == [Outcome.HOLDS]
    assert outcomes(STALLS, queries=matched(loss=1.0)) == [Outcome.INCONCLUSIVE]


def test_softmax_needs_a_solution_that_was_measured():
    data = matched().assign(teacher_share=0 * matched().teacher_share + 1e-3)
    (found,) = verdicts(STALLS, queries=data)
    assert found.outcome == Outcome.UNMET
    assert "leaves f/f₀ = 0.001" in found.conditions[1].detail


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({}, Outcome.HOLDS),
        ({"loss": 1.0}, Outcome.VIOLATED),  # stalls: no gradient, all of the loss
        ({"loss": 1.0, "gradient_norm": 1.0}, Outcome.VIOLATED),  # above the bound
        ({"bound": 1e-30}, Outcome.VIOLATED),
        (
            {"bound": 1e-30, "jacobian_largest": 9.0},
            Outcome.INCONCLUSIVE,
        ),  # large steps
        ({"bound": 1.0}, Outcome.INCONCLUSIVE),  # a bound that asks for nothing
        ({"jacobian_least": 0.0}, Outcome.INCONCLUSIVE),
        ({"loss": np.nan}, Outcome.INCONCLUSIVE),
        ({"gradient_norm": np.nan}, Outcome.HOLDS),  # the rate is that of the loss
    ],
)
def test_convergence_and_its_rate_are_one_statement(changed, outcome):
    assert outcomes(LINEAR, queries=matched(**changed)) == [outcome]


def test_one_step_size_that_does_is_enough():
    """The theorem says that one exists."""
    other = made.query_runs(CASE, 1, 5, wins=False).assign(better=("cell", [False] * 5))
    data = xr.concat([matched(), other], "cell")
    (found,) = verdicts(LINEAR, queries=data)
    assert found.outcome == Outcome.HOLDS and "5 of 5 seeds do" in found.measured


def scale_2(softmax: int, gaussian: int, seeds: int = 20):
    """The control of scale 2: how many seeds succeed, as many as can on their own."""
    case = (4, False, 2.0)
    won = (
        made.query_runs(case, 0, seeds, wins=True),
        made.query_runs(case, 1, seeds, True),
    )
    alone = np.arange(seeds) < softmax, np.arange(seeds) >= seeds - gaussian
    kept = [
        part.assign(loss=part.loss.where(xr.DataArray(flags, dims="cell"), 1.0))
        for part, flags in zip(won, alone, strict=True)
    ]
    return xr.concat(kept, "cell")


@pytest.mark.parametrize(
    ("softmax", "gaussian", "outcome"),
    [
        (12, 12, Outcome.INCONCLUSIVE),
        (12, 11, Outcome.INCONCLUSIVE),
        (20, 16, Outcome.INCONCLUSIVE),  # 4 of 4: p = 0.0625
        (20, 15, Outcome.HOLDS),  # 5 of 5: p = 0.031
        (4, 16, Outcome.VIOLATED),
    ],
)
def test_who_fails_first_is_told_by_one_test_over_the_seeds(softmax, gaussian, outcome):
    (found,) = verdicts("Controls", queries=scale_2(softmax, gaussian))
    assert found.outcome == outcome
    assert "one-sided sign test" in found.measured
    assert found.numbers["softmax succeeds"] == softmax


def test_the_hundred_seeds_have_the_p_value_of_the_binomial_tail():
    # 38 seeds on which softmax succeeds alone, and 10 of the Gaussian kernel.
    data = scale_2(38, 10, seeds=48)
    name = "Large independent Q and K harm the Gaussian kernel first"
    (found,) = verdicts(name, **{"control-100": data})
    tail = sum(math.comb(48, k) for k in range(38, 49)) / 2**48
    assert found.numbers["p"] == pytest.approx(tail) and tail < 1e-4
    assert found.outcome == Outcome.HOLDS


HELD_UP = "‖∇f‖ is held up by J_Q"


@pytest.mark.parametrize(
    ("probe", "value", "outcome"),
    [
        ("gradient_norm", 0.0, Outcome.VIOLATED),
        ("gradient_norm", np.nan, Outcome.INCONCLUSIVE),
        ("train_loss", np.nan, Outcome.INCONCLUSIVE),
        ("query_jacobian_least", np.nan, Outcome.INCONCLUSIVE),
        ("query_jacobian_least", 1e-34, Outcome.INCONCLUSIVE),
    ],
)
def test_a_gradient_is_held_up_where_that_asks_for_something(probe, value, outcome):
    (run,) = made.pair()
    run = run.assign({probe: 0 * run[probe] + value})
    assert outcomes(HELD_UP, pair=[run]) == [outcome]


def test_what_an_svd_cannot_resolve_is_said_in_its_unit():
    (found,) = verdicts(HELD_UP, pair=made.pair(least=1e-34))
    # J_Q is 16 × 512.
    assert "σ_min(J_Q) ≤ 1e-13 σ_max" in found.measured
    assert "asks for nothing" in found.measured


def test_one_record_of_many_is_enough_to_violate_or_to_doubt():
    (run,) = made.pair()
    run.gradient_norm[3] = 0.0
    assert outcomes(HELD_UP, pair=[run]) == [Outcome.VIOLATED]
    run.gradient_norm[3] = np.nan
    assert outcomes(HELD_UP, pair=[run]) == [Outcome.INCONCLUSIVE]


def test_a_loss_that_is_rounding_asks_for_nothing():
    (run,) = made.pair()
    (found,) = verdicts(HELD_UP, pair=[run.assign(train_loss=0 * run.train_loss)])
    assert found.measured.startswith("the loss is rounding wherever")


def test_a_run_of_another_model_is_not_judged():
    run = made.curves("softmax", 0)
    (found,) = verdicts(HELD_UP, pair=[run])
    assert found.outcome == Outcome.INCONCLUSIVE
    assert "the run lacks gradient_norm" in found.measured
