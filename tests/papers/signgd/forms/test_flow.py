"""Gradient flow of the two-layer model: every form of it flows alike."""

import dataclasses

import numpy as np
import pytest

from papers.signgd.two_token import SMALL
from piste import training
from piste.rules import Flow
from piste.store import run_in_memory
from piste.values import override

FLOW = dataclasses.replace(
    override(SMALL, {"steps": 8, "model.init-scale": 1.0}),
    rule=Flow(time_step=5.0, rtol=1e-10, atol=1e-12),
)


@pytest.mark.parametrize("form", ["gram", "reduced"])
def test_every_form_flows_alike(form):
    full = run_in_memory(override(FLOW, {"form": "full"}))
    other = run_in_memory(override(FLOW, {"form": form}))
    for name in ("train_loss", "value_noise", "query_signal", "test_loss"):
        np.testing.assert_allclose(other[name], full[name], rtol=1e-6, atol=1e-9)


def test_the_flow_takes_the_shortest_form_and_never_signs():
    assert training.choose_form(FLOW) == "gram"
    with pytest.raises(ValueError, match="form = exact: does not hold"):
        training.choose_form(override(FLOW, {"form": "exact"}))
