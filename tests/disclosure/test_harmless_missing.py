"""Numbers of missing values are shown where they are declared harmless; small counts of levels stay hidden."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinclust import Feature, FeatureSchema, compare_subtypes, suppress_small_cells
from clinclust.disclosure import audit_disclosure

from .test_attacker import compositions
from .test_suppression import of_counts, summary

THRESHOLD = 3
NUMBERS = ("n", "missing", "count", "percent", "mean")
DECIMALS = {"percent": 1, "mean": 2}


def every_table(sizes, n_rows):
    """All tables (tables, rows, groups) of these sizes; the first group is all subjects."""
    columns = product(*(compositions(size, n_rows) for size in sizes))
    tables = np.array(list(columns), dtype=float).transpose(0, 2, 1)
    return np.concatenate([tables.sum(axis=2, keepdims=True), tables], axis=2)


def printed(tables, n_shown_levels):
    """What a report prints of each table: arrays (tables, levels, groups) by name."""
    levels, missing = tables[:, :n_shown_levels], tables[:, -1:]
    n = tables[:, :-1].sum(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        share = levels / n
    values = {"n": n, "missing": missing, "count": levels, "percent": 100 * share, "mean": share}
    return {name: np.broadcast_to(each, levels.shape) for name, each in values.items()}


def shown_of(shared, n_shown_levels, n_groups):
    rows = shared[shared["kind"] == "summary"]
    shape = (n_shown_levels, n_groups)
    return {name: rows[name].to_numpy(dtype=float, na_value=np.nan).reshape(shape) for name in NUMBERS}


def agreeing(tables, shown):
    """The tables that print every number that is shown."""
    found = np.ones(len(tables), dtype=bool)
    for name, values in printed(tables, len(shown["n"])).items():
        error = 0.5 * 10.0 ** -DECIMALS[name] if name in DECIMALS else 0.0
        with np.errstate(invalid="ignore"):
            same = np.abs(values - shown[name]) <= error + 1e-9
        found &= (same | np.isnan(shown[name])).all(axis=(1, 2))
    return tables[found]


@pytest.mark.simulation
@given(st.lists(st.integers(0, 6), min_size=6, max_size=6), st.booleans())
def test_small_counts_of_levels_cannot_be_found_with_n_and_missing(cells, two_levels):
    table = np.array(cells).reshape(3, 2)
    sizes = table.sum(axis=0)
    table[0] += np.maximum(THRESHOLD + 1 - sizes, 0)  # no small subtype
    table = table[:, np.argsort(-table.sum(axis=0), kind="stable")]
    if not two_levels:
        table = np.vstack([table[:1], table[1:2], np.minimum(table[2:] + 1, 4), table[2:]])
    if table[:-1].sum() < THRESHOLD:
        return
    whole = of_counts(table, ["no", "yes"] if two_levels else None)
    shared = suppress_small_cells(whole, threshold=THRESHOLD, missing_is_harmless=True)
    shown = shown_of(shared, 1 if two_levels else len(table) - 1, 3)
    # The yes/no feature shows its second level.
    order = [1, 0, 2] if two_levels else list(range(len(table)))
    truth = np.hstack([table.sum(axis=1, keepdims=True), table])[order]
    possible = agreeing(every_table(table.sum(axis=0), len(table)), shown)
    observed = possible[:, :-1].sum(axis=1)
    low, high = (np.vstack([end(possible, axis=0)[:-1], end(observed, axis=0)]) for end in (np.min, np.max))
    sensitive = np.vstack([truth[:-1], truth[:-1].sum(axis=0)])
    sensitive = (sensitive >= 1) & (sensitive < THRESHOLD)
    assert ((high - low)[sensitive] >= THRESHOLD).all()
    assert not audit_disclosure(shared, threshold=THRESHOLD, missing_is_harmless=True, truth=whole)["disclosed"].any()


def test_a_small_number_of_missing_values_is_shown_where_it_is_harmless():
    whole = of_counts([[60, 40], [60, 90], [5, 7]], ["no", "yes"])
    shared = suppress_small_cells(whole, missing_is_harmless=True)
    assert summary(shared, "missing", 1) == 5
    assert summary(shared, "n", 1) == 120
    assert not shared["suppressed"].any()
    assert set(audit_disclosure(shared, truth=whole)["cell"]) == {"missing"}
    assert audit_disclosure(shared, truth=whole, missing_is_harmless=True).empty


def test_few_observed_values_are_withheld_all_the_same():
    whole = of_counts([[40, 4], [90, 3], [7, 90]], ["no", "yes"])
    shared = suppress_small_cells(whole, missing_is_harmless=True)
    assert pd.isna(summary(shared, "n", 2))
    assert pd.isna(summary(shared, "missing", 2))
    assert not audit_disclosure(shared, truth=whole, missing_is_harmless=True)["disclosed"].any()
    assert audit_disclosure(whole, missing_is_harmless=True)["disclosed"].any()


@pytest.mark.parametrize("n_second", [20, 29, 30])
def test_means_of_fewer_values_than_asked_are_withheld(n_second):
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 50)
    values = rng.normal(50, 9, 150)
    values[50 : 100 - n_second] = np.nan
    answers = np.where(np.arange(150) % 2 == 0, "yes", "no").astype(object)
    answers[np.isnan(values)] = None
    schema = FeatureSchema(
        [
            Feature(name="x", likelihood="gaussian"),
            Feature(name="answer", likelihood="bernoulli", levels=("no", "yes")),
        ]
    )
    whole = compare_subtypes(pd.DataFrame({"x": values, "answer": answers}), groups, schema)
    shared = suppress_small_cells(whole, min_n=30)
    is_withheld = n_second < 30
    own = shared[(shared["kind"] == "summary") & (shared["feature"] == "x")].set_index("subtype")
    for column in ("mean", "sd", "median", "q1", "q3"):
        # Of all subjects too: with their mean, that of the second subtype would follow from the others.
        assert own[column].isna().to_dict() == {0: is_withheld, 1: False, 2: is_withheld, 3: False}
    assert own["n"].notna().all()
    share = shared[(shared["kind"] == "summary") & (shared["feature"] == "answer")]
    assert share["mean"].notna().all()
    assert not suppress_small_cells(whole)["suppressed"].any()


def test_a_threshold_for_means_below_that_of_counts_is_refused():
    with pytest.raises(ValueError, match="min_n must be at least the threshold, 10, not 9"):
        suppress_small_cells(of_counts([[60, 40], [60, 90], [5, 7]], ["no", "yes"]), min_n=9)
