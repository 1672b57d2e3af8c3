"""Which forms of the two-layer model hold for which rules, and what these leave alone."""

import numpy as np
import pytest

from papers.signgd.two_token import SMALL, small
from piste.errors import InputError
from piste.testing import assert_close
from piste.training import choose_form
from piste.values import override
from support.small import run, start


def with_rule(name, form="auto"):
    return override(SMALL, {"rule": name, "form": form})


def test_forms_take_the_rules_whose_promises_they_need():
    assert choose_form(with_rule("momentum")) == "gram"
    assert choose_form(with_rule("sign-momentum")) == "reduced"
    assert choose_form(with_rule("muon")) == "full"


@pytest.mark.parametrize("form", ["reduced", "exact", "gram"])
def test_reduced_forms_refuse_muon(form):
    with pytest.raises(InputError, match="rule muon.*must be auto, full"):
        choose_form(with_rule("muon", form))


@pytest.mark.parametrize("name", ["momentum", "sign-momentum"])
def test_reduced_forms_train_as_the_full_one_does(name):
    changes = {"rule": name, "rule.learning-rate": 2e-3, "steps": 60}
    plain = override(SMALL, changes)
    full = run(override(plain, {"form": "full"}))
    assert_close(
        run(plain).records["train_loss"], full.records["train_loss"], slack=1e4
    )


def test_coordinates_without_gradient_never_move():
    experiment = small(form="full")
    begun, done = start(experiment), run(experiment)
    still = ~(np.asarray(begun.data.basis) != 0).any(0)
    assert 5 < still.sum() < 55
    before, after = np.asarray(begun.weights.query), np.asarray(done.state.params.query)
    np.testing.assert_array_equal(before[:, still], after[:, still])
    assert (before != after)[:, ~still].all()


def test_curvature_is_measured_in_the_form_of_the_weights_alone():
    given = small("gd", record__curvature=True)
    assert choose_form(given) == "full"
    with pytest.raises(InputError, match="form = gram: does not hold"):
        choose_form(override(given, {"form": "gram"}))
