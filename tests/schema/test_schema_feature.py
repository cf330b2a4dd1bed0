import numpy as np
import pandas as pd
import pytest
from scored import scored

from clinclust.errors import SchemaError
from clinclust.schema import Feature

MALFORMED = [
    ({"likelihood": "gaussian"}, ["name is missing"]),
    ({"name": "", "likelihood": "gaussian"}, ["name", "must not be empty"]),
    ({"name": 3, "likelihood": "gaussian"}, ["name", "must be text, not 3"]),
    ({"name": "a\ud800", "likelihood": "gaussian"}, ["name", "surrogate"]),
    ({"name": "x"}, ["x: role cluster needs a likelihood", "gaussian"]),
    ({"name": "x", "likelihood": "gausian"}, ["x: likelihood", "'gausian'", "Did you mean 'gaussian'"]),
    ({"name": "x", "likelihood": "gaussian", "lable": "X"}, ["x: lable", "unknown key", "Did you mean 'label'"]),
    ({"name": "x", "likelihood": "gaussian", "role": "cluter"}, ["x: role", "Did you mean 'cluster'"]),
    ({"name": "x", "likelihood": "gaussian", "transform": "ln"}, ["x: transform", "log, log1p, sqrt"]),
    ({"name": "x", "likelihood": "poisson", "transform": "log"}, ["x: transform", "poisson has no transform"]),
    ({"name": "x", "likelihood": "binomial"}, ["x: trials", "exactly one of", "levels", "maximum"]),
    ({"name": "x", "likelihood": "binomial", "trials": "four"}, ["x: trials", "must be a number", "'four'"]),
    ({"name": "x", "likelihood": "binomial", "trials": True}, ["x: trials", "not True"]),
    ({"name": "x", "likelihood": "binomial", "trials": 0}, ["x: trials", "greater than or equal to 1, not 0"]),
    ({"name": "x", "likelihood": "binomial", "trials": 2.5}, ["x: trials", "valid integer, not 2.5"]),
    ({"name": "x", "likelihood": "binomial", "trials": 4, "levels": ["a", "b"]}, ["x: trials", "exactly one of"]),
    ({"name": "x", "likelihood": "binomial", "minimum": 1}, ["x: maximum", "needs both"]),
    ({"name": "x", "likelihood": "binomial", "minimum": 1.5, "maximum": 4}, ["x: minimum", "whole number, not 1.5"]),
    ({"name": "x", "likelihood": "binomial", "minimum": 4, "maximum": 4}, ["x: maximum", "greater than the minimum"]),
    ({"name": "x", "likelihood": "poisson", "trials": 4}, ["x: trials", "only binomial"]),
    ({"name": "x", "likelihood": "gaussian", "minimum": float("nan")}, ["x: minimum", "finite"]),
    ({"name": "x", "likelihood": "gaussian", "minimum": "1_0"}, ["x: minimum", "must be a number"]),
    (
        {"name": "x", "likelihood": "gaussian", "minimum": 5, "maximum": 1},
        ["x: maximum", "greater than the minimum, 5"],
    ),
    ({"name": "x", "likelihood": "categorical"}, ["x: levels", "needs the list of its levels"]),
    ({"name": "x", "likelihood": "categorical", "levels": "ab"}, ["x: levels", "must be a list"]),
    ({"name": "x", "likelihood": "categorical", "levels": ["a"]}, ["x: levels", "at least two"]),
    ({"name": "x", "likelihood": "categorical", "levels": ["a", "a"]}, ["x: levels", "repeated: 'a'"]),
    ({"name": "x", "likelihood": "categorical", "levels": [1, 2]}, ["x: levels", '"1" in quotes']),
    ({"name": "x", "likelihood": "categorical", "levels": ["no", False]}, ["x: levels", "levels are text"]),
    ({"name": "x", "likelihood": "categorical", "levels": ["a ", "b"]}, ["x: levels", "white space"]),
    ({"name": "x", "likelihood": "categorical", "levels": ["a", "b"], "minimum": 0}, ["x: minimum", "has no minimum"]),
    ({"name": "x", "likelihood": "bernoulli", "levels": ["a", "b", "c"]}, ["x: levels", "exactly two", "there are 3"]),
    ({"name": "x", "likelihood": "gaussian", "levels": ["a", "b"]}, ["x: levels", "takes numbers, not levels"]),
    ({"name": "x", "likelihood": "bernoulli", "levels": ["a", "b"], "missing_codes": ["b"]}, ["missing_codes", "'b'"]),
    ({"name": "x", "likelihood": "gaussian", "missing_codes": "-9"}, ["x: missing_codes", "must be a list"]),
    ({"name": "x", "likelihood": "gaussian", "missing_codes": [True]}, ["x: missing_codes", "not True"]),
    ({"name": "x", "likelihood": "gaussian", "complete": "ja"}, ["x: complete", "valid boolean, not 'ja'"]),
    ({"name": "x", "likelihood": "gaussian", "prior": {"mu": 1}}, ["x: prior", "'mu'", "mean, kappa"]),
    ({"name": "x", "likelihood": "gaussian", "prior": {"kapa": 1}}, ["x: prior", "Did you mean 'kappa'"]),
    (
        {"name": "x", "likelihood": "gaussian", "prior": {"kappa": 0}},
        ["x: prior", "kappa must lie between 1e-10 and 1e+09, not 0"],
    ),
    ({"name": "x", "likelihood": "gaussian", "prior": {"mean": float("inf")}}, ["x: prior", "finite"]),
    ({"name": "x", "likelihood": "gaussian", "prior": [1]}, ["x: prior", "by name"]),
    ({"name": "x", "likelihood": "bernoulli", "prior": {"a": [1]}}, ["x: prior", "a must be one number"]),
    (
        {"name": "x", "likelihood": "categorical", "levels": ["a", "b"], "prior": {"concentrations": [1]}},
        ["x: prior", "2 numbers"],
    ),
    (
        {"name": "x", "likelihood": "categorical", "levels": ["a", "b"], "prior": {"concentrations": 1}},
        ["x: prior", "a list of numbers"],
    ),
    ({"name": "x", "role": "id", "likelihood": "gaussian"}, ["x: likelihood", "an id is not modelled"]),
]


