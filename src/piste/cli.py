"""The command line. Heavy imports wait until a command needs them."""

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from piste.errors import InputError

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a mistake is one line and exit code 2."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    try:
        return options.command(options, rest)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        words = "interrupted; the same command goes on from here"
        print(f"\n{words}", file=sys.stderr)
        return INTERRUPTED


class _Parser(argparse.ArgumentParser):
    """argparse, with one line for a mistake."""

    def error(self, message: str):
        print(f"error: {message} ({self.prog} --help shows all)", file=sys.stderr)
        sys.exit(2)


def _parser() -> argparse.ArgumentParser:
    about = "A laboratory for the training dynamics of transformers."
    parser = _Parser(prog="piste", description=about, allow_abbrev=False)
    commands = parser.add_subparsers(
        required=True, metavar="COMMAND", parser_class=_Parser
    )

    def command(name: str, function, words: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name, help=words, description=words, allow_abbrev=False
        )
        sub.set_defaults(command=function)
        return sub

    command("list", _list, "show papers and presets")
    run = command("run", _run, "train a preset, with any field changed: --rule adam")
    run.add_argument("preset", help="paper/preset, see `piste list`")
    run.add_argument("--resume", action="store_true", help="demand a run to go on with")
    _with(run)
    _common(run)
    show = command("show", _show, "show a stored run")
    show.add_argument("run", type=Path, help="folder of a run")
    _with(show)
    reproduce = command("reproduce", _reproduce, "run, judge and draw all of a paper")
    reproduce.add_argument("paper")
    reproduce.add_argument(
        "--quick",
        action="store_true",
        help="a part of it, in about a minute",
    )
    words = "only the studies that need no dataset"
    reproduce.add_argument("--theory", action="store_true", help=words)
    words = "only these studies, by name, with commas between"
    reproduce.add_argument("--only", default="", metavar="STUDIES", help=words)
    _common(reproduce)
    landscape = command(
        "landscape", _landscape, "compare the loss surfaces of two kernels"
    )
    landscape.add_argument("preset", help="paper/preset of the first stage")
    _with(landscape)
    for name, words in LANDSCAPE.items():
        landscape.add_argument(f"--{name}", default=None, metavar="X", help=words)
    _common(landscape)
    verify = command("verify", _verify, "judge a paper's claims on stored runs")
    verify.add_argument("paper")
    verify.add_argument("--out", type=Path, default=Path("results"), metavar="DIR")
    return parser


LANDSCAPE = {
    "plane": "directions: qk (default), random, pca or hessian",
    "points": "points along a side of the grid, odd (default: 51)",
    "reach": "how far the grid goes each way (default: 1.0)",
    "steps-two": "steps of the second stage (default: as many as the first)",
    "kernel-two": "the kernel to compare with the first stage's (default: gaussian)",
    "models": "models, each with a seed of its own (default: 3)",
    "directions": "planes for each model, where they are drawn (default: 3)",
    "snapshots": "snapshots of a second stage (default: 21)",
}
"""Options of `piste landscape`: the fields of its comparison."""


def _devices_for(*experiments) -> None:
    """All cores for classifiers; nothing may have been computed before."""
    from piste.devices import one_device_a_core
    from piste.models import Classifier

    models = (getattr(experiment, "model", None) for experiment in experiments)
    if any(isinstance(model, Classifier) for model in models):
        one_device_a_core()


def _with(parser: argparse.ArgumentParser) -> None:
    words = "a Python file to import first, for instance one with a kernel of your own"
    parser.add_argument("--with", type=Path, dest="file", metavar="FILE", help=words)


def _common(parser: argparse.ArgumentParser) -> None:
    words = "folder for results (default: results)"
    parser.add_argument(
        "--out", type=Path, default=Path("results"), metavar="DIR", help=words
    )
    parser.add_argument("--fresh", action="store_true", help="run again from step 0")


def _no_more(rest: list[str]) -> None:
    if rest:
        raise InputError(f"no option '{rest[0]}' here (--help shows all)")


