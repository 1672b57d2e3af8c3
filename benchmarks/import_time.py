"""How long the light commands take to answer; the aim is half a second.

Run ``python benchmarks/import_time.py``.
"""

import statistics
import subprocess
import sys
import time

COMMANDS = {"piste --help": ["--help"], "piste list": ["list"]}


def seconds(arguments: list[str]) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-m", "piste.cli", *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> None:
    for name, arguments in COMMANDS.items():
        median = statistics.median(seconds(arguments) for _ in range(7))
        print(f"{name:<14} {median:.2f} s")


if __name__ == "__main__":
    main()
