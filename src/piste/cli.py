"""The command line. Heavy imports wait until a command needs them."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from piste.arguments import LANDSCAPE, Parser, overrides, run_name
from piste.devices import PLATFORMS, cores, missing_platform
from piste.errors import InputError, field_error, one_line, shown
from piste.terminal import CLOSED_PIPE, drop_output, explained, session, tidy

TRAINS = ("run", "reproduce", "landscape")
"""Commands that store what is complete, and go on with the rest."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a mistake is one line and exit code 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with session():
        try:
            return _ended(words)
        except BrokenPipeError:
            drop_output()
            return CLOSED_PIPE


def _ended(words: list[str]) -> int:
    """The exit code of a command, once all it has to say is said."""
    try:
        code = _run_command(words)
        print(end="", flush=True)
        return code
    except InputError as error:
        return _failed(str(error))
    except BrokenPipeError:
        raise
    except (OSError, RuntimeError, MemoryError) as error:
        line = explained(error)
        if line is None:
            raise
        return _failed(line)
    except KeyboardInterrupt as signal:
        kept = "what is complete is kept; the same command goes on"
        again = f"; {kept}" if words[:1] and words[0] in TRAINS else ""
        print(f"\ninterrupted{again}", file=sys.stderr)
        return 128 + getattr(signal, "number", 2)


def _failed(line: str) -> int:
    print(f"error: {one_line(line)}", file=sys.stderr)
    try:
        print(end="", flush=True)
    except OSError:
        drop_output()  # else Python would try again, and complain, as it ends
    return 2


def _run_command(words: list[str]) -> int:
    commands = {
        "list": _list,
        "run": _run,
        "show": _show,
        "reproduce": _reproduce,
        "landscape": _landscape,
        "verify": _verify,
    }
    try:
        name, options, rest = Parser().read(words)
    except SystemExit as ended:  # argparse has said all there is to --help
        return int(ended.code or 0)
    if name != "list" and (asked := missing_platform()):
        rule = "JAX finds no such device here; unset it, or set it to cpu"
        raise InputError(f"{PLATFORMS} = {asked}: {rule}")
    with tidy(getattr(options, "out", Path())):
        return commands[name](options, rest)


def _devices_for(*experiments) -> None:
    """A device per core for models that share out their batches.

    Nothing may have been computed before.
    """
    from piste.devices import one_device_a_core

    models = (getattr(experiment, "model", None) for experiment in experiments)
    if any(getattr(model, "shares_batches", False) for model in models):
        one_device_a_core()


def _no_more(rest: list[str]) -> None:
    if rest:
        raise InputError(f"no option '{shown(rest[0])}' here (--help shows all)")


def _list(options, rest: list[str]) -> int:
    from piste.papers import bring_file, papers

    _no_more(rest)
    bring_file(options.file)
    known = papers()
    if not known:
        raise InputError("no papers: piste is not installed whole; install it again")
    print("papers    " + "  ".join(known))
    for paper in known.values():
        print(f"          {paper.name}: {paper.title} ({paper.venue})")
    names = {
        f"{p.name}/{n}": preset
        for p in known.values()
        for n, preset in p.presets.items()
    }
    width = max(map(len, names), default=0)
    label = "presets   "
    for name, preset in names.items():
        print(f"{label}{name:<{width}}  {preset.meaning}  {preset.time}")
        label = " " * len(label)
    return 0


def _run(options, rest: list[str]) -> int:
    changes = overrides(rest)
    if options.resume and options.fresh:
        raise InputError("resume: must not be together with --fresh")
    from piste.papers import bring_file, preset

    bring_file(options.file)
    base = preset(options.preset)
    from piste.caching import keep_compiled_programs
    from piste.console import console, progress, watcher
    from piste.describe import describe_run
    from piste.dynamics import check_size
    from piste.store import Store
    from piste.values import change

    keep_compiled_programs()

    changed = change(base, changes)
    experiment = changed.value
    _devices_for(experiment)
    store = Store(options.out / "runs")
    out = console()
    if not store.may_have(experiment):
        check_size(experiment, store.root)  # before anything is drawn, even to look
    found = None if options.fresh else store.find(experiment)
    if found is None:
        partial = store.interrupted(experiment, options.fresh)
        check_size(experiment, store.root, partial.steps if partial else 0)
        _say_resuming(out, store, experiment, partial, options.resume)
        store.check(experiment)
        _print_notes(out, changed.dropped)
        with progress(out) as bars:
            name = options.preset.split("/")[-1]
            watch = watcher(bars, name, experiment.steps)
            label = run_name(name, changes)
            found = store.run(experiment, label, watch, options.fresh)
    else:
        _print_notes(out, changed.dropped)
        out.print("already run; this is the stored result (--fresh runs again)")
    _print_notes(out, found.notes)
    describe_run(out, found)
    return 0


