"""What becomes of a boundary is told by its mark."""

import pytest

from papers.signgd.judging import variant
from piste.claims import Status
from piste.papers.signgd import figures


@pytest.mark.parametrize("status", Status)
def test_every_status_has_a_mark_of_its_own(status):
    picture = figures.persistence({"variant": variant(status).boundaries})
    words = {
        text.get_text() for text in picture.figure.axes[0].get_legend().get_texts()
    }
    assert len(words) == len({Status.FOUND, status})
    assert ("needs one before it" in words) == (status == Status.NEEDS_EARLIER)
