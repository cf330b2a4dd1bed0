"""Memberships as a step of a pipeline of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline

import clinclust as cc
from clinclust.errors import InputError, NotFittedError
from clinclust.estimators.subtype_model import NONE_COLUMN, FittedEstimator, subtype_columns

QUICK = {"n_restarts": 1, "n_jobs": 1, "random_state": 0, "progress": False}
RNG = np.random.default_rng(5)
GROUPS = np.repeat([0, 1, 1], 20)
FRAME = pd.DataFrame({"gäit": RNG.normal(4.0 * GROUPS), "grip": RNG.normal(4.0 * GROUPS)}, index=["x", *range(59)])
SCHEMA = gaussian_schema(FRAME)


@pytest.fixture(scope="module")
def model():
    return cc.methods.PublishedMAPDP(SCHEMA, **QUICK).fit(FRAME)


def test_the_table_holds_the_numbers_of_predict_proba_under_the_names_of_assign(model):
    found = model.transform(FRAME[::-1])
    np.testing.assert_array_equal(found, model.predict_proba(FRAME[::-1]))
    assert found.index.tolist() == FRAME.index[::-1].tolist()
    assert found.columns.tolist() == [*subtype_columns([1, 2]), NONE_COLUMN] == model.get_feature_names_out().tolist()
    assert model.transform(FRAME.to_numpy()).index.tolist() == list(range(60))
    assert model.cut(1).transform(FRAME).columns.tolist() == ["subtype_1", NONE_COLUMN]
    repeated = pd.concat([FRAME, FRAME])
    assert model.transform(repeated).index.equals(repeated.index)


def test_a_pipeline_goes_on_with_memberships_and_a_copy_of_it_learns_the_same():
    pipeline = make_pipeline(cc.methods.PublishedMAPDP(SCHEMA, **QUICK), LogisticRegression())
    pipeline.set_output(transform="pandas").fit(FRAME, GROUPS)
    assert (pipeline.predict(FRAME) == GROUPS).mean() > 0.95
    assert pipeline[-1].feature_names_in_.tolist() == [*subtype_columns([1, 2]), NONE_COLUMN]
    copied = clone(pipeline)
    with pytest.raises(NotFittedError):
        copied[0].transform(FRAME)
    np.testing.assert_array_equal(copied.fit(FRAME, GROUPS).predict_proba(FRAME), pipeline.predict_proba(FRAME))
    assert isinstance(cc.GibbsDP(), FittedEstimator)


def test_it_stands_beside_other_transformers():
    union = FeatureUnion([("subtypes", cc.methods.PublishedMAPDP(SCHEMA, **QUICK)), ("itself", "passthrough")])
    found = union.set_output(transform="pandas").fit_transform(FRAME)
    assert found.columns.tolist() == ["subtypes__subtype_1", "subtypes__subtype_2", "subtypes__none_of_these"] + [
        f"itself__{name}" for name in FRAME
    ]


def test_tables_of_another_library_are_refused(model):
    assert model.set_output() is model.set_output(transform="default") is model
    with pytest.raises(InputError, match="transform must be 'pandas', not 'polars'"):
        model.set_output(transform="polars")
