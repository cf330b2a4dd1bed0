"""Comparisons of a table in partitions against those of the same table in memory."""

from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import clinclust as cc
from clinclust.comparisons import compare
from clinclust.comparisons.compare import Measure, Rows, summarise
from clinclust.comparisons.differences import contrast_of
from schemas import stored_schema

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

N = 900
SCHEMA = stored_schema("in_partitions")


def a_table(seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.choice(4, size=N, p=[0.5, 0.3, 0.198, 0.002])
    troponin = np.exp(rng.normal(0.3 * labels))
    columns = {
        "weight": rng.normal(70 + 4 * labels, 12),
        "crp": np.exp(rng.normal(0.2 * labels)),
        "troponin": troponin,
        "pack_years": rng.exponential(10, N) * (rng.random(N) < 0.6),
        "days": rng.exponential(1.0 + labels),
        "falls": rng.poisson(1.0 + labels).astype(float),
        "visits": rng.geometric(0.4, N) - 1.0,
        "pain": rng.binomial(4, 0.2 + 0.15 * labels).astype(float),
    }
    frame = pd.DataFrame(columns).mask(rng.random((N, len(columns))) < 0.1)
    frame["troponin"] = ["<0.5" if value < 0.5 else str(value) for value in troponin]
    frame["stage"] = rng.choice(["I", "II", "III", None], N, p=[0.5, 0.2, 0.2, 0.1])
    frame["asthma"] = rng.choice(["no", "yes"], N)
    frame["site"] = rng.choice(["A", "B", "C"], N, p=[0.9, 0.09, 0.01])
    frame.insert(0, "patient", [f"p{number}" for number in range(N)])
    return frame, pd.Series(labels, index=frame.index)


def in_partitions(table, cuts=(0, 250, 251, 700, N)):
    parts = [dask.delayed(table.iloc[first:last]) for first, last in pairwise(cuts)]
    return dd.from_delayed(parts, verify_meta=False)


def compared(frame, labels, **options):
    return cc.compare_subtypes(in_partitions(frame), in_partitions(labels), SCHEMA, **options)


@pytest.mark.simulation
@pytest.mark.parametrize("n_groups", [4, 2, 1])
def test_a_table_in_partitions_is_compared_as_in_memory(n_groups):
    frame, labels = a_table()
    labels = labels.clip(upper=n_groups - 1)
    pd.testing.assert_frame_equal(
        compared(frame, labels), cc.compare_subtypes(frame, labels, SCHEMA), rtol=1e-9, atol=1e-12
    )


def test_the_partitions_do_not_change_a_bit():
    frame, labels = a_table()
    others = in_partitions(frame, (0, 100, 400, N)), in_partitions(labels, (0, 100, 400, N))
    pd.testing.assert_frame_equal(compared(frame, labels), cc.compare_subtypes(*others, SCHEMA), rtol=0, atol=0)


def test_a_column_of_many_values_is_rounded_to_a_thousandth_of_its_interquartile_range(monkeypatch):
    frame, labels = a_table()
    monkeypatch.setattr(compare, "MANY_VALUES", 50)
    found, exact = compared(frame, labels), cc.compare_subtypes(frame, labels, SCHEMA)
    summaries = exact[exact["kind"] == "summary"]
    key = summaries["feature"] + "|" + summaries["part"].fillna("") + "|" + summaries["level"].fillna("")
    off = (summaries["q3"] - summaries["q1"]).groupby(key).transform("first").to_numpy()  # of all subjects
    for name in ("mean", "median", "q1", "q3"):
        differences = (found.loc[summaries.index, name] - summaries[name]).abs().fillna(0.0).to_numpy()
        assert (differences <= 0.001 * np.nan_to_num(off) + 1e-9).all(), name
    assert found.loc[summaries.index, "count"].equals(summaries["count"])  # point masses stay where they are
    assert (found["p"].fillna(2.0) - exact["p"].fillna(2.0)).abs().max() < 0.01
    assert len(compare.round_many(SCHEMA["weight"], frame["weight"] * 1e6).unique()) < N


@pytest.mark.parametrize("values", [np.arange(6000.0), np.r_[np.zeros(9000), np.arange(1.0, 6000.0)]])
def test_whole_numbers_and_zeros_stay_exact(values):
    column = pd.Series(values)
    found = compare.round_many(SCHEMA["weight"], column)
    assert (found % 1 == 0).all()
    assert ((found == 0) == (column == 0)).all()


def test_a_rounded_column_of_fractions_is_no_column_of_whole_numbers():
    values = np.arange(6000.0) * 10.0 + 0.25
    found = compare.round_many(SCHEMA["weight"], pd.Series(values))
    assert (found % 1 != 0).sum() == 1
    assert np.abs(found - values).max() < 0.001 * 30_000


values = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2), st.integers(1, 60)), min_size=1, max_size=30)


