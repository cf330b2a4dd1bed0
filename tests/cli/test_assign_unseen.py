"""A value that a model does not know costs its own subject the subtype, and nobody else; and it is said."""

import io
from pathlib import Path

import pandas as pd
import pytest
from command_line import cohort, contents, refused

from clinclust import MAPDP, CohortError, CohortWarning
from clinclust.cli import main

ODD = {
    "a step beyond the scale": ("stage", 9),
    "a level that no subject had": ("tremor", "perhaps"),
    "a negative count": ("falls", -1),
    "half a fall": ("falls", 2.5),
    "a text": ("crp", "see note"),
}
ASSIGN = ["assign", "new.csv", "--model"]


def new_subjects(**odd):
    """Return 30 new subjects; some have another value in a column, given by position."""
    frame = cohort(70).iloc[40:].reset_index(drop=True)
    for column, (place, value) in odd.items():
        frame.loc[place, column] = value
    return frame


def assigned(fitted, capsys, frame, *options, code=0):
    frame.to_csv("new.csv", index=False)
    assert main([*ASSIGN, str(fitted), *options]) == code
    out, err = capsys.readouterr()
    return pd.read_csv(io.StringIO(out), dtype=str, keep_default_na=False), err


@pytest.mark.parametrize("what", ODD)
def test_one_odd_value_costs_one_subject_its_subtype(here, fitted, capsys, what):
    column, value = ODD[what]
    expected, _ = assigned(fitted, capsys, new_subjects())
    table, err = assigned(fitted, capsys, new_subjects(**{column: (7, value)}), code=3)
    assert table["who"].tolist() == expected["who"].tolist()
    assert table["assigned"].tolist() == ["no" if place == 7 else "yes" for place in range(30)]
    found, expected = table.drop(columns="assigned"), expected.drop(columns="assigned")
    assert (found.loc[7].drop("who") == "").all()
    assert found.drop(index=7).equals(expected.drop(index=7))
    assert "1 of 30 subjects was not assigned" in err
    assert f"{column}: expected" in err
    assert f"1 row (first: 9) holds {str(value)!r}" in err
    assert "--unseen missing" in err
    assert "missing_codes" not in err, "the schema of a saved model cannot be changed"


@pytest.mark.parametrize("what", ODD)
def test_a_value_may_be_taken_for_missing(here, fitted, capsys, what):
    column, value = ODD[what]
    expected, _ = assigned(fitted, capsys, new_subjects(**{column: (7, "NA")}))
    table, err = assigned(fitted, capsys, new_subjects(**{column: (7, value)}), "--unseen", "missing")
    assert table.equals(expected)
    assert f"taken for missing, as asked: {column} (row 9)" in err
    assert str(value) not in err.replace("row 9", "")


def test_several_odd_values_are_listed_together(here, fitted, capsys):
    new_subjects(stage=(0, 9), tremor=(1, "perhaps"), crp=(1, "see note")).to_csv("new.csv", index=False)
    assert main([*ASSIGN, str(fitted), "--out", "new_subtypes.csv"]) == 3
    out, err = capsys.readouterr()
    assert out == "Wrote new_subtypes.csv: 30 subjects\n"
    assert "2 of 30 subjects were not assigned" in err
    assert "3 problems" in err
    written = pd.read_csv("new_subtypes.csv")
    assert written.index[written["assigned"] == "no"].tolist() == [0, 1]
    assert written.index[written["subtype"].isna()].tolist() == [0, 1]


@pytest.mark.parametrize("options", [[], ["--unseen", "missing"]])
def test_a_table_without_a_column_is_refused(here, fitted, capsys, options):
    new_subjects().drop(columns="stage").to_csv("new.csv", index=False)
    message = refused(capsys, *ASSIGN, fitted, "--out", "x.csv", *options)
    assert "stage: expected a column of this name" in message
    assert "add an empty one" in message


def test_if_nobody_can_be_assigned_the_table_is_refused(here, fitted, capsys):
    new_subjects().assign(crp="see note").to_csv("new.csv", index=False)
    message = refused(capsys, *ASSIGN, fitted, "--out", "x.csv")
    assert "30 rows (first: 2, 3, 4, 5, 6) hold 'see note'" in message
    assert "x.csv" not in contents()


def test_python_refuses_unless_asked(here, fitted):
    model = MAPDP.load(fitted)
    odd, blank = new_subjects(stage=(7, 9)), new_subjects(stage=(7, None))
    for ask in (model.predict, model.predict_proba, model.score_samples):
        with pytest.raises(CohortError, match="expected 0 to 4") as caught:
            ask(odd)
        assert "unseen" in caught.value.failures["repair"].item()
        with pytest.warns(CohortWarning, match=r"taken for missing, as asked: stage \(row 7\)"):
            found = ask(odd, unseen="missing")
        assert (found == ask(blank)).all()
        with pytest.raises(ValueError, match="unseen must be 'refuse' or 'missing', not 'drop'"):
            ask(odd, unseen="drop")
    with pytest.raises(CohortError, match="expected 0 to 4"):
        model.impute(odd)
    assert Path(fitted).is_dir()


def test_a_refused_value_names_those_of_its_form_that_are_missing(here, capsys):
    table = cohort(60)
    table["lvef"] = [str(30 + row % 30) for row in range(60)]
    table.loc[:3, "lvef"] = ["20-25%", "25-30%", "30-35%", "n.a."]
    table.to_csv("lvef.csv", index=False)
    assert main(["draft", "lvef.csv", "--out", "lvef.yaml"]) == 0
    quick = ["--n-restarts", "2", "--associations", "none"]
    assert main(["fit", "lvef.csv", "--schema", "lvef.yaml", "--out", "lvef", *quick]) == 0
    capsys.readouterr()
    table.head(8).assign(lvef=["40-45%", *["50"] * 7]).to_csv("new.csv", index=False)
    assert main([*ASSIGN, "lvef"]) == 3
    err = capsys.readouterr().err
    assert "takes values of this form for missing ('20-25%', '25-30%', '30-35%')" in err
    assert "(--unseen missing)" in err
    assert "`unseen`" not in err
    table.head(8).assign(lvef=["see note", *["50"] * 7]).to_csv("new.csv", index=False)
    assert main([*ASSIGN, "lvef"]) == 3
    assert "values of this form" not in capsys.readouterr().err
