"""The command itself: its process, its arguments, its help, its streams, and what it says of a bug."""

import errno
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import cases_beside, read_beside
from command_line import (
    ARGUMENTS,
    CHECK,
    COMMANDS,
    FILES_OF_A_MODEL,
    FIT,
    FOR_PYTHON,
    cohort,
    contents,
    fail_with,
    names_in,
    refused_lines,
    run_process,
)
from scored import scored

from clinclust import FeatureSchema, __version__
from clinclust.cli.outputs import VisibleStream, say, streams_for_people, tell, write_data


# --- the process ------------------------------------------------------------------------------------------------------
def test_the_command_is_a_process(here):
    code, (out, err) = run_process("check", "missing.csv", "--schema", "schema.yaml")
    assert (code, out) == (2, "")
    assert err.startswith("clinclust: ")
    assert "missing.csv" in err


def test_help_needs_nothing_heavy():
    code = (
        "import sys\nfrom clinclust.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit as end:\n"
        "    assert end.code == 0\nprint(sorted({'pandas', 'numpy', 'numba', 'pandera', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


def test_ctrl_c_while_the_command_is_imported_ends_it_without_a_traceback():
    stopping = """
import sys
class Stopping:
    def find_spec(self, name, path=None, target=None):
        if name == "clinclust.cli.entry":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stopping())
from clinclust.cli import main
sys.exit(main(["--version"]))
"""
    done = subprocess.run([sys.executable, "-c", stopping], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "clinclust: stopped\n")


# A fit that presses Ctrl-C itself, in the middle of its search, and would then search for ever.
INTERRUPTED = """
import os, signal, sys, threading
from clinclust.cli import main
from clinclust.progress import Progress
enter = Progress.stage

def stage(self, name, total=None):
    if name == "restarts":
        assert os.listdir("out")
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait()
    return enter(self, name, total)

Progress.stage = stage
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_stops_at_once_and_leaves_nothing(here):
    before = contents()
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *shlex.split(FIT)], check=False, capture_output=True, timeout=600
    )
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr.decode().splitlines()[-1] == "clinclust: stopped"
    assert contents() == before
    assert not Path("out").exists()


# --- arguments and help -----------------------------------------------------------------------------------------------
def test_the_help_lists_every_command_and_how_to_begin(run):
    assert run("--version").out == f"clinclust {__version__}\n"
    shown = run("--help").out
    assert {line.split()[0] for line in shown.commands} >= {*ARGUMENTS}
    assert re.findall("^    ([a-z]+) ", shown, re.M) == COMMANDS.split("|")
    out, err = run("", code=2)
    assert out == ""
    assert [line.split()[0] for line in err.commands] == ["start", "draft", "check", "fit", "assign"]
    assert len(err.splitlines()) < 15


@scored(ARGUMENTS)
def test_every_command_explains_its_options_without_python(command, run):
    assert not FOR_PYTHON.search(run(f"{command} --help").out)


MISSPELT = read_beside(__file__)["misspelt"]


@scored([(command, pair) for command in ARGUMENTS for pair in {**MISSPELT[""], **MISSPELT[command]}.items()])
@scored(["", "x"])
def test_the_nearest_option_is_named(command, pair, value, here, must_refuse):
    message = must_refuse(f"{ARGUMENTS[command]} {pair[1]} {value}")
    assert message.options == {*pair, "--help"}


@scored(refused_lines("arguments").items())
def test_wrong_arguments_are_one_message_that_names_them(line, words, here, must_refuse):
    message, last = must_refuse(line).splitlines()
    assert message.lacks(words) == []
    assert not re.search(r"\b(int|float)\b| -3|--a\b", message)
    assert re.search("`clinclust.* --help`", last)


@pytest.mark.parametrize("line", ["--debug check missing.csv --schema schema.yaml", f"{CHECK} --sheet 2 --debug"])
def test_a_traceback_can_be_asked_for_before_and_after_the_command(line, here, run):
    err = run(line, code=2).err
    assert err.startswith("Traceback (most recent call last)")
    assert err.rstrip().splitlines()[-1].startswith("clinclust: ")


# --- a bug ------------------------------------------------------------------------------------------------------------

SECRET = "Zoë-31.12.1950"


PLANTED = cases_beside(__file__, "planted_bugs")


@pytest.mark.parametrize(("kind", "code"), PLANTED)
def test_a_bug_is_called_one_and_told_without_values(kind, code, here, run, monkeypatch):
    def planted(*arguments, **options):
        secret = SECRET  # noqa: F841
        exec(code)

    monkeypatch.setattr(FeatureSchema, "validate", planted)
    before = contents()
    out, err = run(CHECK, code=70)
    assert (out, contents()) == ("", before)
    assert err.startswith("clinclust: this is a bug in clinclust; your input is not at fault.\n")
    assert f"\n{kind}\n" in err
    assert f"clinclust {__version__}, Python " in err
    assert "command: check\n" in err
    assert re.search("^  clinclust.cli[.a-z_]*:", err, re.M)
    assert "in planted\n" in err
    for value in (SECRET, "secret", "Zoë", "cohort.csv", *map(str, cohort()["who"]), "Traceback", str(here)):
        assert value not in err
    assert run(f"{CHECK} --debug", code=70).err.startswith("Traceback (most recent call last)")


def test_a_bug_in_a_report_does_not_cost_the_model(here, run, monkeypatch, whole_reports):
    monkeypatch.setattr("clinclust.reporting.report.overview", lambda *arguments: {}["x"])
    err = run(f"{FIT} --name 7=Rare", code=70).err  # the graver of two
    assert re.search("^clinclust: --name: .*7", err, re.M)
    assert re.search("^clinclust: subtypes.html.* bug in clinclust", err, re.M)
    assert names_in("out") == FILES_OF_A_MODEL


def test_a_bug_on_a_thread_is_told_with_its_place(here, run, monkeypatch):
    from clinclust.associations.associate import FeatureTests

    monkeypatch.setattr(FeatureTests, "rows", lambda *arguments: np.zeros(2) + np.ones(3))
    assert f"  {__name__}:" in run(f"{FIT} --associations refit", code=70).err  # the line of this test that fails


def test_too_little_memory_is_no_bug(here, must_refuse, monkeypatch):
    monkeypatch.setattr(FeatureSchema, "validate", fail_with(MemoryError("Unable to allocate 4 PiB")))
    assert "memory" in must_refuse(CHECK)


# --- streams ----------------------------------------------------------------------------------------------------------

HOSTILE = "x\x1b]0;owned\x07\u202e"


class Stream(io.TextIOWrapper):
    """A text stream over bytes, on a terminal or not, that can fail."""

    def __init__(self, *, terminal=False, encoding="utf-8", fails=None):
        super().__init__(io.BytesIO(), encoding=encoding, newline="\n")
        self.terminal, self.fails = terminal, fails

    def isatty(self):
        return self.terminal

    def write(self, text):
        if self.fails:
            raise OSError(self.fails, "raw")
        return super().write(text)

    def text(self):
        super().flush()
        return self.buffer.getvalue().decode(self.encoding)


@pytest.fixture
def streams(monkeypatch):
    def put(out, err=None):
        monkeypatch.setattr("sys.stdout", out)
        monkeypatch.setattr("sys.stderr", err or Stream())
        return out, err

    return put


@pytest.mark.parametrize("terminal", [True, False])
def test_text_for_people_is_visible_wherever_it_goes(streams, terminal):
    out, err = streams(Stream(terminal=terminal), Stream(terminal=terminal))
    with streams_for_people():
        say(f"{HOSTILE}\nclinclust: note: forged")
        tell(f"clinclust: {HOSTILE}\nclinclust: note: forged")
    assert out.text() == "x␛]0;owned␇\ufffd␊clinclust: note: forged\n"
    assert err.text() == "clinclust: x␛]0;owned␇\ufffd\n  clinclust: note: forged\n"


def test_text_for_programs_is_exact_unless_a_person_reads_it(streams):
    for terminal, expected in ((False, f"{HOSTILE},ü\r\n"), (True, "x␛]0;owned␇\ufffd,ü␍\n")):
        out, _ = streams(Stream(terminal=terminal))
        with streams_for_people():
            write_data(f"{HOSTILE},ü\r\n")
        assert out.text() == expected


def test_what_the_encoding_lacks_is_an_escape_for_people_and_utf_8_for_programs(streams):
    out, _ = streams(Stream(encoding="ascii"))
    with streams_for_people():
        say("ü")
        write_data("ü")
    out.flush()
    assert out.buffer.getvalue() == b"\\xfc\n\xc3\xbc"


def test_a_failing_output_is_a_sentence_and_failing_errors_are_passed_over(streams):
    streams(Stream(fails=errno.ENOSPC), Stream(fails=errno.ENOSPC))
    with streams_for_people():
        tell("nobody can read this")
        with pytest.raises(OSError, match=r"output.*disk"):
            say("x")
    out = VisibleStream(Stream(fails=errno.EIO), must_arrive=True)
    for call in (lambda: out.write("x"), out.flush):  # a failure that was ignored is raised again
        with pytest.raises(OSError, match="disk"):
            call()


def test_a_closed_output_matters_only_to_data(streams):
    streams(None)
    with streams_for_people():
        say("nobody listens")
        with pytest.raises(OSError, match="--out"):
            write_data("1,2")


def test_a_progress_bar_may_write_over_its_own_line_alone(streams):
    out, _ = streams(Stream(terminal=True))
    with streams_for_people():
        sys.stdout.write("\r 10%\rforged")
    assert out.text() == "\r 10%␍forged"


def test_endless_names_are_cut(streams):
    _, err = streams(Stream(), Stream())
    with streams_for_people():
        tell("clinclust: " + "x" * 100_000)
    assert len(err.text()) < 1100


@pytest.mark.parametrize("command", ARGUMENTS)
def test_quiet_leaves_notes_and_problems_only(command, fit, run, monkeypatch):
    monkeypatch.setattr("clinclust.progress._REPORTED_AFTER", 0.0)  # every stage would be told
    out, err = run(f"{ARGUMENTS[command]} --quiet")
    assert out == ""
    assert len(err.notes) == len(err.splitlines())
    assert run(f"{ARGUMENTS[command]} --quiet".replace("cohort.csv", "absent.csv"), code=2).err


@pytest.mark.simulation
@pytest.mark.parametrize("command", ["fit", "start", "report"])
def test_stages_are_told_in_whole_lines_where_there_is_no_terminal(command, fit, run, monkeypatch, whole_reports):
    monkeypatch.setattr("clinclust.progress._REPORTED_AFTER", 0.0)
    err = run(ARGUMENTS[command]).err
    assert "\r" not in err
    time = "[0-9]+ (s|min)"
    of_a_stage = re.compile(
        rf"clinclust: [^:]+: (running(, at most [0-9,]+| for {time})?|done in {time}"
        rf"|[0-9,]+ of at most [0-9,]+ in {time}; up to about {time} left)"
    )
    assert [line for line in err.splitlines() if not of_a_stage.fullmatch(line)] == []
    stages = {line.split(": ")[1] for line in err.splitlines()}
    assert "report .html" in stages
    assert ("restarts" in stages) == (command != "report")
