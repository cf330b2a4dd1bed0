"""The files of a fit appear whole or not at all; one that fails does not cost the others."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import FILES, FIT, QUICK, SCHEMA_OPTION, refused

from clinclust import MAPDP
from clinclust.cli import main
from clinclust.files.writing import PRIVATE_FOLDER, changed_files, read_manifest

FILES_OF_A_MODEL = ["assignments.csv", "manifest.json", "model.json", "model.npz"]


@pytest.mark.parametrize("earlier", [False, pytest.param(True, marks=pytest.mark.simulation)])
@pytest.mark.parametrize("failing", ["model", "assignments", "last place"])
def test_a_set_of_files_appears_whole_or_not_at_all(failing, earlier, here, capsys, monkeypatch):
    arguments = ["fit", "cohort.csv", *SCHEMA_OPTION, "--out", "deep/out", *QUICK, "--overwrite"]
    if earlier:
        assert main([*arguments, "--seed", "7"]) == 0
        capsys.readouterr()

    if failing == "model":
        monkeypatch.setattr(MAPDP, "save", _full)
    elif failing == "assignments":
        monkeypatch.setattr("clinclust.reporting.assignments.write_inert_csv", _full)
    else:
        _lock(monkeypatch, Path("deep/out/model.npz"))
    message = refused(capsys, *arguments)
    assert "the disk is full" in message or "model.npz cannot be written: you have no permission" in message


def _full(*arguments, **options):
    raise OSError(28, "No space left on device")


def _lock(monkeypatch, place):
    """Let no file be put in a place, as where another program holds it open."""
    replace = Path.replace

    def locked(self, target):
        if Path(target) == place and self.parent.suffix == ".partial":
            raise PermissionError(13, "the file is open elsewhere")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", locked)


def test_a_report_that_cannot_be_put_in_its_place_does_not_cost_the_model(here, capsys, monkeypatch):
    _lock(monkeypatch, Path("out/subtypes.xlsx"))
    assert main(FIT) == 3
    err = capsys.readouterr().err
    assert err.startswith("clinclust: subtypes.xlsx, subtypes.html and subtypes.json were not written: out/subtypes")
    assert sorted(path.name for path in Path("out").iterdir()) == FILES_OF_A_MODEL
    assert changed_files(Path("out"), read_manifest(Path("out"))) == []
    MAPDP.load("out")


OPTIONS = ["--jobs", "1", "--name", "1=Mild = slow", "--suppress", "5", "--min-size", "4"]


@pytest.mark.parametrize("command", ["fit", pytest.param("start", marks=pytest.mark.simulation)])
@pytest.mark.parametrize("stage", ["writing.gather_findings", "writing.write_findings"])
def test_ctrl_c_in_the_reports_does_not_cost_the_search(command, stage, here, capsys, monkeypatch):
    arguments = {"fit": FIT, "start": ["start", "cohort.csv", *FIT[4:], "--yes"]}[command]
    Path("cohort.yaml").write_text(Path("schema.yaml").read_text(encoding="utf-8"), encoding="utf-8")

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(f"clinclust.reporting.{stage}", interrupted)
        assert main([*arguments, *OPTIONS]) == 130
    told, last = capsys.readouterr().err.splitlines()
    assert last == "clinclust: stopped"
    assert sorted(path.name for path in Path("out").iterdir()) == [*FILES_OF_A_MODEL, "sharing.json"]
    assert changed_files(Path("out"), read_manifest(Path("out"))) == []
    said, _, again = told.partition("make the reports with: ")
    assert said == "clinclust: the search had ended: out is whole, with the model in it; "
    assert main(shlex.split(again)[1:]) == 0
    assert main([*FIT[:4], "--out", "whole", *FIT[6:], *OPTIONS]) == 0
    assert sorted(path.name for path in Path("out").iterdir()) == sorted([*FILES, "sharing.json"])
    for name in ("subtypes.xlsx", "subtypes.html", "subtypes.json", "model.npz", "assignments.csv"):
        assert Path("out", name).read_bytes() == Path("whole", name).read_bytes(), name


def test_ctrl_c_while_the_model_is_written_waits_until_it_is_there(here, capsys, monkeypatch):
    save = MAPDP.save

    def pressed(self, folder):
        signal.raise_signal(signal.SIGINT)
        return save(self, folder)

    monkeypatch.setattr(MAPDP, "save", pressed)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(FIT) == 130
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert "the search had ended: out is whole, with the model in it" in capsys.readouterr().err
    assert sorted(path.name for path in Path("out").iterdir()) == FILES_OF_A_MODEL


@pytest.mark.skipif(os.name == "nt", reason="no process kills itself like this there")
def test_a_process_that_dies_in_the_reports_leaves_the_model(here):
    code = (
        "import os, sys\nfrom clinclust.reporting import writing\n"
        "writing.write_findings = lambda *arguments, **options: os.kill(os.getpid(), 9)\n"
        "from clinclust.cli import main\nmain(sys.argv[1:])"
    )
    done = subprocess.run([sys.executable, "-c", code, *FIT], check=False, capture_output=True, timeout=300)
    assert done.returncode == -9
    assert changed_files(Path("out"), read_manifest(Path("out"))) == []
    assert main(["report", "cohort.csv", "--model", "out", "--associations", "none"]) == 0
    private, *whole = sorted(path.name for path in Path("out").iterdir())
    assert PRIVATE_FOLDER.fullmatch(private)  # it goes when it is a week old
    assert whole == FILES


@pytest.mark.parametrize("failing", ["subtypes.xlsx", "subtypes.html"])
def test_a_report_that_fails_costs_neither_the_model_nor_the_other_report(failing, here, capsys, monkeypatch):
    from clinclust.reporting import writing

    assert main([*FIT, "--seed", "7"]) == 0
    capsys.readouterr()
    write = writing.write_findings

    def full(findings, path, *more, **options):
        if path.name == failing:
            raise OSError(28, "No space left on device")
        write(findings, path, *more, **options)

    monkeypatch.setattr(writing, "write_findings", full)
    assert main([*FIT, "--overwrite"]) == 3
    out, err = capsys.readouterr()
    assert err.startswith(f"clinclust: {failing} was not written: the disk is full; free some space")
    # The report of the earlier run is gone, and not beside the model of this one.
    assert sorted(path.name for path in Path("out").iterdir()) == [name for name in FILES if name != failing]
    assert MAPDP.load("out").random_seed_ == 0
    assert failing not in out


def test_what_was_fitted_is_kept_when_a_name_is_that_of_no_subtype(here, capsys):
    assert main([*FIT, "--name", "7=Rare", "--name", "1=Common"]) == 3
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
    assert main([*FIT, "--suppress", "40"]) == 3
    out, err = capsys.readouterr()
    assert err.startswith("clinclust: subtypes.xlsx, subtypes.html and subtypes.json were not written: 40 subjects")
    assert "For sharing" not in out
    assert sorted(path.name for path in Path("out").iterdir()) == [*FILES_OF_A_MODEL, "sharing.json"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--name", "Mild"], "--name takes the number"),
        (["--min-size", "0", "--significance-level", "2", "--suppress", "1", "--name", "x=y"], "--min-size"),
        (["--round-to", "5", "--min-n", "9"], "--round-to, --min-n can be used only together with --suppress"),
        (["--missing-is-harmless"], "--missing-is-harmless can be used only together with --suppress"),
        (["--suppress", "9", "--round-to", "2"], "--round-to must be at least 3, not 2"),
        (["--suppress", "9", "--min-n", "8"], "--min-n must be at least --suppress, 9, not 8"),
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