@given(values)
def test_counted_rows_are_compared_as_the_subjects_they_stand_for(rows):
    scores, groups, times = (np.array(column) for column in zip(*rows, strict=True))
    scores = np.where(scores == -3, np.nan, scores / 2.0)
    counted_rows, many = Rows(groups, 3, times), Rows(groups.repeat(times), 3, np.ones(times.sum(), dtype=np.int64))
    feature = SCHEMA["weight"]
    np.testing.assert_allclose(
        summarise(Measure(feature, None, scores, counted_rows)),
        summarise(Measure(feature, None, scores.repeat(times), many)),
        rtol=1e-9,
        atol=1e-12,
    )
    assert counted_rows.sizes.tolist() == many.sizes.tolist()
    for kind in ("welch", "student", "rank"):
        got, expected = contrast_of(scores, groups, kind, times), contrast_of(scores.repeat(times), many.group_of, kind)
        assert got.test == expected.test
        np.testing.assert_allclose(got[1:], expected[1:], rtol=1e-7, atol=1e-9)
    levels = scores * 2 + 3
    assert contrast_of(levels, groups, "counts", times) == contrast_of(levels.repeat(times), many.group_of, "counts")


def test_one_error_lists_the_failures_of_all_partitions():
    frame, labels = a_table()
    frame.loc[[3, 800], "falls"] = -1.0
    with pytest.raises(cc.CohortError) as raised:
        compared(frame, labels)
    assert set(raised.value.failures["partition"]) == {0, 3}


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (lambda labels: labels, "Dask series in its 4 partitions"),
        (lambda labels: in_partitions(labels, (0, 250, N)), "Dask series in its 4 partitions"),
        (lambda labels: in_partitions(labels, (0, 250, 252, 700, N)), "rows in a partition"),
        (lambda labels: in_partitions(labels - 1), "whole numbers 0, 1"),
        (lambda labels: in_partitions(labels / 2), "whole numbers 0, 1"),
        (lambda labels: in_partitions(labels).to_dask_array(), "Dask series"),
        (lambda labels: in_partitions(labels[::-1]), "another index"),
        (lambda labels: in_partitions(labels.map(str)), "known categories"),
        (lambda labels: in_partitions(labels.map(str)).astype("category"), "known categories"),
    ],
)
def test_labels_must_be_those_of_the_table(labels, said):
    frame, of_all = a_table()
    with pytest.raises(ValueError, match=said):
        cc.compare_subtypes(in_partitions(frame), labels(of_all), SCHEMA)


def test_categories_are_numbered_as_in_memory():
    frame, labels = a_table()
    named = labels.map(dict(enumerate("dbca"))).astype("category")
    expected = cc.compare_subtypes(frame, named, SCHEMA)
    pd.testing.assert_frame_equal(compared(frame, named), expected, rtol=1e-9, atol=1e-12)


def test_weights_and_labels_of_a_table_in_partitions_are_refused_where_they_cannot_be_used():
    frame, labels = a_table()
    with pytest.raises(ValueError, match="weights"):
        compared(frame, labels, weights=np.ones(N))
    with pytest.raises(ValueError, match="no rows"):
        cc.compare_subtypes(in_partitions(frame, (0, 0)), in_partitions(labels, (0, 0)), SCHEMA)
