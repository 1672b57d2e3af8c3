"""Contract tests for members of every family, ours and yours, and how numbers compare.

Each ``check_…`` raises an AssertionError with one sentence that says what is wrong. Call
them from a test of your own; piste's own members pass the same ones.
"""

from ._close import TOLERANCE, assert_close
from ._forms import check_form
from ._kernels import check_kernel
from ._probes import check_probe
from ._rules import check_rule
from ._stages import check_stage_detector
from ._tasks import check_model, check_task

__all__ = [
    "TOLERANCE",
    "assert_close",
    "check_form",
    "check_kernel",
    "check_model",
    "check_probe",
    "check_rule",
    "check_stage_detector",
    "check_task",
]
