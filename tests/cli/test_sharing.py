"""What is made of a model that was fitted for sharing can be shared: no word and no extreme value of few subjects.

The attacker unpacks every file and searches all of it for what was planted in the table.
"""

import json
import re
import shutil
import zipfile
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import QUICK, refused

from clinclust import FeatureSchema, draft_schema
from clinclust.cli import main

N = 80
PLANTED = {
    "a level of a categorical feature": "Zanzibarish",
    "a level of an ordered one": "agonisingly",
    "a level of a described feature": "huntingtonly",
    "a level of an ignored column": "northwardly",
    "a yes of few": "affirmatively",
    "a code for missing": "refusedly",
    "a synonym": "yessirly",
    "a mark": "uncertainish",
    "a unit that one cell has": "kurumgish",
    "a value that is excluded": "fatalish",
    "whom a question was asked": "askedish",
    "an identifier": "patientish-17",
    "the lowest weight": "31.07",
    "the highest weight": "213.77",
    "the highest count": "417",
    "the highest score": "739",
}
RULES = """\
clinclust: 1
rows: {where: "course != 'fatalish'"}
missing_codes: ["", refusedly]
features:
  - {name: who, role: id}
  - {name: origin, likelihood: categorical, levels: [inland, coastal, Zanzibarish]}
  - {name: pain, likelihood: binomial, levels: ["none", mild, agonisingly]}
  - {name: diagnosis, likelihood: categorical, role: describe, levels: [common, frequent, huntingtonly]}
  - {name: ward, likelihood: categorical, role: ignore, levels: [south, northwardly]}
  - {name: fever, likelihood: bernoulli, levels: ["no", affirmatively], synonyms: {yessirly: affirmatively}}
  - {name: weight, likelihood: gaussian, minimum: 31.07, maximum: 213.77, marks: [uncertainish], unit: kg}
  - {name: visits, likelihood: poisson, maximum: 417, asked_if: "course = 'askedish'"}
  - {name: score, likelihood: binomial, trials: 739}
  - {name: walk, likelihood: gaussian}
  - {name: course, role: ignore}
"""


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
    rows = iter(range(0, N, 3))
    for column, value in (
        *[("origin", PLANTED["a level of a categorical feature"])] * 2,
        ("pain", PLANTED["a level of an ordered one"]),
        *[("diagnosis", PLANTED["a level of a described feature"])] * 3,
        ("ward", PLANTED["a level of an ignored column"]),
        *[("fever", PLANTED["a yes of few"])] * 2,
        ("fever", PLANTED["a synonym"]),
        ("visits", PLANTED["a code for missing"]),
        ("weight", f"72.5 {PLANTED['a mark']}"),
        ("weight", PLANTED["the lowest weight"]),
        ("weight", PLANTED["the highest weight"]),
        ("visits", PLANTED["the highest count"]),
        ("score", PLANTED["the highest score"]),
        ("walk", f"5.1 {PLANTED['a unit that one cell has']}"),
        ("course", PLANTED["a value that is excluded"]),
    ):
        frame.loc[next(rows), column] = value
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
    table, schema, out = (str(folder / name) for name in ("cohort.csv", "schema.yaml", "out"))
    assert main(["fit", table, "--schema", schema, *QUICK, "--out", out, "--suppress", "10"]) == 0
    report = ["report", table, "--model", out, "--associations", "none", "--out", str(folder / "open")]
    assert main([*report, "--suppress", "0"]) == 0
    return folder


