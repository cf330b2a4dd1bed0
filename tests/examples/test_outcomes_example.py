"""The example of outcomes prints answers near the truth that it simulates."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "outcomes"


@pytest.mark.simulation
def test_the_example_prints_what_its_page_shows(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["run.py", "--out", str(tmp_path)])
    runpy.run_path(str(EXAMPLE / "run.py"))["main"]()
    said = capsys.readouterr().out.strip()
    shown = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert re.sub(r"\s+", " ", said) in re.sub(r"\s+", " ", shown)
    assert (tmp_path / "survival.png").stat().st_size > 10_000
