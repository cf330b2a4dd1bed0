"""Rounded counts and sizes against every table that rounds to the same, and means of all subjects that are pooled."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinclust import Feature, FeatureSchema, audit_disclosure, compare_subtypes, suppress_small_cells
from clinclust.disclosure.rounding import rounded
from clinclust.reporting.pooled import with_pooled_means

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


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=6, max_size=6), st.booleans())
def test_no_small_count_is_known_closely_with_rounded_sizes(cells, two_levels):
    table = np.array(cells).reshape(3, 2)
    table[0] += np.maximum(4 - table.sum(axis=0), 0)
    table = table[:, np.argsort(-table.sum(axis=0), kind="stable")]
    levels = ["no", "yes"] if two_levels else ["a", "b"]
    whole = of_counts(table, levels) if two_levels else _categorical(table, levels)
    rule = {"threshold": THRESHOLD, "rounding": BASE}
    shared = suppress_small_cells(whole, **rule)
    order = [1, 0, 2] if two_levels else [0, 1, 2]  # a yes/no feature shows its second level
    possible = rounding_to(table.sum(axis=0).tolist())
    exact = {
        "n": possible[:, :2].sum(axis=1)[:, None],
        "missing": possible[:, 2:],
        "count": possible[:, : 1 if two_levels else 2],
    }
    agrees = np.ones(len(possible), dtype=bool)
    for name, counts in exact.items():
        shown = shown_in(shared, name)
        agrees &= (np.isnan(shown) | (rounded(counts, BASE) == shown)).all(axis=(1, 2))
    assert agrees.any()
    counts = np.concatenate([possible, possible[:, :2].sum(axis=1)[:, None]], axis=1)[agrees]
    truth = np.hstack([table.sum(axis=1, keepdims=True), table])[order]
    truth = np.vstack([truth, truth[:2].sum(axis=0)])
    width = np.ptp(counts, axis=0)
    assert (width[(truth >= 1) & (truth < THRESHOLD)] >= BASE // 2).all()
    assert not audit_disclosure(shared, truth=whole, **rule)["disclosed"].any()


def _categorical(table, levels):
    column = [value for group in table.T for value, n in zip([*levels, None], group, strict=True) for _ in range(n)]
    schema = FeatureSchema([Feature(name="x", likelihood="categorical", levels=tuple(levels))])
    groups = np.repeat(np.arange(2), table.sum(axis=0))
    return compare_subtypes(pd.DataFrame({"x": np.array(column, dtype=object)}), groups, schema)


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
