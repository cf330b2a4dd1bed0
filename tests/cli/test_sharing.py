"""What is made of a model that was fitted for sharing can be shared: no word and no extreme value of few subjects.

The attacker unpacks every file and searches all of it for what was planted in the table.
"""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import read_beside
from command_line import QUICK, REPORTS, exit_code, fail_with, replace_in_commands
from reporting.stand_in import everything_in
from scored import few

from clinclust import FeatureSchema, draft_schema
from schemas import stored_text

pytestmark = pytest.mark.usefixtures("whole_reports")
N = 80
TABLE = "table cohort.csv --model out --out"
PLANTED, PLANTED_IN = (read_beside(__file__)[name] for name in ("planted", "planted_in"))
RULES = stored_text("planted")


def cohort():
    rng = np.random.default_rng(3)
    groups = (np.arange(N) >= N // 2).astype(int)
    frame = pd.DataFrame(
        {
            "who": [f"patientish-{place}" for place in range(N)],
            "origin": np.where(rng.random(N) < 0.5, "inland", "coastal"),
            "pain": np.where(rng.random(N) < 0.2 + 0.6 * groups, "mild", "none"),
            "diagnosis": np.where(rng.random(N) < 0.5, "common", "frequent"),
            "ward": "south",
            "fever": "no",
            "weight": rng.normal(70 + 30 * groups, 3).round(1),
            "visits": rng.poisson(5 + 20 * groups),
            "score": rng.binomial(739, 0.2 + 0.4 * groups),
            "walk": rng.normal(5 + groups, 0.2).round(2),
            "course": "mild",
        }
    ).astype(object)
    for row, (column, text) in zip(range(0, N, 3), PLANTED_IN, strict=False):
        frame.loc[row, column] = text.format_map(PLANTED)
    return frame


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Return a folder with a table, the folder `out` of a fit for sharing, and its reports with all numbers, `open`."""
    folder = tmp_path_factory.mktemp("planted")
    frame = cohort()
    frame.to_csv(folder / "cohort.csv", index=False)
    drafted = draft_schema(pd.read_csv(folder / "cohort.csv", dtype=str)[["walk"]], progress=False)
    declared = FeatureSchema.from_yaml(RULES)
    features = [drafted["walk"] if feature.name == "walk" else feature for feature in declared]
    schema = FeatureSchema(features, rows=declared.rows, missing_codes=declared.missing_codes)
    schema.to_yaml(folder / "schema.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert exit_code(f"fit cohort.csv --schema schema.yaml --out out {QUICK} --suppress 10") == 0
        assert exit_code("report cohort.csv --model out --associations none --out open --suppress 0") == 0
    return folder


@pytest.fixture
def shared(planted, tmp_path, monkeypatch):
    """Stand in a copy of this folder."""
    monkeypatch.chdir(shutil.copytree(planted, tmp_path / "planted"))


def found_in(path):
    text = everything_in(path)
    return {what for what, word in PLANTED.items() if re.search(rf"(?<![\d.]){re.escape(word)}(?!\d)", text)}


def test_no_planted_word_stands_in_a_shared_report(planted):
    for name in REPORTS:
        assert found_in(planted / "out" / name) == set()
        assert all(word in everything_in(planted / "out" / name) for word in ("coastal", "frequent"))  # many have them
        # The attack finds what stands there: all but what no report shows.
        assert len(found_in(planted / "open" / name)) >= (14 if name.endswith("xlsx") else 8)


@pytest.mark.simulation
@pytest.mark.parametrize("suffix", few(["docx", "csv", "xlsx", "html"], 2))
def test_no_planted_word_stands_in_a_table_of_a_model_fitted_for_sharing(shared, suffix, run):
    assert "--suppress 10" in run(f"{TABLE} shared.{suffix}").out
    assert found_in(Path(f"shared.{suffix}")) == set()
    assert "--suppress 0" in run(f"{TABLE} all.{suffix} --suppress 0").out
    assert {"a level of a categorical feature", "a yes of few"} <= found_in(Path(f"all.{suffix}"))


@pytest.mark.simulation
def test_reports_are_made_again_as_the_fit_was_asked(shared, run):
    assert "--suppress 10" in run("report cohort.csv --model out --associations none --out again").out
    for name in REPORTS:
        assert Path("again", name).read_bytes() == Path("out", name).read_bytes()


@pytest.mark.simulation
def test_counts_are_rounded_besides(shared, run):
    assert "--suppress 10 --round-to 5" in run(f"{TABLE} t.html --round-to 5").out
    assert "rounded" in Path("t.html").read_text(encoding="utf-8")
    assert found_in(Path("t.html")) == set()


def test_the_record_is_listed_and_checked(shared, run, must_refuse):
    record = Path("out", "sharing.json")
    asked = {"suppress": 10, "round_to": None, "missing_is_harmless": False, "min_n": None}
    assert json.loads(record.read_text(encoding="utf-8")) == asked
    record.write_text('{"suppress": null}', encoding="utf-8")
    assert "--suppress" in must_refuse(f"{TABLE} table.csv")
    run(f"{TABLE} table.csv --suppress 0")
    record.unlink()
    assert "--suppress" in must_refuse(f"{TABLE} new.csv")


def test_a_later_fit_that_withholds_nothing_leaves_no_record(shared, run, monkeypatch):
    # Without reports, which take longer than the search.
    replace_in_commands(monkeypatch, "gather_findings", fail_with(OSError(28, "no space left")))
    run(f"fit cohort.csv --schema schema.yaml {QUICK} --out out --overwrite", code=3)
    assert not Path("out", "sharing.json").exists()


@pytest.mark.simulation
def test_a_table_names_no_subtype_whose_size_it_withholds(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    centres = np.repeat([0.0, 20.0, 40.0], [40, 38, 5])
    pd.DataFrame(rng.normal(centres[:, None], 1.0, (83, 3)), columns=list("abc")).to_csv("cohort.csv", index=False)
    run(f"start cohort.csv --yes --no-open --out out {QUICK}")
    run(f"{TABLE} t.html --suppress 10 --name 1=Firstish --name 3=Rarelyish")
    text = Path("t.html").read_text(encoding="utf-8")
    assert "Firstish" in text
    assert "Rarelyish" not in text
