"""The intervals of the attacker against every table that there is."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinclust.disclosure.attacker import are_independent, intervals, size_interval
from clinclust.disclosure.counts import FeatureCounts, rounded

HIDDEN = np.nan


def with_margins(table):
    """Groups in columns, the first for all subjects."""
    return np.hstack([table.sum(axis=1, keepdims=True), table]).astype(float)


def feature(table, likelihood, show, rounding=None):
    """What is shown of a table (levels and missing by subtypes); `show` answers for each number whether it is."""
    counts = with_margins(table)
    levels = counts[:-1] if likelihood == "categorical" else counts[:1]
    n, missing = counts[:-1].sum(axis=0), counts[-1]
    with np.errstate(all="ignore"):
        share = levels / n
    if rounding is not None:
        n, missing, levels = (rounded(values, rounding) for values in (n, missing, levels))
        share = np.full(share.shape, np.nan)
    shown_n = show("n", n.shape)
    return FeatureCounts(
        name="x",
        likelihood=likelihood,
        levels=tuple("abcde"[: len(levels)]),
        subtypes=tuple(range(counts.shape[1])),
        places=np.zeros(levels.shape, dtype=np.int64),
        n=np.where(shown_n, n, HIDDEN),
        missing=np.where(shown_n, missing, HIDDEN),
        count=np.where(show("count", levels.shape), levels, HIDDEN),
        percent=np.where(show("percent", levels.shape), np.round(100 * share, 1), HIDDEN),
        mean=np.where(show("mean", levels.shape), np.round(share, 2), HIDDEN),
        sd=np.full(levels.shape, HIDDEN),
        scale=(np.nan, np.nan),
        decimals=2,
        is_whole=False,
        rounding=rounding,
    )


def compositions(total, parts):
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in compositions(total - first, parts - 1)]


def same(other, truth):
    """Whether the other table prints every number that is shown of the true one."""
    fields = ("n", "missing", "count", "percent", "mean")
    pairs = ((getattr(other, name), getattr(truth, name)) for name in fields)
    return all((np.isnan(b) | (np.abs(a - b) < 1e-6)).all() for a, b in pairs)


def by_enumeration(table, likelihood, show, rounding=None):
    """Lowest and highest of every count over all tables of these sizes that print the same."""
    truth = feature(table, likelihood, show, rounding)
    found = []
    for columns in product(*(compositions(size, len(table)) for size in table.sum(axis=0))):
        other = np.array(columns).T
        if same(feature(other, likelihood, show, rounding), truth):
            counts = with_margins(other)
            found.append(np.vstack([counts, counts[:-1].sum(axis=0)]))
    return np.min(found, axis=0), np.max(found, axis=0)


@st.composite
def problems(draw, *, totals):
    likelihood = draw(st.sampled_from(["bernoulli", "categorical"]))
    n_levels, n_groups = 2 if likelihood == "bernoulli" else draw(st.integers(2, 3)), draw(st.integers(2, 3))
    largest = 5 if n_levels + n_groups == 4 else 3
    table = np.array(
        draw(
            st.lists(
                st.lists(st.integers(0, largest), min_size=n_groups, max_size=n_groups),
                min_size=n_levels + 1,
                max_size=n_levels + 1,
            )
        )
    )
    while table.sum(axis=0).max() > 5:
        table = table // 2
    table[0, table.sum(axis=0) == 0] = 1
    masks = {
        name: np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
        for name, size in (("n", n_groups + 1), ("count", 12), ("mean", 12), ("percent", 12))
    }

    def show(name, shape):
        mask = masks[name][: np.prod(shape)].reshape(shape).copy()
        if not totals:
            mask[..., 0] = False
        return mask

    return table, likelihood, show


def check(table, likelihood, show, rounding=None):
    shown = feature(table, likelihood, show, rounding)
    sizes = [(size, size) for size in with_margins(table).sum(axis=0).astype(int).tolist()]
    low, high = intervals(shown, sizes, np.ones((len(table) + 1, len(sizes)), dtype=bool))
    lowest, highest = by_enumeration(table, likelihood, show, rounding)
    np.testing.assert_allclose(low, lowest, atol=1e-6)
    np.testing.assert_allclose(high, highest, atol=1e-6)
    return shown


@given(problems(totals=True))
def test_the_programme_finds_the_intervals_of_all_tables(problem):
    check(*problem)


@given(problems(totals=False))
def test_without_totals_every_group_stands_for_itself(problem):
    assert are_independent(check(*problem))


@given(problems(totals=True), st.sampled_from([3, 5]))
def test_rounded_counts_bind_within_the_rounding(problem, base):
    table, likelihood, show = problem
    check(table, likelihood, lambda name, shape: show(name, shape) & (name in ("n", "count")), base)


def numbers(values, sizes, *, totals, likelihood="poisson"):
    """A feature without levels: n is withheld, means and SDs are shown."""
    groups = [np.concatenate(values), *values]
    hidden = np.full(len(groups), HIDDEN)
    mean = np.array([[group.mean() for group in groups]])
    sd = np.array([[group.std(ddof=1) for group in groups]])
    if not totals:
        mean[0, 0] = sd[0, 0] = HIDDEN
    shown = FeatureCounts(
        "x",
        likelihood,
        (),
        tuple(range(len(groups))),
        np.zeros((1, len(groups)), dtype=np.int64),
        hidden,
        hidden,
        np.full((1, len(groups)), HIDDEN),
        np.full((1, len(groups)), HIDDEN),
        np.round(mean, 2),
        np.round(sd, 2),
        (np.nan, np.nan),
        2,
        likelihood == "poisson",
    )
    return shown, [(sum(sizes), sum(sizes)), *((size, size) for size in sizes)]


@pytest.mark.parametrize("seed", range(6))
def test_a_mean_and_an_sd_of_whole_numbers_tell_which_n_are_possible(seed):
    """Every n for which some whole numbers 0 to 4 print the same is found; it is a subset of what whole sums allow."""
    rng = np.random.default_rng(seed)
    values, size = rng.integers(0, 4, rng.integers(3, 8)), 9
    shown, sizes = numbers([values], [size], totals=False)
    possible = [
        n
        for n in range(2, size + 1)
        for other in combinations_with_replacement(range(5), n)
        if abs(np.mean(other) - shown.mean[0, 1]) <= 0.005 + 1e-9
        and abs(np.std(other, ddof=1) - shown.sd[0, 1]) <= 0.005 + 1e-9
    ]
    low, high = intervals(shown, sizes, np.ones((3, 2), dtype=bool))
    assert low[0, 1] <= min(possible) <= max(possible) <= high[0, 1]
    without_sd, _ = numbers([values], [size], totals=False)
    without_sd.sd[:] = np.nan
    loose_low, loose_high = intervals(without_sd, sizes, np.ones((3, 2), dtype=bool))
    by_mean = [n for n in range(1, size + 1) if abs(np.rint(shown.mean[0, 1] * n) / n - shown.mean[0, 1]) <= 0.005]
    assert (loose_low[0, 1], loose_high[0, 1]) == (min(by_mean), max(by_mean))
    assert loose_low[0, 1] <= low[0, 1]
    assert high[0, 1] <= loose_high[0, 1]


@pytest.mark.parametrize("likelihood", ["poisson", "gaussian"])
def test_means_that_add_up_to_the_mean_of_all_give_n_away(likelihood):
    rng = np.random.default_rng(1)
    # The missing values are 3 and 30, and their sum is not shown.
    values = [rng.poisson(4, 97).astype(float), rng.poisson(60, 70).astype(float)]
    wanted = np.ones((3, 3), dtype=bool)
    low, high = intervals(*numbers(values, [100, 100], totals=True, likelihood=likelihood), wanted)
    assert (low <= high).all()
    assert low[0, 1] <= 97 <= high[0, 1]
    assert low[1, 2] <= 30 <= high[1, 2]
    free_low, free_high = intervals(*numbers(values, [100, 100], totals=False, likelihood=likelihood), wanted)
    assert high[1, 1] - low[1, 1] < 10 < 60 < free_high[1, 1] - free_low[1, 1]


def test_contradictions_are_an_error():
    table = np.array([[5, 5], [5, 5], [0, 0]])
    shown = feature(table, "bernoulli", lambda name, shape: np.ones(shape, dtype=bool))
    shown.count[0, 0] = 17.0
    shown.n[1] = np.nan
    with pytest.raises(ValueError, match="x: no counts agree"):
        intervals(shown, [(20, 20), (10, 10), (10, 10)], np.ones((4, 3), dtype=bool))


@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.data())
def test_sizes_against_enumeration(sizes, data):
    sizes = sorted(sizes, reverse=True)
    withheld = data.draw(st.sets(st.integers(1, len(sizes)), min_size=1))
    shown = {0: sum(sizes), **{k: None if k in withheld else size for k, size in enumerate(sizes, start=1)}}
    possible = [
        other
        for other in product(range(1, sum(sizes) + 1), repeat=len(sizes))
        if sum(other) == sum(sizes)
        and list(other) == sorted(other, reverse=True)
        and all(shown[k] in (None, size) for k, size in enumerate(other, start=1))
    ]
    for k in withheld:
        column = [other[k - 1] for other in possible]
        assert size_interval(shown, k) == (min(column), max(column))


def test_sizes_that_are_not_in_order():
    assert size_interval({0: 135, 1: None, 2: 80, 3: None}, 1) == (1, 54)
