"""`clinclust report` makes the reports of a fit again: the same bytes, for the same cohort only, both or none."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import FILES, cohort, contents, refused

from clinclust import MAPDP
from clinclust.cli import main
from clinclust.files.writing import changed_files, read_manifest
from clinclust.methods import PublishedMAPDP

OPTIONS = {
    "defaults": [],
    "names": ["--name", "1=Mild = slow", "--name", "2=Steep"],
    "suppressed": ["--suppress", "5"],
    "a level": ["--significance-level", "0.2", "--min-size", "20"],
    "none": ["--associations", "none"],
}
QUICK = ("defaults", "suppressed")
REPORT = ["report", "cohort.csv", "--model", "out"]


@pytest.fixture
def fit(here, fitted):
    """Stand beside a table and the folder of its fit."""
    shutil.copytree(fitted, "out")
    return here / "out"


@pytest.mark.parametrize(
    "asked", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.simulation) for name in OPTIONS]
)
def test_the_bytes_are_those_of_the_fit(fit, asked):
    arguments = ["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "again", "--restarts", "4", "--as-published"]
    assert main([*arguments, *OPTIONS[asked]]) == 0
    assert main([*REPORT, "--overwrite", *OPTIONS[asked]]) == 0
    for name in ("subtypes.xlsx", "subtypes.html", "subtypes.json"):
        assert Path("out", name).read_bytes() == Path("again", name).read_bytes(), name


def test_the_manifest_stays_true(fit, capsys):
    before = contents("out")
    assert main([*REPORT, "--overwrite", "--name", "1=Mild", "--associations", "none"]) == 0
    assert capsys.readouterr().out == "Wrote out: subtypes.xlsx, subtypes.html, subtypes.json, manifest.json\n"
    listed = read_manifest(fit)
    assert sorted([*listed, "manifest.json"]) == FILES
    assert changed_files(fit, listed) == []
    after = contents("out")
    changed = [Path(path).name for path in before if before[path] != after[path]]
    assert changed == ["manifest.json", "subtypes.html", "subtypes.json", "subtypes.xlsx"]
    MAPDP.load("out")


def test_an_edited_table_of_assignments_is_still_told(fit, capsys):
    Path("out/assignments.csv").write_text("mine", encoding="utf-8")
    assert main([*REPORT, "--overwrite", "--associations", "none"]) == 0
    assert changed_files(fit, read_manifest(fit)) == ["assignments.csv"]


def test_another_folder_gets_the_reports_alone(fit, capsys):
    before = contents("out")
    assert main([*REPORT, "--out", "elsewhere/shared", "--suppress", "5", "--associations", "none"]) == 0
    there = Path("elsewhere/shared")
    assert sorted(path.name for path in there.iterdir()) == [
        *("manifest.json", "subtypes.html", "subtypes.json", "subtypes.xlsx")
    ]
    assert changed_files(there, read_manifest(there)) == []
    assert "Not for sharing" not in capsys.readouterr().out  # nothing of the model lies there
    assert contents("out") == before


def test_a_report_is_rounded_as_a_data_protection_officer_asks(fit, capsys):
    officer = ["--suppress", "5", "--round-to", "3", "--missing-is-harmless", "--min-n", "6"]
    assert main([*REPORT, "--overwrite", *officer, "--associations", "none"]) == 0
    page = Path("out/subtypes.html").read_text(encoding="utf-8")
    assert "Every count is rounded to the nearest multiple of 3" in page
    assert "means of values that may be fewer than 6" in page
    assert "Numbers of missing values are declared harmless" in page
    assert "--suppress 5 --round-to 3 --min-n 6 --missing-is-harmless --out DIR`" in capsys.readouterr().out


def test_rows_in_another_order_are_put_back(fit, capsys):
    assert main([*REPORT, "--out", "a", "--associations", "none"]) == 0
    assert capsys.readouterr().err == ""
    cohort().sample(frac=1, random_state=1).to_csv("shuffled.csv", index=False)
    assert main(["report", "shuffled.csv", "--model", "out", "--out", "b", "--associations", "none"]) == 0
    assert "another order than when the model was fitted" in capsys.readouterr().err
    for name in ("subtypes.xlsx", "subtypes.html", "subtypes.json"):
        assert Path("a", name).read_bytes() == Path("b", name).read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "out holds what an earlier run wrote (subtypes.xlsx, subtypes.html, subtypes.json); give --overwrite"),
        (["--overwrite", "--name", "9=Rare"], "there is no subtype 9; they are numbered 1 to 2"),
        (["--overwrite", "--name", "Rare", "--min-size", "0"], "--min-size must be at least 1 subject, not 0; --name"),
        (["--overwrite", "--suppress", "41"], "withholds everything of 40 subjects"),
        (["--overwrite", "--suppress", "40"], "cannot be shared"),
        (["--overwrite", "--jobs", "0"], "--jobs must be a whole number of at least 1, not 0"),
        (["--out", "other", "--overwrite"], "other holds what an earlier run wrote (assignments.csv, model.json, "),
        (["--out", "cohort.csv"], "cohort.csv is a file, not a folder"),
    ],
)
def test_a_report_that_cannot_be_made_changes_nothing(fit, capsys, options, said):
    shutil.copytree(fit, "other")
    assert said in refused(capsys, *REPORT, *options)


@pytest.mark.parametrize("change", ["a value", "rows"])
def test_a_report_of_another_cohort(fit, capsys, change):
    frame = cohort()
    frame = frame.assign(falls=np.where(frame.index == 3, 50, frame["falls"])) if change == "a value" else frame[:30]
    frame.to_csv("cohort.csv", index=False)
    message = refused(capsys, *REPORT, "--overwrite")
    assert "cohort.csv: the table has" in message
    assert "give the table that" in message


@pytest.mark.parametrize("failing", ["subtypes.xlsx", "subtypes.html"])
def test_both_reports_appear_or_none(fit, capsys, monkeypatch, failing):
    from clinclust.reporting import writing

    write = writing.write_findings

    def full(findings, path, *more, **options):
        if path.name == failing:
            raise OSError(28, "No space left on device")
        write(findings, path, *more, **options)

    monkeypatch.setattr(writing, "write_findings", full)
    assert "the disk is full" in refused(capsys, *REPORT, "--overwrite", "--associations", "none")
    assert "the disk is full" in refused(capsys, *REPORT, "--out", "new", "--associations", "none")


def test_a_fit_that_replaced_the_model_meanwhile_is_not_given_foreign_reports(fit, capsys, monkeypatch):
    from clinclust.reporting import writing

    write = writing.write_findings

    def meanwhile(findings, path, *more, **options):
        write(findings, path, *more, **options)
        if path.name == "subtypes.html":
            PublishedMAPDP(findings.cohort.schema, random_state=5, n_restarts=1).fit(findings.cohort.table).save("out")

    monkeypatch.setattr(writing, "write_findings", meanwhile)
    assert main([*REPORT, "--overwrite", "--associations", "none"]) == 2
    assert "was written anew meanwhile" in capsys.readouterr().err
    assert MAPDP.load("out").random_seed_ == 5
