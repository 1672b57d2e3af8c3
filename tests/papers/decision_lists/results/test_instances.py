"""Random instances: fixed by their numbers, of sizes that make sense."""

import numpy as np
import pytest

from piste.errors import InputError
from piste.papers.decision_lists.results.instances import FAMILIES, RandomInstances


@pytest.mark.parametrize("family", FAMILIES)
def test_an_instance_depends_on_its_number_alone(family):
    few = RandomInstances(family, count=2)
    more = RandomInstances(family, count=9, first=1)
    (task, one), (other, two) = few.batch(0, 5)[1], more.batch(0, 3)[0]
    assert task == other and task.distribution in FAMILIES[family]
    np.testing.assert_array_equal(one.lists, two.lists)
    assert sum(len(more.batch(index, 4)) for index in range(more.batches(4))) == 9


def test_a_range_of_sizes_has_two_ends():
    with pytest.raises(InputError, match="max-length = 2: must be at least min-length"):
        RandomInstances(min_length=3, max_length=2)
    with pytest.raises(InputError, match="max-list-bound = 4: must be at least min-li"):
        RandomInstances(min_list_bound=5)
