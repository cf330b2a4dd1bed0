"""The order of levels: texts that have one, texts that have none, and which of two counts as yes."""

import itertools

import pandas as pd
from cases import cases_beside, read_beside
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.drafting.kinds import order_of, ordered_pair

ORDERED = read_beside(__file__)["ordered"]
UNORDERED = read_beside(__file__)["unordered"]
PAIRS = cases_beside(__file__, "pairs")


@scored(ORDERED)
def test_levels_that_have_an_order_are_ordered_whatever_order_they_come_in(levels):
    for shuffled in itertools.islice(itertools.permutations(levels), 0, None, 7):
        found = order_of(shuffled)
        assert found is not None
        assert [shuffled[place] for place in found] == levels


@scored(UNORDERED)
def test_levels_without_an_order_are_not_given_one(levels):
    assert order_of(levels) is None


@scored(PAIRS)
def test_the_second_of_two_levels_counts_as_yes(no, yes):
    assert ordered_pair([no, yes]) == ordered_pair([yes, no]) == [no, yes]


@scored([([8140, 8500, 8520, 8522], "categorical"), ([0, 5, 10, 20, 40], "ordinal"), ([81, 100, 160, 325], "gaussian")])
def test_few_whole_numbers_far_apart_are_codes_and_doses_are_none(values, likelihood):
    assert draft_schema(pd.DataFrame({"x": values * 40}))["x"].likelihood == likelihood
