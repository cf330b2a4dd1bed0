"""`clinclust assign --cohort`: whether the new subjects differ from the cohort, without a word about any of them."""

import io

import pandas as pd
import pytest
from command_line import cohort, refused

from clinclust.cli import main


def new_table(**odd):
    frame = cohort(70).iloc[40:].reset_index(drop=True)
    for column, (place, value) in odd.items():
        frame.loc[place, column] = value
    frame.to_csv("new.csv", index=False)
    return frame


@pytest.fixture
def asked(here, fitted):
    new_table()
    return ["assign", "new.csv", "--model", str(fitted), "--cohort", "cohort.csv"]


def test_the_summary_goes_where_the_table_does_not(asked, capsys):
    assert main(asked) == 0
    out, err = capsys.readouterr()
    assert len(pd.read_csv(io.StringIO(out))) == 30
    said = err.splitlines()
    assert said[0] == "clinclust: The batch has 30 subjects, the cohort 40."
    assert said[1].startswith("  None of these subtypes: ")
    assert main([*asked, "--out", "given.csv"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "Wrote given.csv: 30 subjects",
        *(line.removeprefix("clinclust: ").strip() for line in said),
    ]
    assert err == ""
    assert main([*asked, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_the_table_is_the_same_and_names_features_only(asked, capsys):
    frame = new_table(stage=(7, 9), crp=(3, 5000.5))
    assert main(asked[:-2]) == 3
    plain = capsys.readouterr().out
    assert main(asked) == 3
    out, err = capsys.readouterr()
    assert out == plain
    summary = err[: err.index("clinclust: 1 of 30 subjects")]
    assert "Values that the model does not know, taken for missing: stage (1 subject)." in summary
    assert "stage (+" in summary
    assert not any(who in summary for who in frame["who"])
    assert "5000" not in summary


def test_rows_and_columns_chosen_of_the_new_table_are_not_chosen_of_the_cohort(asked, capsys):
    assert main([*asked, "--where", "falls >= 5", "--drop", "age"]) == 0
    assert ", the cohort 40." in capsys.readouterr().err


def test_what_cannot_be_compared_is_refused(asked, capsys):
    cohort().assign(crp="41").to_csv("changed.csv", index=False)
    assert "other subjects or other values" in refused(capsys, *asked[:-1], "changed.csv")
    assert "there is no file" in refused(capsys, *asked[:-1], "absent.csv")
    assert "the model was fitted on 40 subjects" in refused(capsys, *asked[:-1], "new.csv")
    assert "which is the cohort itself" in refused(capsys, *asked, "--out", "cohort.csv", "--overwrite")
    assert main(["assign", "cohort.csv", *asked[2:]]) == 2
    assert "is the cohort of the fit itself" in capsys.readouterr().err
