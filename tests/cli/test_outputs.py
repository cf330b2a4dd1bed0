"""What commands write: whole or not at all, nothing over what they read, and nothing else without --overwrite."""

import os
import shlex
import shutil
import signal
from contextlib import chdir
from pathlib import Path

import pytest
from command_line import (
    ARGUMENTS,
    FILES,
    FILES_OF_A_MODEL,
    FIT,
    QUICK,
    REPORTS,
    SEED,
    exit_code,
    fail_with,
    names_in,
    refused_lines,
    replace_in_commands,
)
from scored import scored

from clinclust import MAPDP
from clinclust.cli import main
from clinclust.files.writing import changed_files, read_manifest
from clinclust.methods import PublishedMAPDP
from clinclust.reporting import report

WRITING = ["draft", "fit", "report", "table", "assign"]


# --- the place --------------------------------------------------------------------------------------------------------
@pytest.fixture
def odd_places(fit):
    """Have a copy of the fit and of the table, links to the table, pipes, and a link to itself."""
    shutil.copytree("out", "other")
    shutil.copy("cohort.csv", "old.csv")
    for suffix in ("yaml", "xlsx", "csv"):
        Path(f"link.{suffix}").symlink_to("cohort.csv")
    for suffix in ("yaml", "docx"):
        os.mkfifo(f"pipe.{suffix}")
    Path("loop").symlink_to("loop")


@scored(refused_lines("places").items())
def test_places_that_cannot_be_written(line, words, odd_places, must_refuse):
    must_refuse(line, naming=words)


@pytest.mark.parametrize("command", WRITING)
def test_what_exists_is_replaced_on_request_only(fit, run, must_refuse, command):
    run(ARGUMENTS[command])
    assert "--overwrite" in must_refuse(ARGUMENTS[command])
    run(f"{ARGUMENTS[command]} --overwrite")


@scored(FILES)
def test_a_folder_that_holds_any_file_of_a_fit_is_spared(name, here, must_refuse):
    shutil.rmtree("out", ignore_errors=True)
    Path("out").mkdir()
    Path("out", name).write_text("mine", encoding="utf-8")
    must_refuse(FIT, naming=f"({name}) --overwrite")


@scored(["subtypes.xlsx", "assignments.csv"])
def test_a_folder_in_the_place_of_a_file_is_never_replaced(name, here, run):
    Path("out", name).mkdir(parents=True, exist_ok=True)
    Path("out", name, "keep").write_text("mine", encoding="utf-8")
    assert name in run(FIT, code=2).err
    assert Path("out", name, "keep").read_text(encoding="utf-8") == "mine"
    shutil.rmtree("out")


def test_other_files_of_a_folder_stay_and_are_told(fit, run):
    Path("out", "mine.txt").write_text("mine", encoding="utf-8")
    (note,) = run(f"{FIT} --overwrite {SEED} 1 --concentration 1").err.notes
    assert note.endswith("mine.txt")
    assert names_in("out") == sorted([*FILES, "mine.txt"])
    assert Path("out", "mine.txt").read_text(encoding="utf-8") == "mine"
    assert MAPDP.load("out").random_seed_ == 1


@pytest.mark.parametrize("command", WRITING)
def test_a_file_that_another_program_holds_is_refused_before_the_work(fit, must_refuse, monkeypatch, command):
    """As a workbook that is open in a spreadsheet program: nobody waits for a search that could not be written."""
    line = f"{ARGUMENTS[command]} --overwrite"
    if command == "report":
        line = line.replace(" --out new", "")
    place = {"fit": "new/subtypes.xlsx", "report": "out/subtypes.xlsx", "draft": "new.yaml", "table": "new.docx"}
    place = Path(place.get(command, "new.csv"))
    place.parent.mkdir(exist_ok=True)
    place.touch()
    opening = Path.open

    def hold(self, mode="r", *more, **options):
        if self == place and mode != "rb":
            raise PermissionError(13, "Permission denied", str(self))
        return opening(self, mode, *more, **options)

    monkeypatch.setattr(Path, "open", hold)
    monkeypatch.setattr(MAPDP, "fit_prepared", None)
    replace_in_commands(monkeypatch, "gather_findings", None)
    must_refuse(line, naming=f"{place} protected")


# --- whole or not at all ----------------------------------------------------------------------------------------------
def lock(monkeypatch, place):
    """Let no file be put in a place, as where another program holds it open."""
    replace = Path.replace

    def locked(self, target):
        if Path(target) == place and self.parent.suffix == ".partial":
            raise PermissionError(13, "the file is open elsewhere")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", locked)


@pytest.mark.parametrize("earlier", [False, pytest.param(True, marks=pytest.mark.simulation)])
@pytest.mark.parametrize("failing", ["model", "assignments", "place"])
def test_a_set_of_files_appears_whole_or_not_at_all(failing, earlier, here, run, must_refuse, monkeypatch):
    fit = f"fit cohort.csv --schema schema.yaml --out deep/out {QUICK} --overwrite"
    if earlier:
        run(f"{fit} {SEED} 7")
    if failing == "model":
        monkeypatch.setattr(MAPDP, "save", fail_with(OSError(28, "no space left")))
    elif failing == "assignments":
        replace_in_commands(monkeypatch, "write_inert_csv", fail_with(OSError(28, "no space left")))
    else:
        lock(monkeypatch, Path("deep/out/model.npz"))
    assert ("model.npz" if failing == "place" else "disk") in must_refuse(fit)


