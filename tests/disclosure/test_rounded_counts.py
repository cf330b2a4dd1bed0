"""Rounded counts and sizes against every table that rounds to the same, and means of all subjects that are pooled."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clinclust import Feature, FeatureSchema, compare_subtypes, suppress_small_cells
from clinclust.disclosure import audit_disclosure
from clinclust.disclosure.counts import rounded
from clinclust.reporting.findings import with_pooled_means

from .test_harmless_missing import every_table
from .test_suppression import of_counts

BASE, THRESHOLD = 5, 3


def rounding_to(sizes):
    """All tables (tables, 3 rows, all subjects and two groups) whose sizes round to the same as these."""
    near = [[size for size in range(1, 20) if rounded(size, BASE) == rounded(each, BASE)] for each in sizes]
    tables = np.concatenate([every_table((a, b), 3) for a in near[0] for b in near[1] if a >= b])
    return tables[rounded(tables[:, :, 0].sum(axis=1), BASE) == rounded(sum(sizes), BASE)]


def shown_in(shared, name):
    rows = shared[shared["kind"] == "summary"]
    return rows[name].to_numpy(dtype=float, na_value=np.nan).reshape(-1, 3)


def counts_that_agree(shared, sizes, n_shown_levels):
    """All tables (tables, 3 rows and observed, groups) with the rounded numbers shown."""
    possible = rounding_to(sizes)
    exact = {
        "n": possible[:, :2].sum(axis=1)[:, None],
        "missing": possible[:, 2:],
        "count": possible[:, :n_shown_levels],
    }
    agrees = np.ones(len(possible), dtype=bool)
    for name, counts in exact.items():
        shown = shown_in(shared, name)
        agrees &= (np.isnan(shown) | (rounded(counts, BASE) == shown)).all(axis=(1, 2))
    return np.concatenate([possible, possible[:, :2].sum(axis=1)[:, None]], axis=1)[agrees]


def is_protected(counts, table):
    """Whether the interval of every small count of a table (3 rows, two groups) is long enough."""
    truth = np.hstack([table.sum(axis=1, keepdims=True), table])
    truth = np.vstack([truth, truth[:2].sum(axis=0)])
    return (np.ptp(counts, axis=0)[(truth >= 1) & (truth < THRESHOLD)] >= BASE // 2).all()


CELLS = st.lists(st.integers(0, 5), min_size=6, max_size=6)
RULE = {"threshold": THRESHOLD, "rounding": BASE}


@example([0, 0, 0, 3, 1, 5], False)  # the sizes of both groups and their sum bound each other
@given(CELLS, st.booleans())
def test_no_small_count_is_known_closely_with_rounded_sizes(cells, two_levels):
    table = np.array(cells).reshape(3, 2)
    table[0] += np.maximum(4 - table.sum(axis=0), 0)
    table = table[:, np.argsort(-table.sum(axis=0), kind="stable")]
    levels = ["no", "yes"] if two_levels else ["a", "b"]
    whole = of_counts(table, levels) if two_levels else _categorical(table, levels)
    shared = suppress_small_cells(whole, **RULE)
    order = [1, 0, 2] if two_levels else [0, 1, 2]  # a yes/no feature shows its second level
    counts = counts_that_agree(shared, table.sum(axis=0).tolist(), 1 if two_levels else 2)
    assert len(counts) > 0
    assert is_protected(counts, table[order])
    assert not audit_disclosure(shared, truth=whole, **RULE)["disclosed"].any()


@pytest.mark.simulation
@example([0, 0, 1, 1, 5, 5], [0, 0, 2, 3, 0, 0])  # each feature alone protects what both together do not
@example([0, 0, 0, 3, 0, 0], [0, 0, 2, 2, 5, 0])  # a subtype without observed values
@given(CELLS, CELLS)
def test_no_small_count_is_known_closely_with_the_sizes_that_other_features_tell(cells, others):
    tables = np.array([cells, others]).reshape(2, 3, 2)
    sizes = np.maximum(tables.sum(axis=1).max(axis=0), 4)
    tables[:, 2] += sizes - tables.sum(axis=1)
    tables = tables[:, :, np.argsort(-sizes, kind="stable")]
    whole = _categorical_features(tables, ["a", "b"])
    shared = suppress_small_cells(whole, **RULE)
    agreeing = [counts_that_agree(part, np.sort(sizes)[::-1].tolist(), 2) for _, part in shared.groupby("feature")]
    possible = set.intersection(*({tuple(counts) for counts in each[:, :3].sum(axis=1)} for each in agreeing))
    for each, table in zip(agreeing, tables, strict=True):
        assert is_protected(each[[tuple(counts) in possible for counts in each[:, :3].sum(axis=1)]], table)
    assert not audit_disclosure(shared, truth=whole, **RULE)["disclosed"].any()


def test_rounded_numbers_do_not_tell_that_nobody_has_a_value():
    nobody, somebody = (_categorical(np.array([[a, 3], [0, 3], [7 - a, 2]]), ["a", "b"]) for a in (0, 1))
    shared = [suppress_small_cells(whole, **RULE) for whole in (nobody, somebody)]
    pd.testing.assert_frame_equal(*(each[each["kind"] == "summary"] for each in shared))


def _categorical(table, levels):
    return _categorical_features(table[np.newaxis], levels)


def _categorical_features(tables, levels):
    frame = pd.DataFrame(
        {
            f"x{number}": np.array(
                [value for group in table.T for value, n in zip([*levels, None], group, strict=True) for _ in range(n)],
                dtype=object,
            )
            for number, table in enumerate(tables)
        }
    )
    schema = FeatureSchema([Feature(name=name, likelihood="categorical", levels=tuple(levels)) for name in frame])
    return compare_subtypes(frame, np.repeat(np.arange(2), tables[0].sum(axis=0)), schema)


def test_the_sizes_of_a_rounded_frame_are_rounded_and_known_to_the_audit():
    whole = of_counts([[52, 21, 22], [41, 43, 44], [3, 2, 5]], ["no", "yes"])
    shared = suppress_small_cells(whole, rounding=BASE)
    summaries = shared[shared["kind"] == "summary"]
    assert summaries["size"].tolist() == [235, 95, 65, 70]
    assert summaries["suppressed"].all()
    assert not audit_disclosure(shared, rounding=BASE)["disclosed"].any()


def test_the_mean_of_all_is_pooled_from_what_is_shown():
    rng = np.random.default_rng(3)
    groups = np.repeat([0, 1, 2], [82, 51, 38])
    values = rng.normal(40 + 9 * groups, 6.0)
    values[::9] = np.nan
    schema = FeatureSchema([Feature(name="x", likelihood="gaussian")])
    whole = compare_subtypes(pd.DataFrame({"x": values}), groups, schema)
    shared = suppress_small_cells(whole, rounding=BASE)
    shared = shared[shared["kind"] == "summary"].reset_index(drop=True)
    assert np.isnan(shared["mean"][0])
    pooled = with_pooled_means(shared)
    each = [rng.normal(size=int(n)) for n in shared["n"][1:]]
    each = [
        mean + sd * (values - values.mean()) / values.std(ddof=1)
        for values, mean, sd in zip(each, shared["mean"][1:], shared["sd"][1:], strict=True)
    ]
    assert pooled["mean"][0] == pytest.approx(np.concatenate(each).mean())
    assert pooled["sd"][0] == pytest.approx(np.concatenate(each).std(ddof=1))
    assert abs(pooled["mean"][0] - whole["mean"][0]) < 1.0
    without = shared.assign(mean=shared["mean"].mask(shared["subtype"] == 2))
    pd.testing.assert_frame_equal(with_pooled_means(without), without)
