"""Command lines and files that nobody should give: piste must answer each in one line.

    python tools/fuzz.py --cases 10000
    python tools/fuzz.py --seed 1234        # one case again, with all it prints

A case is made from its number alone. Nothing is trained: what would train counts as
done. A case fails if it ends in a traceback, with an exit code other than 0 or 2, with
other than one line of printable text for exit code 2, if it then has written a file or
a folder, or if it takes too long.
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fuzz_cases import CASES, prepare

PATIENCE = 60
"""Seconds of a processor's time after which a case is given up."""

BUILT = 20
"""One in so many of what would train is built first, which takes seconds."""


class TooLong(BaseException):
    """A case that does not end; no handler of errors should take it for one."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended."""

    seed: int
    kind: str
    words: list[str]
    code: int | None
    fault: str
    """What is wrong with it; empty if nothing is."""
    said: str


@contextlib.contextmanager
def nothing_trains():
    """Let every command do all but train, draw figures and write results."""
    from unittest import mock

    from piste.training import build

    class Trained(Exception):
        """All checks are passed."""

    def train(self, experiment, *rest, **named):
        self.check(experiment)
        if _is_picked(experiment):
            build(experiment)
        raise Trained

    def stop(*words, **named):
        raise Trained

    patches = {
        "piste.store.Store.run": train,
        "piste.reproduction.running.make_folder": stop,
        "piste.reproduction.landscapes.run": stop,
        "piste.caching.keep_compiled_programs": lambda: None,
        "piste.devices.one_device_per_core": lambda maximum=8: None,
    }
    with contextlib.ExitStack() as stack:
        for name, replacement in patches.items():
            stack.enter_context(mock.patch(name, replacement))
        yield Trained


def _is_picked(experiment) -> bool:
    """Whether to draw its data and weights, too: a few that are small, at random."""
    from piste.training import size_of

    small = size_of(experiment).memory < 4e8
    return small and int(experiment.digest, 16) % BUILT == 0


def run_case(seed: int, base: Path) -> Outcome:
    """Make one case from its number, and see what piste says to it."""
    chance = random.Random(seed)
    kinds, weights = zip(*((kind, kind.weight) for kind in CASES), strict=True)
    kind = chance.choices(kinds, weights)[0]
    folder = Path(tempfile.mkdtemp(dir=base))
    try:
        with _inside(folder):
            words = kind.make(chance, folder)
            return _answer(seed, kind.name, words, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _inside(folder: Path):
    before, data = os.getcwd(), os.environ.get("PISTE_DATA")
    os.chdir(folder)
    os.environ["PISTE_DATA"] = str(folder.parent / "data")
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.pop("PISTE_DATA")
        if data is not None:
            os.environ["PISTE_DATA"] = data


def _answer(seed: int, kind: str, words: list[str], folder: Path) -> Outcome:
    from piste.attention import KERNELS
    from piste.cli import main

    known, before = set(KERNELS), _tree(folder)
    out, err = _stream(), _stream()
    code, fault = None, ""
    with nothing_trains() as trained, _patience():
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(words)
        except trained:
            code = 0
        except TooLong:
            fault = f"not done after {PATIENCE} s"
        except BaseException:
            fault = "traceback: " + traceback.format_exc()
    for name in set(KERNELS) - known:
        KERNELS.remove(name)
    said = _text(err)
    fault = fault or _fault(code, said, _tree(folder) - before)
    return Outcome(seed, kind, words, code, fault, _text(out) + said)


def _fault(code: int | None, said: str, written: set[str]) -> str:
    if code == 0:
        return ""
    if code != 2:
        return f"exit code {code}"
    lines = [x for x in said.split("\n")[:-1] if not x.startswith("warning: ")]
    if len(lines) != 1 or not lines[0].startswith("error: "):
        return f"{len(lines)} lines of error"
    if not lines[0].isprintable() or len(lines[0]) > 2000:
        return "an error that is not printable, or too long"
    return f"wrote {sorted(written)} on exit 2" if written else ""


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]


def _tree(folder: Path) -> set[str]:
    """Every file and folder, with the time of its last change."""
    found = set()
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            stamp = path.lstat().st_mtime_ns if not path.is_dir() else 0
            found.add(f"{path.relative_to(folder)} {stamp}")
    return found


@contextlib.contextmanager
def _patience():
    """Raise in a case that takes too long, by the processor's clock."""

    def give_up(number, frame):
        raise TooLong

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# --- many -----------------------------------------------------------------------------


def fuzz(cases: int, first: int = 0, processes: int = 1) -> tuple[Counter, list]:
    """Run cases number ``first`` on; how many ended how, and those that failed."""
    with tempfile.TemporaryDirectory(prefix="piste-fuzz-") as name:
        base = Path(name)
        prepare(base)
        seeds = [(seed, base) for seed in range(first, first + cases)]
        if processes == 1:
            return _counted(run_case(*seed) for seed in seeds)
        context = multiprocessing.get_context("spawn")  # JAX has threads
        with context.Pool(processes) as pool:
            return _counted(pool.imap_unordered(_run, seeds, chunksize=20))


def _run(given: tuple[int, Path]) -> Outcome:
    return run_case(*given)


def _counted(outcomes) -> tuple[Counter, list[Outcome]]:
    counts: Counter = Counter()
    failures = []
    for outcome in outcomes:
        counts["cases"] += 1
        counts["failed" if outcome.fault else f"exit {outcome.code}"] += 1
        counts[f"kind: {outcome.kind}"] += 1
        if outcome.fault:
            failures.append(outcome)
            print(f"{outcome.seed} {_short(outcome.words)}\n  {outcome.fault}")
        if counts["cases"] % 500 == 0:
            print(f"{counts['cases']} cases, {counts['failed']} failed", flush=True)
    return counts, failures


def _short(words: list[str]) -> str:
    return json.dumps([word if len(word) < 80 else word[:77] + "..." for word in words])


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, help="this case alone, with all it prints")
    options = parser.parse_args()
    if options.seed is not None:
        with tempfile.TemporaryDirectory() as name:
            prepare(Path(name))
            outcome = run_case(options.seed, Path(name))
        print(
            _short(outcome.words), outcome.code, outcome.fault, outcome.said, sep="\n"
        )
        return bool(outcome.fault)
    counts, failures = fuzz(options.cases, options.first, options.processes)
    print("\n".join(f"{name:<24}{count}" for name, count in sorted(counts.items())))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