def everything_in(path):
    """Every text of a file, of all parts of an archive, without the data of images."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            text = "\n".join(archive.read(name).decode("utf-8", "ignore") for name in archive.namelist())
    else:
        text = path.read_text(encoding="utf-8")
    return unescape(re.sub(r"base64,[A-Za-z0-9+/=]+", "", text))


def found_in(path):
    text = everything_in(path)
    return {what for what, word in PLANTED.items() if re.search(rf"(?<![\d.]){re.escape(word)}(?!\d)", text)}


def test_no_planted_word_stands_in_a_shared_report(planted):
    for name in ("subtypes.xlsx", "subtypes.html", "subtypes.json"):
        assert found_in(planted / "out" / name) == set()
        assert all(word in everything_in(planted / "out" / name) for word in ("coastal", "frequent"))  # many have them
        # The attack finds what stands there: all but what no report shows.
        assert len(found_in(planted / "open" / name)) >= (14 if name.endswith("xlsx") else 8)


@pytest.mark.parametrize("suffix", ["xlsx", "html", "docx", "md", "csv", "tex"])
def test_no_planted_word_stands_in_a_table_of_a_model_fitted_for_sharing(planted, tmp_path, suffix, capsys):
    table = ["table", str(planted / "cohort.csv"), "--model", str(planted / "out"), "--out"]
    assert main([*table, str(tmp_path / f"shared.{suffix}")]) == 0
    assert "Small counts withheld: --suppress 10 (the fit was asked for --suppress 10" in capsys.readouterr().out
    assert found_in(tmp_path / f"shared.{suffix}") == set()
    assert main([*table, str(tmp_path / f"own.{suffix}"), "--suppress", "0"]) == 0
    assert "Nothing withheld (--suppress 0): not for sharing" in capsys.readouterr().out
    assert {"a level of a categorical feature", "a yes of few"} <= found_in(tmp_path / f"own.{suffix}")


def test_reports_are_made_again_as_the_fit_was_asked(planted, tmp_path, capsys):
    report = ["report", str(planted / "cohort.csv"), "--model", str(planted / "out"), "--associations", "none", "--out"]
    assert main([*report, str(tmp_path / "again")]) == 0
    assert "the fit was asked for --suppress 10; --suppress 0 withholds nothing" in capsys.readouterr().out
    for name in ("subtypes.xlsx", "subtypes.html", "subtypes.json"):
        assert (tmp_path / "again" / name).read_bytes() == (planted / "out" / name).read_bytes()


def test_counts_are_rounded_besides(planted, tmp_path, capsys):
    table = ["table", str(planted / "cohort.csv"), "--model", str(planted / "out"), "--out", str(tmp_path / "t.md")]
    assert main([*table, "--round-to", "5"]) == 0
    assert "--suppress 10 --round-to 5 (the fit was asked" in capsys.readouterr().out
    assert "Counts are rounded" in (tmp_path / "t.md").read_text(encoding="utf-8")
    assert found_in(tmp_path / "t.md") == set()


def test_what_cannot_be_shared_is_refused_unless_it_is_asked_for(planted, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = [planted / "cohort.csv", "--model", planted / "out"]
    for arguments in (["compare", *given], ["assign", *given, "--cohort", planted / "cohort.csv"]):
        said = refused(capsys, *arguments)
        assert "cannot be used with --suppress" in said
        assert "--suppress 0 withholds nothing" in said
    said = refused(capsys, "report", *given, "--stability", "5", "--out", "new")
    assert "--stability cannot be used with --suppress" in said
    assert "--suppress 0 withholds nothing" in said
    assert main(["compare", *map(str, given), "--suppress", "0", "--method", "none of them"]) == 2
    assert "none of them" in capsys.readouterr().err


def test_the_record_is_listed_and_checked(planted, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert json.loads((planted / "out" / "sharing.json").read_text(encoding="utf-8")) == {
        "suppress": 10,
        "round_to": None,
        "missing_is_harmless": False,
        "min_n": None,
    }
    table = ["table", planted / "cohort.csv", "--out", "table.csv", "--model"]
    for name, change in {
        "edited": lambda path: path.write_text('{"suppress": null}', encoding="utf-8"),
        "removed": Path.unlink,
    }.items():
        shutil.copytree(planted / "out", name)
        change(Path(name, "sharing.json"))
        assert "say it with --suppress N" in refused(capsys, *table, name)
    assert main([*map(str, table), "edited", "--suppress", "0"]) == 0


def test_a_later_fit_that_withholds_nothing_leaves_no_record(planted, tmp_path, monkeypatch):
    monkeypatch.setattr("clinclust.cli.fit._reports_beside_model", lambda *_: ([], 0))
    shutil.copytree(planted / "out", tmp_path / "out")
    fit = ["fit", str(planted / "cohort.csv"), "--schema", str(planted / "schema.yaml"), *QUICK]
    assert main([*fit, "--out", str(tmp_path / "out"), "--overwrite"]) == 0
    assert not (tmp_path / "out" / "sharing.json").exists()


def test_a_table_names_no_subtype_whose_size_it_withholds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    centres = np.repeat([0.0, 20.0, 40.0], [40, 38, 5])
    pd.DataFrame(rng.normal(centres[:, None], 1.0, (83, 3)), columns=list("abc")).to_csv("cohort.csv", index=False)
    assert main(["start", "cohort.csv", "--yes", "--no-open", "--out", "out", *QUICK]) == 0
    names = ["--name", "1=Firstish", "--name", "3=Rarelyish"]
    assert main(["table", "cohort.csv", "--model", "out", "--out", "t.md", "--suppress", "10", *names]) == 0
    text = Path("t.md").read_text(encoding="utf-8")
    assert "Firstish" in text
    assert "Rarelyish" not in text
