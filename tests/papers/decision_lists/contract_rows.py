"""The paper's rows of the contract tables."""

from piste.papers.decision_lists.models import OneHot
from piste.papers.decision_lists.tasks import DecisionLists
from support.contract_rows import Pair, experiment_of

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