@scored(MALFORMED)
def test_a_malformed_feature_is_a_schema_error_with_the_essential_words(fields, words):
    with pytest.raises(SchemaError) as caught:
        Feature(**fields)
    for word in words:
        assert word in str(caught.value)


def test_all_problems_of_a_feature_are_listed_at_once():
    with pytest.raises(SchemaError) as caught:
        Feature(name="x", likelihood="poisson", lable="X", trials=3, minimum="low", transform="log")
    problems = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 4
    for word in ("lable", "only binomial", "'low'", "poisson has no transform"):
        assert word in problems


def test_a_misspelt_key_is_not_reported_a_second_time_as_missing():
    with pytest.raises(SchemaError) as caught:
        Feature(name="x", likelihod="poisson")
    assert len(caught.value.problems) == 1


def test_numeric_text_is_accepted_because_yaml_hands_it_over():
    feature = Feature(name="x", likelihood="binomial", minimum="1", maximum="5.0")
    assert (feature.minimum, feature.maximum, feature.n_trials, feature.lowest) == (1.0, 5.0, 4, 1.0)


def test_missing_codes_may_be_numbers_in_python():
    assert Feature(name="x", likelihood="gaussian", missing_codes=[-9, 99.0, "NA"]).missing_codes == ("-9", "99", "NA")


@pytest.mark.parametrize(
    ("fields", "trials"),
    [
        ({"likelihood": "bernoulli"}, 1),
        ({"likelihood": "binomial", "trials": 4}, 4),
        ({"likelihood": "binomial", "levels": ["a", "b", "c"]}, 2),
        ({"likelihood": "binomial", "minimum": -2, "maximum": 3}, 5),
        ({"likelihood": "poisson"}, None),
    ],
)
def test_number_of_trials(fields, trials):
    assert Feature(name="x", **fields).n_trials == trials


def test_a_feature_is_frozen_and_hashable():
    feature = Feature(name="x", likelihood="gaussian", prior={"mean": 0})
    with pytest.raises(ValueError, match="frozen"):
        feature.name = "y"
    assert hash(feature) == hash(Feature(name="x", likelihood="gaussian", prior={"mean": 0}))
    assert feature.title == "x"
    assert Feature(name="x", likelihood="gaussian", label="X").title == "X"


def test_scores_are_level_indices_or_values_and_nan_where_missing():
    scale = Feature(name="x", likelihood="binomial", levels=["low", "mid", "high"])
    column = pd.Series(pd.Categorical(["mid", None, "high"], categories=["low", "mid", "high"], ordered=True))
    np.testing.assert_array_equal(scale.scores(column), [1, np.nan, 2])
    count = Feature(name="x", likelihood="poisson")
    np.testing.assert_array_equal(count.scores(pd.Series([3, None], dtype="Int64")), [3, np.nan])


def test_the_transform_applies_to_transformed_and_not_to_scores():
    feature = Feature(name="x", likelihood="gaussian", transform="log1p")
    column = pd.Series([0.0, np.e - 1, np.nan])
    np.testing.assert_allclose(feature.transformed(column), [0, 1, np.nan])
    np.testing.assert_array_equal(feature.scores(column), column)


def test_an_id_has_no_scores():
    with pytest.raises(ValueError, match="no likelihood"):
        Feature(name="x", role="id").scores(pd.Series(["a"]))
