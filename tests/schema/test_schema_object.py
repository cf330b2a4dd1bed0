import copy
import pickle

import numpy as np
import pytest

from clinclust.errors import SchemaError
from clinclust.schema import Feature, FeatureSchema, schema_for_array

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


def test_a_schema_of_a_plain_array():
    X = np.array([[0, 1.5, np.nan, 1], [1, 2, np.nan, 2], [np.nan, 3, np.nan, 2]])
    schema = schema_for_array(X)
    assert schema.names == ["x0", "x1", "x2", "x3"]
    assert [feature.likelihood for feature in schema] == ["bernoulli", "gaussian", "gaussian", "gaussian"]
    mixed = schema_for_array(np.array([["b", 1, True, "k"], ["a", 2.5, None, "k"]], dtype=object))
    assert [feature.likelihood for feature in mixed] == ["categorical", "gaussian", "bernoulli", None]
    assert mixed["x0"].levels == ("a", "b")
    assert schema_for_array(np.array([[True], [False]]))["x0"].likelihood == "bernoulli"
    with pytest.raises(ValueError, match="two dimensions"):
        schema_for_array(np.arange(3))
