"""The size of a run is estimated for the form that it takes."""

import dataclasses

import pytest

from piste.papers.decision_lists import presets
from piste.papers.decision_lists.forms.needs import list_form, list_needs
from piste.papers.decision_lists.tasks import FEW_SETS, DecisionLists
from piste.training import choose_form


@pytest.mark.parametrize("distribution", ["dirichlet", *FEW_SETS])
def test_a_finite_support_needs_as_much_as_its_sets(distribution):
    # 30,045,015 sets of ten of thirty tokens, of which few sets list 50.
    size = 12 if distribution == "dirichlet" else 30
    task = DecisionLists(size, size // 3, 2, distribution=distribution, support_sets=50)
    experiment = dataclasses.replace(presets.joint(10, 4, 3, "gd"), task=task)
    assert list_form(experiment) == choose_form(experiment) == "support"
    assert list_needs(experiment).working < 1e8
