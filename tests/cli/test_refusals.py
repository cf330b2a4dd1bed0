"""One plain sentence about anything wrong with what a command was given."""

import zipfile
from pathlib import Path

import pandas as pd
import pytest
from command_line import SCHEMA, SCHEMA_OPTION, cohort, refused
from scored import scored

from clinclust.cli import main


@scored([["check"], ["fit", "--out", "out"]])
@scored(
    [
        ("missing.yaml", None, "missing.yaml"),
        ("folder", "", "folder"),
        ("bad.yaml", "clinclust: 1\nfeatures: [", "line 2: the [ that opens here is not closed"),
        ("bad.yaml", "", "empty"),
        ("bad.yaml", "clinclust: 1\nfeatures:\n  - {name: x, likelihod: poisson}\n", "likelihood"),
        ("bad.yaml", b"\xff\xfe\x00\x00\x81", ""),
    ],
)
def test_schemas_that_cannot_be_used(command, name, text, said, here, capsys):
    if name == "folder":
        Path(name).mkdir(exist_ok=True)
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


def _clear(path):
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)


@pytest.mark.parametrize("command", ["draft", "check", "fit", "assign"])
@scored(TABLES)
def test_tables_that_cannot_be_read(name, command, here, fitted, capsys):
    for other in TABLES:  # a name that is nearly that of another table is told with it
        _clear(Path(other))
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


@scored(
    [
        (["--concentration", "0"], "concentration"),
        (["--concentration", "nan"], "concentration"),
        (["--concentration", "-3", "--n-restarts", "0", "--random-state", "-1"], "--seed must be"),
        (["--n-jobs", "0"], "--n-jobs must be a whole number of at least 1, not 0"),
        (["--coarsening", "2"], "coarsening"),
        (["--coarsening", "auto", "--select-features"], "--coarsening auto and --select-features cannot be combined"),
        (["--min-size", "0"], "--min-size"),
        (["--significance-level", "1"], "--significance-level"),
        (["--sheet", "one"], "makes sense for a workbook only"),
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
    frame.loc[7] = ["NA", *[""] * 5]
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
    cohort().head(30).to_csv("new.csv", index=False)
    assert main(["assign", "new.csv", "--model", str(fitted), "--out", "assigned.csv"]) == 0
    cohort().drop(columns="who").to_csv("nameless.csv", index=False)
    assert main(["assign", "nameless.csv", "--model", str(fitted), "--out", "nameless_assigned.csv"]) == 0
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
    assert main(["draft", "cohort.csv", "--out", "schema.yaml", "--overwrite"]) == 0
    capsys.readouterr()
    assert Path("schema.yaml").read_text(encoding="utf-8") != SCHEMA
    assert "is the table itself" in refused(capsys, "draft", "cohort.csv", "--out", "./cohort.csv", "--overwrite")
    assert "is the table itself" in refused(capsys, "assign", "cohort.csv", "--model", fitted, "--out", "cohort.csv")


@scored(
    [["fit"], ["fit", "cohort.csv"], ["draft", "x", "--sheet"], ["draft", "x", "--she", "y"]],
)
def test_arguments_that_are_missing_or_unknown(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("clinclust: ")
    assert second == f"  `clinclust {arguments[0]} --help` shows how the command is used"


@scored([["--stability", "5"], ["--posterior"], ["--other-methods"]])
def test_what_a_shared_report_has_nothing_of(asked, here, capsys):
    message = refused(capsys, "fit", "cohort.csv", *SCHEMA_OPTION, "--out", "out", "--suppress", *asked)
    assert f"{asked[0]} cannot be used with --suppress: a shared report has nothing of it" in message
