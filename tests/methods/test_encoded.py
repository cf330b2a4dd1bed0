"""A cohort as standardised numbers: each kind of feature by hand, and what is said of it."""

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.methods.encoded import different_rows, encoded, filled, levels_in_use, standardised

from .clear_groups import SCHEMA, cohort

MISSING = float("nan")


def encode(frame, *features):
    schema = cc.FeatureSchema(features)
    return encoded(schema.validate(pd.DataFrame(frame), warn=False), schema.clustered)


def z(*numbers):
    return (np.array(numbers, float) - np.mean(numbers)) / np.std(numbers)


def test_every_kind_of_feature_by_hand():
    found = encode(
        {
            "fatigue": ["no", "yes", "yes", None],
            "tremor": ["mild", "none", None, "severe"],
            "gene": ["b", None, "b", "a"],
            "crp": [1.0, np.e, np.e**4, MISSING],
            "falls": [3, 0, None, 4],
        },
        cc.Feature(name="fatigue", likelihood="bernoulli", levels=("no", "yes")),
        cc.Feature(name="tremor", likelihood="ordinal", levels=("none", "mild", "severe")),
        cc.Feature(name="gene", likelihood="categorical", levels=("a", "b", "never")),
        cc.Feature(name="crp", likelihood="gaussian", transform="log"),
        cc.Feature(name="falls", likelihood="poisson"),
    )
    expected = [z(0, 1, 1, 1), z(1, 0, 1, 2), z(0, 0, 0, 1), z(1, 1, 1, 0), z(0, 1, 4, 1), z(3, 0, 3, 4)]
    np.testing.assert_allclose(found.values, np.column_stack(expected), atol=1e-12)
    assert found.prepared == (
        "yes/no features as 0 and 1, ordered levels as their scores, unordered levels as one indicator each, counts "
        "and measurements after the transform of the schema, every column standardised; missing values were filled "
        "with the median or the most frequent level of the feature"
    )


def test_what_is_said_is_only_what_was_done():
    found = encode({"x": [1.0, 2.0, 5.0]}, cc.Feature(name="x", likelihood="gaussian"))
    assert found.prepared == "counts and measurements after the transform of the schema, every column standardised"


def test_columns_of_any_cohort_are_standardised():
    frame, _ = cohort(0, 0.2)
    found = encoded(SCHEMA.validate(frame), SCHEMA.clustered)
    assert found.values.shape == (90, 8)
    np.testing.assert_allclose(found.values.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.values.std(axis=0), 1.0)


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_the_unit_of_a_measurement_does_not_matter(unit):
    column = np.array([1.0, 2.0, 4.0, 9.0])
    np.testing.assert_allclose(standardised(unit * column), z(*column), rtol=1e-12, atol=1e-15)


def test_missing_values_are_filled():
    assert filled(np.array([5.0, MISSING, 1.0, 2.0, 3.0]), by_frequency=False)[1] == 2.5
    assert filled(np.array([5.0, MISSING, 5.0, 2.0, 2.0]), by_frequency=True)[1] == 2.0
    whole = np.array([1.0, 2.0])
    np.testing.assert_array_equal(filled(whole, by_frequency=True), whole)


def test_levels_in_use_have_no_gaps():
    np.testing.assert_array_equal(levels_in_use(np.array([7.0, MISSING, 0.0, 3.0, 7.0])), [2.0, MISSING, 0.0, 1.0, 2.0])


def test_different_rows_are_counted():
    assert different_rows(np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])) == 2


def test_what_cannot_be_encoded_is_refused():
    with pytest.raises(ValueError, match="x has no two different observed values"):
        encode({"x": [1.0, 1.0, MISSING]}, cc.Feature(name="x", likelihood="gaussian"))
    with pytest.raises(ValueError, match="no feature to encode"):
        encode({"x": [1.0, 2.0]}, cc.Feature(name="x", likelihood="gaussian", role="describe"))
