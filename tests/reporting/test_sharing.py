"""A report made for sharing: the attacker works on what stands in the written file, and on nothing else."""

from __future__ import annotations

import re
import zipfile
from html import unescape

import numpy as np
import pandas as pd
import pytest
from scored import few

from clinclust import Feature, FeatureSchema, Partition, compare_subtypes, suppress_small_cells
from clinclust.files.row_choice import RowChoice
from clinclust.methods import PublishedMAPDP
from clinclust.reporting.findings import data_fingerprint

from .conftest import GENERATED
from .stand_in import cohort, fitted, sections_of, write_report


def tables_of_workbook(path):
    return {name: [list(row) for row in sheet.iter_rows(values_only=True)] for name, sheet in sections_of(path).items()}


def tables_of_page(path):
    found = {}
    for section in path.read_text(encoding="utf-8").split("<section ")[1:]:
        name = re.search("<h2>(.*?)</h2>", section)[1]
        notes = [[unescape(note)] for note in re.findall("<p[^>]*>(.*?)</p>", section)]
        found_rows = re.findall("<tr>(.*?)</tr>", section, re.DOTALL)
        rows = [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in found_rows]
        found[name] = notes + [[value(unescape(cell)) for cell in row] for row in rows]
    return found


def value(text):
    try:
        return text if re.fullmatch("0[0-9]+", text) else float(text)  # not an identifier such as 0102
    except ValueError:
        return text or None


def is_number(cell):
    return isinstance(cell, (int, float))


@pytest.fixture(scope="module", params=[pytest.param("all large", marks=pytest.mark.simulation), "one small"])
def shared(request, tmp_path_factory):
    """A model, its table, their comparisons, and the tables of reports: whole, and with small counts withheld."""
    frame, schema, labels = cohort()
    if request.param == "one small":
        labels = labels.copy()
        labels[:6] = labels.max() + 1
    model = fitted(schema, labels, kept_out={"dementia": "the same value in every subject observed"})
    folder = tmp_path_factory.mktemp("shared")
    whole = compare_subtypes(frame, labels, schema)

    def tables(suppress, suffix):
        path = folder / f"{suppress}.{suffix}"
        write_report(model, frame, path, suppress=suppress, generated=GENERATED)
        return (tables_of_workbook if suffix == "xlsx" else tables_of_page)(path)

    return model, frame, whole, {key: tables(*key) for key in ((None, "xlsx"), (10, "xlsx"), (10, "html"))}


def test_the_file_has_the_numbers_that_the_suppressed_frame_has(shared):
    """Of that frame and of the file, `tests/disclosure` has the attacks."""
    _, _, whole, tables = shared
    expected = suppress_small_cells(whole).query("kind == 'summary'")
    rows = tables[10, "xlsx"]["Data"]
    heading = next(place for place, row in enumerate(rows) if row[0] == "Kind")
    data = pd.DataFrame(rows[heading + 1 :], columns=rows[heading]).query("Kind == 'Summary'")
    for column in ("n", "missing", "mean", "sd", "median", "q1", "q3", "count", "percent"):
        shown, printed = pd.to_numeric(data[column], errors="coerce"), expected[column].astype("float64")
        np.testing.assert_allclose(shown, printed, rtol=1e-3, err_msg=column)  # as printed
        assert shown.isna().any(), column


def test_what_tells_of_single_subjects_or_of_all_values_is_left_out(shared):
    model, frame, _, tables = shared
    cells = {cell for rows in tables[10, "xlsx"].values() for row in rows for cell in row}
    own = {cell for rows in tables[None, "xlsx"].values() for row in rows for cell in row}
    assert "Assignments" not in tables[10, "xlsx"]
    assert "Assignments" in tables[None, "xlsx"]
    ids = {value for feature in model.schema_.ids for value in frame[feature.name]}
    assert ids
    assert not ids & cells
    assert ids <= own
    assert data_fingerprint(model.schema_.validate(frame, warn=False)) in own - cells
    text = " ".join(str(cell) for row in tables[10, "xlsx"]["Summary"] for cell in row)
    assert "Small numbers withheld: counts below 10" in text
    assert "not for sharing" in " ".join(str(cell) for row in tables[None, "xlsx"]["Summary"] for cell in row if cell)
    facts = {row[0]: row[1] for row in tables[10, "xlsx"]["Summary"] if len(row) > 1}
    of_all_values = {row[0] for row in tables[None, "xlsx"]["Summary"] if len(row) > 1} - set(facts)
    assert {"Log joint (nats)", "Values missing, of those clustered on (%)"} <= of_all_values
    assert {"Values set aside as outlying", "Schema fingerprint (SHA-256)"} <= of_all_values
    assert not {"clear", "uncertain"} & {cell for row in tables[10, "xlsx"]["Summary"] for cell in row}
    assert "Subtypes of few subjects, untested" not in facts


