"""Features with point masses: what the schema declares, reads and refuses, and the two parts that the engine sees."""

import io

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.likelihoods import REGISTRY
from clinclust.schema.feature import few_of_the_rest, of_wholes, pairs_of_parts

WITH_SPIKE = [name for name, likelihood in REGISTRY.items() if "spike" in likelihood.takes]
SCHEMA = cc.FeatureSchema(
    [
        cc.Feature(name="crp", likelihood="gaussian", transform="log", spike=0, limit="below", unit="mg/L"),
        cc.Feature(name="falls", likelihood="poisson", spike=0),
        cc.Feature(name="bnp", likelihood="exponential", limit=["above", "below"]),
        cc.Feature(name="age", likelihood="gaussian"),
    ]
)
TABLE = pd.DataFrame(
    {
        "crp": ["0", "<5", "3 mg/L", "", "1.5"],
        "falls": [0, 1, None, 3, 0],
        "bnp": ["<=2", "7", "> 200", "8", "9"],
        "age": [1.0, 2.0, 3.0, 4.0, 5.0],
    }
)


def test_measurements_durations_and_counts_may_have_a_spike():
    assert WITH_SPIKE == ["poisson", "geometric", "negative_binomial", "exponential", "gaussian"]


def test_values_beyond_a_limit_are_infinite_and_a_validated_table_stays_as_it_is():
    frame = SCHEMA.validate(TABLE)
    assert frame["crp"].tolist()[:3] == [0.0, -np.inf, 3.0]
    assert frame["bnp"].tolist() == [-np.inf, 7.0, np.inf, 8.0, 9.0]
    assert str(frame["falls"].dtype) == "Int64"
    assert SCHEMA.validate(frame).equals(frame)
    written = pd.read_csv(io.StringIO(frame.to_csv(index=False)), dtype=str)
    assert SCHEMA.validate(written).equals(frame)


def test_the_parts_are_columns_of_their_own():
    frame = SCHEMA.validate(TABLE)
    at, amount = SCHEMA["crp"].parts
    assert (at.name, at.likelihood, at.levels) == ("crp: spike", "categorical", ("other", "below the limit", "0"))
    assert (amount.name, amount.likelihood, amount.title) == (
        "crp: rest",
        "gaussian",
        "crp, if not below the limit or 0",
    )
    np.testing.assert_array_equal(at.scores(frame["crp"]), [2, 1, 0, np.nan, 0])
    np.testing.assert_allclose(amount.transformed(frame["crp"]), np.log([np.nan, np.nan, 3.0, np.nan, 1.5]))
    assert SCHEMA["falls"].parts[1].lowest == 1.0  # counts that cannot be 0 are counted from 1
    assert SCHEMA["age"].parts == (SCHEMA["age"],)
    assert pairs_of_parts(SCHEMA.parts) == [(0, 1), (2, 3), (4, 5)]
    wholes, sums = of_wholes(SCHEMA.parts, np.arange(7.0))
    assert [whole.name for whole in wholes] == list(SCHEMA.names)
    assert sums.tolist() == [1.0, 5.0, 9.0, 6.0]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"likelihood": "binomial", "trials": 4, "spike": 0}, "binomial has no spike (only"),
        ({"likelihood": "gaussian", "limit": "below", "censored": "half"}, "leave one out"),
        ({"likelihood": "gaussian", "limit": "under"}, "must be one of below, above"),
        ({"likelihood": "poisson", "spike": 0.5}, "whole numbers only, not 0.5"),
        ({"likelihood": "gaussian", "spike": "none"}, "must be a number"),
        ({"likelihood": "gaussian", "spike": [0, 9], "missing_codes": ["9"]}, "9 is also a missing code"),
    ],
)
def test_what_cannot_be_a_point_mass_is_refused(fields, said):
    with pytest.raises(cc.SchemaError) as error:
        cc.Feature(name="a", **fields)
    assert said in str(error.value)


def test_no_feature_may_have_the_name_of_a_part():
    features = [cc.Feature(name="a", likelihood="gaussian", spike=0), cc.Feature(name="a: rest", likelihood="gaussian")]
    with pytest.raises(cc.SchemaError, match="name of a part of 'a'"):
        cc.FeatureSchema(features)


def test_errors_say_how_a_point_mass_is_declared():
    plain = cc.FeatureSchema([cc.Feature(name="a", likelihood="gaussian", transform="log")])
    with pytest.raises(cc.CohortError, match="declare `spike: 0`"):
        plain.validate(pd.DataFrame({"a": [0.0, 0.0, 1.0]}))
    with pytest.raises(cc.CohortError, match="limit: below"):
        plain.validate(pd.DataFrame({"a": ["<5", "7"]}))
    with pytest.raises(cc.CohortError, match="a number"):  # only the declared side is a limit
        SCHEMA.validate(TABLE.assign(crp=[">5", "1", "2", "3", "4"]))
    with pytest.raises(cc.CohortError, match=r"or 0 \(spike\)"):
        SCHEMA.validate(TABLE.assign(crp=["-1", "1", "2", "3", "4"]))


def test_few_amounts_form_no_subtypes():
    amount = cc.Feature(name="a", likelihood="gaussian", spike=0).parts[1]
    enough, few = (pd.Series(np.r_[np.zeros(200 - n), np.arange(1.0, n + 1)]) for n in (60, 20))
    assert few_of_the_rest(amount, enough) == ""
    assert few_of_the_rest(amount, few).startswith("20 of 200 values")
    assert few_of_the_rest(amount, pd.Series(np.arange(1.0, 20))) == ""  # nobody is at the spike
