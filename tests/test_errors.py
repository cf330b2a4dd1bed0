"""Errors come whole out of processes of their own, such as those of joblib and Dask."""

import pickle

import pandas as pd
import pytest

import clinclust as cc
from clinclust.errors import InputError, MissingPackageError, NotFittedError, missing_package


def raised(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return caught.value


def no_schema():
    cc.FeatureSchema([cc.Feature(name="tremor", likelihood="binomial", trial=4)])


def no_cohort():
    schema = cc.FeatureSchema([cc.Feature(name="tremor", likelihood="binomial", trials=4)])
    schema.validate(pd.DataFrame({"tremor": ["0", "3", "7", "7"]}))


@pytest.mark.parametrize(
    "error",
    [
        raised(cc.SchemaError, no_schema),
        raised(cc.CohortError, no_cohort),
        raised(NotFittedError, lambda: cc.MAPDP().predict(pd.DataFrame({"a": [1.0]}))),
        InputError("no such column", in_python="; see `columns`"),
        missing_package("the figure", "matplotlib"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_another_process_says_the_same(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    if not isinstance(error, MissingPackageError):
        assert again.at_command_line == error.at_command_line
    for name in ("problems", "source"):
        assert getattr(again, name, None) == getattr(error, name, None)
    if isinstance(error, cc.CohortError):
        pd.testing.assert_frame_equal(again.failures, error.failures)
