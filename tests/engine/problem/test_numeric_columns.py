"""The features of an encoded cohort as columns of numbers, against the schema."""

import numpy as np
import pytest
from cohorts import LIKELIHOODS, mixed_cohort

from clinclust.engine.problem.encoding import encoded_columns, numeric_columns
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
