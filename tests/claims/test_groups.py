"""Runs that may be averaged are equal but for the seed."""

import pytest
import xarray as xr

from piste.claims import by_experiment, labelled, one_experiment
from piste.errors import InputError
from piste.rules import Adam
from piste.values import override, to_json
from support.plain import experiment


def run(seed: int = 0, **changes) -> xr.Dataset:
    """A trajectory of which only the experiment is known."""
    given = override(experiment(seed=seed), changes)
    return xr.Dataset(attrs={"experiment": to_json(given)})


def test_seeds_of_one_experiment_are_one_group():
    (group,) = by_experiment([run(2), run(0), run(1)])
    assert group.seeds == [0, 1, 2]
    assert group.differs == {} and group.difference_text() == ""


def test_other_settings_are_other_groups_and_named():
    """A radius = 0.5 and 2 once became one median over 2 seeds."""
    radius = "task.marker-radius"
    runs = [run(0, **{radius: 0.5}), run(1, **{radius: 2.0}), run(1, **{radius: 0.5})]
    first, second = by_experiment(runs)
    assert (first.seeds, second.seeds) == ([0, 1], [1])
    assert first.difference_text() == "task.marker-radius = 0.5"
    assert second.difference_text() == "task.marker-radius = 2.0"


def test_a_class_is_named_by_its_word_and_its_own_fields():
    first, second = by_experiment([run(), run(rule=Adam(learning_rate=0.1))])
    assert first.differs["rule"] == "signgd" and second.differs["rule"] == "adam"
    assert second.differs["rule.learning-rate"] == 0.1
    assert "rule.b1" in second.differs and "rule.b1" not in first.differs


def test_any_field_counts_also_how_often_was_recorded():
    groups = by_experiment([run(0), run(1, **{"record.dense": 7}), run(1, steps=5)])
    assert [set(group.differs) for group in groups] == [{"steps", "record.dense"}] * 3


def test_the_same_run_twice_is_refused():
    with pytest.raises(InputError, match="seed = 3: equal runs; must be one for each"):
        by_experiment([run(3), run(3)])


def test_nothing_is_no_group_and_a_stranger_is_refused():
    assert by_experiment([]) == []
    with pytest.raises(InputError, match="runs = none: must be at least one"):
        one_experiment([])
    with pytest.raises(InputError, match="run: has no experiment"):
        by_experiment([xr.Dataset()])


def test_labels_tell_all_runs_apart():
    radius = "task.marker-radius"
    alone = labelled([run(1), run(0)])
    assert [one.attrs["label"] for one in alone] == ["seed 0", "seed 1"]
    two = labelled([run(0, **{radius: 0.5}), run(0, **{radius: 2.0})])
    assert [one.attrs["label"] for one in two] == [
        "task.marker-radius = 0.5, seed 0",
        "task.marker-radius = 2.0, seed 0",
    ]


def test_a_median_over_two_experiments_is_refused():
    assert one_experiment([run(1), run(0)]).seeds == [0, 1]
    with pytest.raises(
        InputError, match=r"marker-radius = 0.5 and .*marker-radius = 2.0"
    ):
        one_experiment([run(**{"task.marker-radius": scale}) for scale in (0.5, 2.0)])
