"""The coverage of each paper names what there is, and every claim has its place."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from piste.claims import Claim
from piste.papers import find_paper
from piste.papers.decision_lists import coverage as decision_lists
from piste.papers.kernels import coverage as kernels
from piste.papers.signgd import coverage as signgd
from piste.reproduction import Contents, Evidence, Item, Table, coverage_rows
from piste.reproduction.coverage import NOT_RUN


class Covered(NamedTuple):
    """A paper's items, and its claims beyond them."""

    paper: str
    heading: str
    items: Sequence[Item]
    beyond: Sequence[str]
    tables: Sequence[Table]
    without_figure: frozenset[str] = frozenset()
    """Claims that only a table shows."""

    @property
    def contents(self) -> Contents:
        return contents_of(self.paper)

    @property
    def claims(self) -> Sequence[Claim]:
        return self.contents.claims


@functools.cache
def contents_of(paper: str) -> Contents:
    """Whatever the paper brings; made once, because some studies take seconds."""
    return find_paper(paper).contents()


PAPERS = (
    Covered(
        "signgd",
        "slide item",
        signgd.SLIDE_ITEMS,
        signgd.BEYOND_THE_SLIDES,
        signgd.TABLES,
    ),
    Covered(
        "kernels",
        "poster item",
        kernels.POSTER_ITEMS,
        kernels.BEYOND_THE_POSTER,
        kernels.TABLES,
    ),
    Covered(
        "decision-lists",
        "abstract item",
        decision_lists.ABSTRACT_ITEMS,
        decision_lists.BEYOND_THE_ABSTRACT,
        decision_lists.TABLES,
        frozenset({"Theorem 1 on all sequences", "Theorem 2 at short sequences"}),
    ),
)

each_paper = pytest.mark.parametrize("covered", PAPERS, ids=lambda one: one.paper)


@each_paper
def test_every_claim_is_of_the_paper_or_beyond_it(covered):
    names = [name for item in covered.items for name in item.claims]
    assert len(set(names)) == len(names)
    assert not {*names} & {*covered.beyond}
    assert {*names, *covered.beyond} == {claim.name for claim in covered.claims}


@each_paper
def test_every_item_has_a_claim_and_words_of_its_own(covered):
    assert all(item.claims for item in covered.items)
    assert len({item.words for item in covered.items}) == len(covered.items)


@each_paper
def test_every_claim_has_a_study_and_a_figure(covered):
    studies = {study.name for study in covered.contents.studies}
    figures = {figure.name for figure in covered.contents.figures}
    for claim in covered.claims:
        assert claim.needs and set(claim.needs) <= studies, claim.name
        if claim.name in covered.without_figure:
            assert not claim.figure, claim.name
        else:
            assert claim.figure in figures, claim.name


@each_paper
def test_what_was_not_run_says_so(covered):
    (declared,) = covered.tables
    table = declared.make(Evidence())
    assert list(table) == [covered.heading, "study", "claim", "verdict"]
    assert set(table["verdict"]) == {NOT_RUN}
    assert len(table) == len(coverage_rows(covered.items, covered.claims))


@each_paper
def test_the_page_begins_with_the_coverage(covered):
    first, *others = covered.contents.tables
    assert (first,) == covered.tables
    assert "coverage" not in {table.name for table in others}