def _print_notes(out, notes: Iterable[str]) -> None:
    for note in notes:
        out.print(f"note: {note}", markup=False)


def _say_resuming(out, store, experiment, partial, demanded: bool) -> None:
    if partial is not None:
        out.print(
            f"resuming at step {partial.steps:,} of {experiment.steps:,} "
            f"({'; '.join(partial.notes) or 'same bits as an uninterrupted run'})",
            markup=False,
        )
    elif demanded:
        raise InputError(
            f"resume: no interrupted run of this experiment in {store.root}"
        )


def _show(options, rest: list[str]) -> int:
    from piste.papers import bring_file

    _no_more(rest)
    bring_file(options.file)
    from piste.api import open_run
    from piste.console import console
    from piste.describe import describe_run

    out, run = console(), open_run(options.run)
    _print_notes(out, run.notes)
    describe_run(out, run)
    return 0


def _reproduce(options, rest: list[str]) -> int:
    from piste.papers import bring_file, find_paper

    _no_more(rest)
    bring_file(options.file)
    paper = find_paper(options.paper)
    paper.check_parts("studies")
    from piste.caching import keep_compiled_programs
    from piste.console import bold, console, progress, watcher
    from piste.describe import print_verdicts
    from piste.dynamics import check_size
    from piste.reproduce import (
        check_data,
        chosen,
        left_out,
        reproduce,
        result_folder,
    )
    from piste.run_study import is_stored

    keep_compiled_programs()

    only = [name for name in options.only.split(",") if name]
    if options.only and not only:
        raise field_error("only", options.only, "must be names with commas between")
    folder = result_folder(paper, options.out, options.quick)
    studies = chosen(paper, options.quick, only, options.theory)
    _devices_for(*(study.base for study in studies))
    paper.check_parts()
    check_data(studies, folder, options.fresh)
    for study in studies:
        if options.fresh or not is_stored(study, folder):
            for experiment in study.experiments:
                check_size(experiment, folder)
    out = console()
    out.print(bold(paper.name, f" · {paper.title}"))
    out.print(f"{paper.authors} · {paper.venue} · {cores()} cores\n")
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
            options.file,
        )
    out.print()
    _print_notes(out, results.notes)
    for words in paper.part("summary").lines(results.tables):
        out.print(words)
    if results.judgements:
        print_verdicts(out, results.judgements)
    folder = results.folder
    out.print(
        f"\n  {folder / 'report.html'}   figures/ ({results.pictures})   "
        f"tables/ ({len(results.tables)})   verdicts.json   runs/ ({results.runs})"
    )
    return 0


def _landscape(options, rest: list[str]) -> int:
    changes = overrides(rest)
    from piste.papers import bring_file, preset

    bring_file(options.file)
    base = preset(options.preset)
    from piste.caching import keep_compiled_programs
    from piste.compare_landscapes import compare, lines
    from piste.console import console, plain_table, progress, watcher
    from piste.landscape.survey import Comparison, Survey, check
    from piste.values import change, from_json

    keep_compiled_programs()
    given = {name: getattr(options, name.replace("-", "_")) for name in LANDSCAPE}
    chosen = {name: text for name, text in given.items() if text is not None}
    settings = from_json(Comparison, chosen)
    name = run_name(options.preset.split("/")[-1], changes) + f"-{settings.plane}"
    changed = change(base, changes)
    experiment = changed.value
    _devices_for(experiment)
    survey = Survey(experiment, settings, options.out, name)
    check(survey)
    out = console()
    _print_notes(out, changed.dropped)
    with progress(out) as bars:
        found = compare(survey, lambda n, total: watcher(bars, n, total), options.fresh)
    for words in lines(found):
        out.print(words)
    cells = found.paired.map(lambda x: f"{x:.3g}" if isinstance(x, float) else x)
    out.print(plain_table(list(cells.columns), cells.values.tolist()))
    out.print(f"\n  {found.folder}   figures/ metrics.csv paired.csv landscape.json")
    return 0


def _verify(options, rest: list[str]) -> int:
    from piste.papers import bring_file, find_paper

    _no_more(rest)
    bring_file(options.file)
    paper = find_paper(options.paper)
    paper.check_parts("studies", "claims")
    from piste.console import bold, console
    from piste.describe import print_verdicts
    from piste.reproduce import verify

    out = console()
    found = verify(paper, options.out)
    out.print(f"  {found.sentence()}\n", markup=False)
    _print_notes(out, found.notes)
    print_verdicts(out, found.judgements)
    for judgement in found.judgements:
        out.print()
        out.print(bold(judgement.claim.name, f": {judgement.claim.statement}"))
        for verdict in judgement.verdicts:
            out.print(f"  {verdict.sentence()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
