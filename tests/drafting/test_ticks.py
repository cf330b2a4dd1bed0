"""Ticked lists: an empty cell beside a mark is told, and never left out without a word."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scored import scored

import clinclust as cc

N = 200


def _ticked(mark, n_columns, empty=""):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(60, 10, N).round(1).astype(str)})
    for place in range(n_columns):
        frame[f"symptom {place}"] = np.where(rng.random(N) < 0.3 + 0.1 * place, mark, empty)
    return frame.replace({None: np.nan}) if empty is None else frame


@scored([("x", "no"), ("X", "no"), ("ja", "nein"), ("✓", "no"), ("1", "no"), ("oui", "non")])
@scored(["", None])
def test_a_ticked_list_is_drafted_as_yes_and_no_and_says_what_it_assumes(mark, no, empty, tmp_path):
    frame = _ticked(mark, 3, empty)
    schema = cc.draft_schema(frame, progress=False)
    schema.to_yaml(tmp_path / "draft.yaml")
    again = cc.FeatureSchema.from_yaml(tmp_path / "draft.yaml")
    for name in frame.columns[1:]:
        assert (schema[name].role, schema[name].levels) == ("cluster", (no, mark))
        assert "assumed" in schema.comments[name]
        is_marked = (frame[name] == mark).to_numpy()
        np.testing.assert_array_equal(again.validate(frame)[name] == mark, is_marked)
        assert not again.validate(frame)[name].isna().any()


def test_a_single_ticked_column_is_left_out_with_the_lines_that_take_it_in():
    frame = _ticked("x", 1)
    schema = cc.draft_schema(frame, progress=False)
    name = "symptom 0"
    assert schema[name].role == "ignore"
    assert 'synonyms: {"": "no"}' in schema.comments[name]
    taken = cc.Feature(name=name, likelihood="bernoulli", levels=["no", "x"], synonyms={"": "no"})
    assert not cc.FeatureSchema([taken]).validate(frame[[name]])[name].isna().any()


@pytest.mark.parametrize("values", [["x"] * N, ["same"] * (N // 2) + [""] * (N // 2)])
def test_columns_of_one_value_that_are_no_ticks_are_left_out_as_before(values):
    schema = cc.draft_schema(pd.DataFrame({"a": values, "b": values, "c": range(N)}).astype(str), progress=False)
    assert {schema["a"].role, schema["b"].role} == {"ignore"}


def test_groups_that_differ_in_ticks_alone_are_found():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], N // 2)
    frame = pd.DataFrame(
        {f"s{k}": np.where(rng.random(N) < np.where(group == k % 2, 0.9, 0.1), "x", "") for k in range(6)}
    )
    model = cc.MAPDP(cc.draft_schema(frame, progress=False), random_state=0, progress=False).fit(frame)
    assert model.n_clusters_ == 2
