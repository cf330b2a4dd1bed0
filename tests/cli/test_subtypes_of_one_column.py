"""Subtypes that are one column: the first page says so before anything else, and the command how to look beyond it."""

import html
import re
import shlex
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from clinclust.cli import main

QUICK = ["--n-restarts", "2", "--associations", "none", "--as-published"]
MEASURED = [f"m{place}" for place in range(10)]
SAYS_SEX = re.compile(
    r"^These subtypes are nearly sex: it alone gives (9\d|100)% of the subjects to their subtype", re.M
)

NEARLY_SEX = re.compile(r"They are nearly sex: right for (9\d|100)%\.")


@pytest.fixture
def cohort(tmp_path, monkeypatch):
    """Five of ten measurements differ by sex, which is described only; dates and a centre mean nothing."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    male = rng.random(300) < 0.5
    frame = pd.DataFrame({name: rng.normal(2.0 * male * (place < 5)) for place, name in enumerate(MEASURED)}).round(3)
    frame["sex"] = np.where(male, "male", "female")
    frame["centre"] = rng.choice(["north", "south"], 300)
    frame["seen"] = np.datetime_as_string(np.datetime64("2015-01-01") + rng.integers(0, 2000, 300))
    frame.to_csv("cohort.csv", index=False)
    features = [f"  - {{name: {name}, likelihood: gaussian}}" for name in MEASURED]
    features += ["  - {name: sex, likelihood: bernoulli, levels: [female, male], role: describe}"]
    features += [f"  - {{name: {name}, role: ignore}}" for name in ("centre", "seen")]
    Path("schema.yaml").write_text("\n".join(["clinclust: 1", "features:", *features]), encoding="utf-8")
    return frame


def first_page(folder):
    page = Path(folder, "subtypes.html").read_text(encoding="utf-8")
    overview = page[page.index('id="overview"') : page.index("</section>")]
    return html.unescape(re.sub(r"<[^>]+>", " ", overview))


def first_sheet(folder):
    sheet = openpyxl.load_workbook(Path(folder, "subtypes.xlsx"), read_only=True)["Overview"]
    texts = [str(cell) for row in sheet.iter_rows(values_only=True) for cell in row if cell]
    return "\n".join(texts)


def test_sex_is_named_first_and_the_command_beside_it_looks_beyond(cohort, capsys):
    assert main(["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "out", *QUICK]) == 0
    said = capsys.readouterr().out
    assert SAYS_SEX.search(said)
    assert NEARLY_SEX.search(first_page("out"))
    assert NEARLY_SEX.search(first_sheet("out"))
    again = re.search(r"^to see what else there is: clinclust (.+)$", said, re.M)[1]
    assert main(shlex.split(again)) == 0
    beyond = capsys.readouterr().out
    assert f"1 subtype among {cohort['sex'].value_counts().max()} subjects" in beyond
    assert "These subtypes" not in beyond


def test_an_ignored_column_is_named_by_fit_and_report(cohort, capsys):
    schema = Path("schema.yaml").read_text(encoding="utf-8")
    Path("schema.yaml").write_text(re.sub(r"name: sex,.*", "name: sex, role: ignore}", schema), encoding="utf-8")
    assert main(["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "out", *QUICK]) == 0
    assert SAYS_SEX.search(capsys.readouterr().out)
    cohort.iloc[::-1].to_csv("cohort.csv", index=False)
    assert main(["report", "cohort.csv", "--model", "out", "--out", "again", "--associations", "none"]) == 0
    assert "another order" in capsys.readouterr().err
    assert NEARLY_SEX.search(first_page("again"))


def test_a_column_that_makes_the_subtypes_alone_comes_with_the_fit_without_it(cohort, capsys):
    male = (cohort["sex"] == "male").to_numpy()
    rng = np.random.default_rng(1)
    for place, name in enumerate(MEASURED):
        cohort[name] = rng.normal(8.0 * male * (place == 0)).round(3)
    cohort.drop(columns="sex").to_csv("cohort.csv", index=False)
    schema = Path("schema.yaml").read_text(encoding="utf-8")
    Path("schema.yaml").write_text(re.sub(r".*name: sex,.*\n", "", schema), encoding="utf-8")
    fit = ["fit", "cohort.csv", "--schema", "schema.yaml", *QUICK, "--cluster", "m0,m1", "--describe", "m2"]
    assert main([*fit, "--out", "out"]) == 0
    said = capsys.readouterr().out
    assert "These subtypes are hardly more than m0: it alone gives" in said
    again = shlex.split(re.search(r"^to see what else there is: clinclust (.+)$", said, re.M)[1])
    assert again[again.index("--cluster") :][:2] == ["--cluster", "m1"]
    assert main(again) == 0
    assert "1 subtype among 300 subjects" in capsys.readouterr().out