def overrides(rest: list[str]) -> dict[str, str]:
    """Read ``--dotted.field value`` pairs.

    >>> overrides(["--rule", "adam", "--rule.b2=0.99"])
    {'rule': 'adam', 'rule.b2': '0.99'}
    """
    found, words = {}, list(rest)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            raise InputError(f"'{word}': must be --field value")
        name, given, text = word[2:].partition("=")
        if not given:
            if not words:
                raise InputError(f"{name}: needs a value, as in --{name} VALUE")
            text = words.pop(0)
        found[name] = text
    return found


def _list(options, rest: list[str]) -> int:
    from piste.papers import papers

    _no_more(rest)
    known = papers()
    print("papers    " + "  ".join(known))
    for paper in known.values():
        print(f"          {paper.name}: {paper.title} ({paper.venue})")
    names = {
        f"{p.name}/{n}": preset
        for p in known.values()
        for n, preset in p.presets.items()
    }
    width = max(map(len, names))
    label = "presets   "
    for name, preset in names.items():
        print(f"{label}{name:<{width}}  {preset.meaning}  {preset.time}")
        label = " " * len(label)
    return 0


def _run(options, rest: list[str]) -> int:
    changes = overrides(rest)
    from piste.papers import preset

    import_file(options.file)
    base = preset(options.preset)
    from piste.caching import keep_compiled_programs
    from piste.console import console, progress, watcher
    from piste.describe import describe_run
    from piste.store import Store
    from piste.values import override

    keep_compiled_programs()

    experiment = override(base, changes)
    _devices_for(experiment)
    store = Store(options.out / "runs")
    out = console()
    found = None if options.fresh else store.find(experiment)
    if found is None:
        _say_resuming(out, store, experiment, options)
        store.check(experiment)
        with progress(out) as bars:
            name = options.preset.split("/")[-1]
            watch = watcher(bars, name, experiment.steps)
            label = run_name(name, changes)
            found = store.run(experiment, label, watch, options.fresh)
    else:
        out.print("already run; this is the stored result (--fresh runs again)")
    for note in found.notes:
        out.print(f"note: {note}", markup=False)
    describe_run(out, found)
    return 0


def import_file(path: Path | None) -> None:
    """Run a user's Python file, if any, so that the kernels that it adds are known."""
    if path is None:
        return
    if not path.is_file():
        raise InputError(f"with = {path}: is not a file")
    try:
        runpy.run_path(str(path), run_name=path.stem)
    except InputError as error:
        raise InputError(f"with = {path}: {error}") from None
    except (Exception, SystemExit) as error:
        # The last line of the user's own code, and never a page of ours.
        words = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"with = {path}: cannot be imported ({words})") from None


def _say_resuming(out, store, experiment, options) -> None:
    partial = store.interrupted(experiment, options.fresh)
    if partial is not None:
        out.print(
            f"resuming at step {partial.steps:,} of {experiment.steps:,} "
            f"({'; '.join(partial.notes) or 'same bits as an uninterrupted run'})",
            markup=False,
        )
    elif options.resume:
        raise InputError(
            f"resume: no interrupted run of this experiment in {store.root}"
        )


def run_name(preset: str, changes: dict[str, str]) -> str:
    """A readable name: the preset and what was changed in it.

    >>> run_name("stages", {"rule": "adam", "rule.b2": "0.99", "seed": "3"})
    'stages-adam-b2=0.99-seed=3'
    """
    parts = [preset]
    for name, text in changes.items():
        last = name.split(".")[-1]
        parts.append(text if name in ("rule", "task", "model") else f"{last}={text}")
    return "-".join(parts).replace("/", "_")[:100]


def _show(options, rest: list[str]) -> int:
    _no_more(rest)
    import_file(options.file)
    from piste.api import open_run
    from piste.console import console
    from piste.describe import describe_run

    out, run = console(), open_run(options.run)
    for note in run.notes:
        out.print(f"note: {note}", markup=False)
    describe_run(out, run)
    return 0


