"""Text for people is visible, text for programs exact, and a stream that fails is told or passed over."""

import errno
import io
import re
import shutil
import sys

import pytest
from command_line import QUICK, SCHEMA_OPTION, cohort

from clinclust import MAPDP
from clinclust.cli import main
from clinclust.cli.outputs import VisibleStream, say, streams_for_people, tell, write_data

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
        with pytest.raises(OSError, match="standard output cannot be written: the disk is full"):
            say("x")


def test_a_failure_that_was_ignored_is_raised_by_the_flush(streams):
    out = VisibleStream(Stream(fails=errno.EIO), must_arrive=True)
    with pytest.raises(OSError, match="the disk failed"):
        out.write("x")
    with pytest.raises(OSError, match="the disk failed"):
        out.flush()


def test_a_closed_output_matters_only_to_data(streams):
    streams(None)
    with streams_for_people():
        say("nobody listens")
        with pytest.raises(OSError, match=r"standard output is closed.*give --out"):
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


@pytest.mark.parametrize("command", ["draft", "fit", "report", "table", "assign", "start"])
def test_quiet_leaves_notes_and_problems_only(here, fitted, capsys, monkeypatch, command):
    shutil.copytree(fitted, "model")
    monkeypatch.setattr("clinclust.progress._REPORTED_AFTER", 0.0)  # every stage would be told
    arguments = {
        "draft": ["--out", "new.yaml"],
        "fit": [*SCHEMA_OPTION, "--out", "new", *QUICK],
        "report": ["--model", "model", "--out", "new", "--associations", "none"],
        "table": ["--model", "model", "--out", "new.md"],
        "assign": ["--model", "model", "--out", "new.csv"],
        "start": QUICK,
    }[command]
    assert main([command, "cohort.csv", *arguments, "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert all(line.startswith("clinclust: note: ") for line in err.splitlines())
    assert main([command, "cohort.csv", *arguments, "--quiet"]) == 2
    assert capsys.readouterr().err != ""


def test_quiet_is_no_quieter_with_results_for_programs(here, fitted, capsys):
    cohort().head(9).to_csv("new.csv", index=False)
    assert main(["assign", "new.csv", "--model", str(fitted), "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 10


STAGES = {
    "fit": [*SCHEMA_OPTION, "--out", "new", *QUICK],
    "start": QUICK,
    "report": ["--model", "model", "--out", "new"],
}


@pytest.mark.parametrize("command", STAGES)
def test_stages_are_told_in_whole_lines_where_there_is_no_terminal(here, fitted, capsys, monkeypatch, command):
    shutil.copytree(fitted, "model")
    monkeypatch.setattr("clinclust.progress._REPORTED_AFTER", 0.0)
    assert main([command, "cohort.csv", *STAGES[command]]) == 0
    err = capsys.readouterr().err
    assert "\r" not in err
    lines = err.splitlines()
    time = "[0-9]+ (s|min)"
    of_a_stage = re.compile(
        rf"clinclust: [^:]+: (running(, at most [0-9,]+| for {time})?|done in {time}"
        rf"|[0-9,]+ of at most [0-9,]+ in {time}; up to about {time} left)"
    )
    assert [line for line in lines if not of_a_stage.fullmatch(line)] == []
    told = [line.split(": ")[1] for line in lines if "running" in line]
    assert "report .html" in told
    assert ("restarts" in told) == (command != "report")


def test_a_search_can_be_given_a_time_limit(here, capsys):
    arguments = ["fit", "cohort.csv", *SCHEMA_OPTION, "--out", "out", "--associations", "none", "--as-published"]
    assert main([*arguments, "--n-restarts", "5000", "--max-seconds", "0.001"]) == 0
    assert "clinclust: note: The search was ended by its time limit" in capsys.readouterr().err
    assert MAPDP.load("out").stopped_early_
    assert main([*arguments, "--max-seconds", "0", "--overwrite"]) == 2
    assert "--max-seconds must be a number of seconds above 0, not 0.0" in capsys.readouterr().err
