"""``piste reproduce`` and ``piste verify``: whole papers."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from piste.brought import file_of
from piste.devices import cores
from piste.errors import InputError, field_error
from piste.papers import Paper, bring_file, find_paper

from .shared import devices_for, no_more, print_notes

if TYPE_CHECKING:  # a wrong name is to be found without waiting for all of this
    from rich.console import Console

    from piste.reproduction import Contents, Results, Study, Verification


def reproduce_command(options, rest: list[str]) -> int:
    """Run, judge, draw and write everything of a paper, or some studies of it."""
    no_more(rest)
    bring_file(options.file)
    paper = find_paper(options.paper)
    paper.check_parts()
    from piste.caching import keep_compiled_programs
    from piste.console import console
    from piste.report import write_page

    keep_compiled_programs()
    contents = paper.contents(options.quick)
    studies = contents.chosen(_only(options), options.theory)
    folder = result_folder(paper, options.out, options.quick)
    _check(studies, folder, options.fresh)
    out = console()
    _print_title(out, paper)
    _print_plan(out, contents, studies, folder, options)
    results = _run(out, contents, studies, folder, options.fresh)
    write_page(paper, results, command_line(paper, options))
    _print_results(out, paper, results)
    return 0


def _only(options) -> list[str]:
    only = [name for name in options.only.split(",") if name]
    if options.only and not only:
        raise field_error("only", options.only, "must be names with commas between")
    return only


def _check(studies: "list[Study]", folder: Path, fresh: bool) -> None:
    """Refuse what cannot be run before anything is computed or written."""
    from piste.reproduction import check_data, check_sizes

    devices_for(*(experiment for study in studies for experiment in study.trains()))
    check_data(studies, folder, fresh)
    check_sizes(studies, folder, fresh)


def _run(
    out: "Console",
    contents: "Contents",
    studies: "list[Study]",
    folder: Path,
    fresh: bool,
) -> "Results":
    """Reproduce, with a bar for each study."""
    from piste.console import progress, watcher
    from piste.reproduction import reproduce

    with progress(out) as bars:

        def watch(study: "Study"):
            return watcher(bars, study.name, study.work())

        return reproduce(contents, folder, studies, fresh, watch)


def _print_title(out: "Console", paper: Paper) -> None:
    from piste.console import bold

    out.print(bold(paper.name, f" · {paper.title}"))
    out.print(f"{paper.authors} · {paper.venue} · {cores()} cores\n")


def _print_plan(
    out: "Console", contents: "Contents", studies: "list[Study]", folder: Path, options
) -> None:
    """Which studies are skipped, and whether anything is to be run."""
    from piste.reproduction import to_run

    if not options.only and not options.theory:
        out.print(contents.skipped_text(studies), end="")
    if not to_run(studies, folder, options.fresh):
        out.print("  already run: from the store (--fresh runs again)\n")


def _print_results(out: "Console", paper: Paper, results: "Results") -> None:
    from piste.reproduction import print_verdicts

    out.print()
    print_notes(out, [*results.evidence.notes(), *results.failures])
    for line in paper.summary_lines(results.tables):
        out.print(line)
    if results.judgements:
        print_verdicts(out, results.judgements)
    out.print(
        f"\n  {results.folder / 'report.html'}   figures/ ({len(results.pictures)})   "
        f"tables/ ({len(results.tables)})   verdicts.json   runs/ ({results.runs})"
    )


def result_folder(paper: Paper, root: Path, quick: bool) -> Path:
    """Where the results of a paper are."""
    return root / (paper.name + ("-quick" if quick else ""))


def command_line(paper: Paper, options) -> str:
    """The command that makes the same page again."""
    parts = _begun(paper, options.file)
    parts += ["--quick"] if options.quick else []
    parts += ["--theory"] if options.theory else []
    only = ",".join(_only(options))
    parts += ["--only", only] if only else []
    return shlex.join([*parts, *_out(options)])


def _begun(paper: Paper, file: Path | None) -> list[str]:
    """How the command begins: with the user's file, if the paper is in one."""
    file = file or file_of(paper.package)
    return ["piste", "reproduce", *(["--with", str(file)] if file else []), paper.name]


def _out(options) -> list[str]:
    return ["--out", str(options.out)] if options.out != Path("results") else []


def verify_command(options, rest: list[str]) -> int:
    """Judge a paper's claims on stored runs; trains and writes nothing.

    The whole reproduction is judged where it is stored, at least in part; the quick one
    only where there is nothing of the whole.
    """
    no_more(rest)
    bring_file(options.file)
    paper, root = find_paper(options.paper), options.out
    paper.check_parts("studies", "claims", "figures", "tables")
    if not paper.part("claims").CLAIMS:
        raise InputError(f"paper '{paper.name}': has no claims to judge")
    from piste.reproduction import verify

    verified = verify(
        [
            (paper.contents(quick), result_folder(paper, root, quick))
            for quick in (False, True)
        ]
    )
    if verified is None:
        command = shlex.join([*_begun(paper, options.file), *_out(options)])
        expected = f"has no complete runs of {paper.name}; {command} makes them"
        raise field_error("out", root, expected)
    _print_verified(verified)
    return 0


def _print_verified(verified: "Verification") -> None:
    from piste.console import bold, console
    from piste.reproduction import print_verdicts

    out = console()
    out.print(f"  {verified.sentence()}\n", markup=False)
    print_notes(out, verified.evidence.notes())
    print_verdicts(out, verified.judgements)
    for judgement in verified.judgements:
        out.print()
        out.print(bold(judgement.claim.name, f": {judgement.claim.statement}"))
        for verdict in judgement.verdicts:
            out.print(f"  {verdict.sentence()}")
