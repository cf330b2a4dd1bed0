"""What each command does with sound input."""

import csv
import inspect
import io
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from command_line import FILES, cohort

from clinclust import MAPDP, FeatureSchema
from clinclust.cli import main


def test_a_first_analysis_step_by_step(here, capsys):
    cohort(100).to_csv("cohort.csv", index=False)
    assert main(["draft", "cohort.csv", "--out", "draft.yaml"]) == 0
    assert "Wrote draft.yaml: 6 columns" in capsys.readouterr().out
    assert len(FeatureSchema.from_yaml(here / "draft.yaml")) == 6
    assert main(["check", "cohort.csv", "--schema", "schema.yaml"]) == 0
    told = "100 subjects, 4 features to cluster on (0.5% of their values missing), 1 to describe"
    assert f"fits schema.yaml: {told}" in capsys.readouterr().out
    assert (
        main(["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "a/b", "--n-restarts", "3", "--n-jobs", "1"])
        == 0
    )
    out, err = capsys.readouterr()
    assert "2 subtypes among 100 subjects: 60 (60.0%), 40 (40.0%)\n" in out
    assert "Tested: these are more than one continuum: all distinct." in out
    assert err == ""
    assert sorted(path.name for path in Path("a/b").iterdir()) == FILES
    assert main(["assign", "cohort.csv", "--model", "a/b", "--out", "new.csv"]) == 0
    assert "Wrote new.csv: 100 subjects" in capsys.readouterr().out


def test_the_same_input_options_and_seed_give_the_same_bytes(here, capsys):
    for folder in ("one", "other"):
        fit = ["fit", "cohort.csv", "--schema", "schema.yaml", "--n-restarts", "2", "--out", folder]
        assert main([*fit, "--associations", "none"]) == 0
    capsys.readouterr()
    named = {path.name: path.read_bytes() for path in Path("one").iterdir()}
    assert sorted(named) == FILES
    differ = [name for name in named if Path("other", name).read_bytes() != named[name]]
    assert differ == []  # conftest sets SOURCE_DATE_EPOCH, the date of reports


@pytest.mark.simulation
def test_what_else_is_searched_for_can_be_asked_for(here, capsys):
    arguments = ["fit", "cohort.csv", "--schema", "schema.yaml", "--n-restarts", "2", "--out"]
    assert (
        main([*arguments, "map", "--concentration", "map", "--hyperparameters", "empirical", "--coarsening", "1"]) == 0
    )
    assert main([*arguments, "auto", "--coarsening", "auto"]) == 0
    assert main([*arguments, "selected", "--select-features", "--coarsening", "1", "--concentration", "0.5"]) == 0
    capsys.readouterr()
    by_map, auto, selected = (MAPDP.load(here / folder) for folder in ("map", "auto", "selected"))
    assert by_map.concentration == "map"
    assert by_map.concentration_ != 3.0
    assert by_map.hyperparameters == "empirical"
    assert auto.coarsening == "auto"
    assert auto.coarsening_ <= 1.0
    assert selected.select_features
    assert selected.concentration_ == 0.5


def test_blocks_count_for_what_they_are_worth_unless_they_shall_count_in_full(here, capsys):
    schema = (here / "schema.yaml").read_text(encoding="utf-8")
    in_block = schema.replace("name: falls,", "name: falls, block: frailty,").replace(
        "name: stage,", "name: stage, block: frailty,"
    )
    assert in_block.count("frailty") == 2
    (here / "blocks.yaml").write_text(in_block, encoding="utf-8")
    arguments = ["fit", "cohort.csv", "--schema", "blocks.yaml", "--n-restarts", "2", "--associations", "none", "--out"]
    assert main([*arguments, "worth"]) == 0
    assert main([*arguments, "full", "--block-weights", "none"]) == 0
    worth, full = MAPDP.load(here / "worth"), MAPDP.load(here / "full")
    assert (worth.block_weights, full.block_weights) == ("auto", None)
    assert worth.block_weights_["frailty"] < full.block_weights_["frailty"] == 1.0
    summary = openpyxl.load_workbook(here / "worth" / "subtypes.xlsx")["Summary"]
    assert "Block frailty" in [row[0] for row in summary.values]
    page = (here / "worth" / "subtypes.html").read_text(encoding="utf-8")
    assert f"2 features count for {2 * worth.block_weights_['frailty']:.1f}" in page


def test_reports_for_sharing_can_be_asked_for(here, capsys):
    arguments = ["fit", "cohort.csv", "--schema", "schema.yaml", "--n-restarts", "2", "--out"]
    assert main([*arguments, "shared", "--suppress"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "For sharing: subtypes.xlsx, subtypes.html and subtypes.json only" in said
    assert (
        "Not for sharing: assignments.csv, model.json, model.npz (one row for each subject) and manifest.json" in said
    )
    assert "--suppress 10 --out DIR` writes the reports to a folder of their own" in said
    page = (here / "shared" / "subtypes.html").read_text(encoding="utf-8")
    assert "counts below 10" in page
    assert "Assignments" not in page
    assert main([*arguments, "never", "--suppress", "1"]) == 2
    assert "--suppress must be at least 2, not 1" in capsys.readouterr().err


def test_the_draft_goes_to_standard_output(here, capsys):
    assert main(["draft", "cohort.csv"]) == 0
    text = capsys.readouterr().out
    assert sorted(FeatureSchema.from_yaml(text).names) == sorted(cohort())
    assert sorted(path.name for path in here.iterdir()) == ["cohort.csv", "schema.yaml"]


def test_the_assignments_say_what_the_model_says(fitted):
    model = MAPDP.load(fitted)
    with (fitted / "assignments.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    before = ["who", "subtype", "probability", "assigned", "few_subjects"]
    subtypes = [f"subtype_{k}" for k in range(1, model.n_clusters_ + 1)]
    assert list(rows[0]) == [*before, *subtypes, "none_of_these", "continuum_score", "speaks_for_it"]
    assert [int(row["subtype"]) for row in rows] == (model.labels_ + 1).tolist()
    shares = np.array([[float(row[name]) for name in subtypes] for row in rows])
    np.testing.assert_array_equal(shares, model.membership_)
    own = [float(row["probability"]) for row in rows]
    assert own == shares[np.arange(40), model.labels_].tolist()
    assert [row["who"] for row in rows[:3]] == ['\'=HYPERLINK("http://x")', "-12", "p002"]


@pytest.mark.parametrize("shuffled", [False, True])
def test_the_table_of_the_fit_is_assigned_what_the_fit_found(here, fitted, capsys, shuffled):
    frame = cohort().sample(frac=1, random_state=2) if shuffled else cohort()
    frame.to_csv("again.csv", index=False)
    assert main(["assign", "again.csv", "--model", str(fitted), "--out", "assigned.csv"]) == 0
    assert "note: again.csv: this is the table of the fit; its subjects keep" in capsys.readouterr().err
    header, *rows = Path("assigned.csv").read_text(encoding="utf-8").splitlines()
    fit_header, *fit_rows = (fitted / "assignments.csv").read_text(encoding="utf-8").splitlines()
    assert header == fit_header
    assert rows == [fit_rows[place] for place in frame.index]


def test_a_part_of_the_table_of_the_fit_counts_as_new_subjects(here, fitted, capsys):
    """Nothing in a saved model tells a single subject of the cohort from another person."""
    cohort().head(39).to_csv("part.csv", index=False)
    assert main(["assign", "part.csv", "--model", str(fitted)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found = pd.read_csv(io.StringIO(out))
    assert list(found) == list(pd.read_csv(fitted / "assignments.csv"))
    shares = found[["subtype_1", "subtype_2", "none_of_these"]].to_numpy()
    np.testing.assert_array_equal(shares, MAPDP.load(fitted).predict_proba(cohort().head(39)))


def test_new_subjects_are_assigned_by_name_of_column(here, fitted, capsys):
    new = pd.DataFrame(
        {
            "crp": [40.0, 60.0, 1e9, None],
            "stage": [0, 4, None, None],
            "extra": "x",
            "tremor": ["no", "yes", "no", None],
            "falls": [1, 13, None, None],
        }
    )
    new.to_csv("new.csv", index=False)
    assert main(["assign", "new.csv", "--model", str(fitted)]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("clinclust: note: new.csv: 1 row (5) has no observed value in any feature")
    rows = list(csv.DictReader(out.splitlines()))
    assert [row["row"] for row in rows] == ["2", "3", "4", "5"]  # as a spreadsheet counts
    assert [row["subtype"] for row in rows] == ["1", "2", "0", "1"]
    assert float(rows[2]["probability"]) == float(rows[2]["none_of_these"]) > 0.9
    assert float(rows[3]["subtype_1"]) == pytest.approx(24 / 43)
    for row in rows:
        assert sum(float(row[name]) for name in ("subtype_1", "subtype_2", "none_of_these")) == pytest.approx(1.0)


def test_the_same_run_gives_the_same_files(here, fitted, capsys):
    arguments = [
        "fit",
        "cohort.csv",
        "--schema",
        "schema.yaml",
        "--out",
        "again",
        "--n-restarts",
        "4",
        "--as-published",
    ]
    assert main(arguments) == 0
    for name in ("assignments.csv", "model.npz"):
        assert Path("again", name).read_bytes() == (fitted / name).read_bytes(), name
    Path("again", "mine.txt").write_text("kept")
    assert main([*arguments, "--random-state", "1", "--concentration", "1", "--overwrite"]) == 0
    assert "again holds other files too, which stay as they are: mine.txt" in capsys.readouterr().err
    assert sorted(path.name for path in Path("again").iterdir()) == sorted([*FILES, "mine.txt"])
    assert MAPDP.load("again").random_seed_ == 1


def test_notes_reach_the_person_and_do_not_stop_the_run(here, capsys):
    frame = cohort().assign(stage=2)
    frame["who"] = "Zoë " + frame["who"].astype(str)
    Path("cohort.csv").write_bytes(frame.to_csv(index=False).encode("cp1252"))
    assert main(["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "out", "--n-restarts", "2"]) == 0
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 2
    assert err[0].startswith("clinclust: note: cohort.csv: the file is not UTF-8")
    assert err[1].startswith("clinclust: note: 1 column cannot inform a clustering: stage")
    assert "Zoë" in Path("out/assignments.csv").read_text(encoding="utf-8")
    assert main(["check", "cohort.csv", "--schema", "schema.yaml", "--encoding", "cp1252"]) == 0
    assert "UTF-8" not in capsys.readouterr().err


def test_a_search_that_did_not_settle_is_not_hidden(here, capsys, monkeypatch):
    monkeypatch.setitem(inspect.unwrap(MAPDP.__init__).__kwdefaults__, "init", "single")
    slow = ["--as-published", "--n-restarts", "1", "--max-sweeps", "1"]
    assert main(["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "out", *slow]) == 0
    assert "clinclust: note: The best restart was still moving" in capsys.readouterr().err
