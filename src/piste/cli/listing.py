"""``piste list``: papers and presets."""

from piste.errors import InputError
from piste.papers import bring_file, papers

from .shared import no_more


def list_command(options, rest: list[str]) -> int:
    """Show all papers, and the presets of each."""
    no_more(rest)
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
