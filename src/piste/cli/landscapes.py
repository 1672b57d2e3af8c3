"""``piste landscape``: the loss surfaces of several kernels."""

from piste.papers import bring_file, preset

from .arguments import LANDSCAPE, overrides, run_name
from .shared import devices_for, print_notes


def landscape_command(options, rest: list[str]) -> int:
    """Compare the loss surfaces of several kernels."""
    changes = overrides(rest)
    bring_file(options.file)
    base = preset(options.preset)
    from piste.caching import keep_compiled_programs
    from piste.console import console, plain_table, progress, watcher
    from piste.landscape.comparison import Comparison
    from piste.landscape.survey import Survey, check
    from piste.reproduction.landscapes import compare, effects_to_print, lines
    from piste.values import change, from_json

    keep_compiled_programs()
    given = {name: getattr(options, name.replace("-", "_")) for name in LANDSCAPE}
    chosen = {name: text for name, text in given.items() if text is not None}
    settings = from_json(Comparison, chosen)
    name = run_name(options.preset.split("/")[-1], changes) + f"-{settings.plane}"
    changed = change(base, changes)
    experiment = changed.value
    devices_for(experiment)
    survey = Survey(experiment, settings, options.out, name)
    check(survey)
    out = console()
    print_notes(out, changed.dropped)
    with progress(out) as bars:
        found = compare(survey, lambda n, total: watcher(bars, n, total), options.fresh)
    for words in lines(found):
        out.print(words)
    shown = effects_to_print(found)
    out.print(plain_table(list(shown.columns), shown.values.tolist()))
    out.print(f"\n  {found.folder}   figures/ metrics.csv effects.csv landscape.json")
    return 0
