"""A table of typed columns is validated as its texts are."""

import numpy as np
import pandas as pd
import pytest

from clinclust import CohortError, Feature, FeatureSchema

SCHEMA = FeatureSchema(
    [
        Feature(name="who", role="id"),
        Feature(name="tremor", likelihood="bernoulli", levels=("no", "yes")),
        Feature(name="kind", likelihood="categorical", levels=("a", "b", "c"), complete=True),
        Feature(name="falls", likelihood="poisson", missing_codes=("-9",)),
        Feature(name="crp", likelihood="gaussian", transform="log"),
        Feature(name="note", role="ignore"),
    ]
)


@pytest.fixture
def typed():
    return SCHEMA.validate(
        pd.DataFrame(
            {
                "crp": [1.5, None, 3.0],
                "who": ["1", "2", "3"],
                "tremor": ["yes", "no", None],
                "kind": ["a", "c", "a"],
                "falls": ["-9", "0", "2"],
                "note": ["x", "y", "z"],
            }
        )
    )


def verdict(frame):
    """Return what validation gives, or which columns it refuses for what."""
    try:
        return SCHEMA.validate(frame, warn=False)
    except CohortError as error:
        return error.failures.drop(columns="examples")


def test_what_validation_returns_is_valid_and_not_changed(typed):
    pd.testing.assert_frame_equal(SCHEMA.validate(typed), typed)
    assert SCHEMA.validate(typed) is not typed


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("falls", pd.array([-9, 0, 2], dtype="Int64")),  # a missing code
        ("falls", pd.array([1, 0, -2], dtype="Int64")),
        ("falls", np.array([1.0, 0.0, 2.0])),  # not the type of counts
        ("crp", [1.0, 2.0, -1.0]),
        ("crp", [1.0, 2.0, np.inf]),
        ("who", ["1", "2", "2"]),
        ("who", ["1", " 2", "3"]),
        ("who", np.array([1, 2, 3], dtype=object)),
        ("tremor", ["yes", "no", None]),
        ("tremor", pd.Categorical(["yes", "no", None], categories=["no", "yes"])),  # without order
        ("kind", pd.Categorical(["a", "c", "a"], categories=["c", "b", "a"])),
        ("kind", pd.Categorical(["a", None, "a"], categories=["a", "b", "c"])),
        ("kind", pd.Categorical(["a", "c", "a"], categories=["a", "b", "c"], ordered=True)),
        ("kind", pd.Categorical(["a", "d", "a"], categories=["a", "b", "d"])),
    ],
)
def test_the_type_of_a_column_changes_no_verdict(column, value, typed):
    changed = typed.assign(**{column: value})
    pd.testing.assert_frame_equal(verdict(changed), verdict(changed.astype(object)))
