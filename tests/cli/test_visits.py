"""Rows that are visits are not taken for patients without a word, on any way to a report."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.cli import main

QUICK = ["--n-restarts", "2", "--associations", "none"]


def visits(n=60, times=3, who="MRN", what="Visit No"):
    rng = np.random.default_rng(0)
    rows = n * times
    return pd.DataFrame(
        {
            who: np.repeat([f"P{patient:03d}" for patient in range(n)], times),
            what: np.tile(np.arange(1, times + 1), n),
            "hb": rng.normal(13, 1.3, rows).round(1),
            "crp": np.exp(rng.normal(1, 0.8, rows)).round(1),
            "sbp": rng.normal(130, 14, rows).round(),
        }
    )


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Stand in a folder with visits.csv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("clinclust.progress._REPORTED_AFTER", 1e6)
    visits().to_csv("visits.csv", index=False)
    return Path("visits.csv")


def start_lines(said):
    return [line.strip() for line in said.splitlines() if line.strip().startswith("clinclust start")]


@pytest.mark.simulation
def test_start_stops_before_it_writes_anything_and_every_line_it_offers_goes_on(table, capsys):
    assert main(["start", "visits.csv", *QUICK]) == 2
    said = capsys.readouterr().err
    assert "60 of 60 subjects have several rows" in said
    assert sorted(path.name for path in Path().iterdir()) == ["visits.csv"]
    lines = start_lines(said)
    assert len(lines) == 2
    for place, line in enumerate(lines):
        words = shlex.split(line)[1:]
        assert main([*words, "--out", f"out{place}", "--quiet"]) == 0
        n_subjects = len(pd.read_csv(f"out{place}/assignments.csv"))
        assert n_subjects == (180 if "--every-row" in words else 60)
        Path("visits.yaml").unlink()


def test_copies_of_rows_are_told_and_one_of_each_is_kept(table, capsys):
    once = visits(times=1).drop(columns="Visit No")
    pd.concat([once, once.iloc[:5]]).to_csv("visits.csv", index=False)
    assert main(["start", "visits.csv", *QUICK]) == 2
    said = capsys.readouterr().err
    assert "rows are copies of others: 5 of 60 subjects have several rows" in said
    lines = start_lines(said)
    assert [line.rpartition(" ")[2] for line in lines] == ["MRN", "--every-row"]
    assert main([*shlex.split(lines[0])[1:], "--quiet"]) == 0
    assert len(pd.read_csv("visits-subtypes/assignments.csv")) == 60
    Path("visits.yaml").unlink()
    assert main([*shlex.split(lines[1])[1:], "--quiet", "--out", "every"]) == 0
    assert "copies of one row weigh double" in Path("every/subtypes.html").read_text(encoding="utf-8")


def test_one_row_of_each_patient_is_not_asked_about(table, capsys):
    visits(times=1).to_csv("visits.csv", index=False)
    assert main(["start", "visits.csv", *QUICK, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("who", ["family_id", "household id"])
def test_members_of_a_family_are_no_visits(table, who):
    visits(who=who).drop(columns="Visit No").to_csv("visits.csv", index=False)
    assert main(["start", "visits.csv", *QUICK, "--quiet"]) == 0


def test_check_and_fit_warn_first_and_the_page_begins_with_it(table, capsys):
    assert main(["draft", "visits.csv", "--out", "schema.yaml"]) == 0
    capsys.readouterr()
    assert main(["check", "visits.csv", "--schema", "schema.yaml"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("clinclust: note: ROWS ARE NOT PATIENTS")
    assert "180 rows of 60 subjects" in out
    assert main(["fit", "visits.csv", "--schema", "schema.yaml", "--out", "out", *QUICK]) == 0
    assert "ROWS ARE NOT PATIENTS" in capsys.readouterr().err
    page = Path("out/subtypes.html").read_text(encoding="utf-8")
    first = page.index("<p>", page.index("<h2>Overview</h2>"))
    assert page[first:].startswith("<p>ROWS ARE NOT PATIENTS")
    assert main(["report", "visits.csv", "--model", "out", "--overwrite", "--suppress", "--associations", "none"]) == 0
    assert "<p>ROWS ARE NOT PATIENTS" in Path("out/subtypes.html").read_text(encoding="utf-8")


def test_a_table_of_one_row_each_says_nothing_of_visits(table):
    visits(times=1).to_csv("visits.csv", index=False)
    assert "several_rows" not in cc.read_cohort("visits.csv").attrs


def redcap():
    """Return an export of 60 records, two events and repeated forms, which some records have."""
    rng = np.random.default_rng(1)
    lines = []
    for record in range(1, 61):
        first = {"record_id": record, "redcap_event_name": "baseline_arm_1", "hb": round(rng.normal(13, 1), 1)}
        lines.append({**first, "age": rng.integers(30, 80), "demographics_complete": rng.choice([0, 2])})
        lines.append({**first, "redcap_event_name": "follow_up_arm_1"})
        repeated = {"redcap_repeat_instrument": "adverse_events", "hb": None, "ae_grade": rng.integers(1, 5)}
        lines += [{**first, **repeated, "redcap_repeat_instance": 1 + more} for more in range(record % 3)]
    export = pd.DataFrame(lines)
    groups = np.where(export["record_id"] % 2, "north", "south")
    return export.assign(
        redcap_data_access_group=groups, redcap_survey_identifier="", survey_timestamp="2024-01-02 10:11"
    )


def test_columns_that_redcap_adds_are_known_without_a_dictionary(table):
    redcap().to_csv("redcap.csv", index=False)
    schema = cc.draft_schema(cc.read_cohort("redcap.csv"), progress=False)
    roles = {feature.name: feature.role for feature in schema}
    added = [name for name in roles if name.startswith("redcap_") or name.endswith(("_complete", "_timestamp"))]
    assert {name for name in added if roles[name] != "ignore"} == {"redcap_data_access_group"}
    assert roles["redcap_data_access_group"] == "site"
    assert roles["hb"] == "cluster"


def test_a_column_called_complete_is_of_redcap_only_in_an_export(table):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"hb": rng.normal(13, 1, 90).round(1), "vaccination_complete": rng.choice(["0", "1"], 90)})
    assert cc.draft_schema(frame, progress=False)["vaccination_complete"].role == "cluster"


DICTIONARY = (
    "Variable / Field Name,Form Name,Section Header,Field Type,Field Label,"
    '"Choices, Calculations, OR Slider Labels",Field Note\n'
    "record_id,demographics,,text,Record,,\nage,demographics,,text,Age in years,,\n"
    "hb,demographics,,text,Haemoglobin,,\nae_grade,adverse_events,,text,Grade,,\n"
)


def test_start_reads_a_dictionary(table, capsys):
    redcap().to_csv("redcap.csv", index=False)
    Path("dictionary.csv").write_text(DICTIONARY, encoding="utf-8")
    assert main(["start", "redcap.csv", "--dictionary", "dictionary.csv", *QUICK]) == 2
    said = capsys.readouterr().err
    assert "redcap.csv: rows are visits" in said
    lines = start_lines(said)
    assert all("--dictionary dictionary.csv" in line for line in lines)
    assert main([*shlex.split(lines[0])[1:], "--quiet"]) == 0
    schema = cc.FeatureSchema.from_yaml(Path("redcap.yaml"))
    assert schema["hb"].label == "Haemoglobin"
    assert main([*shlex.split(lines[0])[1:], "--quiet", "--out", "other"]) == 2
    assert "redcap.yaml is next to the table" in capsys.readouterr().err
