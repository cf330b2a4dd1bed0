"""The command line: what it writes, and one plain sentence about anything wrong with what it was given."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from clinclust import MAPDP, FeatureSchema, __version__
from clinclust.cli import main
from clinclust.files.manifest import changed_files, read_manifest, write_manifest
from clinclust.files.writing import write_together

SCHEMA = """\
clinclust: 1
title: Test cohort
missing_codes: ["", NA]
features:
  - {name: who, role: id}
  - {name: age, likelihood: gaussian, role: describe, unit: years}
  - {name: falls, likelihood: poisson}
  - {name: tremor, likelihood: bernoulli, levels: ["no", "yes"]}
  - {name: stage, likelihood: binomial, trials: 4}
  - {name: crp, likelihood: gaussian}
"""
FILES = ["assignments.csv", "manifest.json", "model.json", "model.npz", "subtypes.html", "subtypes.xlsx"]


def cohort(n=40):
    rng = np.random.default_rng(0)
    groups = (np.arange(n) >= 0.6 * n).astype(int)
    frame = pd.DataFrame(
        {
            "who": [f"p{i:03d}" for i in range(n)],
            "age": rng.integers(40, 90, n),
            "falls": rng.poisson(1 + 12 * groups),
            "tremor": np.where(rng.random(n) < 0.1 + 0.8 * groups, "yes", "no"),
            "stage": rng.binomial(4, 0.15 + 0.7 * groups),
            "crp": rng.normal(5 + 20 * groups, 2).round(2),
        }
    ).astype(object)
    frame.loc[[2, 11], "crp"] = "NA"
    frame.loc[0, "who"] = '=HYPERLINK("http://x")'
    frame.loc[1, "who"] = "-12"
    return frame


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Stand in a folder with cohort.csv and schema.yaml."""
    monkeypatch.chdir(tmp_path)
    cohort().to_csv("cohort.csv", index=False)
    Path("schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Return a folder that `clinclust fit` wrote."""
    folder = tmp_path_factory.mktemp("fitted")
    cohort().to_csv(folder / "cohort.csv", index=False)
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    table, schema, out = (str(folder / name) for name in ("cohort.csv", "schema.yaml", "out"))
    assert main(["fit", table, "--schema", schema, "--out", out, "--restarts", "4"]) == 0
    return folder / "out"


def contents(folder="."):
    return {str(path): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def run(*arguments, **options):
    options = {"capture_output": True, "text": True, "timeout": 120, **options}
    return subprocess.run([sys.executable, "-m", "clinclust.cli", *map(str, arguments)], check=False, **options)


def refused(capsys, *arguments):
    """Run a command that must fail, without leaving a trace; return its one message."""
    before, folders = contents(), {path for path in Path().rglob("*") if path.is_dir()}
    assert main(list(map(str, arguments))) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("clinclust: ")
    assert sum(line.startswith("clinclust: ") for line in err.splitlines()) == 1
    assert "Traceback" not in err
    assert len(err.strip().removeprefix("clinclust: ")) > 10
    assert contents() == before
    assert {path for path in Path().rglob("*") if path.is_dir()} == folders
    return err


# --- what it does -------------------------------------------------------------------------------------------------


def test_a_first_analysis_step_by_step(here, capsys):
    assert main(["draft", "cohort.csv", "--out", "draft.yaml"]) == 0
    assert "Wrote draft.yaml: 6 columns" in capsys.readouterr().out
    assert len(FeatureSchema.from_yaml(here / "draft.yaml")) == 6
    assert main(["check", "cohort.csv", "--schema", "schema.yaml"]) == 0
    assert "fits schema.yaml: 40 subjects, 4 features to cluster on, 1 to describe" in capsys.readouterr().out
    assert main(["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "a/b", "--restarts", "3", "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    assert "2 subtypes among 40 subjects: 24 (60.0%), 16 (40.0%)" in out
    assert err == ""
    assert sorted(path.name for path in Path("a/b").iterdir()) == FILES
    assert main(["assign", "cohort.csv", "--model", "a/b", "--out", "new.csv"]) == 0
    assert "Wrote new.csv: 40 subjects" in capsys.readouterr().out


def test_what_else_is_searched_for_can_be_asked_for(here, capsys):
    arguments = ["fit", "cohort.csv", "--schema", "schema.yaml", "--restarts", "2", "--out"]
    assert main([*arguments, "map", "--concentration", "map", "--hyperparameters", "empirical"]) == 0
    assert main([*arguments, "auto", "--coarsening", "auto"]) == 0
    assert main([*arguments, "selected", "--select-features", "--concentration", "0.5"]) == 0
    capsys.readouterr()
    by_map, auto, selected = (MAPDP.load(here / folder) for folder in ("map", "auto", "selected"))
    assert by_map.concentration == "map"
    assert by_map.concentration_ != 3.0
    assert by_map.hyperparameters == "empirical"
    assert auto.coarsening == "auto"
    assert auto.coarsening_ <= 1.0
    assert selected.select_features
    assert selected.concentration_ == 0.5


def test_reports_for_sharing_can_be_asked_for(here, capsys):
    arguments = ["fit", "cohort.csv", "--schema", "schema.yaml", "--restarts", "2", "--out"]
    assert main([*arguments, "shared", "--suppress"]) == 0
    assert "For sharing: subtypes.xlsx and subtypes.html only" in capsys.readouterr().out
    page = (here / "shared" / "subtypes.html").read_text(encoding="utf-8")
    assert "counts below 10" in page
    assert "Assignments" not in page
    assert main([*arguments, "never", "--suppress", "1"]) == 2
    assert "--suppress must be at least 2, not 1" in capsys.readouterr().err


def test_the_draft_goes_to_standard_output(here, capsys):
    assert main(["draft", "cohort.csv"]) == 0
    text = capsys.readouterr().out
    assert FeatureSchema.from_yaml(text).names == tuple(cohort())
    assert sorted(path.name for path in here.iterdir()) == ["cohort.csv", "schema.yaml"]


def test_the_assignments_say_what_the_model_says(fitted):
    model = MAPDP.load(fitted)
    with (fitted / "assignments.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = ["who", "subtype", "probability", *(f"subtype_{k}" for k in range(1, model.n_clusters_ + 1))]
    assert list(rows[0]) == columns
    assert [int(row["subtype"]) for row in rows] == (model.labels_ + 1).tolist()
    shares = np.array([[float(row[name]) for name in columns[3:]] for row in rows])
    np.testing.assert_array_equal(shares, model.membership_)
    own = [float(row["probability"]) for row in rows]
    assert own == shares[np.arange(40), model.labels_].tolist()
    assert [row["who"] for row in rows[:3]] == ['\'=HYPERLINK("http://x")', "-12", "p002"]


def test_new_subjects_are_assigned_by_name_of_column(here, fitted, capsys):
    new = pd.DataFrame(
        {
            "crp": [5.0, 25.0, 1e9, None],
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
    arguments = ["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "again", "--restarts", "4"]
    assert main(arguments) == 0
    for name in ("assignments.csv", "model.npz"):
        assert Path("again", name).read_bytes() == (fitted / name).read_bytes(), name
    Path("again", "mine.txt").write_text("kept")
    assert main([*arguments, "--seed", "1", "--concentration", "1"]) == 0
    assert sorted(path.name for path in Path("again").iterdir()) == sorted([*FILES, "mine.txt"])
    assert MAPDP.load("again").random_seed_ == 1


def test_notes_reach_the_person_and_do_not_stop_the_run(here, capsys):
    frame = cohort().assign(stage=2)
    frame["who"] = "Zoë " + frame["who"].astype(str)
    Path("cohort.csv").write_bytes(frame.to_csv(index=False).encode("cp1252"))
    assert main(["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "out", "--restarts", "2"]) == 0
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 2
    assert err[0].startswith("clinclust: note: cohort.csv: the file is not UTF-8")
    assert err[1].startswith("clinclust: note: 1 column cannot inform a clustering: stage")
    assert "Zoë" in Path("out/assignments.csv").read_text(encoding="utf-8")
    assert main(["check", "cohort.csv", "--schema", "schema.yaml", "--encoding", "cp1252"]) == 0
    assert "UTF-8" not in capsys.readouterr().err


def test_a_search_that_did_not_settle_is_not_hidden(here, capsys, monkeypatch):
    monkeypatch.setitem(MAPDP.__init__.__kwdefaults__, "max_sweeps", 1)
    monkeypatch.setitem(MAPDP.__init__.__kwdefaults__, "init", "single")
    assert main(["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "out", "--restarts", "1"]) == 0
    assert "clinclust: note: The best restart was still moving" in capsys.readouterr().err


# --- what it refuses ------------------------------------------------------------------------------------------------

SCHEMA_OPTION = ["--schema", "schema.yaml"]


@pytest.mark.parametrize("command", [["check"], ["fit", "--out", "out"]])
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("missing.yaml", None, "missing.yaml"),
        ("folder", "", "folder"),
        ("bad.yaml", "clinclust: 1\nfeatures: [", "line 3: this is not valid YAML"),
        ("bad.yaml", "", "empty"),
        ("bad.yaml", "clinclust: 1\nfeatures:\n  - {name: x, likelihod: poisson}\n", "likelihood"),
        ("bad.yaml", b"\xff\xfe\x00\x00\x81", ""),
    ],
)
def test_schemas_that_cannot_be_used(command, name, text, said, here, capsys):
    if name == "folder":
        Path(name).mkdir()
    elif text is not None:
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    message = refused(capsys, command[0], "cohort.csv", "--schema", name, *command[1:])
    assert said in message
    assert name in message


def _zip_of_nonsense(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<not closed")
        archive.writestr("[Content_Types].xml", "<not closed")


TABLES = {
    "missing.csv": None,
    "cohor.csv": None,
    "folder.csv": lambda path: path.mkdir(),
    "cohort.docx": lambda path: path.write_text("x"),
    "cohort": lambda path: path.write_text("x"),
    "empty.csv": lambda path: path.write_text(""),
    "header.csv": lambda path: path.write_text("who,age,falls,tremor,stage,crp\n"),
    "ragged.csv": lambda path: path.write_text("who,age,falls,tremor,stage,crp\n1,2,3\n"),
    "quote.csv": lambda path: path.write_text('who,age,falls,tremor,stage,crp\n"a,2,3,no,1,2\n'),
    "binary.csv": lambda path: path.write_bytes(bytes(range(256))),
    "no.xlsx": lambda path: path.write_text("not a workbook"),
    "bad.xlsx": _zip_of_nonsense,
    "no.parquet": lambda path: path.write_text("not a table"),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("command", ["draft", "check", "fit", "assign"])
def test_tables_that_cannot_be_read(command, name, here, fitted, capsys):
    if TABLES[name] is not None:
        TABLES[name](Path(name))
    more = {
        "draft": ["--out", "x.yaml"],
        "check": SCHEMA_OPTION,
        "fit": [*SCHEMA_OPTION, "--out", "out"],
        "assign": ["--model", fitted, "--out", "new.csv"],
    }[command]
    if name == "binary.csv":
        assert main(list(map(str, [command, name, *more]))) == 2
        message = capsys.readouterr().err
        assert name in message
        assert "Traceback" not in message
        return
    message = refused(capsys, command, name, *more)
    assert name in message
    if name == "cohor.csv":
        assert "cohort.csv" in message


def test_every_bad_cell_is_named_with_its_row_in_the_spreadsheet(here, capsys):
    frame = cohort()
    frame.loc[0, "falls"] = "several"
    frame.loc[[5, 6], "stage"] = 7
    frame.loc[39, "tremor"] = "perhaps"
    frame.to_csv("bad.csv", index=False)
    for command in (["check"], ["fit", "--out", "out"]):
        message = refused(capsys, command[0], "bad.csv", *SCHEMA_OPTION, *command[1:])
        assert "3 problems" in message
        for said in ("first: 2) holds 'several'", "first: 7, 8) hold '7'", "first: 41) holds 'perhaps'"):
            assert said in message


def test_empty_rows_are_counted_as_a_spreadsheet_does(here, capsys):
    import openpyxl

    lines = cohort().assign(falls=["several", *[1] * 39]).to_csv(index=False).splitlines()
    Path("gaps.csv").write_text("\n".join(["", lines[0], "", "", *lines[1:20], "", *lines[20:]]), encoding="utf-8")
    workbook = openpyxl.Workbook()
    workbook.active.append([])
    for line in (lines[0], "", "", *lines[1:]):
        workbook.active.append(line.split(","))
    workbook.save("gaps.xlsx")
    for table in ("gaps.csv", "gaps.xlsx"):
        assert "first: 5) holds 'several'" in refused(capsys, "check", table, *SCHEMA_OPTION)


def test_rows_of_a_parquet_file_are_counted_too(here, capsys):
    frame = cohort().drop(columns="who").map(str).set_axis([f"label{i}" for i in range(40)], axis="index")
    frame.iloc[3, 1] = "several"
    frame.to_parquet("bad.parquet")
    Path("schema.yaml").write_text(SCHEMA.replace("  - {name: who, role: id}\n", ""), encoding="utf-8")
    assert "first: 5) holds 'several'" in refused(capsys, "check", "bad.parquet", *SCHEMA_OPTION)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--concentration", "0"], "concentration"),
        (["--concentration", "nan"], "concentration"),
        (["--concentration", "-3", "--restarts", "0", "--seed", "-1"], "random_state"),
        (["--jobs", "0"], "n_jobs"),
        (["--coarsening", "2"], "coarsening"),
        (["--coarsening", "auto", "--select-features"], "cannot be combined"),
        (["--min-size", "0"], "--min-size"),
        (["--significance-level", "1"], "--significance-level"),
        (["--sheet", "one"], "xlsx"),
        (["--encoding", "martian"], "martian"),
        (["--out", "cohort.csv"], "is a file, not a folder"),
        (["--out", "schema.yaml/out"], "schema.yaml/out"),
        (["--out", "/proc/nowhere/out"], "/proc/nowhere/out"),
    ],
)
def test_options_that_cannot_be_used(options, said, here, capsys):
    assert said in refused(capsys, "fit", "cohort.csv", *SCHEMA_OPTION, "--out", "out", *options)


def test_a_cohort_with_nothing_to_cluster_on(here, capsys):
    cohort().assign(falls=1, tremor="no", stage=2, crp="NA").to_csv("flat.csv", index=False)
    assert main(["fit", "flat.csv", *SCHEMA_OPTION, "--out", "out"]) == 2
    (err,) = capsys.readouterr().err.splitlines()
    assert "No feature is left to cluster on" in err
    assert "falls has the same value in every subject observed" in err
    assert "crp has no observed value" in err
    assert not Path("out").exists()


def test_models_that_cannot_be_used(here, fitted, capsys):
    assert "model.json is missing" in refused(capsys, "assign", "cohort.csv", "--model", "nowhere")
    assert "model.json is missing" in refused(capsys, "assign", "cohort.csv", "--model", "cohort.csv")
    damaged = here / "damaged"
    damaged.mkdir()
    for name in ("model.json", "model.npz", "manifest.json"):
        (damaged / name).write_bytes((fitted / name).read_bytes())
    (damaged / "model.npz").write_bytes((fitted / "model.npz").read_bytes()[:-50])
    err = refused(capsys, "assign", "cohort.csv", "--model", damaged, "--out", "new.csv")
    assert "model.npz is not the file that manifest.json lists. It is damaged" in err


def test_peculiar_new_subjects_are_assigned_and_told(here, fitted, capsys):
    frame = cohort().head(8)
    frame.loc[3, "who"] = frame.loc[5, "who"]
    frame.loc[6, "who"] = "NA"
    frame.loc[7] = ""
    frame.to_csv("new.csv", index=False)
    assert main(["assign", "new.csv", "--model", str(fitted), "--out", "assigned.csv"]) == 0
    notes = [line.removeprefix("clinclust: note: new.csv: ") for line in capsys.readouterr().err.splitlines()]
    assert [note.split(" no ")[0].split(" an ")[0] for note in notes] == [
        "2 rows (first: 8, 9) have",
        "2 rows (first: 5, 7) have",
        "1 row (9) has",
    ]
    assert "p005" not in "".join(notes)
    assert len(pd.read_csv("assigned.csv")) == 8


def test_ordinary_new_subjects_give_no_note(here, fitted, capsys):
    assert main(["assign", "cohort.csv", "--model", str(fitted), "--out", "assigned.csv"]) == 0
    cohort().drop(columns="who").to_csv("nameless.csv", index=False)
    assert main(["assign", "nameless.csv", "--model", str(fitted), "--out", "assigned.csv"]) == 0
    assert capsys.readouterr().err == ""


def test_new_subjects_that_do_not_fit(here, fitted, capsys):
    cohort().drop(columns=["crp"]).to_csv("narrow.csv", index=False)
    assert "crp: expected a column" in refused(capsys, "assign", "narrow.csv", "--model", fitted, "--out", "new.csv")
    cohort().assign(tremor="mild").to_csv("other.csv", index=False)
    assert "'mild'" in refused(capsys, "assign", "other.csv", "--model", fitted, "--out", "new.csv")
    assert "is a folder" in refused(capsys, "assign", "cohort.csv", "--model", fitted, "--out", ".")
    message = refused(capsys, "assign", "cohort.csv", "--model", fitted, "--out", "nowhere/new.csv")
    assert "no folder nowhere" in message


def test_nothing_that_may_hold_work_is_written_over(here, fitted, capsys):
    message = refused(capsys, "draft", "cohort.csv", "--out", "schema.yaml")
    assert "may hold your edits" in message
    assert main(["draft", "cohort.csv", "--out", "schema.yaml", "--force"]) == 0
    capsys.readouterr()
    assert Path("schema.yaml").read_text(encoding="utf-8") != SCHEMA
    assert "is the table itself" in refused(capsys, "draft", "cohort.csv", "--out", "./cohort.csv", "--force")
    assert "is the table itself" in refused(capsys, "assign", "cohort.csv", "--model", fitted, "--out", "cohort.csv")


@pytest.mark.parametrize(
    "arguments",
    [[], ["fly"], ["fit"], ["fit", "cohort.csv"], ["check", "x", "--shema", "y"], ["draft", "x", "--sheet"]],
)
def test_commands_that_do_not_exist(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("usage: clinclust")


# --- all or nothing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("failing", ["model", "assignments", "last place"])
def test_a_set_of_files_appears_whole_or_not_at_all(failing, earlier, here, capsys, monkeypatch):
    arguments = ["fit", "cohort.csv", *SCHEMA_OPTION, "--out", "deep/out", "--restarts", "2"]
    if earlier:
        assert main([*arguments, "--seed", "7"]) == 0
        capsys.readouterr()

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    if failing == "model":
        monkeypatch.setattr(MAPDP, "save", full)
    elif failing == "assignments":
        monkeypatch.setattr("clinclust.reporting.assignments.write_assignments", full)
    else:
        replace = Path.replace

        def locked(self, target):
            if Path(target) == Path("deep/out/subtypes.xlsx") and self.parent.name == "new":
                raise PermissionError(13, "the file is open elsewhere")
            return replace(self, target)

        monkeypatch.setattr(Path, "replace", locked)
    message = refused(capsys, *arguments)
    assert "the disk is full" in message or "subtypes.xlsx cannot be written: you have no permission" in message


FIT = ["fit", "cohort.csv", *SCHEMA_OPTION, "--out", "out", "--restarts", "2", "--associations", "none"]


@pytest.mark.parametrize("failing", ["subtypes.xlsx", "subtypes.html"])
def test_a_report_that_fails_costs_neither_the_model_nor_the_other_report(failing, here, capsys, monkeypatch):
    from clinclust.reporting import writing

    assert main([*FIT, "--seed", "7"]) == 0
    capsys.readouterr()
    write = writing.write_findings

    def full(findings, path, *more):
        if path.name == failing:
            raise OSError(28, "No space left on device")
        write(findings, path, *more)

    monkeypatch.setattr(writing, "write_findings", full)
    assert main(FIT) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"clinclust: {failing} was not written: the disk is full; free some space")
    # The report of the earlier run is gone, and not beside the model of this one.
    assert sorted(path.name for path in Path("out").iterdir()) == [name for name in FILES if name != failing]
    assert MAPDP.load("out").random_seed_ == 0
    assert failing not in out


def test_what_was_fitted_is_kept_when_a_name_is_that_of_no_subtype(here, capsys):
    assert main([*FIT, "--name", "7=Rare", "--name", "1=Common"]) == 2
    out, err = capsys.readouterr()
    assert (
        err == "clinclust: --name: there is no subtype 7; they are numbered 1 to 2; the reports leave this name out\n"
    )
    assert "2 subtypes among 40 subjects" in out
    assert sorted(path.name for path in Path("out").iterdir()) == FILES
    page = Path("out/subtypes.html").read_text(encoding="utf-8")
    assert "1 Common" in page
    assert "Rare" not in page


def test_what_was_fitted_is_kept_when_the_cohort_is_too_small_to_share(here, capsys):
    assert main([*FIT, "--suppress", "40"]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("clinclust: subtypes.xlsx and subtypes.html were not written: 40 subjects in subtypes of")
    assert "For sharing" not in out
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "assignments.csv",
        "manifest.json",
        "model.json",
        "model.npz",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--name", "Mild"], "--name takes the number"),
        (["--min-size", "0", "--significance-level", "2", "--suppress", "1", "--name", "x=y"], "--min-size"),
        (["--suppress", "41"], "--suppress 41 withholds everything of 40 subjects"),
    ],
)
def test_what_can_be_known_before_the_fit_does_not_cost_one(options, said, here, capsys, monkeypatch):
    def never(*arguments):
        raise AssertionError("a fit began")

    monkeypatch.setattr(MAPDP, "fit", never)
    message = refused(capsys, *FIT, *options)
    assert said in message
    if "--min-size" in options:
        for other in ("--significance-level must", "--suppress must", "--name takes"):
            assert other in message


# --- a bug is not the fault of the input ------------------------------------------------------------------------------

SECRET = "Zoë-31.12.1950"


def _of_numpy():
    return np.zeros(2) + np.ones(3)  # ValueError


def _of_python():
    return int(SECRET)  # ValueError


def _of_another_package():
    raise ValueError(SECRET)


def _missing_module():
    import nowhere.to.be.found  # noqa: F401


def _caused():
    try:
        return {}[SECRET]
    except KeyError as error:
        raise AssertionError(SECRET) from error


PLANTED = {
    "KeyError": lambda: {}[SECRET],
    "ZeroDivisionError": lambda: 1 / 0,
    "AssertionError": _caused,
    "ValueError": _of_numpy,
    "ValueError ": _of_python,
    "ValueError  ": _of_another_package,
    "UnicodeDecodeError": lambda: b"\xff".decode(),
    "ModuleNotFoundError": _missing_module,
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_bug_is_called_one_and_told_without_values(kind, here, capsys, monkeypatch):
    def planted(*arguments, **options):
        secret = SECRET  # noqa: F841
        return PLANTED[kind]()

    monkeypatch.setattr(FeatureSchema, "validate", planted)
    before = contents()
    assert main(["check", "cohort.csv", *SCHEMA_OPTION]) == 70
    out, err = capsys.readouterr()
    assert out == ""
    assert contents() == before
    assert err.startswith("clinclust: this is a bug in clinclust; your input is not at fault.\nPlease send")
    assert f"\n{kind.strip()}\n" in err
    assert f"clinclust {__version__}, Python " in err
    assert "command: check\n" in err
    assert "  clinclust.cli.check:" in err
    assert "in planted\n" in err
    for value in (SECRET, "secret", "Zoë", "cohort.csv", *map(str, cohort()["who"]), "Traceback", str(here)):
        assert value not in err
    assert main(["--debug", "check", "cohort.csv", *SCHEMA_OPTION]) == 70
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last)")
    assert "this is a bug in clinclust" in err


def test_a_bug_in_a_report_does_not_cost_the_model(here, capsys, monkeypatch):
    monkeypatch.setattr("clinclust.reporting.writing.summary", lambda *arguments: {}["x"])
    assert main([*FIT, "--name", "7=Rare"]) == 70  # the graver of two
    err = capsys.readouterr().err
    assert "clinclust: --name: there is no subtype 7" in err
    assert "clinclust: subtypes.html was not written: this is a bug in clinclust" in err
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "assignments.csv",
        "manifest.json",
        "model.json",
        "model.npz",
    ]


def test_a_bug_on_a_thread_and_bad_input_on_a_thread_are_told_apart(here, capsys, monkeypatch):
    from clinclust.associations import associate

    monkeypatch.setattr(associate._Tests, "row", lambda *arguments: np.zeros(2) + np.ones(3))
    assert main([*FIT[:-1], "refit"]) == 70
    assert "in _side_by_side" in capsys.readouterr().err


def test_bad_input_is_told_with_its_traceback_when_asked_for(here, capsys):
    assert main(["--debug", "check", "missing.csv", *SCHEMA_OPTION]) == 2
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last)")
    assert err.rstrip().splitlines()[-1].startswith("clinclust: there is no file missing.csv")


def test_memory_is_no_bug(here, capsys, monkeypatch):
    def huge(*arguments, **options):
        raise MemoryError("Unable to allocate 4 PiB")

    monkeypatch.setattr(FeatureSchema, "validate", huge)
    assert "there is not enough memory" in refused(capsys, "check", "cohort.csv", *SCHEMA_OPTION)


@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_stops_at_once_and_leaves_nothing(here):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 30)).round(3)).add_prefix("x")
    frame.to_csv("noise.csv", index=False)
    features = "\n".join(f"  - {{name: {name}, likelihood: gaussian}}" for name in frame)
    Path("noise.yaml").write_text(f"clinclust: 1\nfeatures:\n{features}\n", encoding="utf-8")
    command = [sys.executable, "-m", "clinclust.cli", "fit", "noise.csv", "--schema", "noise.yaml", "--out", "out"]
    process = subprocess.Popen([*command, "--restarts", "100000"], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    while not list(Path().glob("out/.clinclust-*")):
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    # Python ends itself by the signal, which shells show as 130 too, when it was caught inside an `exec` of text.
    assert process.returncode in (130, -signal.SIGINT)
    assert (out, err) == (b"", b"clinclust: stopped\n")
    assert not Path("out").exists()


# --- as a process -----------------------------------------------------------------------------------------------------


def test_as_a_process(here):
    done = run("check", "cohort.csv", *SCHEMA_OPTION)
    assert (done.returncode, done.stderr) == (0, "")
    done = run("check", "missing.csv", *SCHEMA_OPTION)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("clinclust: there is no file missing.csv")
    assert run("fit").returncode == 2
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"clinclust {__version__}\n")


@pytest.mark.skipif(os.name == "nt", reason="pipes break differently there")
def test_a_closed_output_is_no_error(here, fitted):
    long = pd.concat([cohort()] * 100, ignore_index=True)
    long.assign(who=long.index).to_csv("long.csv", index=False)
    for arguments in (["assign", "long.csv", "--model", fitted], ["check", "cohort.csv", *SCHEMA_OPTION]):
        reader, writer = os.pipe()
        os.close(reader)
        done = run(*arguments, capture_output=False, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        assert (done.returncode, done.stderr) == (141, "")


def test_help_needs_nothing_heavy():
    code = (
        "import sys\nfrom clinclust.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit as end:\n"
        "    assert end.code == 0\nprint(sorted({'pandas', 'numpy', 'numba', 'pandera', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "clinclust fit cohort.csv" in done.stdout


def test_the_defaults_of_the_command_are_those_of_the_estimator(here):
    assert main(["fit", "cohort.csv", *SCHEMA_OPTION, "--out", "out"]) == 0
    model = MAPDP.load("out")
    expected = {**MAPDP().get_params(), "random_state": 0, "schema": model.schema_}
    assert model.get_params() == expected


def test_the_model_file_says_what_was_run(fitted):
    text = json.loads((fitted / "model.json").read_text(encoding="utf-8"))
    assert text["clinclust_version"] == __version__
    assert text["parameters"]["n_restarts"] == 4
    assert FeatureSchema.from_yaml(text["fit"]["schema_"]) == FeatureSchema.from_yaml(SCHEMA)


# --- the subtype table --------------------------------------------------------------------------------------------


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
    assert set(table["Test"]) == {"Student's t"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--out", "t.pdf"], "not '.pdf'"),
        (["--out", "t.md", "--name", "Mild"], "--name takes the number"),
        (["--out", "t.md", "--name", "7=Mild"], "no 7"),
        (["--out", "t.md", "--between", "1", "9"], "no 9"),
        (["--out", "t.md", "--significance-level", "2"], "between 0 and 1"),
        (["--out", "nowhere/t.docx"], "no folder nowhere"),
        (["--out", "cohort.csv"], "is the table itself"),
    ],
)
def test_a_table_that_cannot_be_made(here, fitted, capsys, more, message):
    assert message in refused(capsys, "table", "cohort.csv", "--model", fitted, *more)


def test_a_table_of_another_cohort(here, fitted, capsys):
    cohort(30).to_csv("cohort.csv", index=False)
    err = refused(capsys, "table", "cohort.csv", "--model", fitted, "--out", "t.docx")
    assert "cohort.csv: the frame has 30 rows, but the model was fitted on 40 subjects" in err


def test_a_table_of_as_many_other_subjects(here, fitted, capsys):
    frame = cohort()
    frame.loc[3, "falls"] += 1
    frame.to_csv("cohort.csv", index=False)
    err = refused(capsys, "table", "cohort.csv", "--model", fitted, "--out", "t.csv")
    assert "cohort.csv: the frame has as many rows" in err
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


# --- what is written over, left behind, and shown ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["draft", "cohort.csv", "--out", ""],
        ["draft", ""],
        ["check", "cohort.csv", "--schema", ""],
        ["assign", "cohort.csv", "--model", " "],
        ["assign", "cohort.csv", "--model", "m", "--out", ""],
        ["fit", "cohort.csv", *SCHEMA_OPTION, "--out", ""],
        ["table", "cohort.csv", "--model", "m", "--out", ""],
    ],
)
def test_an_empty_name_is_not_this_folder(here, capsys, arguments):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "the name is empty" in capsys.readouterr().err
    assert sorted(contents()) == ["cohort.csv", "schema.yaml"]


def test_no_command_replaces_what_it_reads(here, fitted, capsys):
    Path("out").mkdir()
    Path("cohort.csv").rename("out/assignments.csv")
    Path("schema.yaml").rename("out/model.json")
    message = refused(capsys, "fit", "out/assignments.csv", "--schema", "out/model.json", "--out", "out")
    assert "assignments.csv, which is the table itself" in message
    assert "model.json, which is the schema itself" in message
    message = refused(capsys, "assign", "out/assignments.csv", "--model", fitted, "--out", f"{fitted}/assignments.csv")
    assert "which is a file of the model" in message
    assert "ends in .csv or .txt" in refused(capsys, "assign", "x.csv", "--model", fitted, "--out", "schema.yaml")
    assert "ends in .yaml or .yml" in refused(capsys, "draft", "x.csv", "--force", "--out", "out/model.json")


def test_the_manifest_lists_the_files_of_the_fit(fitted):
    sha256s = read_manifest(fitted)
    assert sorted([*sha256s, "manifest.json"]) == FILES
    assert changed_files(fitted, sha256s) == []


def test_a_fit_that_died_while_it_moved_its_files_is_finished_by_the_next_command(here, fitted, capsys):
    shutil.copytree(fitted, "old")
    child = os.fork()
    if child == 0:
        replace = os.replace

        def dies(source, target):
            if Path(target).name == "model.npz" and Path(target).parent == Path("old"):
                os._exit(9)
            replace(source, target)

        os.replace = dies
        with write_together("old", replacing=FILES, last="manifest.json") as folder:
            MAPDP.load(fitted).save(folder)
            write_manifest(folder, ["model.json", "model.npz"])
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert main(["assign", "cohort.csv", "--model", "old", "--out", "new.csv"]) == 0
    assert "clinclust: note: old: the files that an interrupted run had begun to move" in capsys.readouterr().err
    assert sorted(path.name for path in Path("old").iterdir()) == ["manifest.json", "model.json", "model.npz"]


def test_the_temporary_files_of_a_workbook_stay_beside_it(here, fitted, monkeypatch):
    """A kill leaves them where the next run looks, and nothing of patients in the folder for temporary files."""
    Path("temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(here / "temporary"))
    monkeypatch.setattr("openpyxl.writer.excel.ExcelWriter.save", lambda self: os._exit(9))
    child = os.fork()
    if child == 0:
        main(["table", "cohort.csv", "--model", str(fitted), "--out", "t.xlsx"])
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert list(Path("temporary").iterdir()) == []
    (left,) = Path().glob(".clinclust-scratch-*")
    assert len(list(left.rglob("sheet *.xml"))) == 1


def test_no_name_forges_a_line(here, capsys):
    assert main(["check", "a\nclinclust: note: forged.csv", *SCHEMA_OPTION]) == 2
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("clinclust: note")] == []
    with pytest.raises(SystemExit):
        main(["check", "cohort.csv", "--a\nclinclust: note: forged"])
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("clinclust: note")] == []


# --- check and fit ---------------------------------------------------------------------------------------------------

NOTHING_TO_FIND = {
    "all constant": {"falls": 3, "tremor": "no", "stage": 1, "crp": 2.5},
    "all missing": dict.fromkeys(("falls", "tremor", "stage", "crp"), "NA"),
    "one value each": {"falls": ["", *["2"] * 39], "tremor": "yes", "stage": "", "crp": "NA"},
}


def both_say(capsys, *more):
    """Return the exit code and the text of `check` and `fit`, which must agree."""
    verdicts = []
    for command in (["check"], ["fit", "--out", "out", "--restarts", "1", "--seed", "0"]):
        code = main([command[0], "cohort.csv", "--schema", "schema.yaml", *command[1:], *more])
        verdicts.append((code, capsys.readouterr().err))
    assert verdicts[0] == verdicts[1]
    return verdicts[0]


@pytest.mark.parametrize("what", NOTHING_TO_FIND)
def test_check_refuses_what_fit_refuses(here, capsys, what):
    cohort().assign(**NOTHING_TO_FIND[what]).to_csv("cohort.csv", index=False)
    code, said = both_say(capsys)
    assert code == 2
    assert "No feature is left to cluster on" in said
    assert not Path("out").exists()


def test_check_refuses_one_subject_and_a_schema_without_features_to_cluster_on(here, capsys):
    cohort().head(1).to_csv("cohort.csv", index=False)
    code, said = both_say(capsys)
    assert (code, "one subject" in said) == (2, True)
    cohort().to_csv("cohort.csv", index=False)
    Path("schema.yaml").write_text(
        "clinclust: 1\nother_columns: ignore\nfeatures:\n  - {name: who, role: id}\n", encoding="utf-8"
    )
    code, said = both_say(capsys)
    assert code == 2
    assert "the schema has none with role cluster" in said


def test_check_tells_what_the_fit_will_need(here, capsys, monkeypatch):
    monkeypatch.setattr("clinclust.estimators.cost.machine_memory", lambda: 1e4)
    code, said = both_say(capsys)
    assert code == 2
    assert "memory" in said
