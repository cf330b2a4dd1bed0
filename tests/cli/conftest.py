"""A folder with a table and a schema, the folder of a fit, and ways to run a command."""

import shutil
from functools import partial
from pathlib import Path

import command_line
import pytest
from command_line import RESTARTS, SCHEMA, cohort, exit_code, leave_reports_empty


@pytest.fixture(autouse=True)
def fast_machine(monkeypatch):
    """Tell no stage of a fit, as on a machine that needs less than a second, so that a busy one prints the same."""
    monkeypatch.setattr("clinclust.progress._REPORTED_AFTER", 1e6)


@pytest.fixture(autouse=True)
def empty_reports(request, monkeypatch):
    """Leave the reports empty where nobody reads them: they take two thirds of the time of a fit."""
    if "whole_reports" not in request.fixturenames:
        leave_reports_empty(monkeypatch)


@pytest.fixture
def whole_reports():
    """Write the reports of a test that reads them."""


@pytest.fixture
def run(capsys):
    """Return a function that runs a command line, asks for its exit code, and returns what it printed."""
    return partial(command_line.run, capsys)


@pytest.fixture
def run_json(capsys):
    return partial(command_line.run_json, capsys)


@pytest.fixture
def must_refuse(capsys):
    return partial(command_line.refused, capsys)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Stand in a folder with cohort.csv and schema.yaml."""
    monkeypatch.chdir(tmp_path)
    cohort().to_csv("cohort.csv", index=False)
    Path("schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """Return a folder that `clinclust fit` wrote, beside its table and schema."""
    folder = tmp_path_factory.mktemp("fitted")
    cohort().to_csv(folder / "cohort.csv", index=False)
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    table, schema, out = (folder / name for name in ("cohort.csv", "schema.yaml", "out"))
    fit = ["fit", table, "--schema", schema, "--out", out, RESTARTS, "4", "--as-published"]
    assert exit_code(*fit) == 0
    return out


@pytest.fixture
def fit(here, fitted):
    """Stand beside cohort.csv, schema.yaml, and `out`, the folder of their fit."""
    shutil.copytree(fitted, "out")
    return here / "out"
