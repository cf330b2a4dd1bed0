"""`clinclust assign --explain`: what speaks for the subtype of each subject, beside it."""

import io

import pandas as pd
from command_line import QUICK, cohort
from inert_texts import original_text

from clinclust import MAPDP
from clinclust.cli import main

COLUMN = "speaks_for_it"


def assigned(capsys, *options, code=0):
    assert main(["assign", *map(str, options)]) == code
    return pd.read_csv(io.StringIO(capsys.readouterr().out), dtype=str, keep_default_na=False)


def new_table(**odd):
    frame = cohort(70).iloc[40:].reset_index(drop=True)
    for column, (place, value) in odd.items():
        frame.loc[place, column] = value
    frame.to_csv("new.csv", index=False)
    return frame


def test_new_subjects_get_the_features_that_explain_names_first(here, fitted, capsys):
    frame = new_table()
    plain, table = (assigned(capsys, "new.csv", "--model", fitted, *more) for more in ([], ["--explain"]))
    assert table.columns[-1] == COLUMN
    assert table.drop(columns=COLUMN).equals(plain.drop(columns=COLUMN))
    assert (plain[COLUMN] == "").all()
    told = MAPDP.load(fitted).explain(frame)
    told = told[(told["log_odds"] > 0.05) & ~told["feature"].str.startswith("(")]
    for subject, text in enumerate(table[COLUMN]):
        strongest = told[told["subject"] == subject].iloc[0]
        assert text.startswith(
            f"against Subtype {strongest['against']}: {strongest['feature']} {strongest['value']:g} ("
        )


def test_who_is_not_assigned_has_an_empty_cell(here, fitted, capsys):
    new_table(stage=(7, 9))
    table = assigned(capsys, "new.csv", "--model", fitted, "--explain", code=3)
    assert table.index[table[COLUMN] == ""].tolist() == [7]
    taken = assigned(capsys, "new.csv", "--model", fitted, "--explain", "--unseen", "missing")
    assert taken.loc[7, COLUMN].startswith("against Subtype ")
    assert "stage" not in taken.loc[7, COLUMN]
    assert table.drop(index=7)[COLUMN].equals(taken.drop(index=7)[COLUMN])


def test_the_table_of_the_fit_is_explained_for_the_subtypes_of_the_fit(here, fitted, capsys):
    table = assigned(capsys, fitted.parent / "cohort.csv", "--model", fitted, "--explain")
    against = table[COLUMN].str.extract(r"^against Subtype ([12]): \w+ ")[0]
    assert (against.astype(int) == 3 - table["subtype"].astype(int)).all()


def test_names_and_levels_of_the_data_become_no_formula_and_no_further_line(here, capsys):
    live, names = "=1+1", {"crp": "=cmd|x\n@y", "tremor": "+trem;=1"}
    table = cohort().rename(columns=names).drop(columns=["age", "falls", "stage", "who"])
    table[names["tremor"]] = table[names["tremor"]].replace("yes", live)
    table.to_csv("live.csv", index=False)
    assert main(["draft", "live.csv", "--out", "live.yaml"]) == 0
    assert main(["fit", "live.csv", "--schema", "live.yaml", "--out", "live", *QUICK]) == 0
    table.head(30).to_csv("new.csv", index=False)
    capsys.readouterr()
    assert main(["assign", "new.csv", "--model", "live", "--explain"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 31
    texts = pd.read_csv(io.StringIO(out))[COLUMN]
    assert texts.str.contains("tre", regex=False).any()
    assert not texts.str.contains(r"[;,|]\s*[=@]|[;,|]\s*\+(?![0-9])").any()
    assert texts.map(original_text).str.contains("=cmd|x").any()