def _reproduce(options, rest: list[str]) -> int:
    from piste.papers import find_paper

    _no_more(rest)
    paper = find_paper(options.paper)
    from piste.caching import keep_compiled_programs
    from piste.console import console, progress, watcher
    from piste.describe import print_verdicts
    from piste.reproduce import (
        check_data,
        chosen,
        left_out,
        reproduce,
        result_folder,
    )
    from piste.run_study import is_stored
    from piste.store import environment

    keep_compiled_programs()

    only = [name for name in options.only.split(",") if name]
    folder = result_folder(paper, options.out, options.quick)
    studies = chosen(paper, options.quick, only, options.theory)
    _devices_for(*(study.base for study in studies))
    check_data(studies, folder, options.fresh)
    out = console()
    out.print(f"[bold]{paper.name}[/bold] · {paper.title}")
    cores = environment()["cores"]
    out.print(f"{paper.authors} · {paper.venue} · {cores} cores\n")
    if not only and not options.theory:
        out.print(left_out(paper, options.quick, studies), end="")
    if not options.fresh and all(is_stored(study, folder) for study in studies):
        out.print("  already run: from the store (--fresh runs again)\n")
    with progress(out) as bars:

        def watch(study):
            return watcher(bars, study.name, study.steps)

        results = reproduce(
            paper,
            options.out,
            options.quick,
            options.fresh,
            only,
            watch,
            options.theory,
        )
    out.print()
    for note in results.notes:
        out.print(f"note: {note}", markup=False)
    for words in paper.part("summary").lines(results.tables):
        out.print(words)
    print_verdicts(out, results.judgements)
    folder = results.folder
    out.print(
        f"\n  {folder / 'report.html'}   figures/ ({results.pictures})   "
        f"tables/ ({len(results.tables)})   verdicts.json   runs/ ({results.runs})"
    )
    return 0


def _landscape(options, rest: list[str]) -> int:
    changes = overrides(rest)
    from piste.papers import preset

    import_file(options.file)
    base = preset(options.preset)
    from piste.caching import keep_compiled_programs
    from piste.compare_landscapes import compare, lines
    from piste.console import console, plain_table, progress, watcher
    from piste.landscape.survey import Comparison, Survey, check
    from piste.values import from_json, override

    keep_compiled_programs()
    given = {name: getattr(options, name.replace("-", "_")) for name in LANDSCAPE}
    chosen = {name: text for name, text in given.items() if text is not None}
    settings = from_json(Comparison, chosen)
    name = run_name(options.preset.split("/")[-1], changes) + f"-{settings.plane}"
    experiment = override(base, changes)
    _devices_for(experiment)
    survey = Survey(experiment, settings, options.out, name)
    check(survey)
    out = console()
    with progress(out) as bars:
        found = compare(survey, lambda n, total: watcher(bars, n, total), options.fresh)
    for words in lines(found):
        out.print(words)
    cells = found.paired.map(lambda x: f"{x:.3g}" if isinstance(x, float) else x)
    out.print(plain_table(list(cells.columns), cells.values.tolist()))
    out.print(f"\n  {found.folder}   figures/ metrics.csv paired.csv landscape.json")
    return 0


def _verify(options, rest: list[str]) -> int:
    from piste.papers import find_paper

    _no_more(rest)
    paper = find_paper(options.paper)
    from piste.console import console
    from piste.describe import print_verdicts
    from piste.reproduce import verify

    out = console()
    found = verify(paper, options.out)
    out.print(f"  {found.sentence()}\n", markup=False)
    for note in found.notes:
        out.print(f"note: {note}", markup=False)
    print_verdicts(out, found.judgements)
    for judgement in found.judgements:
        out.print(f"\n[bold]{judgement.claim.name}[/bold]: {judgement.claim.statement}")
        for verdict in judgement.verdicts:
            out.print(f"  {verdict.sentence()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
