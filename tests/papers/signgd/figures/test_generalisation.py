"""Figures of generalisation show their data."""

import pandas as pd

from papers.signgd.judging import snr_evidence
from piste.papers.signgd import figures
from piste.papers.signgd.results.synthetic_generalisation import snr_table


def test_pictures_of_comparisons_show_their_data():
    table = snr_table(snr_evidence())
    picture = figures.against_snr(table, "caption")
    pd.testing.assert_frame_equal(picture.data, table)
    assert picture.png()[:4] == b"\x89PNG"
