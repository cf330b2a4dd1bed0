"""`clinclust draft` with a dictionary, `clinclust outcomes`, and `clinclust compare`."""

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema
from command_line import cohort, names_in
from dictionary_corpus import CASES
from dictionary_corpus.case import SEX, Case, asked, project
from scored import few

from clinclust import MAPDP, FeatureSchema


def test_the_draft_goes_to_standard_output(here, run):
    assert sorted(FeatureSchema.from_yaml(str(run("draft cohort.csv").out)).names) == sorted(cohort())
    assert names_in() == ["cohort.csv", "schema.yaml"]


@pytest.mark.parametrize("name", few(CASES, 10))
def test_the_draft_fits_the_export(name, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    case = CASES[name]
    case.write_export(tmp_path)
    err = run("draft export.csv --out schema.yaml --dictionary", case.write(tmp_path)).err
    schema = FeatureSchema.from_yaml("schema.yaml")
    assert sorted(schema.names) == sorted(case.export)
    for column, fields in case.drafted.items():
        assert {field: getattr(schema[column], field) for field in fields} == fields
    for column, notes in case.notes.items():
        assert schema[column].label == notes.get("label", schema[column].label)
    assert [words for words in case.remarks if words not in err] == []
    if len(schema.clustered) > 1:
        run("check export.csv --schema schema.yaml")


def test_every_column_has_a_reason(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    case = CASES["every other type"]
    case.write_export(tmp_path)
    out = run("draft export.csv --dictionary", case.write(tmp_path)).out
    assert out.count("  # the dictionary says: ") == len(case.notes)


@pytest.mark.parametrize(("variables", "words"), [((SEX, SEX), "'sex' 2, 3) dictionary.csv"), ((asked("weight"),), "")])
def test_a_dictionary_that_cannot_be_used_is_refused(variables, words, here, must_refuse):
    Case(project(*variables), {}, {}).write(here)
    must_refuse("draft cohort.csv --dictionary dictionary.csv --out x.yaml", naming=words)


@pytest.mark.simulation
def test_outcomes_and_predictors_are_said_and_written(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frail = rng.random(200) < 0.4
    frame = pd.DataFrame(rng.normal(1.5 * frail[:, None], 1.0, (200, 4)).round(3), columns=list("abcd"))
    frame["age"], frame["days"] = rng.normal(60 + 8 * frail, 8).round(), rng.exponential(1000 / (1 + frail)).round() + 1
    frame["died"] = np.where(rng.random(200) < 0.7, "yes", "no")
    frame.to_csv("cohort.csv", index=False)
    MAPDP(gaussian_schema("abcd", other_columns="ignore"), n_clusters=2, random_state=0, progress=False).fit(
        frame
    ).save("out")

    command = "outcomes cohort.csv --model out"
    out = run(f"{command} --outcome died --time days --event yes --covariates age --out outcomes.csv").out
    written = pd.read_csv("outcomes.csv")
    assert set(written["method"]) >= {"bch", "ml", "naive"}
    assert "age" in set(written["term"])
    hazards = written[(written["measure"] == "hazard ratio") & written["versus"].notna()].set_index("method")
    assert out.lacks(" ".join(f"{hazards.loc[method, 'estimate']:.3g}" for method in ("bch", "naive"))) == []
    assert "age: 1." in run(f"{command} --predictors age").out  # about 1.1 a year
