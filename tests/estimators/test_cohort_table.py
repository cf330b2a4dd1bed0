"""A fit knows which rows it was made of, and refuses or tells of others."""

import json
import warnings
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit

from clinclust import MAPDP, CohortWarning, Feature, FeatureSchema, draft_schema, read_cohort
from clinclust.errors import InputError
from clinclust.files.row_choice import RowChoice, RowCounts

CHOICE = RowChoice(where="visit == 1")
FEATURES = [Feature(name="falls", likelihood="poisson"), Feature(name="visits", likelihood="poisson")]


@pytest.fixture
def path(tmp_path):
    path, rng = tmp_path / "visits.csv", np.random.default_rng(0)
    frame = pd.DataFrame({"visit": [1, 2] * 20, "falls": rng.poisson(3, 40), "visits": rng.poisson(5, 40)})
    frame.to_csv(path, index=False)
    return path


def read(path, **choice):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CohortWarning)
        return read_cohort(path, **choice)


def fitted(schema, frame):
    return quick_fit(frame, schema, n_restarts=1)


def schema(rows=None):
    return FeatureSchema(FEATURES, other_columns="ignore", rows=rows)


def test_a_fit_records_the_rows_that_were_read(path, tmp_path):
    model = fitted(schema(), read(path, where="visit == 1"))
    assert model.schema_ == schema(CHOICE)
    assert model.row_counts_ == RowCounts(40, not_meeting=20)
    loaded = MAPDP.load(model.save(tmp_path / "model"))
    assert (loaded.schema_.rows, loaded.row_counts_) == (CHOICE, RowCounts(40, not_meeting=20))
    assert draft_schema(read(path, where="visit == 1")).rows == CHOICE


def test_a_table_of_unknown_origin_records_nothing(path):
    model = fitted(schema(), pd.read_csv(path))
    assert not hasattr(model, "row_counts_")
    assert not model.schema_.rows


def test_rows_left_out_after_reading_are_counted_apart(path):
    frame = read(path)
    model = fitted(schema(), frame[frame["visit"] == "1"])
    assert (model.row_counts_, len(model.labels_)) == (RowCounts(40), 20)
    more = pd.concat([frame, frame], ignore_index=True)
    more.attrs = frame.attrs
    assert not hasattr(fitted(schema(), more), "row_counts_")


def test_a_table_with_other_rows_than_the_schema_takes_is_refused(path):
    for other in ({}, {"where": "visit == 2"}, {"where": "visit == 1", "one_row_per": "falls"}):
        with pytest.raises(InputError, match="but the table was read with another choice"):
            fitted(schema(CHOICE), read(path, **other))
    same = read(path, **schema(CHOICE).rows.as_dict())
    assert fitted(schema(CHOICE), same).schema_ == schema(CHOICE)
    with pytest.warns(CohortWarning, match="nothing tells whether the table holds these"):
        fitted(schema(CHOICE), pd.read_csv(path).query("visit == 1"))


def test_rows_taken_for_a_missing_code_are_told(path):
    codes = FeatureSchema(
        [Feature(name="falls", likelihood="poisson", missing_codes=["0", "1"]), FEATURES[1]], other_columns="ignore"
    )
    with pytest.warns(CohortWarning, match=r"a condition on 'falls' \(\d+ rows\), in which the schema takes"):
        fitted(codes, read(path, where="falls < 5"))
    fitted(codes, read(path, where="falls > 2"))


def test_new_subjects_read_otherwise_are_told(path):
    model = fitted(schema(), read(path, where="visit == 1"))
    with pytest.warns(CohortWarning, match="fitted on some rows of its table: those where visit == 1; of this table"):
        model.predict(read(path))
    model.predict(read(path, where="visit == 1"))
    model.predict(pd.read_csv(path))


def test_counts_of_a_saved_model_that_contradict_themselves_are_refused(path, tmp_path):
    from clinclust.files.writing import write_manifest

    model = fitted(schema(), read(path, where="visit == 1"))
    for wrong in (RowCounts(10), RowCounts(40, -1), RowCounts(40, 2, 3), RowCounts(40, 30)):
        folder = model.save(tmp_path / "model")
        text = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        text["fit"]["row_counts_"] = asdict(wrong)
        (folder / "model.json").write_text(json.dumps(text, indent=1), encoding="utf-8")
        write_manifest(folder, ["model.json", "model.npz"])
        with pytest.raises(InputError, match="row_counts_ are not those of a table with this cohort"):
            MAPDP.load(folder)
