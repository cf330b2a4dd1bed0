"""A report made for sharing: the attacker works on what stands in the written file, and on nothing else."""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from html import unescape
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scored import few
from true_names import true_levels

from clinclust import Feature, FeatureSchema, Partition, compare_subtypes, suppress_small_cells
from clinclust.disclosure import audit_disclosure
from clinclust.files.row_choice import RowChoice
from clinclust.methods import PublishedMAPDP
from clinclust.reporting.findings import data_fingerprint
from clinclust.reporting.layout import WORDS

from .conftest import GENERATED
from .stand_in import cohort, fitted, sections_of, write_report

NUMBERS = ["n", "missing", "mean", "sd", "median", "q1", "q3", "count", "percent"]
OF_TESTS = ["statistic", "df", "df2", "p", "q", "standardised_difference", "estimate", "lower", "upper", "significant"]


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


def sizes_in(tables):
    """Sizes in the headings of the Subtype table: of all, then those of the subtypes."""
    (heading,) = (row for row in tables["Subtype table"] if row and row[0] == "Feature")
    sizes = re.findall(r"n = (\S+)", " ".join(heading))
    return [int(size) if size.isdigit() else None for size in sizes]


INDENT, NUMBER = "\N{EM SPACE}", re.compile(r"−?[0-9.]+(?:E[+-][0-9]+)?")
PRINTED = {"n (%)": ("count", "percent"), "mean (SD)": ("mean", "sd"), "median [Q1, Q3]": ("median", "q1", "q3")}


def printed_rows(tables, schema):
    """Each row of the Subtype table: its feature, its level (None for the feature itself), its summary and cells."""
    titles = sorted(((feature.title, feature.name) for feature in schema), key=lambda pair: -len(pair[0]))
    name = summary = None
    rows = iter(tables["Subtype table"])
    for row in rows:
        if row and row[0] == "Feature":
            break
    for label, *cells in (row for row in rows if len(row) > 1 and any(cell is not None for cell in row[1:])):
        if not label.startswith(INDENT):
            name = next(name for title, name in titles if label.startswith(title))
            summary = next(summary for summary in PRINTED if summary in label)
        yield name, label.strip() if label.startswith(INDENT) else None, summary, cells


def names_of_contrasts(tables, schema):
    """The name of the test of each feature, by the footnote of its p in the Subtype table."""
    called = {title.removeprefix("the ").casefold(): name for name, (title, _) in WORDS["tests"].items()}
    notes = [row[0] for row in tables["Subtype table"] if row and isinstance(row[0], str) and row[0][0] in "ᵃᵇᶜᵈᵉᶠᵍʰ"]
    notes = [note for text in notes for note in text.splitlines()]
    named = {note[0]: called[note[2:].rstrip(".").casefold()] for note in notes}
    rows = [(name, cells[-1]) for name, level, _, cells in printed_rows(tables, schema) if level is None]
    return {name: named[cell[-1]] for name, cell in rows if isinstance(cell, str) and cell[-1] in named}


def as_read(tables, whole, schema):
    """The frame of comparisons with the numbers that stand in the file, and their sizes."""
    frame = whole.copy()
    frame["suppressed"] = False
    for column in (*NUMBERS, *OF_TESTS):
        frame[column] = pd.Series([None] * len(frame)).astype(frame[column].dtype)
    names_of_tests = names_of_contrasts(tables, schema)
    contrasts = frame["kind"] == "contrast"
    frame.loc[contrasts, "test"] = [names_of_tests.get(name) for name in frame.loc[contrasts, "feature"]]
    K = frame["subtype"].max()
    sizes = sizes_in(tables)[: K + 1]
    sizes = dict(enumerate(sizes))
    names = {feature.title: feature.name for feature in schema}
    levels = true_levels(suppress_small_cells(whole), whole)

    found = {column: np.full(len(frame), None, dtype=object) for column in (*NUMBERS, *OF_TESTS)}
    places = defaultdict(list)
    keys = frame[["kind", "feature", "subtype", "level", "versus"]].astype(object)
    for place, (*row, level, versus) in enumerate(keys.where(keys.notna(), None).itertuples(index=False)):
        for key in product({level, None}, {versus, None}):
            places[*row, *key].append(place)

    def put(kind, title, level, group, column, cell, versus=None):
        if is_number(cell):
            kind = "level" if ("level", names[title], group, level, None) in places and level else kind
            rows = places[kind, names[title], group, levels.get((names[title], level), level), versus]
            assert rows
            found[column][rows] = cell

    read = 0
    levels_of = frame.groupby("feature")["level"].unique().items()
    only_level = {name: found[0] for name, found in levels_of if len(found) == 1 and isinstance(found[0], str)}
    titles = {name: title for title, name in names.items()}
    for name, label, summary, row in printed_rows(tables, schema):
        for group, cell in enumerate(row[1 : K + 2]):
            for column, number in zip(PRINTED[summary], NUMBER.findall(str(cell)), strict=False):
                if cell != "[c]":
                    shown = float(number.replace("−", "-"))
                    put("summary", titles[name], label or only_level.get(name), group, column, shown)
        read += 1
    shares = [at for at, share in enumerate(found["percent"]) if share is not None and found["mean"][at] is None]
    found["mean"][shares] = found["percent"][shares] / 100
    columns: list[str] = []
    for row in tables.get("Data", ()):
        columns = list(row) if row and row[0] == "Kind" else columns
        cells = dict(zip(columns, row, strict=False))
        if cells.get("Kind") == "Summary":
            group = 0 if cells["Subtype"] == "All subjects" else int(cells["Subtype"].split()[1])
            for column in NUMBERS:
                put("summary", titles[cells["Column"]], cells["Level"], group, column, cells[column])
        if cells.get("Method") in ("welch", "standardised_difference") and cells["Versus"] != "All others":
            a, b = (int(cells[name].split()[1]) for name in ("Subtype", "Versus"))
            is_test = cells["Kind"] == "Pairwise test"
            for column in ("statistic", "df", "p", "q") if is_test else ("estimate",):
                name = column if is_test else "standardised_difference"
                put("test", titles[cells["Column"]], cells["Level"], a, name, cells[column], versus=b)
    assert read > 25
    return frame.assign(**{name: pd.array(cells, dtype=frame[name].dtype) for name, cells in found.items()}), sizes


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


def test_nothing_small_can_be_computed_from_the_file_which_holds_what_the_suppressed_frame_holds(shared):
    model, _, whole, tables = shared
    read, sizes = as_read(tables[None, "xlsx"], whole, model.schema_)
    assert audit_disclosure(read, truth=whole, sizes=sizes)["disclosed"].sum() > 50
    read, sizes = as_read(tables[10, "xlsx"], whole, model.schema_)
    found = audit_disclosure(read, truth=whole, sizes=sizes)
    assert not found["disclosed"].any(), found[found["disclosed"].astype(bool)].to_string()
    assert len(found) > 50
    expected = suppress_small_cells(whole)
    summaries = expected[expected["kind"] == "summary"].reset_index(drop=True)
    read = read[read["kind"] == "summary"].reset_index(drop=True)
    is_share = summaries["percent"].notna()  # the sheet has no quartiles of shares
    for column in ("n", "missing", "count", "mean", "median", "q3"):
        at = ~is_share if column in ("median", "q3") else slice(None)
        pd.testing.assert_series_equal(read[column].notna()[at], summaries[column].notna()[at])
    assert read["mean"].notna().sum() > 20


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
