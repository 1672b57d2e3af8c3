"""The paper's rows of the contract tables."""

import math

from piste.papers.decision_lists import coverage
from piste.papers.decision_lists.models import OneHot
from piste.papers.decision_lists.tasks import DecisionLists
from support.contract_rows import SHORT, Covered, Pair, experiment_of

LISTS = DecisionLists(5, 2, 2)
DIRICHLET = DecisionLists(6, 3, 2, distribution="dirichlet")
REPEATING = DecisionLists(5, 2, 2, distribution="iid")
FIXED = OneHot(train="attention", start="permutation")

TASKS = [LISTS, DIRICHLET]
MODELS = [(OneHot(), LISTS)]
FORMS = {
    ("one-hot", "reduced"): experiment_of(LISTS, FIXED, form="reduced"),
    ("one-hot", "partitions"): experiment_of(REPEATING, FIXED, form="partitions"),
    ("one-hot", "support"): experiment_of(DIRICHLET, OneHot(), form="support"),
    ("one-hot", "enumeration"): experiment_of(LISTS, OneHot(), form="enumeration"),
    ("one-hot", "monte-carlo"): experiment_of(
        DecisionLists(6, 3, 2, batch=8), OneHot(), form="monte-carlo"
    ),
}
PAIRS = {"decision-lists, one-hot": Pair(LISTS, OneHot())}
NO_FORM = [("decision-lists, one-hot", "softmax", "gd", "partitions")]
PROBES = [experiment_of(LISTS, OneHot())]
SMALL = {"task.vocabulary": 6, "task.length": 3, "task.list_bound": 2}
DETECTED = {"perfect classification": ("decision-lists/empirics", SHORT | SMALL)}
COVERED = [
    Covered(
        "decision-lists",
        "abstract item",
        coverage.ABSTRACT_ITEMS,
        coverage.BEYOND_THE_ABSTRACT,
        coverage.TABLES,
        frozenset({"Theorem 1 on all sequences", "Theorem 2 at short sequences"}),
    )
]


def _fit_lists(parts: dict) -> dict:
    """Lists fit into the vocabulary, sequences too, and few sets have weights."""
    size = min(parts["vocabulary"], 12)
    length = min(parts["length"], size)
    sets = range(-(-size // length), math.comb(size, length) + 1)
    return parts | {
        "vocabulary": size,
        "length": length,
        "list_bound": min(parts["list_bound"], size - 1),
        "support_sets": min(max(parts["support_sets"], sets[0]), sets[-1]),
    }


FITS = {DecisionLists: _fit_lists}
