"""Numbers that are read off a run."""

import math

from piste.papers.kernels.results.real_tasks.runs import validated_accuracy
from support.kernel_runs import trained


def test_the_accuracy_is_chosen_by_validation():
    run = trained("softmax", 0, (0.7, 0.5, 0.4))
    run = run.assign(
        validation_accuracy=("test_step", [0.5, 0.9, 0.8, 0.8, 0.8]),
        test_accuracy=("test_step", [0.5, 0.8, 0.9, 0.9, 0.9]),
    )
    assert validated_accuracy(run) == 0.8
    run.validation_accuracy[2] = math.nan  # numpy would choose it
    assert math.isnan(validated_accuracy(run))
