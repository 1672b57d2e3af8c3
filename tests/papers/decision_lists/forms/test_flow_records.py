"""Margins and scores along the flows of Theorem 1."""

import numpy as np

from piste.papers.decision_lists.forms import first_perfect, margins_at, scores_at
from piste.papers.decision_lists.theory import ordering_margin
from support.decision_lists import draw_instance, flow_problem


def test_margins_in_chunks_are_those_of_one_flow(monkeypatch):
    instance = draw_instance(6, 3, 2, list_lengths="fixed")
    given = [flow_problem(instance, "enumeration")] * 2
    time = first_perfect(given[:1])[0].time
    # A problem that was never perfect has no times, and so no margins.
    times = np.outer([time, np.inf], [1.1, 2, 5, 9])
    monkeypatch.setattr(
        "piste.papers.decision_lists.forms.flow_records.RECORDS_PER_CHUNK", 2
    )
    margins, scores = margins_at(given, times), scores_at(given, times)
    expected = [ordering_margin(w, instance) for w in scores[0]]
    np.testing.assert_allclose(margins[0], expected, rtol=1e-4)
    assert np.isnan(margins[1]).all() and np.isnan(scores[1]).all()
