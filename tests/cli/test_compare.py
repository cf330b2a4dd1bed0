"""`clinclust compare`: other methods beside a fit, said and written."""

from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from command_line import cohort, refused

from clinclust.cli import main

SOME = ["--method", "K-means, K by silhouette", "--method", "Mean shift", "--n-resamples", "1", "--n-draws", "20"]


@pytest.mark.simulation
def test_methods_are_said_and_written(fitted, tmp_path, capsys):
    out = tmp_path / "methods.csv"
    table = str(fitted.parent / "cohort.csv")
    assert main(["compare", table, "--model", str(fitted), "--out", str(out), *SOME]) == 0
    said = capsys.readouterr().out
    assert "MAP-DP: 2 clusters" in said
    assert "K-means, K by silhouette: 2 clusters" in said
    assert f"Wrote {out}: 3 methods" in said
    written = pd.read_csv(out)
    assert written["method"].tolist() == ["MAP-DP", "K-means, K by silhouette", "Mean shift"]
    assert written.loc[0, "agreement"] == 1.0
    assert main(["compare", table, "--model", str(fitted), *SOME, "--quiet"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.simulation
def test_a_report_can_hold_them(fitted, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, out = str(fitted.parent / "cohort.csv"), tmp_path / "again"
    given = ["report", table, "--model", str(fitted), "--out", str(out), "--associations", "none", "--other-methods"]
    assert main(given) == 0
    sheet = openpyxl.load_workbook(out / "subtypes.xlsx")["Other methods"]
    assert "K-harmonic means, K of MAP-DP" in [row[0].value for row in sheet.iter_rows()]
    capsys.readouterr()
    err = refused(capsys, *given, "--suppress", "5")
    assert "--other-methods cannot be used with --suppress: a shared report has nothing of it" in err


def test_a_cohort_too_small_for_them_is_refused_before_the_search(here, capsys):
    cohort(12).to_csv("few.csv", index=False)
    err = refused(capsys, "fit", "few.csv", "--schema", "schema.yaml", "--out", "few", "--other-methods")
    assert "--other-methods needs at least 20 subjects, and there are 12" in err
    assert not Path("few").exists()


def test_what_cannot_be_compared(here, fitted, capsys):
    cohort(30).to_csv("other.csv", index=False)
    err = refused(capsys, "compare", "other.csv", "--model", fitted, *SOME)
    assert "other.csv: the table has 30 rows, but the model was fitted on 40 subjects" in err
    err = refused(capsys, "compare", "cohort.csv", "--model", fitted, "--method", "K-modes", "--n-resamples", "0")
    assert "there is no 'K-modes'" in err
    assert "n_resamples must be at least 1" in err
    assert "--seed must be at least 0" in refused(
        capsys, "compare", "cohort.csv", "--model", fitted, "--random-state", "-1"
    )
    assert "ends in .csv" in refused(capsys, "compare", "cohort.csv", "--model", fitted, "--out", "m.xlsx")
