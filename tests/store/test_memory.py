"""Memory is bounded by the chunk, not by the run."""

import subprocess
import sys

import pytest

from support.faults import files_below

CODE = """
import resource, sys
from pathlib import Path
from piste import preset
from piste.store import Store
peaks = []
def watch(step, loss):
    peaks.append((step, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
every = {"record.dense": 20000, "record.test_every": 32}
Store(Path(sys.argv[1])).run(preset("signgd/stages", steps=20000, **every), watch=watch)
early = next(peak for step, peak in peaks if step >= 2000)
print(early, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_memory_is_flat_over_twenty_thousand_recorded_steps(tmp_path):
    """Every step recorded: 650 MB go to disk, and hardly any stay in memory.

    Also at the end, when all chunks become arrays; and those are not many files.
    """
    command = [sys.executable, "-c", CODE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    early, late = map(int, done.stdout.split())
    assert late - early < 50_000, (early, late)  # kilobytes
    assert len(files_below(tmp_path)) < 100
