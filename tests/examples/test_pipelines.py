"""The Makefile and the Snakefile fit several cohorts, and a second run does nothing."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import cohort

from clinclust.cli.entry import _parser

EXAMPLE = Path(__file__).parents[2] / "examples" / "pipelines"
OPTIONS = "--random-state 0"
PLACES = {"$(CLINCLUST)": "clinclust", "{CLINCLUST}": "clinclust", "$(OPTIONS)": OPTIONS, "{OPTIONS}": OPTIONS}
QUICK = "--n-restarts 1 --associations none --as-published"


def commands(name):
    """Return the commands of a file, with the variables that stand in the place of names as names."""
    text = (EXAMPLE / name).read_text(encoding="utf-8")
    text = text.replace('"\n        "', "")  # neighbouring texts of Python are one
    lines = [line.strip().strip('"') for line in text.splitlines() if "CLINCLUST" in line and " --" in line]
    for written, meant in PLACES.items():
        lines = [line.replace(written, meant) for line in lines]
    return [re.sub(r"[{$][^ ]*[}*@<]\S*|\$[<@]", "1", line.partition(" > ")[0]) for line in lines]


@pytest.mark.parametrize("name", ["Makefile", "Snakefile"])
def test_the_commands_are_commands(name):
    found = commands(name)
    assert len(found) == 2
    for line in found:
        words = shlex.split(line)
        _parser().parse_args(words[words.index("clinclust") + 1 :])


def test_the_page_makes_one_table_of_all_summaries(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    for name, n in (("south", 50), ("north", 40)):
        facts = {"subjects": n, "n_subtypes": 2, "warnings": []}
        Path(f"results/{name}.json").write_text(json.dumps(facts), encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```$", (EXAMPLE / "README.md").read_text("utf-8"), re.M | re.S)
    exec(compile(block, "README.md", "exec"), {})
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[1:]] == ["north", "south"]


def run(*arguments):
    environment = {**os.environ, "CLINCLUST": f"{sys.executable} -m clinclust", "OPTIONS": QUICK}
    return subprocess.run(arguments, capture_output=True, text=True, env=environment)


@pytest.mark.simulation
@pytest.mark.parametrize(("name", "command"), [("Makefile", ["make"]), ("Snakefile", ["snakemake", "--cores", "1"])])
def test_each_cohort_is_fitted_once_and_again_after_a_change(name, command, tmp_path, monkeypatch):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    shutil.copy(EXAMPLE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("cohorts").mkdir()
    for cohort_name, n in (("north", 40), ("south", 50)):
        cohort(n).to_csv(f"cohorts/{cohort_name}.csv", index=False)
    first = run(*command)
    assert first.returncode == 0, first.stderr
    assert [json.loads(Path(f"results/{one}.json").read_text())["subjects"] for one in ("north", "south")] == [40, 50]
    files = [path for folder in ("schemas", "results") for path in Path(folder).rglob("*") if path.is_file()]
    written = {path: path.stat().st_mtime_ns for path in files}
    again = run(*command)
    assert again.returncode == 0
    assert "othing to be done" in again.stdout + again.stderr
    assert {path: path.stat().st_mtime_ns for path in files} == written
    cohort(44).to_csv("cohorts/north.csv", index=False)
    assert run(*command).returncode == 0
    changed = {path for path in written if path.stat().st_mtime_ns != written[path]}
    assert {path.parts[:2] for path in changed} <= {("results", "north"), ("results", "north.json")}
    assert json.loads(Path("results/north.json").read_text())["subjects"] == 44
    Path("cohorts/south.csv").write_text("who\n1\n")
    refused = run(*command)
    assert refused.returncode != 0
    assert "expected a column of this name" in refused.stderr
    assert not Path("results/south.json").exists()
