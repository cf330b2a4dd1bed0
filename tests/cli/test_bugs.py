"""A bug is called one, and told without values of the table."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import FIT, SCHEMA_OPTION, cohort, contents, refused

from clinclust import FeatureSchema, __version__
from clinclust.cli import main

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
    monkeypatch.setattr("clinclust.reporting.writing.overview", lambda *arguments: {}["x"])
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
    from clinclust.associations.associate import FeatureTests

    monkeypatch.setattr(FeatureTests, "rows", lambda *arguments: np.zeros(2) + np.ones(3))
    assert main([*FIT, "--associations", "refit"]) == 70
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
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, *FIT], check=False, capture_output=True, timeout=600)
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr.decode().splitlines()[-1] == "clinclust: stopped"
    assert contents() == before
    assert not Path("out").exists()
