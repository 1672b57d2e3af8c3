"""The coverage of each paper names what there is, and every claim has its place."""

import functools
from collections.abc import Sequence

import pytest

from piste.claims import Claim
from piste.papers import find_paper
from piste.reproduction import Contents, Evidence, coverage_rows
from piste.reproduction.coverage import NOT_RUN
from support.contract_rows import Covered, collected

PAPERS = collected("COVERED")


@functools.cache
def contents_of(paper: str) -> Contents:
    """Whatever the paper brings; made once, because some studies take seconds."""
    return find_paper(paper).contents()


def contents(covered: Covered) -> Contents:
    return contents_of(covered.paper)


def claims(covered: Covered) -> Sequence[Claim]:
    return contents(covered).claims


each_paper = pytest.mark.parametrize("covered", PAPERS, ids=lambda one: one.paper)


@each_paper
def test_every_claim_is_of_the_paper_or_beyond_it(covered):
    names = [name for item in covered.items for name in item.claims]
    assert len(set(names)) == len(names)
    assert not {*names} & {*covered.beyond}
    assert {*names, *covered.beyond} == {claim.name for claim in claims(covered)}


@each_paper
def test_every_item_has_a_claim_and_words_of_its_own(covered):
    assert all(item.claims for item in covered.items)
    assert len({item.words for item in covered.items}) == len(covered.items)


@each_paper
def test_every_claim_has_a_study_and_a_figure(covered):
    studies = {study.name for study in contents(covered).studies}
    figures = {figure.name for figure in contents(covered).figures}
    for claim in claims(covered):
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
    assert len(table) == len(coverage_rows(covered.items, claims(covered)))


@each_paper
def test_the_page_begins_with_the_coverage(covered):
    first, *others = contents(covered).tables
    assert (first,) == covered.tables
    assert "coverage" not in {table.name for table in others}
