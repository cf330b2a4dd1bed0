"""The walkthrough of a first table does what its page says."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from typed_tables import simulated

EXAMPLE = Path(__file__).parents[2] / "examples" / "first_table"


@pytest.fixture(scope="module")
def example():
    return SimpleNamespace(**runpy.run_path(str(EXAMPLE / "run.py")))


@pytest.mark.simulation
@pytest.mark.parametrize("name", ["german", "cardiology", "survey"])
def test_one_command_gives_what_the_page_shows(example, tmp_path, name):
    _, frame, types = next(item for item in simulated() if item[0] == name)
    table = tmp_path / f"{name}.csv"
    frame.to_csv(table, index=False, sep=";" if name == "german" else ",")
    found = example.row(table, types).split(" | ")[:-1]  # the last is the time
    (shown,) = [
        line for line in (EXAMPLE / "README.md").read_text("utf-8").splitlines() if line.startswith(f"| {name}")
    ]
    assert found == shown.split(" | ")[:-1]
