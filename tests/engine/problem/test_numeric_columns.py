"""Features as columns of numbers, against the schema and against scipy."""

import numpy as np
import pytest
from cohorts import LIKELIHOODS, mixed_cohort
from scipy.stats import chi2_contingency, rankdata

from clinclust.engine.problem.numeric_columns import encoded_columns, graded, mid_ranks, numeric_columns, whole_ranks
from clinclust.engine.problem.problem import pose


@pytest.fixture
def cohort():
    frame, schema, _, _ = mixed_cohort(0, 60, LIKELIHOODS * 2, missing=0.2)
    return pose(schema.validate(frame, warn=False), schema, None, 3.0).cohort


def test_levels_without_order_have_an_indicator_each_and_the_rest_one_column(cohort):
    features = cohort.encoding.features
    table, owners = numeric_columns(cohort.arrays)
    for index, (feature, (values, is_unordered)) in enumerate(
        zip(features, encoded_columns(cohort.arrays), strict=True)
    ):
        own = table[:, owners == index]
        assert is_unordered == (feature.likelihood == "categorical")
        assert (np.isnan(own) == np.isnan(values)[:, None]).all()
        if not is_unordered:
            np.testing.assert_array_equal(own[:, 0], values)
            assert own.shape[1] == 1
            continue
        assert own.shape[1] == len(feature.levels)
        seen = ~np.isnan(values)
        assert (own[seen].sum(axis=1) == 1.0).all()
        assert (own[seen].argmax(axis=1) == values[seen] - values[seen].min()).all()


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
