"""`clinclust table`: the table of the cohort of a fit, and of no other."""

from pathlib import Path

import pandas as pd
import pytest
from command_line import FIT, cohort, refused

from clinclust.cli import main


@pytest.mark.parametrize("suffix", ["docx", "xlsx", "html", "tex", "md", "csv"])
def test_table_of_a_fit(fitted, tmp_path, capsys, suffix):
    out = tmp_path / f"table.{suffix}"
    cohort_table = fitted.parent / "cohort.csv"
    assert main(["table", str(cohort_table), "--model", str(fitted), "--out", str(out), "--name", "1=Mild = slow"]) == 0
    assert "5 features" in capsys.readouterr().out
    assert out.stat().st_size > 0
    if suffix == "md":
        text = out.read_text(encoding="utf-8")
        assert text.startswith("**Test cohort**")
        assert "Subtype 1<br>Mild = slow<br>n = 24 (60.0%)" in text


def test_table_of_a_pair_and_only_what_is_significant(fitted, tmp_path, capsys):
    out = tmp_path / "pair.csv"
    arguments = ["table", fitted.parent / "cohort.csv", "--model", fitted, "--out", out, "--significant"]
    assert main([*map(str, arguments), "--between", "1", "2"]) == 0
    table = pd.read_csv(out)
    assert list(table["Feature"]) == ["falls", "tremor", "stage", "crp"]
    assert set(table["Test"]) == {"Welch's t"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--out", "t.pdf"], "not '.pdf'"),
        (["--out", "t.md", "--name", "Mild"], "--name takes the number"),
        (["--out", "t.md", "--name", "7=Mild"], "--name: there is no subtype 7; they are numbered 1 to 2"),
        (["--out", "t.md", "--between", "1", "9"], "--between: there is no subtype 9; they are numbered 1 to 2"),
        (["--out", "t.md", "--between", "2", "2"], "--between takes two different subtypes, not 2 twice"),
        (["--out", "t.md", "--between", "1", "2", "--min-size", "20"], "subtype 2 has 16 subject(s), fewer than --min"),
        (["--out", "t.pdf", "--name", "x", "--significance-level", "2", "--min-size", "0"], "--min-size must be"),
        (["--out", "t.md", "--significance-level", "2"], "--significance-level must lie between 0 and 1"),
        (["--out", "nowhere/t.docx"], "no folder nowhere"),
        (["--out", "cohort.csv"], "is the table itself"),
    ],
)
def test_a_table_that_cannot_be_made(here, fitted, capsys, more, message):
    assert message in refused(capsys, "table", "cohort.csv", "--model", fitted, *more)


def test_a_table_of_another_cohort(here, fitted, capsys):
    cohort(30).to_csv("cohort.csv", index=False)
    err = refused(capsys, "table", "cohort.csv", "--model", fitted, "--out", "t.docx")
    assert "cohort.csv: the table has 30 rows, but the model was fitted on 40 subjects" in err


def test_a_table_of_as_many_other_subjects(here, fitted, capsys):
    frame = cohort()
    frame.loc[3, "falls"] += 1
    frame.to_csv("cohort.csv", index=False)
    err = refused(capsys, "table", "cohort.csv", "--model", fitted, "--out", "t.csv")
    assert "cohort.csv: the table has as many rows" in err
    assert "other subjects or other values" in err


def test_the_same_table_sorted_gives_the_same_table(here, fitted, capsys):
    cohort().sort_values("falls").to_csv("sorted.csv", index=False)
    for name in ("cohort", "sorted"):
        assert main(["table", f"{name}.csv", "--model", str(fitted), "--out", f"{name}-table.csv"]) == 0
    assert Path("cohort-table.csv").read_bytes() == Path("sorted-table.csv").read_bytes()
    assert "another order than when the model was fitted" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["subtypes.xlsx", "assignments.csv"])
def test_a_folder_in_the_place_of_a_file_is_never_replaced(here, capsys, name):
    Path("out", name).mkdir(parents=True)
    Path("out", name, "keep").write_text("mine", encoding="utf-8")
    assert main(FIT) == 2
    assert f"{name} is a folder" in capsys.readouterr().err
    assert Path("out", name, "keep").read_text(encoding="utf-8") == "mine"


def test_a_subtype_has_one_name(here, capsys):
    assert main([*FIT, "--name", "1=Common", "--name", "1=Rare"]) == 2
    assert "subtype 1 has more than one name" in capsys.readouterr().err
