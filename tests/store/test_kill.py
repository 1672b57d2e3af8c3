"""`kill -9` at random moments, resumed by the same command, to the same bits."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from piste.api import open_run

COMMAND = [sys.executable, "-m", "piste.cli", "run", "signgd/stages-quick"]
MORE = ["--steps", "6000", "--record.chunk", "4", "--record.dense", "60"]


def command(out: Path) -> list[str]:
    return [*COMMAND, *MORE, "--out", str(out)]


def finish(out: Path):
    done = subprocess.run(command(out), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (folder,) = (out / "runs").glob("stages-quick-*")
    return done.stdout, open_run(folder).trajectory().load()


def kill_while_training(out: Path, rng: random.Random) -> None:
    """Start, wait for the first checkpoint of this life, and kill some time after."""
    process = subprocess.Popen(command(out), stdout=subprocess.DEVNULL)
    before = checkpoint_age(out)
    while process.poll() is None and checkpoint_age(out) == before:
        time.sleep(0.01)
    time.sleep(rng.uniform(0, 0.15))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def checkpoint_age(out: Path) -> int:
    found = list((out / "runs").glob("*.partial/checkpoint.npz"))
    return found[0].stat().st_mtime_ns if found else 0


def check(tmp_path: Path, kills: int) -> None:
    _, whole = finish(tmp_path / "whole")
    rng, killed = random.Random(0), tmp_path / "killed"
    for _ in range(kills):
        kill_while_training(killed, rng)
    said, resumed = finish(killed)
    if list((killed / "runs").glob("*.partial")):
        raise AssertionError("a partial run was left")
    for name in whole.variables:
        assert whole[name].values.tobytes() == resumed[name].values.tobytes(), name
    assert "resuming at step" in said


def test_a_kill(tmp_path):
    check(tmp_path, 1)


@pytest.mark.slow
def test_twenty_kills(tmp_path):
    check(tmp_path, 20)
