"""`clinclust outcomes`: differences said and written."""

import numpy as np
import pandas as pd
import pytest
from command_line import refused

from clinclust import MAPDP, Feature, FeatureSchema
from clinclust.cli import main

NAMES = list("abcd")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frail = rng.random(200) < 0.4
    frame = pd.DataFrame(rng.normal(1.5 * frail[:, None], 1.0, (200, 4)).round(3), columns=NAMES)
    frame["age"], frame["days"] = rng.normal(60 + 8 * frail, 8).round(), rng.exponential(1000 / (1 + frail)).round() + 1
    frame["died"] = np.where(rng.random(200) < 0.7, "yes", "no")
    frame.to_csv("cohort.csv", index=False)
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in NAMES], other_columns="ignore")
    MAPDP(schema, n_clusters=2, random_state=0, progress=False).fit(frame).save("subtypes")
    return tmp_path


GIVEN = ["outcomes", "cohort.csv", "--model", "subtypes"]
SURVIVAL = ["--outcome", "died", "--time", "days", "--event", "yes", "--covariates", "age"]


def test_differences_are_said_and_written(folder, capsys):
    assert main([*GIVEN, *SURVIVAL, "--out", "outcomes.csv"]) == 0
    said = capsys.readouterr().out
    assert "Subtype 2 against 1, hazard ratio of 'yes': " in said
    assert "; as assigned " in said
    written = pd.read_csv("outcomes.csv")
    assert set(written["method"]) == {"bch", "ml", "naive"}
    assert "age" in set(written["term"])
    assert main([*GIVEN, "--predictors", "age"]) == 0
    assert "Subtype 2 against 1, odds ratio of age: 1." in capsys.readouterr().out


def test_what_cannot_be_compared(folder, capsys):
    err = refused(capsys, *GIVEN, "--outcome", "diet", "--covariates", "agee")
    assert "the table has no column 'diet'" in err
    assert "the table has no column 'agee'" in err
    assert "belong to --outcome" in refused(capsys, *GIVEN, "--predictors", "age", "--time", "days")
    with pytest.raises(SystemExit):
        main(GIVEN)
    assert "one of the arguments --outcome --predictors --every-feature is required" in capsys.readouterr().err
    assert "ends in .csv" in refused(capsys, *GIVEN, *SURVIVAL, "--out", "outcomes.xlsx")
    err = refused(capsys, *GIVEN, *SURVIVAL, "--suppress", "5")
    assert "outcomes cannot be used with --suppress" in err
