"""A report made for sharing: the attacker works on what stands in the written file, and on nothing else."""

from __future__ import annotations

import re
from html import unescape

import openpyxl
import pandas as pd
import pytest
from true_names import true_levels

from clinclust import compare_subtypes, suppress_small_cells
from clinclust.disclosure import audit_disclosure
from clinclust.reporting.sheets.summary import data_fingerprint

from .conftest import GENERATED
from .stand_in import cohort, fitted, write_report

NUMBERS = ["n", "missing", "mean", "sd", "median", "q1", "q3", "count", "percent"]
OF_TESTS = ["statistic", "df", "df2", "p", "q", "standardised_difference", "estimate", "lower", "upper", "significant"]


def tables_of_workbook(path):
    book = openpyxl.load_workbook(path)
    return {sheet.title: [list(row) for row in sheet.iter_rows(values_only=True)] for sheet in book}


def tables_of_page(path):
    found = {}
    for section in path.read_text(encoding="utf-8").split("<section ")[1:]:
        name = re.search("<h2>(.*?)</h2>", section)[1]
        notes = [[unescape(note)] for note in re.findall("<p>(.*?)</p>", section)]
        rows = [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*?)</tr>", section)]
        found[name] = notes + [[value(unescape(cell)) for cell in row] for row in rows]
    return found


def value(text):
    try:
        return text if re.fullmatch("0[0-9]+", text) else float(text)  # not an identifier such as 0102
    except ValueError:
        return text or None


def is_number(cell):
    return isinstance(cell, (int, float))


def sizes_in(tables):
    """Sizes in the headings of the sheet Subtypes: those of the subtypes, then of all."""
    texts = [cell for row in tables["Subtypes"] for cell in row if isinstance(cell, str) and cell.startswith("n = ")]
    return [int(text.split()[2]) if text.split()[2].isdigit() else None for text in texts]


def names_of_contrasts(tables):
    """The name of the test of each feature, by its title, in the sheet Subtype table."""
    rows = tables["Subtype table"]
    place = next(row.index("Test") for row in rows if "Test" in row)
    return {row[0]: row[place] for row in rows if len(row) > place and row[place] not in (None, "[c]", "Test")}


def as_read(tables, whole, schema):
    """The frame of comparisons with the numbers that stand in the file, and their sizes."""
    frame = whole.copy()
    frame["suppressed"] = False
    for column in (*NUMBERS, *OF_TESTS):
        frame[column] = pd.Series([None] * len(frame)).astype(frame[column].dtype)
    names_of_tests = names_of_contrasts(tables)
    contrasts = frame["kind"] == "contrast"
    frame.loc[contrasts, "test"] = [names_of_tests.get(label) for label in frame.loc[contrasts, "label"]]
    frame = frame[(frame["measure"] != "superiority").fillna(True)].reset_index(drop=True)
    K = frame["subtype"].max()
    sizes = sizes_in(tables)[: K + 1]
    sizes = {0: sizes[-1], **dict(enumerate(sizes[:-1], start=1))}
    names = {feature.title: feature.name for feature in schema}
    levels = true_levels(suppress_small_cells(whole), whole)

    def put(kind, title, level, group, column, cell, versus=None):
        if not is_number(cell):
            return
        rows = (frame["kind"] == kind) & (frame["feature"] == names[title]) & (frame["subtype"] == group)
        if level is not None:
            rows &= frame["level"] == levels.get((names[title], level), level)
        if versus is not None:
            rows &= frame["versus"] == versus
        assert rows.any()
        frame.loc[rows, column] = cell

    read = 0
    for row in tables["Subtypes"]:
        if row[0] in names and len(row) > 2 * K + 4:
            has_levels = schema[names[row[0]]].likelihood in ("bernoulli", "categorical")
            for place, group in enumerate([*range(1, K + 1), 0]):
                level = row[1] if has_levels else None
                put("summary", row[0], level, group, "mean", row[3 + 2 * place])
                put("summary", row[0], level, group, "count" if has_levels else "sd", row[4 + 2 * place])
            read += 1
    for row in tables["Missing data"]:
        if len(row) > 2 * K + 4 and row[1] in names:
            for place, group in enumerate(range(K + 1)):
                missing = row[3 + 2 * place]
                put("summary", row[1], None, group, "missing", missing)
                if is_number(missing) and sizes[group] is not None:
                    put("summary", row[1], None, group, "n", sizes[group] - missing)
            read += 1
    has_all_p = not any("<0.001" in row for row in tables["Pairwise tests"])
    for row in tables["Pairwise tests"]:
        if len(row) > 20 and row[1] in names:
            a, b = int(row[4]), int(row[7])
            for group, n, mean in ((a, row[5], row[6]), (b, row[8], row[9])):
                put("summary", row[1], row[2], group, "n", n)
                put("summary", row[1], row[2], group, "mean", mean)
            numbers = zip(["standardised_difference", "statistic", "df", "p", "q"], row[10:15], strict=True)
            # A page has "<0.001" for some p, so that q cannot be computed again from it; the workbook has the same q.
            for column, cell in numbers if has_all_p else [*numbers][:4]:
                put("test", row[1], row[2], a, column, cell, versus=b)
            read += 1
    assert read > 40
    return frame, sizes


