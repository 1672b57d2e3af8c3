"""Every value survives JSON, and the command line's strings, unchanged."""

import json

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piste.experiment import Experiment
from piste.models import MODELS
from piste.registry import name_of
from piste.rules import RULES
from piste.tasks import TASKS
from piste.values import digest, fields_of, from_json, override, to_json
from support.plain import DEFAULT
from support.strategies import experiments, members

FAMILY = {**TASKS, **MODELS, **RULES}


@pytest.mark.parametrize("word", FAMILY)
@given(data=st.data())
def test_every_member_round_trips(word, data):
    member = data.draw(members(FAMILY[word]))
    text = json.dumps(to_json(member))
    again = from_json(FAMILY[word], json.loads(text))
    assert again == member and type(again) is type(member)
    assert name_of(again) == word and digest(again) == digest(member)


@given(experiments())
def test_experiments_round_trip_through_json(experiment):
    again = from_json(Experiment, json.loads(json.dumps(to_json(experiment))))
    assert again == experiment
    assert again.digest == experiment.digest and hash(again) == hash(experiment)


@given(experiments())
def test_experiments_round_trip_through_strings(experiment):
    words = {name: str(setting) for name, setting in fields_of(experiment).items()}
    assert override(DEFAULT, words) == experiment


@given(experiments())
def test_floats_are_leaves_and_nothing_else_is(experiment):
    leaves, tree = jax.tree.flatten(experiment)
    listed = fields_of(experiment).values()
    assert leaves == [setting for setting in listed if isinstance(setting, float)]
    assert jax.tree.unflatten(tree, leaves) == experiment
