"""What may be written over, what is left behind, and what is shown."""

import os
import shutil
from pathlib import Path

import pytest
from command_line import FILES, FIT, QUICK, SCHEMA_OPTION, contents, refused

from clinclust import MAPDP
from clinclust.cli import main
from clinclust.files.writing import changed_files, read_manifest, write_together


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
    assert "ends in .yaml or .yml" in refused(capsys, "draft", "x.csv", "--overwrite", "--out", "out/model.json")


OUTPUTS = {
    "draft": ["--out", "there.yaml"],
    "fit": [*SCHEMA_OPTION, "--out", "there", *QUICK],
    "report": ["--model", "model", "--out", "there", "--associations", "none"],
    "table": ["--model", "model", "--out", "there.md"],
    "assign": ["--model", "model", "--out", "there.csv"],
}


@pytest.mark.parametrize("command", OUTPUTS)
def test_what_exists_is_replaced_on_request_only(here, fitted, capsys, command):
    shutil.copytree(fitted, "model")
    arguments = [command, "cohort.csv", *OUTPUTS[command]]
    assert main(arguments) == 0
    capsys.readouterr()
    assert "give --overwrite to replace it, or another" in refused(capsys, *arguments)
    assert main([*arguments, "--overwrite"]) == 0


@pytest.mark.parametrize("name", FILES)
def test_a_folder_that_holds_any_file_of_a_fit_is_spared(here, capsys, name):
    Path("out").mkdir()
    Path("out", name).write_text("mine", encoding="utf-8")
    assert f"out holds what an earlier run wrote ({name}); give --overwrite" in refused(capsys, *FIT)


def test_other_files_of_a_folder_stay_and_are_told(here, capsys):
    Path("out").mkdir()
    Path("out", "notes.txt").write_text("mine", encoding="utf-8")
    assert main(FIT) == 0
    assert "note: out holds other files too, which stay as they are: notes.txt" in capsys.readouterr().err
    assert Path("out", "notes.txt").read_text(encoding="utf-8") == "mine"


def test_the_manifest_lists_the_files_of_the_fit(fitted):
    sha256s = read_manifest(fitted)
    assert sorted([*sha256s, "manifest.json"]) == FILES
    assert changed_files(fitted, sha256s) == []


@pytest.mark.parametrize("lost", ["model.json", "model.npz"])
def test_a_model_of_a_fit_that_died_while_it_moved_its_files_is_refused_until_it_is_written_again(
    here, fitted, capsys, lost
):
    shutil.copytree(fitted, "old")
    child = os.fork()
    if child == 0:
        replace = os.replace

        def dies(source, target):
            if Path(target) == Path("old", lost):
                os._exit(9)
            replace(source, target)

        os.replace = dies
        with write_together("old", replacing=FILES, last="manifest.json") as folder:
            MAPDP.load(fitted).set_params(n_restarts=3).save(folder)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    message = refused(capsys, "assign", "cohort.csv", "--model", "old", "--out", "new.csv")
    assert f"old holds no saved model: {lost} is missing; copy the whole folder again, or fit the model" in message
    shutil.copy(fitted / lost, "old")
    if lost == "model.npz":
        message = refused(capsys, "assign", "cohort.csv", "--model", "old", "--out", "new.csv")
        assert "an interrupted run or copy mixed two models" in message
    assert main([*FIT[:4], "--out", "old", *FIT[6:], "--overwrite"]) == 0
    assert main(["assign", "cohort.csv", "--model", "old", "--out", "new.csv"]) == 0


@pytest.mark.parametrize("command", ["fit", "report", "table", "assign", "draft"])
def test_a_file_that_another_program_holds_is_refused_before_the_work(here, fitted, capsys, monkeypatch, command):
    """As a workbook that is open in a spreadsheet program: nobody waits for a search that could not be written."""
    shutil.copytree(fitted, "model")
    shutil.copytree(fitted, "there")
    arguments = [command, "cohort.csv", *OUTPUTS[command], "--overwrite"]
    if command == "report":
        arguments = [command, "cohort.csv", "--model", "model", "--associations", "none", "--overwrite"]
    place = {"fit": "there/subtypes.xlsx", "report": "model/subtypes.xlsx"}.get(command, OUTPUTS[command][-1])
    Path(place).touch()
    before, opening = contents(), Path.open

    def held(self, mode="r", *more, **options):
        if self == Path(place) and mode != "rb":
            raise PermissionError(13, "Permission denied", str(self))
        return opening(self, mode, *more, **options)

    def never(*arguments, **options):
        raise AssertionError("the work began")

    monkeypatch.setattr(Path, "open", held)
    monkeypatch.setattr(MAPDP, "fit", never)
    monkeypatch.setattr("clinclust.reporting.writing.gather_findings", never)
    assert f"{place} is protected from writing, or another program has it open" in refused(capsys, *arguments)
    assert contents() == before


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
    (left,) = Path().glob(".clinclust-*.partial")
    assert {path.name for path in left.rglob("*.xml")} == {"sheet 1.xml", "sheet 2.xml"}


def test_no_name_forges_a_line(here, capsys):
    assert main(["check", "a\nclinclust: note: forged.csv", *SCHEMA_OPTION]) == 2
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("clinclust: note")] == []
    with pytest.raises(SystemExit):
        main(["check", "cohort.csv", "--a\nclinclust: note: forged"])
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("clinclust: note")] == []
