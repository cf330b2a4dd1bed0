"""Messages about large schemas and tables are short, and made in a time that grows with their size."""

import pandas as pd
import pytest
from calls import calls_of

from clinclust import Feature, FeatureSchema, draft_schema
from clinclust.errors import CohortError, SchemaError
from clinclust.likelihoods import REGISTRY


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


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(
            ("normal", "gaussian"),
            ("Continuous", "gaussian"),
            ("poisson-count", "poisson"),
            ("count", "negative_binomial"),
        ),
        *(("multinomial", "categorical"), ("nominal", "categorical"), ("ordered", "ordinal"), ("binary", "bernoulli")),
        *(("gausian", "gaussian"), ("negative binomial", "negative_binomial")),
    ],
)
def test_the_likelihood_that_people_mean_by_another_word_is_suggested(written, meant):
    with pytest.raises(SchemaError, match=f"Did you mean '{meant}'"):
        Feature(name="x", likelihood=written)


def test_no_word_stands_for_two_likelihoods_or_is_the_name_of_one():
    words = [word for likelihood in REGISTRY.values() for word in likelihood.also_called]
    assert len(words) == len(set(words))
    assert not set(words) & set(REGISTRY)
