"""A report made for sharing: the attacker works on what stands in the written file, and on nothing else."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from clinclust import compare_subtypes, suppress_small_cells
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
    assert not re.search("[0-9a-f]{32,}", texts_in(tables[10, "xlsx"]) + texts_in(tables[10, "html"]))
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
