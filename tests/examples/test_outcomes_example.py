"""The example of outcomes prints answers near the truth that it simulates."""

import importlib.util
import re
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "outcomes"


@pytest.mark.simulation
def test_the_example_prints_what_its_page_shows(tmp_path, capsys, monkeypatch):
    spec = importlib.util.spec_from_file_location("outcomes_run", EXAMPLE / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr("sys.argv", ["run.py", "--out", str(tmp_path)])
    module.main()
    said = capsys.readouterr().out.strip()
    shown = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert re.sub(r"\s+", " ", said) in re.sub(r"\s+", " ", shown)
    assert (tmp_path / "survival.png").stat().st_size > 10_000
