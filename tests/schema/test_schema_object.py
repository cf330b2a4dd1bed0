"""A schema is a collection of features, and every fault of a feature or of a schema is told with its repair."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from calls import calls_of
from cases import cases_beside
from scored import scored

from clinclust import draft_schema
from clinclust.errors import CohortError, SchemaError
from clinclust.likelihoods import REGISTRY
from clinclust.schema import Feature, FeatureSchema

AGE = Feature(name="age", likelihood="gaussian")
SEX = Feature(name="sex", likelihood="bernoulli", levels=["f", "m"], role="describe")


def test_a_schema_is_an_ordered_immutable_collection():
    schema = FeatureSchema([AGE, SEX], title="t")
    assert list(schema) == [AGE, SEX]
    assert schema.names == ["age", "sex"]
    assert len(schema) == 2
    assert schema["sex"] is SEX
    assert "sex" in schema
    assert "height" not in schema
    assert (schema.clustered, schema.described, schema.ids) == ((AGE,), (SEX,), ())
    with pytest.raises(AttributeError):
        schema.title = "other"
    with pytest.raises(KeyError, match="Did you mean 'age'"):
        schema["ages"]
    assert "2 features" in repr(schema)


def test_equality_and_fingerprint_follow_the_content():
    schema = FeatureSchema([AGE, SEX])
    same = FeatureSchema([Feature(name="age", likelihood="gaussian"), SEX])
    same.comments["age"] = "years"
    assert schema == same
    assert hash(schema) == hash(same)
    assert schema.fingerprint == same.fingerprint
    for other in (
        FeatureSchema([SEX, AGE]),
        FeatureSchema([AGE, SEX], title="x"),
        FeatureSchema([AGE, SEX], missing_codes=["", "NA"]),
        FeatureSchema([AGE, SEX], other_columns="ignore"),
    ):
        assert other != schema
        assert other.fingerprint != schema.fingerprint
    assert schema != "schema"


def test_a_schema_can_be_copied_and_stored():
    schema = FeatureSchema([AGE, SEX], title="t")
    schema.comments["age"] = "years"
    for twin in (copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert twin == schema
        assert twin.comments == schema.comments


@pytest.mark.parametrize(
    ("features", "settings", "words"),
    [
        ([], {}, "features: there are no features"),
        ([AGE, AGE], {}, "age: two features have this name"),
        (["age"], {}, "must be Feature objects, not 'age'"),
        ([AGE], {"title": ""}, "title: must not be empty"),
        ([AGE], {"missing_codes": "NA"}, "missing_codes: must be a list"),
        ([AGE], {"missing_codes": [None]}, "missing_codes: .* not None"),
        ([AGE], {"other_columns": "drop"}, "other_columns: must be error or ignore, not 'drop'"),
        ([SEX], {"missing_codes": ["", "f"]}, "sex: level 'f' is also one of the missing_codes"),
    ],
)
def test_a_malformed_schema_is_a_schema_error(features, settings, words):
    with pytest.raises(SchemaError, match=words):
        FeatureSchema(features, **settings)


# --- messages about large schemas and tables are short, and made in a time that grows with their size -----------------


def test_the_message_of_a_cohort_with_long_names_and_cells_is_short():
    long = "x" * 100_000
    schema = FeatureSchema([Feature(name="a", likelihood="poisson"), Feature(name="b", likelihood="gaussian")])
    frame = pd.DataFrame({"a": ["1", long], "b": [long, "2"], long: "1", **{f"c{k}": "1" for k in range(1000)}})
    with pytest.raises(CohortError) as caught:
        schema.validate(frame)
    assert len(str(caught.value)) < 4000
    assert "(the `failures` attribute of this error holds all)" in str(caught.value)
    assert len(caught.value.failures) == 1003


def test_columns_that_no_schema_names_cost_no_comparison_of_all_with_all():
    def refused(number):
        schema = FeatureSchema([Feature(name=f"feature {k}", likelihood="poisson") for k in range(number)])
        frame = pd.DataFrame([["1"] * number], columns=[f"column {k}" for k in range(number)])
        with pytest.raises(CohortError):
            schema.validate(frame)

    refused(10)
    assert calls_of(refused, 200) < 3 * calls_of(refused, 100)


def test_names_that_are_given_twice_are_found_in_one_pass():
    def refused(number):
        frame = pd.DataFrame([["1"] * number], columns=[f"column {k // 2}" for k in range(number)])
        with pytest.raises(CohortError, match="column 0: expected one column of this name"):
            draft_schema(frame)

    refused(10)
    assert calls_of(refused, 800) < 3 * calls_of(refused, 400)


LONG = "x" * 1_000_000


@pytest.mark.parametrize("field", ["likelihood", "levels", "trials", "prior", "role", "complete", "minimum", "unit"])
@pytest.mark.parametrize("value", [[LONG, LONG], {LONG: [LONG]}, [[0] * 100_000] * 2], ids=["texts", "dict", "lists"])
def test_a_value_at_fault_is_shown_short(field, value):
    with pytest.raises(SchemaError) as caught:
        Feature(**{"name": "a", "likelihood": "categorical", "levels": ["u", "v"], field: value})
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(("written", "meant"), cases_beside(__file__, "likelihood_words"))
def test_the_likelihood_that_people_mean_by_another_word_is_suggested(written, meant):
    with pytest.raises(SchemaError, match=f"Did you mean '{meant}'"):
        Feature(name="x", likelihood=written)


def test_no_word_stands_for_two_likelihoods_or_is_the_name_of_one():
    words = [word for likelihood in REGISTRY.values() for word in likelihood.also_called]
    assert len(words) == len(set(words))
    assert not set(words) & set(REGISTRY)


# --- a feature --------------------------------------------------------------------------------------------------------


NO_TEXT = ({"name": "a\ud800", "likelihood": "gaussian"}, ["name", "surrogate"])  # which no file can hold


@scored([NO_TEXT, *cases_beside(__file__, "feature")])
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


@pytest.mark.parametrize(("fields", "trials"), cases_beside(__file__, "trials"))
def test_number_of_trials(fields, trials):
    assert Feature(name="x", **fields).n_trials == trials
    assert Feature(name="x", likelihood="poisson").n_trials is None


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