def test_a_page_holds_no_cell_that_the_workbook_does_not(shared):
    """So that what is shown of a workbook holds of a page."""
    *_, tables = shared

    def cells(suffix):
        return {
            (name, " ".join(cell.replace("<br>", " ").split()))
            for name, rows in tables[10, suffix].items()
            for row in rows
            for cell in row
            if isinstance(cell, str) and len(row) > 1  # a note is cut into lines in a workbook
        }

    assert {"Overview", "Withheld", "Subtype table", "Methods"} <= {name for name, _ in cells("html")}
    only_on_page = cells("html") - cells("xlsx")
    assert not only_on_page


def test_the_sheet_withheld_lists_where_numbers_are_withheld(shared):
    model, _, whole, tables = shared
    assert "Withheld" not in tables[None, "xlsx"]
    rows = {row[0]: row[1:4] for row in tables[10, "xlsx"]["Withheld"] if len(row) >= 4 and row[3]}
    expected = suppress_small_cells(whole)
    touched = set(expected.loc[expected["suppressed"], "feature"])
    assert set(rows) - {"Feature"} == {model.schema_[name].title for name in touched}
    summaries = expected[expected["kind"] == "summary"]
    for name in touched:
        own = summaries[summaries["feature"] == name]
        for place, columns in ((0, ["n", "missing"]), (1, ["mean"])):
            lost = own[own[columns].isna().any(axis=1) & own["suppressed"]]["subtype"].unique()
            listed = rows[model.schema_[name].title][place] or ""
            assert all(("All subjects" if group == 0 else f"Subtype {group}") in listed for group in lost)
    text = " ".join(str(row[0]) for row in tables[10, "xlsx"]["Withheld"])
    assert "counts of 1 to 9" in text


# --- with rounded counts ----------------------------------------------------------------------------------------------

BASE = 5
COUNTS = {"Subjects", "n", "missing", "count", "Observed", "Missing", "Missing,<br>n", "Missing,\nn", "Count"}
"""The headings of columns of counts."""
HEADINGS = {"Feature", "Subtype", "Column", "Item"}
IN_TEXTS = re.compile(r"n = ([\d,]+)|([\d,]+) subjects|([\d,]+) \([\d.]+%\)")


def counts_in(tables):
    """Every number in a column of counts or in a text about subjects, with its sheet."""
    found = []
    for sheet, rows in tables.items():
        places = []
        for row in rows:
            texts = " ".join(cell for cell in row if isinstance(cell, str))
            found += [(sheet, int("".join(pair).replace(",", ""))) for pair in IN_TEXTS.findall(texts)]
            if HEADINGS & set(row):
                places = [place for place, cell in enumerate(row) if cell in COUNTS]
            else:
                cells = [row[place] for place in places if place < len(row)]
                found += [(sheet, cell) for cell in cells if is_number(cell)]
    return found


def texts_in(tables):
    return " ".join(str(cell) for rows in tables.values() for row in rows for cell in row)


@pytest.mark.simulation
@pytest.mark.parametrize("suffix", ["xlsx", "html"])
def test_every_count_is_a_multiple_and_what_is_a_function_of_exact_counts_is_left_out(shared, tmp_path, suffix):
    model, frame, _, tables = shared
    path, withheld = tmp_path / f"x.{suffix}", tables[10, suffix]
    write_report(model, frame, path, suppress=10, round_to=BASE, generated=GENERATED)
    rounded = (tables_of_workbook if suffix == "xlsx" else tables_of_page)(path)
    counts = counts_in(rounded)
    assert {(sheet, number) for sheet, number in counts if number % BASE} == set()
    assert {"Overview", "Subtype table"} <= {sheet for sheet, _ in counts}
    assert len(counts) > 30
    assert any(number % BASE for _, number in counts_in(withheld))
    assert "Pairwise test" not in {row[0] for row in rounded.get("Data", ()) if row}
    for said in ("Benjamini", "Student"):
        assert said in texts_in(tables[10, "xlsx"])
        assert said not in texts_in(rounded)
    notes = " ".join(str(row[0]) for row in rounded["Withheld"])
    assert "Every count is rounded to the nearest multiple of 5" in notes
    assert "effect sizes" in notes


