"""Every figure and table can be made from made-up evidence."""

from piste.papers.kernels.figures import FIGURES
from piste.papers.kernels.tables import TABLES
from piste.reproduction import draw_figures, make_tables
from support.evidence import evidence_of
from support.kernel_evidence import everything, real


def test_everything_can_be_drawn_and_tabulated():
    evidence = everything() | {"pair": [], "pathfinder": []}
    evidence["imdb"] = real(2)
    shown = {name: left for name, left in evidence.items() if name != "pair"}
    found = draw_figures(FIGURES, evidence_of(shown), [])
    assert {"promised", "region", "acceptance", "imdb", "landscape-text"} <= set(found)
    assert "2 seeds" in found["imdb"].caption
    assert (
        "one of 6 models (the median over 1 plane)" in found["landscape-text"].caption
    )
    surfaces = found["landscape-text-contours"].caption
    assert "direction in W^Q and one in W^K" in surfaces
    assert "model of seed 0, plane 0" in surfaces
    made = make_tables(TABLES, evidence_of(evidence), [])
    assert {"promised", "region", "real", "landscape-text"} <= set(made)
    assert "20 of 20 runs are within the bound per head" in made["promised"][0]
    assert "so 20 are tests of it" in made["promised"][0]