def test_a_report_that_cannot_be_put_in_its_place_does_not_cost_the_model(here, run, monkeypatch, whole_reports):
    lock(monkeypatch, Path("out/subtypes.xlsx"))
    (message,) = run(FIT, code=3).err.splitlines()
    assert all(name in message for name in REPORTS)
    assert_is_whole(FILES_OF_A_MODEL)


def assert_is_whole(names):
    listed = read_manifest(Path("out"))
    assert names_in("out") == sorted(names) == sorted([*listed, "manifest.json"])
    assert changed_files(Path("out"), listed) == []
    MAPDP.load("out")


def failing_for(name):
    write = report.write_findings

    def fail(findings, path, *more, **options):
        if path.name == name:
            fail_with(OSError(28, "no space left"))()
        write(findings, path, *more, **options)

    return fail


@pytest.mark.parametrize("failing", ["subtypes.xlsx", "subtypes.html"])
def test_all_reports_appear_or_none(fit, must_refuse, monkeypatch, failing, whole_reports):
    replace_in_commands(monkeypatch, "write_findings", failing_for(failing))
    for more in ("--overwrite", "--out new"):
        assert "disk" in must_refuse(f"report cohort.csv --model out --associations none {more}")


@pytest.mark.simulation
def test_a_fit_that_replaced_the_model_meanwhile_is_not_given_foreign_reports(fit, run, monkeypatch, whole_reports):
    write = report.write_findings

    def meanwhile(findings, path, *more, **options):
        write(findings, path, *more, **options)
        if path.name == "subtypes.html":
            PublishedMAPDP(findings.cohort.schema, random_state=5, n_restarts=1).fit(findings.cohort.table).save("out")

    replace_in_commands(monkeypatch, "write_findings", meanwhile)
    (message,) = run("report cohort.csv --model out --overwrite --associations none", code=2).err.splitlines()
    assert message.startswith("clinclust: out ")
    assert MAPDP.load("out").random_seed_ == 5


REPORT_OPTIONS = "--name '1=Mild = slow' --suppress 5 --min-size 4 --significance-level 0.2"


@pytest.fixture(scope="module")
def whole(fitted, tmp_path_factory):
    """Return the folder of the fit that the next test interrupts, and finishes."""
    out = tmp_path_factory.mktemp("whole")
    with chdir(fitted.parent):
        assert exit_code(f"fit cohort.csv --schema schema.yaml {QUICK} {REPORT_OPTIONS} --out", out) == 0
    return out


@pytest.mark.simulation
@pytest.mark.parametrize("command", ["fit", "start"])
@pytest.mark.parametrize("stage", ["gather_findings", "write_findings"])
def test_ctrl_c_in_the_reports_does_not_cost_the_search(command, stage, whole, here, run, monkeypatch, whole_reports):
    shutil.copy("schema.yaml", "cohort.yaml")
    line = {"fit": FIT, "start": f"start cohort.csv --out out {QUICK} --yes"}[command]

    with monkeypatch.context() as patched:
        replace_in_commands(patched, stage, fail_with(KeyboardInterrupt()))
        message, last = run(f"{line} {REPORT_OPTIONS}", code=130).err.splitlines()
    assert last == "clinclust: stopped"
    more = ["sharing.json", *["schema.xlsx"] * (command == "start")]
    assert_is_whole([*FILES_OF_A_MODEL, *more])
    assert message.startswith("clinclust: ")
    (again,) = message.commands
    run(again)
    assert names_in("out") == sorted([*FILES, *more])
    for name in (*REPORTS, "model.npz", "assignments.csv"):
        assert Path("out", name).read_bytes() == (whole / name).read_bytes(), name


@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_while_the_model_is_written_waits_until_it_is_there(here, run, monkeypatch):
    save = MAPDP.save

    def press(self, folder):
        signal.raise_signal(signal.SIGINT)
        return save(self, folder)

    monkeypatch.setattr(MAPDP, "save", press)
    (again,) = run(FIT, code=130).err.commands
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert again.startswith("report cohort.csv ")
    assert_is_whole(FILES_OF_A_MODEL)


def test_the_temporary_files_of_a_workbook_stay_beside_it(fit, monkeypatch):
    """A kill leaves them where the next run looks, and nothing of patients in the folder for temporary files."""
    Path("temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(Path("temporary").absolute()))
    monkeypatch.setattr("openpyxl.writer.excel.ExcelWriter.save", lambda self: os._exit(9))
    child = os.fork()
    if child == 0:
        main(shlex.split("table cohort.csv --model out --out t.xlsx"))
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert names_in("temporary") == []
    (left,) = Path().glob(".clinclust-*.partial")
    assert {"workbook.zip"} < {path.name for path in left.iterdir()}


# --- what is fitted is kept where a report cannot be made -------------------------------------------------------------
def test_a_name_of_no_subtype_is_left_out_of_the_reports(here, run, whole_reports):
    (message,) = run(f"{FIT} --name 7=Rare --name 1=Common", code=3).err.splitlines()
    assert message.startswith("clinclust: --name: ")
    assert_is_whole(FILES)
    page = Path("out/subtypes.html").read_text(encoding="utf-8")
    assert "1 Common" in page
    assert "Rare" not in page
