"""``piste run`` and ``piste show``: single runs."""

from piste.errors import field_error
from piste.papers import bring_file, preset

from .arguments import overrides, run_name
from .shared import devices_for, no_more, print_notes


def run_command(options, rest: list[str]) -> int:
    """Train a preset with some fields changed, or show where that is stored."""
    changes = overrides(rest)
    if options.resume and options.fresh:
        raise field_error("resume", True, "must not be together with --fresh")
    bring_file(options.file)
    base = preset(options.preset)
    from piste.caching import keep_compiled_programs
    from piste.console import console, progress, watcher
    from piste.reproduction import describe_run
    from piste.store import Store
    from piste.training import check_size
    from piste.values import change

    keep_compiled_programs()
    changed = change(base, changes)
    experiment = changed.value
    devices_for(experiment)
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
        print_notes(out, changed.dropped)
        with progress(out) as bars:
            name = options.preset.split("/")[-1]
            watch = watcher(bars, name, experiment.steps)
            label = run_name(name, changes)
            found = store.run(experiment, label, watch, options.fresh)
    else:
        print_notes(out, changed.dropped)
        out.print("already run; this is the stored result (--fresh runs again)")
    print_notes(out, found.notes)
    describe_run(out, found)
    return 0


def _say_resuming(out, store, experiment, partial, demanded: bool) -> None:
    if partial is not None:
        out.print(
            f"resuming at step {partial.steps:,} of {experiment.steps:,} "
            f"({'; '.join(partial.notes) or 'same bits as an uninterrupted run'})",
            markup=False,
        )
    elif demanded:
        absent = f"no interrupted run of this experiment in {store.root}"
        raise field_error("resume", True, absent)


def show_command(options, rest: list[str]) -> int:
    """Show a stored run."""
    no_more(rest)
    bring_file(options.file)
    from piste.api import open_run
    from piste.console import console
    from piste.reproduction import describe_run

    out, run = console(), open_run(options.run)
    print_notes(out, run.notes)
    describe_run(out, run)
    return 0
