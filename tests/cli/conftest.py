"""A folder with a table and a schema, and the folder of a fit."""

from pathlib import Path

import pytest
from command_line import SCHEMA, cohort

from clinclust.cli import main


@pytest.fixture(autouse=True)
def fast_machine(monkeypatch):
    """Tell no stage of a fit, as on a machine that needs less than a second, so that a busy one prints the same."""
    monkeypatch.setattr("clinclust.progress._REPORTED_AFTER", 1e6)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Stand in a folder with cohort.csv and schema.yaml."""
    monkeypatch.chdir(tmp_path)
    cohort().to_csv("cohort.csv", index=False)
    Path("schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """Return a folder that `clinclust fit` wrote."""
    folder = tmp_path_factory.mktemp("fitted")
    cohort().to_csv(folder / "cohort.csv", index=False)
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    table, schema, out = (str(folder / name) for name in ("cohort.csv", "schema.yaml", "out"))
    assert main(["fit", table, "--schema", schema, "--out", out, "--n-restarts", "4", "--as-published"]) == 0
    return folder / "out"
