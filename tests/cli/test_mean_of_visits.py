"""The mean of repeated visits, from the file to the report, and of new visits: every command means the same."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import refused

from clinclust import MAPDP, FeatureSchema, draft_schema, read_cohort
from clinclust.cli import main
from clinclust.files.selection.row_choice import RowChoice

FAST = ["--restarts", "2", "--associations", "none"]
MEAN = ["--one-row-per", "id", "--keep", "mean", "--by", "seen"]
WORDS = "one row for each id, the mean of its rows in sbp and crp, and the first by seen otherwise"


def visits(n, first=0, seed=0):
    """Return three visits of each of n subjects of two groups."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n) % 2, 3)
    crp = np.exp(1.0 + 1.5 * group + rng.normal(0, 0.3, 3 * n))
    return pd.DataFrame(
        {
            "id": np.repeat([f"p{first + k:03d}" for k in range(n)], 3),
            "seen": np.tile(["13.02.2020", "01.02.2020", "01.03.2021"], n),
            "sbp": [f"{value:.0f}" for value in 120 + 30 * group + rng.normal(0, 9, 3 * n)],
            "crp": [f"{value:.1f}".replace(".", ",") for value in crp],
            "stage": (1 + group + rng.integers(0, 2, 3 * n)).astype(str),
        }
    )


@pytest.fixture
def table(here):
    frame = visits(40)
    frame.loc[4, "sbp"] = "NA"
    frame.to_csv("visits.csv", index=False, sep=";")
    return frame


@pytest.mark.simulation
def test_the_way_from_draft_to_report_and_new_visits_takes_the_same_means(table, capsys):
    assert main(["draft", "visits.csv", *MEAN, "--out", "s.yaml"]) == 0
    out, err = capsys.readouterr()
    assert "the mean of all rows of each 'id' is taken in 'sbp', 'crp'" in err
    assert "'stage' is not averaged, and the value of the first row stays: few different values" in err
    choice = RowChoice(None, "id", "mean", "seen", "day-first", None, ("sbp", "crp"))
    assert FeatureSchema.from_yaml("s.yaml").rows == choice
    command = shlex.split(next(line for line in out.splitlines() if line.startswith("next: "))[len("next: ") :])
    assert main([*command[1:], *FAST]) == 0
    assert f"rows are taken as s.yaml says: {WORDS}" in capsys.readouterr().err
    model = MAPDP.load("visits-subtypes")
    assert (model.schema_.rows, model.row_counts_.further, len(model.labels_)) == (choice, 80, 40)
    page = Path("visits-subtypes/subtypes.html").read_text(encoding="utf-8")
    assert f"Of 120 rows of the table, 40 were analysed: {WORDS} (80 further rows)." in page

    assert main(["report", "visits.csv", "--model", "visits-subtypes", "--out", "again", "--associations", "none"]) == 0
    assert Path("again/subtypes.html").read_bytes() == Path("visits-subtypes/subtypes.html").read_bytes()
    assert main(["table", "visits.csv", "--model", "visits-subtypes", "--out", "table.xlsx"]) == 0
    shuffled = table.sample(frac=1, random_state=1)
    shuffled.to_csv("shuffled.csv", index=False, sep=";")
    assert main(["assign", "shuffled.csv", "--model", "visits-subtypes", "--out", "a.csv"]) == 0
    given = pd.read_csv("a.csv").sort_values("id", ignore_index=True)
    pd.testing.assert_frame_equal(given, pd.read_csv("visits-subtypes/assignments.csv"))

    new = visits(3, first=100, seed=5)  # so few visits do not tell which columns measure something
    new.to_csv("new.csv", index=False, sep=";")
    capsys.readouterr()
    assert main(["assign", "new.csv", "--model", "visits-subtypes", "--out", "n.csv"]) == 0
    assert f"rows are taken as for the fit (--all-rows takes all): {WORDS}" in capsys.readouterr().err
    assert pd.read_csv("n.csv")["id"].tolist() == ["p100", "p101", "p102"]
    new.assign(sbp="", crp="").to_csv("empty.csv", index=False, sep=";")
    assert main(["assign", "empty.csv", "--model", "visits-subtypes", "--out", "e.csv"]) == 0
    assert len(pd.read_csv("e.csv")) == 3
    capsys.readouterr()
    new.assign(sbp=["high"] * 9).to_csv("bad.csv", index=False, sep=";")
    said = refused(capsys, "assign", "bad.csv", "--model", "visits-subtypes", "--out", "b.csv")
    assert "'sbp' cannot be averaged: the cells hold no numbers" in said


def test_the_columns_can_be_edited_and_others_in_the_command_are_refused(table, capsys):
    assert main(["draft", "visits.csv", *MEAN, "--averaged", "sbp,crp", "--averaged", "stage", "--out", "s.yaml"]) == 0
    text = Path("s.yaml").read_text(encoding="utf-8")
    assert "averaged: [sbp, crp, stage]" in text
    capsys.readouterr()
    said = refused(capsys, "check", "visits.csv", "--schema", "s.yaml", *MEAN, "--averaged", "sbp")
    assert "s.yaml takes one row for each id, the mean of its rows in sbp, crp and stage" in said
    assert "correct the line `rows:` of s.yaml" in said
    assert main(["check", "visits.csv", "--schema", "s.yaml", *MEAN]) == 0
    capsys.readouterr()
    Path("s.yaml").write_text(text.replace("[sbp, crp, stage]", "[sbp, CRP]"), encoding="utf-8")
    said = refused(capsys, "check", "visits.csv", "--schema", "s.yaml")
    assert "--averaged: there is no column 'CRP'. Did you mean 'crp'?" in said
    assert "taken by the line `rows:` of s.yaml; correct it there" in said
    assert "Traceback" not in said


def test_a_number_that_the_schema_takes_for_missing_is_told_if_it_may_be_in_a_mean(table, capsys):
    assert main(["draft", "visits.csv", *MEAN, "--out", "s.yaml"]) == 0
    assert "before the schema takes these numbers for missing" not in capsys.readouterr().err
    schema = FeatureSchema.from_yaml("s.yaml")
    coded = FeatureSchema(schema.features, missing_codes=["", "NA", "120"], rows=schema.rows)
    coded.to_yaml("coded.yaml")
    assert main(["fit", "visits.csv", "--schema", "coded.yaml", "--out", "out", *FAST]) == 0
    err = capsys.readouterr().err
    assert "the mean of several rows was taken in 'sbp' (120), 'crp' (120) before the schema takes these numbers" in err


@pytest.mark.filterwarnings("ignore::clinclust.CohortWarning")
def test_python_reads_what_the_schema_says_and_refuses_other_means(table):
    schema = draft_schema(read_cohort("visits.csv", one_row_per="id", keep="mean", by="seen"))
    assert schema.rows.averaged == ("sbp", "crp")
    model = MAPDP(schema, random_state=0).fit(read_cohort("visits.csv", **schema.rows.as_dict()))
    assert model.schema_ == schema
    other = read_cohort("visits.csv", **schema.rows.as_dict() | {"averaged": ["sbp"]})
    with pytest.raises(ValueError, match=r"read with another choice: .*the mean of its rows in sbp, and"):
        MAPDP(schema).fit(other)