@pytest.fixture(scope="module", params=[pytest.param("all large", marks=pytest.mark.simulation), "one small"])
def shared(request, tmp_path_factory):
    frame, schema, labels = cohort()
    if request.param == "one small":
        labels = labels.copy()
        labels[:6] = labels.max() + 1
    model = fitted(schema, labels, kept_out={"dementia": "the same value in every subject observed"})
    folder = tmp_path_factory.mktemp("shared")
    whole = compare_subtypes(frame, labels, schema)
    paths = {}
    for suppress in (None, 10):
        for suffix in ("xlsx", "html"):
            paths[suppress, suffix] = write_report(
                model,
                frame,
                folder / f"{suppress}.{suffix}",
                comparisons=whole,
                suppress=suppress,
                generated=GENERATED,
            )
    tables = {key: (tables_of_workbook if key[1] == "xlsx" else tables_of_page)(path) for key, path in paths.items()}
    return model, frame, whole, tables


@pytest.mark.parametrize("suffix", ["xlsx", "html"])
def test_nothing_small_can_be_computed_from_the_file(shared, suffix):
    model, _, whole, tables = shared
    for suppress in (10, None):
        read, sizes = as_read(tables[suppress, suffix], whole, model.schema_)
        found = audit_disclosure(read, truth=whole, sizes=sizes)
        if suppress:
            assert not found["disclosed"].any(), found[found["disclosed"].astype(bool)].to_string()
            assert len(found) > 50
        else:
            assert found["disclosed"].sum() > 50


@pytest.mark.parametrize("suffix", ["xlsx", "html"])
def test_the_file_holds_what_the_suppressed_frame_holds(shared, suffix):
    model, _, whole, tables = shared
    read, _ = as_read(tables[10, suffix], whole, model.schema_)
    expected = suppress_small_cells(whole)
    summaries = expected[expected["kind"] == "summary"].reset_index(drop=True)
    read = read[read["kind"] == "summary"].reset_index(drop=True)
    for column in ("n", "missing", "mean"):
        pd.testing.assert_series_equal(read[column].notna(), summaries[column].notna())
    assert read["mean"].notna().sum() > 20


@pytest.mark.parametrize("suffix", ["xlsx", "html"])
def test_what_tells_of_single_subjects_or_of_all_values_is_left_out(shared, suffix):
    model, frame, _, tables = shared
    cells = {cell for rows in tables[10, suffix].values() for row in rows for cell in row}
    own = {cell for rows in tables[None, suffix].values() for row in rows for cell in row}
    assert "Assignments" not in tables[10, suffix]
    assert "Assignments" in tables[None, suffix]
    ids = {value for feature in model.schema_.ids for value in frame[feature.name]}
    assert ids
    assert not ids & cells
    assert ids <= own
    assert data_fingerprint(model.schema_.validate(frame, warn=False)) in own - cells
    text = " ".join(str(cell) for row in tables[10, suffix]["Summary"] for cell in row)
    assert "Small numbers withheld: counts below 10" in text
    assert "not for sharing" in " ".join(str(cell) for row in tables[None, suffix]["Summary"] for cell in row)
    facts = {row[0]: row[1] for row in tables[10, suffix]["Summary"] if len(row) > 1}
    of_all_values = {row[0] for row in tables[None, suffix]["Summary"] if len(row) > 1} - set(facts)
    assert {"Log joint (nats)", "Values missing, of those clustered on (%)"} <= of_all_values
    assert {"Values set aside as outlying", "Schema fingerprint (SHA-256)"} <= of_all_values
    assert not {"clear", "uncertain"} & {cell for row in tables[10, suffix]["Summary"] for cell in row}
    assert "Subtypes of few subjects, untested" not in facts


def test_withheld_comparisons_are_refused(shared, tmp_path):
    model, frame, whole, _ = shared
    with pytest.raises(ValueError, match="ask for `suppress`"):
        write_report(model, frame, tmp_path / "x.html", comparisons=suppress_small_cells(whole))


@pytest.mark.parametrize("suffix", ["xlsx", "html"])
def test_the_sheet_withheld_lists_where_numbers_are_withheld(shared, suffix):
    model, _, whole, tables = shared
    assert "Withheld" not in tables[None, suffix]
    rows = {row[0]: row[1:4] for row in tables[10, suffix]["Withheld"] if len(row) >= 4 and row[3]}
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
    text = " ".join(str(row[0]) for row in tables[10, suffix]["Withheld"])
    assert "counts of 1 to 9" in text