# --- no prior that is made of the data stands in a shared report, and no fingerprint that confirms a guess ------------


N, LEVELS = 80, 5
QUICK = {"associations": None, "generated": GENERATED, "progress": False}
LIKELIHOODS = {"first": "ordinal", "second": "ordinal", "third": "categorical", "fourth": "bernoulli"}


def cohort_and_schema(**more):
    rng = np.random.default_rng(4)
    groups = np.arange(N) // (N // 2)
    columns, features = {}, []
    for name, likelihood in LIKELIHOODS.items():
        # Half of each group has the answer of the group, so that no number is withheld because a count is small.
        few = rng.choice(LEVELS, N, p=[0.3, 0.3, 0.3, 0.06, 0.04])
        own = np.where(groups == 0, 0, 2)
        columns[name] = np.where(rng.random(N) < 0.5, own, few) if likelihood == "ordinal" else (few + groups) % 2
        levels = {"levels": ("0", "1")} if likelihood == "categorical" else {}
        scale = {"trials": LEVELS - 1} if likelihood == "ordinal" else {}
        features.append(Feature(name=name, likelihood=likelihood, **levels, **scale))
    columns["third"] = columns["third"].astype(str)
    columns["weight"] = rng.normal(70 + 20 * groups, 4).round(1)
    features.append(Feature(name="weight", likelihood="gaussian", **more))
    return pd.DataFrame(columns), FeatureSchema(features), groups


def texts_of(path):
    """Every text of a workbook or page, without its tags."""
    if path.suffix == ".html":
        return [unescape(text) for text in re.findall(">([^<>]+)<", path.read_text(encoding="utf-8"))]
    with zipfile.ZipFile(path) as archive:
        parts = [archive.read(name).decode("utf-8") for name in archive.namelist() if name.endswith((".xml", ".rels"))]
    return [unescape(text) for part in parts for text in re.findall('>([^<>]+)<|="([^"]*)"', part) for text in text]


def report(folder, suffix, suppress, *, concentration="map", **more):
    frame, schema, _ = cohort_and_schema(**more)
    model = PublishedMAPDP(schema, concentration=concentration, n_restarts=2, n_jobs=1, random_state=0, progress=False)
    model = model.fit(frame)
    path = write_report(model, frame, folder / f"{suppress}{suffix}", suppress=suppress, **QUICK)
    return model, frame, path


@pytest.mark.parametrize("suffix", few([".xlsx", ".html"], 1))
def test_no_hyperparameter_stands_that_is_made_of_the_data(tmp_path, suffix):
    model, _, path = report(tmp_path, suffix, 10, prior={"mean": 71.5})
    text = "\n".join(texts_of(path))
    for name, given in model.hyperparameters_.items():
        for key, value in given.items():
            assert f"{key} = {np.atleast_1d(value)[0]:.4g}" not in text, name
    assert f"{model.concentration_:.3g}, the mode of its posterior" not in text
    assert "[c], the mode of its posterior" in text


def test_a_concentration_that_was_stated_is_told(tmp_path):
    *_, path = report(tmp_path, ".html", 10, concentration=2.5)
    assert "set to 2.5 in advance" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", few([".html", ".xlsx"], 1))
def test_no_fingerprint_confirms_a_guess(tmp_path, suffix):
    """Of a condition on rows that is withheld, and of a level that one subject has."""
    frame, schema, groups = cohort_and_schema()

    def guessed(name, level):
        features = [*schema, Feature(name="origin", likelihood="categorical", role="describe", levels=("here", level))]
        return FeatureSchema(features, rows=RowChoice(where=f"`Patient ID` != '{name}'"))

    frame["origin"] = ["there"] + ["here"] * (N - 1)
    model = Partition(groups, guessed("Smith", "there"), made_by="a clinician")
    for suppress in (10, None):
        path = write_report(model, frame, tmp_path / f"{suppress}{suffix}", suppress=suppress, **QUICK)
        text = "\n".join(texts_of(path))
        guesses = [(name, level) for name in ("Jones", "Smith", "Brown") for level in ("elsewhere", "there")]
        confirmed = [guess for guess in guesses if guessed(*guess).fingerprint in text]
        assert confirmed == ([("Smith", "there")] if suppress is None and suffix == ".xlsx" else [])
        assert not re.search("[0-9a-f]{32,}", text) or not suppress
