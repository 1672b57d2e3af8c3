"""The words of a command: its options, and the fields of an experiment."""

import argparse
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from piste.errors import InputError, shown

LONGEST_NAME = 100
"""Characters of a run's name; its folder has a few more."""


LANDSCAPE = {
    "plane": "directions: qk (default), random, pca or hessian",
    "points": "points along a side of the grid, odd (default: 51)",
    "reach": "how far the grid goes each way (default: 1.0)",
    "rises": "rises of the loss to compare at instead, as in 0.02,0.1 (default: none)",
    "steps-two": "steps of the second stage (default: as many as the first)",
    "kernels": "kernels to compare with the first stage's (default: gaussian)",
    "swap": "compare the kernels in the same weights too: true or false",
    "models": "models, each with a seed of its own (default: 3)",
    "directions": "planes for each model, where they are drawn (default: 3)",
    "snapshots": "snapshots of a second stage (default: 21)",
}
"""Options of `piste landscape`: the fields of its comparison."""


class _OneLine(argparse.ArgumentParser):
    """argparse, with one line for a mistake."""

    def error(self, message: str):
        raise InputError(f"{message} ({self.prog} --help shows all)")

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse would hide that nobody reads the help, where output has no buffer.
        (file or sys.stderr).write(message)


class Parser:
    """The grammar of the command line."""

    def __init__(self):
        about = "A laboratory for the training dynamics of transformers."
        self._all = _OneLine(prog="piste", description=about, allow_abbrev=False)
        self._each = self._all.add_subparsers(
            required=True, metavar="COMMAND", dest="command", parser_class=_OneLine
        )
        _with(self._add("list", "show papers and presets"))
        self._add_run()
        show = self._add("show", "show a stored run")
        show.add_argument("run", type=Path, help="folder of a run")
        _with(show)
        self._add_reproduce()
        self._add_landscape()
        verify = self._add("verify", "judge a paper's claims on stored runs")
        verify.add_argument("paper")
        _with(verify)
        _out(verify)

    def read(self, words: Sequence[str]) -> tuple[str, argparse.Namespace, list[str]]:
        """The command, its options, and the words that are none of them: fields."""
        fields: list[str] = []
        if words and words[0] in ("run", "landscape"):
            own = self._each.choices[words[0]]._option_string_actions
            words, fields = separated(words, own)
        options, rest = self._all.parse_known_args(words)
        return options.command, options, [*fields, *rest]

    def _add(self, name: str, words: str) -> argparse.ArgumentParser:
        return self._each.add_parser(
            name, help=words, description=words, allow_abbrev=False
        )

    def _add_run(self) -> None:
        run = self._add("run", "train a preset, with any field changed: --rule adam")
        run.add_argument("preset", help="paper/preset, see `piste list`")
        text = "demand a run to go on with"
        run.add_argument("--resume", action="store_true", help=text)
        _with(run)
        _common(run)

    def _add_reproduce(self) -> None:
        reproduce = self._add("reproduce", "run, judge and draw all of a paper")
        reproduce.add_argument("paper")
        text = "a part of it, in about a minute"
        reproduce.add_argument("--quick", action="store_true", help=text)
        text = "only the studies that need no dataset"
        reproduce.add_argument("--theory", action="store_true", help=text)
        text = "only these studies, by name, with commas between"
        reproduce.add_argument("--only", default="", metavar="STUDIES", help=text)
        _with(reproduce)
        _common(reproduce)

    def _add_landscape(self) -> None:
        landscape = self._add("landscape", "compare the loss surfaces of kernels")
        landscape.add_argument("preset", help="paper/preset of the first stage")
        _with(landscape)
        for name, words in LANDSCAPE.items():
            landscape.add_argument(f"--{name}", default=None, metavar="X", help=words)
        _common(landscape)


def _with(parser: argparse.ArgumentParser) -> None:
    text = "a Python file of your own to import first: with a paper, a rule, a kernel …"
    parser.add_argument("--with", type=Path, dest="file", metavar="FILE", help=text)


def _out(parser: argparse.ArgumentParser) -> None:
    text = "folder for results (default: results)"
    out = {"type": Path, "default": Path("results"), "metavar": "DIR", "help": text}
    parser.add_argument("--out", **out)


def _common(parser: argparse.ArgumentParser) -> None:
    _out(parser)
    parser.add_argument("--fresh", action="store_true", help="run again from step 0")


# --- fields and their values ----------------------------------------------------------


def separated(
    words: Sequence[str], own: Collection[str]
) -> tuple[list[str], list[str]]:
    """A command's own words, and the fields with their values, wherever they stand.

    >>> separated(["--steps", "5", "paper/preset", "--fresh"], own=["--fresh"])
    (['paper/preset', '--fresh'], ['--steps', '5'])
    """
    others, fields, rest = [], [], list(words)
    while rest:
        word = rest.pop(0)
        is_field = word.startswith("--") and word.partition("=")[0] not in ("--", *own)
        (fields if is_field else others).append(word)
        if is_field and "=" not in word and rest and not rest[0].startswith("--"):
            fields.append(rest.pop(0))
    return others, fields


def overrides(rest: Sequence[str]) -> dict[str, str]:
    """Read ``--dotted.field value`` pairs; of two for one field the last one counts.

    >>> overrides(["--rule", "adam", "--rule.b2=0.99"])
    {'rule': 'adam', 'rule.b2': '0.99'}
    """
    found, words = {}, list(rest)
    while words:
        word = words.pop(0)
        if not word.startswith("--") or word == "--":
            raise InputError(f"'{shown(word)}': must be --field value")
        name, given, text = word[2:].partition("=")
        if not given:
            if not words or words[0].startswith("--"):
                name = shown(name)
                raise InputError(f"{name}: needs a value, as in --{name} VALUE")
            text = words.pop(0)
        found[name.replace("_", "-")] = text
    return found


def run_name(preset: str, changes: Mapping[str, str]) -> str:
    """A readable name for a folder: the preset and what was changed in it.

    What makes it too long is left out whole, and counted.

    >>> run_name("stages", {"rule": "adam", "rule.b2": "0.99", "seed": "3"})
    'stages-adam-b2=0.99-seed=3'
    >>> run_name("stages", {"task.folder": "x" * 100, "seed": "3"})
    'stages-seed=3-and-1-more'
    """
    name, left = _plain(preset)[:LONGEST_NAME], 0
    for field, text in changes.items():
        last, text = field.split(".")[-1], _plain(text)
        part = text if field in ("rule", "task", "model") else f"{_plain(last)}={text}"
        if len(name) + len(part) < LONGEST_NAME:
            name = f"{name}-{part}"
        else:
            left += 1
    return f"{name}-and-{left}-more" if left else name


def _plain(text: str) -> str:
    """Without characters that some file system or shell does not take in a name."""
    return re.sub(r"[^A-Za-z0-9.,+=-]", "_", text)
