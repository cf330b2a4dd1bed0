"""Values that a model does not know, taken for missing: the other cells of their column keep their meaning."""

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit, schema_of

import clinclust as cc
from clinclust.estimators.mapdp import without_unseen


def test_rows_are_those_whose_cell_cannot_be_read():
    schema = schema_of([], stage={"likelihood": "binomial", "trials": 4, "complete": True}, falls="poisson")
    frame = pd.DataFrame({"stage": [0, 9, None, 4], "falls": [1, 2, None, 0], "other": ["=1"] * 4})
    cleared, unseen, note = without_unseen(schema, frame)
    assert {name: rows.tolist() for name, rows in unseen.items()} == {"stage": [False, True, False, False]}
    assert cleared["stage"].isna().tolist() == [False, True, True, False]
    assert cleared.drop(columns="stage").equals(frame.drop(columns="stage"))
    assert "stage (row 1)" in note
    assert without_unseen(schema, frame.drop(index=1))[1:] == ({}, "")


@pytest.mark.filterwarnings("ignore:.*no observed value in any feature", "ignore:.*values lie beyond")
def test_a_value_that_the_model_does_not_know_is_refused_unless_it_is_taken_for_missing():
    rng = np.random.default_rng(0)
    schema = cc.FeatureSchema([cc.Feature(name="stage", likelihood="binomial", trials=4)])
    frame = pd.DataFrame({"stage": rng.binomial(4, 0.2 + 0.6 * (np.arange(40) % 2))})
    model = quick_fit(frame, schema)
    odd, blank = frame.head(9).assign(stage=[*[1] * 7, 9, 0]), frame.head(9).assign(stage=[*[1] * 7, None, 0])
    for ask in (model.predict, model.predict_proba, model.score_samples):
        with pytest.raises(cc.CohortError, match="stage") as caught:
            ask(odd)
        assert "unseen" in caught.value.failures["repair"].item()
        with pytest.warns(cc.CohortWarning, match=r"stage \(row 7\)"):
            answer = ask(odd, unseen="missing")
        assert (answer == ask(blank)).all()
        with pytest.raises(ValueError, match="unseen"):
            ask(odd, unseen="drop")
    with pytest.raises(cc.CohortError, match="stage"):
        model.impute(odd)
