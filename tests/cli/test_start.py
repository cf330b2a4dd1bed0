"""`clinclust start`: from a table to the report, with a pause for a person, and without leaving anything half done."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import FILES, QUICK, SCHEMA, cohort, contents, refused

from clinclust import MAPDP, FeatureSchema
from clinclust.cli import main

START = ["start", "cohort.csv", *QUICK]


def test_one_line_is_enough(here, capsys):
    cohort().assign(born="1950-01-02").to_csv("cohort.csv", index=False)
    assert main(["start", "cohort.csv"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert sorted(FeatureSchema.from_yaml(here / "cohort.yaml").names) == sorted((*cohort(), "born"))
    assert sorted(path.name for path in Path("cohort-subtypes").iterdir()) == FILES
    lines = out.splitlines()
    assert lines[0].startswith("Wrote cohort.yaml: what each of the 7 columns seems to be")
    assert "Not used to form subtypes: born (ignore). Use one with --cluster NAME." in " ".join(lines)
    assert "next: clinclust table cohort.csv --model cohort-subtypes --out table.xlsx" in lines
    assert lines[-1] == f"The report is {Path('cohort-subtypes/subtypes.html')}; open it in a browser."


def test_a_schema_beside_the_table_is_used_and_kept(here, capsys):
    Path("cohort.yaml").write_text(SCHEMA, encoding="utf-8")
    assert main([*START, "--out", "here", "--suppress"]) == 0
    assert "Using cohort.yaml, which is next to the table" in capsys.readouterr().out
    assert Path("cohort.yaml").read_text(encoding="utf-8") == SCHEMA
    assert MAPDP.load("here").schema_ == FeatureSchema.from_yaml(SCHEMA)
    assert "counts below 10" in Path("here/subtypes.html").read_text(encoding="utf-8")


def test_results_are_those_of_fit_with_the_same_options(here):
    Path("cohort.yaml").write_text(SCHEMA, encoding="utf-8")
    assert main([*START, "--random-state", "3"]) == 0
    assert main(["fit", *START[1:], "--random-state", "3", "--schema", "schema.yaml", "--out", "out"]) == 0
    for name in ("assignments.csv", "model.npz"):
        assert Path("out", name).read_bytes() == Path("cohort-subtypes", name).read_bytes()


@pytest.mark.simulation
def test_the_time_is_that_of_the_options_given(here, capsys):
    assert main([*START, "--max-seconds", "0.001", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert main([*START, "--out", "plain"]) == 0
    assert "With these options, a fit and its report take about" in capsys.readouterr().out
    recommended = [option for option in START if option != "--as-published"]
    assert main([*recommended, "--out", "limited", "--max-seconds", "0.01"]) == 0
    out = capsys.readouterr().out
    assert "the search ends after at most 0.01 seconds, and the test of the subtypes and the report take about" in out


def test_nothing_is_replaced(here, capsys):
    assert main(START) == 0
    capsys.readouterr()
    message = refused(capsys, *START)
    assert "cohort-subtypes holds what an earlier run wrote" in message
    assert "start replaces nothing; give another folder after --out" in message


def test_a_schema_that_does_not_fit_is_told_before_anything_is_searched(here, capsys):
    Path("cohort.yaml").write_text(SCHEMA.replace("trials: 4", "trials: 2"), encoding="utf-8")
    assert main(START) == 2
    assert "stage: expected" in capsys.readouterr().err
    assert sorted(contents()) == ["cohort.csv", "cohort.yaml", "schema.yaml"]


STAGES = {
    "reading": ("clinclust.files.tables.read_delimited", []),
    "drafting": ("clinclust.drafting.draft_schema", []),
    "checking": ("clinclust.estimators.preparation.prepared", ["cohort.yaml"]),
    "searching": ("clinclust.MAPDP.fit_prepared", ["cohort.yaml"]),
    "saving": ("clinclust.MAPDP.save", ["cohort.yaml"]),
}


@pytest.mark.parametrize(
    "stage",
    [pytest.param(stage, marks=[pytest.mark.simulation] * (stage in {"reading", "checking"})) for stage in STAGES],
)
def test_ctrl_c_leaves_whole_files_and_says_which(here, capsys, monkeypatch, stage):
    where, left = STAGES[stage]

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(where, interrupted)
        assert main(START) == 130
    first, last = capsys.readouterr().err.splitlines()
    again = "go on with: clinclust start cohort.csv --as-published --n-restarts 2 --associations none"
    assert first == f"clinclust: {'cohort.yaml is there, and whole' if left else 'nothing was written'}; {again}"
    assert last == "clinclust: stopped"
    assert sorted(contents()) == ["cohort.csv", *left, "schema.yaml"]
    assert not Path("cohort-subtypes").exists()
    assert main(START) == 0


@pytest.fixture
def terminal(here, monkeypatch):
    """Start the command on a terminal, with a browser that writes down what it opens."""
    pty = pytest.importorskip("pty", reason="there are no such terminals here")
    monkeypatch.setenv("BROWSER", "sh -c 'echo $0 > opened' %s")
    ours, theirs = pty.openpty()
    process = None

    def start(*arguments):
        nonlocal process
        command = [sys.executable, "-m", "clinclust", *START, *arguments]
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
        return process, ours

    yield start
    if process is not None and process.poll() is None:
        process.kill()
        process.wait()
    os.close(ours)
    os.close(theirs)


def read_until(ours, text):
    """Return what the terminal shows, up to and with a text; fail if it shows nothing for two minutes."""
    shown = b""
    while text.encode() not in shown:
        assert select.select([ours], [], [], 120)[0], f"waited for {text!r} after {shown!r}"
        shown += os.read(ours, 1000)
    return shown.decode()


ASKED = "Press Enter to go on, q and Enter to stop: "


@pytest.mark.simulation
def test_a_person_at_a_terminal_may_correct_the_schema_before_the_search(terminal):
    process, ours = terminal()
    read_until(ours, ASKED)
    Path("cohort.yaml").write_text(SCHEMA, encoding="utf-8")
    os.write(ours, b"\n")
    assert "The report is" in read_until(ours, "open it in a browser.")
    assert process.wait(timeout=60) == 0
    assert MAPDP.load("cohort-subtypes").schema_ == FeatureSchema.from_yaml(SCHEMA)
    for _ in range(100):
        if Path("opened").exists() and Path("opened").read_text():
            break
        time.sleep(0.05)
    assert Path("opened").read_text().strip() == Path("cohort-subtypes/subtypes.html").absolute().as_uri()


@pytest.mark.parametrize("answer", [b"q\n", pytest.param(b"\x04", marks=pytest.mark.simulation)])
def test_a_person_at_a_terminal_may_stop_before_the_search(terminal, answer):
    process, ours = terminal()
    read_until(ours, ASKED)
    os.write(ours, answer)
    read_until(ours, "Stopped. cohort.yaml is there; go on with: clinclust start cohort.csv")
    assert process.wait(timeout=60) == 0
    assert sorted(contents()) == ["cohort.csv", "cohort.yaml", "schema.yaml"]


@pytest.mark.usefixtures("heeds_ctrl_c")
@pytest.mark.simulation
def test_ctrl_c_at_the_pause_stops(terminal):
    process, ours = terminal()
    read_until(ours, ASKED)
    process.send_signal(signal.SIGINT)
    while not select.select([ours], [], [], 0.5)[0]:  # lost before the reading: press again
        process.send_signal(signal.SIGINT)
    read_until(ours, "clinclust: stopped")
    assert process.wait(timeout=60) in (130, -signal.SIGINT)
    assert sorted(contents()) == ["cohort.csv", "cohort.yaml", "schema.yaml"]


@pytest.mark.simulation
def test_nobody_is_asked_who_asked_not_to_be(terminal):
    process, ours = terminal("--yes", "--no-open")
    shown = read_until(ours, "open it in a browser.")
    assert ASKED not in shown
    assert process.wait(timeout=60) == 0
    assert not Path("opened").exists()
