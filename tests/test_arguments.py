"""Arguments of the wrong kind are refused by name, all at once, before anything else happens."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, rankdata

import clinclust
from clinclust.arguments import BY_FEATURE, LABELS, accepting
from clinclust.arrays import graded, mid_ranks, paired_moments, whole_ranks
from clinclust.errors import InputError

calls = []


@accepting(labels=LABELS, contrasts=BY_FEATURE)
def function(
    frame: "pd.DataFrame",
    labels,
    *,
    names: "Mapping[Any, str] | None" = None,
    at_most: "int | None" = 30,
    contrasts=None,
):
    """Say what came."""
    calls.append(at_most)
    return len(frame)


def test_everything_wrong_is_said_at_once():
    calls.clear()
    with pytest.raises(InputError) as caught:
        function([1, 2], "ab", names={1.5: "x"}, at_most=2.5)
    assert str(caught.value) == (
        "frame must be a table of pandas, polars or pyarrow with one row for each subject, not list; "
        "labels must be one label for each subject, not 'ab'; "
        "names must be a dictionary from the number or code of a subtype, such as 1 or '1b', to its name or None, "
        "not dict; at_most must be a whole number or None, not 2.5"
    )
    assert calls == []


def test_what_is_right_passes_unchanged():
    frame = pd.DataFrame({"a": [1, 2]})
    for labels in ([0, 1], (0, 1), np.array([0, 1]), pd.Series(["a", "b"]), pd.Categorical(["a", "b"])):
        assert function(frame, labels, names={np.int64(1): "x", "2b": "y"}, at_most=np.int32(3)) == 2
    assert function(frame, [0, 1], names=None, at_most=30) == 2  # the defaults, whatever they are
    assert function.__name__ == "function"
    assert function.__doc__ == "Say what came."


@pytest.mark.parametrize("text", ["a value of a patient " * 10, {"who": "a value"}, ["a value"]])
def test_no_long_text_and_no_collection_is_shown(text):
    with pytest.raises(InputError) as caught:
        clinclust.compare_subtypes(text, [0], text)
    assert "value" not in str(caught.value)


# --- columns that can be correlated in pairs, against scipy -----------------------------------------------------------


def test_ranks_are_those_of_scipy():
    values = np.random.default_rng(0).integers(8, size=50) / 3.0
    values[[4, 9]] = np.nan
    np.testing.assert_array_equal(mid_ranks(values), rankdata(values, nan_policy="omit"))
    grades = whole_ranks(values)
    assert np.isnan(grades[[4, 9]]).all()
    seen = ~np.isnan(values)
    assert set(grades[seen]) <= set(range(-127, 128))
    assert (rankdata(grades[seen]) == rankdata(values[seen])).all()


def test_squared_correlations_of_indicators_add_up_to_pearsons_chi_squared_over_its_degrees_of_freedom():
    rng = np.random.default_rng(0)
    one = rng.integers(3, size=80)
    other = np.where(rng.random(80) < 0.4, one, rng.integers(4, size=80))
    table, weights, owners = graded([(one.astype(float), True), (other.astype(float), True)], mid_ranks)
    r = np.corrcoef(table.T)[np.ix_(owners == 0, owners == 1)]
    counts = np.array([[((one == a) & (other == b)).sum() for b in range(4)] for a in range(3)])
    expected = chi2_contingency(counts, correction=False)
    found = 80 * (r**2 * np.outer(weights[owners == 0], weights[owners == 1])).sum()
    assert found == pytest.approx(expected.statistic / expected.dof)


def test_no_feature_leaves_a_table_without_columns():
    assert graded([], mid_ranks).columns.shape == (0, 0)
    assert graded([(np.full(5, np.nan), True)], mid_ranks).columns.shape == (5, 0)


def test_paired_moments_are_those_of_the_rows_that_hold_both():
    rng = np.random.default_rng(0)
    own, other = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    own[rng.random(own.shape) < 0.2] = np.nan
    other[rng.random(other.shape) < 0.3] = np.nan
    n, covariance, variance, other_variance = paired_moments(own, other)
    for i in range(3):
        for j in range(2):
            both = ~np.isnan(own[:, i]) & ~np.isnan(other[:, j])
            expected = np.cov(own[both, i], other[both, j], ddof=0)
            assert n[i, j] == both.sum()
            assert variance[i, j] == pytest.approx(expected[0, 0])
            assert other_variance[i, j] == pytest.approx(expected[1, 1])
            assert covariance[i, j] == pytest.approx(expected[0, 1])
