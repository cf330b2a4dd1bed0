"""The workbook: what its cells are, how it is laid out, what it refuses, and that it repeats itself."""

import dataclasses
import os
import re
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pandas as pd
import pytest
from cases import cases_beside
from cohorts import gaussian_schema

from clinclust.reporting import workbook
from clinclust.reporting.layout import Column, Sheet, Table, as_value, number_text
from clinclust.reporting.workbook import write_workbook

from .conftest import GENERATED
from .stand_in import fitted, sections_of, write_report

SHEETS = ["Overview", "Subtype table", "Trust", "Subjects", "Summary"]
SHEETS += ["Codebook", "Methods", "Data"]


@pytest.fixture(scope="session")
def book(workbook_path):
    return sections_of(workbook_path)


def rows(sheet):
    return [list(row) for row in sheet.iter_rows(values_only=True)]


def row_of(sheet, first):
    """Number of the first row whose first cell is this text."""
    return next(place for place, cell in enumerate(sheet["A"], start=1) if cell.value == first)


def facts(sheet):
    return {row[0]: row[1] for row in rows(sheet) if row[0]}


def workbook_of(path, sheet):
    write_workbook([sheet], path, title="title", generated=GENERATED)
    return openpyxl.load_workbook(path)


def a_sheet(rows, name="Data", columns=("a", "b"), **more):
    table = Table("caption", [Column(title) for title in columns], rows, **more)
    return Sheet(name, [], [table])


def test_the_sheets_are_set_up_for_reading_and_printing(workbook_path):
    book = openpyxl.load_workbook(workbook_path)
    assert book.sheetnames == SHEETS
    for sheet in book:
        assert sheet.freeze_panes
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert (sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight) == (1, 0)
        assert sheet.print_title_rows
        assert sheet.oddFooter.right.text == "Page &P of &N"
        assert not sheet.merged_cells.ranges
        assert all(sheet.column_dimensions[letter].width >= 7 for letter in "AB")
    assert book.properties.title == "Simulated parkinsonism cohort"
    assert book.properties.creator == "clinclust"
    assert book.properties.created == GENERATED.replace(tzinfo=None)


@pytest.mark.parametrize(("name", "table", "n_rows"), [("Subjects", "Assignments", 120), ("Codebook", "Codebook", 24)])
def test_long_tables_filter_below_a_heading_that_is_printed_on_every_page(workbook_path, name, table, n_rows):
    sheet = openpyxl.load_workbook(workbook_path)[name]
    found = sheet.tables[table]
    first, last = map(int, re.findall(r"\d+", found.ref))
    assert found.autoFilter.ref == found.ref
    assert (last, last - first) == (sheet.max_row, n_rows)
    assert sheet.auto_filter.ref is None or len(sheet.tables) == 1
    assert sheet.print_title_rows.endswith(f"${first}")
    in_view = int(re.search(r"\d+", sheet.freeze_panes)[0]) - 1
    assert in_view == first


def test_every_sheet_that_tests_says_what_the_p_values_are_not(book):
    for name in ("Summary", "Data"):
        text = " ".join(str(row[0]) for row in rows(book[name])[:6])
        assert "descriptive, not inference" in text


def test_every_text_is_a_text_cell_that_stays_one_and_every_number_a_number(book):
    numbers = texts = 0
    for sheet in book.values():
        for cell in (cell for row in sheet.iter_rows() for cell in row if cell.value is not None):
            if isinstance(cell.value, str):
                assert cell.data_type == "s"
                assert cell.quotePrefix
                is_text = sheet.title in ("Summary", "Codebook")  # versions, levels
                assert is_text or not re.fullmatch(r"-?\d+\.\d+", cell.value)
                texts += 1
            else:
                assert cell.data_type == "n"
                assert np.isfinite(cell.value)
                numbers += 1
    assert min(numbers, texts) > 500


def test_the_summary_says_what_was_run(book, model, frame):
    found = facts(book["Summary"])
    run = {"Subjects": len(frame), "Subtypes found": 3, "Concentration": 3, "Restarts": 3}
    run |= {"Random seed": model.random_seed_, "Log joint (nats)": model.log_joint_, "Features clustered on": 21}
    run |= {"Recombinations and perturbations": 1, "Partitions within 1 nat of the best": 2, "Coarsening": 1}
    run |= {"Values set aside as outlying": 0, "Schema fingerprint (SHA-256)": model.schema_.fingerprint}
    run |= {"Report written": "2026-01-02 03:04 UTC", "openpyxl": openpyxl.__version__}
    assert {name: found[name] for name in run} == run
    assert re.fullmatch("[0-9a-f]{64}", found["Data fingerprint (SHA-256)"])
    assert {"clinclust", "Python", "numpy", "scipy", "pandas", "numba", "statsmodels", "pandera"} <= set(found)
    observed = model.schema_.validate(frame, warn=False).drop(columns=["patient", "probability_of_pd", "dementia"])
    missing = 100 * observed.isna().to_numpy().mean()
    assert found["Values missing, of those clustered on (%)"] == round(missing, 1)


def test_the_assignments_are_those_of_the_model(book, model, frame):
    sheet = book["Assignments"]
    body = rows(sheet)[row_of(sheet, "Patient") :]
    assert [row[0] for row in body] == frame["patient"].tolist()
    assert [row[1] - 1 for row in body] == model.labels_.tolist()
    np.testing.assert_allclose([row[4:] for row in body], model.membership_)
    for row in body:
        assert row[2] == row[3 + row[1]]
        assert row[3] == ("clear" if row[2] >= 0.95 else "likely" if row[2] >= 0.8 else "uncertain")


@pytest.fixture(scope="module")
def small():
    frame = pd.DataFrame({"x": np.arange(8.0)})
    return fitted(gaussian_schema(frame), np.repeat([0, 1], 4)), frame


@pytest.mark.simulation
def test_the_same_date_gives_the_same_bytes(small, tmp_path, monkeypatch):
    dated, later = (
        write_report(*small, tmp_path / f"{days}.xlsx", generated=GENERATED + timedelta(days)).read_bytes()
        for days in (0, 1)
    )
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(GENERATED.timestamp())))
    assert write_report(*small, tmp_path / "epoch.xlsx").read_bytes() == dated != later
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    before = datetime.now(UTC).replace(microsecond=0, tzinfo=None)
    created = openpyxl.load_workbook(write_report(*small, tmp_path / "now.xlsx")).properties.created
    assert before <= created <= datetime.now(UTC).replace(tzinfo=None)


def test_what_a_cell_cannot_hold_as_a_number_is_an_empty_cell(tmp_path):
    # A whole subtype without a value, a constant feature, and one that separates without any spread.
    N = 12
    frame = pd.DataFrame({"a": [1.0] * 6 + [np.nan] * 6, "b": [2.5] * N, "c": [0.0] * 6 + [1.0] * 6})
    schema = gaussian_schema("abc")
    model = fitted(schema, np.repeat([0, 1], 6), kept_out={"b": "the same value in every subject observed"})
    book = sections_of(write_report(model, frame, tmp_path / "x.xlsx", generated=GENERATED))
    heading, *body = rows(book["Data"])[row_of(book["Data"], "Kind") - 1 :]
    tests = (
        pd.DataFrame(body, columns=heading).query("Kind == 'Pairwise test' and Method == 'welch'").set_index("Column")
    )
    assert tests.loc[["a", "b"], ["statistic", "df", "p", "q"]].isna().all(axis=None)
    assert tests.loc["c", ["statistic", "df"]].isna().all()
    assert tests.loc["c", ["p", "q"]].tolist() == [0, 0]
    assert [cell.value for cell in book["Assignments"]["A"]][-12:] == list(range(N))


def test_a_seed_of_many_digits_is_not_rounded(small, tmp_path):
    seed = 2**128 - 59
    path = write_report(dataclasses.replace(small[0], random_seed_=seed), small[1], tmp_path / "x.xlsx")
    assert facts(openpyxl.load_workbook(path)["Summary"])["Random seed"] == str(seed)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (np.float64(0.25), 0.25),
        (np.int64(3), 3),
        (10**15, "1000000000000000"),
        ("=1", "=1"),
        (np.nan, None),
        (-np.inf, None),
        (pd.NA, None),
        (None, None),
        (pd.NaT, None),
    ],
)
def test_values_of_cells(given, value):
    assert as_value(given) == value
    assert type(as_value(given)) is type(value)


def test_texts_too_long_for_a_cell_are_refused_by_name_and_the_old_file_stays(tmp_path):
    path = tmp_path / "sheet.xlsx"
    workbook_of(path, a_sheet([["x", "y" * 32_767]]))
    before = path.read_bytes()
    for text in ("y" * 32_768, "\N{GRINNING FACE}" * 16_384):  # this counts twice in a workbook
        with pytest.raises(ValueError, match=r"sheet 'Data', cell B4: .*characters.*32,767"):
            workbook_of(path, a_sheet([["x", text]]))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["sheet.xlsx"]


def test_long_texts_stay_within_what_a_sheet_can_show(tmp_path):
    sheet = workbook_of(tmp_path / "x.xlsx", a_sheet([["word " * 6000]], columns=["x" * 300]))["Data"]
    assert sheet.column_dimensions["A"].width < 255
    assert sheet.row_dimensions[4].height == 409


def test_control_characters_become_visible(tmp_path):
    sheet = workbook_of(tmp_path / "x.xlsx", a_sheet([["bell\x07 null\x00 half\ud800 line\nend"]], columns="a"))["Data"]
    assert sheet["A4"].value == "bell\u2407 null\u2400 half\ufffd line\nend"


def test_formats_show_what_the_page_writes():
    for value, kind, decimals, text in cases_beside(__file__, "formats"):
        assert number_text(value, kind, decimals) == text


def test_columns_are_wide_enough_for_their_numbers(workbook_path):
    for sheet in openpyxl.load_workbook(workbook_path):
        for column in sheet.iter_cols():
            width = sheet.column_dimensions[column[0].column_letter].width
            for cell in column:
                if isinstance(cell.value, (int, float)) and cell.number_format != "General":
                    decimals = 3 if "<" in cell.number_format else len(cell.number_format.partition(".")[2])
                    assert len(f"{cell.value:.{decimals}f}") < width


def test_entries_of_the_archive_carry_no_time(workbook_path):
    with zipfile.ZipFile(workbook_path) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.testzip() is None


def test_other_suffixes_and_what_is_no_model_are_refused(model, frame, tmp_path):
    for name in ("x.tsv", "x", "xlsx", "x.xls"):
        with pytest.raises(ValueError, match=r"ends in \.xlsx, \.html, \.json or \.csv"):
            write_report(model, frame, tmp_path / name)
    with pytest.raises(ValueError, match="model must be a fitted MAPDP or a Partition, not object"):
        write_report(object(), frame, tmp_path / "x.xlsx")


def test_the_smallest_size_and_the_level_are_used(model, frame, tmp_path):
    path = write_report(model, frame, tmp_path / "x.xlsx", min_size=30, significance_level=0.05)
    book = sections_of(path)
    assert facts(book["Summary"])["Subtypes of few subjects, untested"] == "3"
    assert facts(book["Summary"])["Significance level"] == 0.05
    pairs = {tuple(row[6:8]) for row in rows(book["Data"]) if row[0] == "Pairwise test"}
    assert pairs == {("Subtype 1", "Subtype 2")}


def test_one_subtype_and_no_section_and_no_id(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=["p", "q", "r"])
    model = fitted(gaussian_schema(frame), [0, 0, 0])
    book = sections_of(write_report(model, frame, tmp_path / "x.xlsx"))
    assert [cell.value for cell in book["Assignments"]["A"]][-4:] == ["Row", "p", "q", "r"]
    assert "No section" not in {cell.value for cell in book["Subtype table"]["A"]}
    write_report(model, frame, tmp_path / "x.html")


# --- what Excel is strict about ---------------------------------------------------------------------------------------


SPACE = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


def test_several_tables_with_more_rows_than_a_sheet_holds_are_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook, "_MOST_ROWS", 40)
    one = Table("caption", [Column("a")], [["x"]] * 30)
    with pytest.raises(ValueError, match="sheet 'Two' needs 90 rows and a workbook holds 40"):
        workbook_of(tmp_path / "x.xlsx", Sheet("Two", [], [one, one]))
    assert not list(tmp_path.iterdir())


@pytest.mark.simulation
def test_as_many_columns_as_excel_has_and_not_one_more(tmp_path):
    many = [f"c{number}" for number in range(16_385)]
    sheet = workbook_of(tmp_path / "x.xlsx", a_sheet([["x"] * 16_384], columns=many[:-1]))["Data"]
    assert sheet["XFD4"].value == "x"
    (table,) = sheet.tables.values()
    assert table.ref == "A3:XFD4"
    with pytest.raises(ValueError, match="sheet 'Data' needs 16,385 columns and a workbook holds 16,384"):
        workbook_of(tmp_path / "y.xlsx", a_sheet([["x"] * 16_385], columns=many))


@pytest.mark.parametrize(("titles", "headings"), cases_beside(__file__, "headings"))
def test_headings_of_tables_are_texts_that_differ(tmp_path, titles, headings):
    sheet = workbook_of(tmp_path / "x.xlsx", a_sheet([["x"] * len(titles)], columns=titles))["Data"]
    (table,) = sheet.tables.values()
    assert [cell.value for cell in sheet[3]] == headings
    # openpyxl reads escapes in names of columns as Excel does, but not those in cells.
    assert [column.name for column in table.tableColumns] == [text.replace("_x005F_", "_") for text in headings]


def test_a_heading_that_is_shared_is_preceded_by_its_group(tmp_path):
    columns = [Column("n", "0", ("First", "")), Column("n", "0", ("Second", "")), Column("p", "p", ("Second", ""))]
    sheet = workbook_of(tmp_path / "x.xlsx", Sheet("Data", [], [Table("c", columns, [[1, 2, 0.5]])]))["Data"]
    assert [cell.value for cell in sheet[4]] == ["First: n", "Second: n", "p"]


def test_what_excel_would_repair_is_no_table_but_still_has_filters(tmp_path):
    for number, (rows, titles) in enumerate([([], ("a", "b")), ([["x", "y"]], ("a", "b" * 256))]):
        sheet = workbook_of(tmp_path / f"{number}.xlsx", a_sheet(rows, columns=titles))["Data"]
        assert not sheet.tables
        assert sheet.auto_filter.ref
    sheet = workbook_of(tmp_path / "x.xlsx", a_sheet([["x", "y"]], columns=("a", "b" * 255)))["Data"]
    assert sheet.tables


@pytest.mark.simulation
def test_the_tables_of_a_report_are_what_excel_asks_for(full_workbook_path):
    book = openpyxl.load_workbook(full_workbook_path)
    names = set()
    for sheet in book:
        several = {**dict.fromkeys(("Overview", "Subtype table", "Trust", "Summary", "Methods"), 0)}
        assert len(sheet.tables) == several.get(sheet.title, 1)
        for table in sheet.tables.values():
            heading, *body = sheet[table.ref]
            assert [cell.value for cell in heading] == [column.name for column in table.tableColumns]
            assert len({cell.value.casefold() for cell in heading}) == len(heading)
            assert body
            assert table.autoFilter.ref == table.ref
            assert re.fullmatch(r"[A-Za-z]\w*", table.displayName)
            assert not re.fullmatch(r"[A-Za-z]{1,3}\d+|[Rr]\d*[Cc]\d*", table.displayName)
            names.add(table.displayName.casefold())
    assert len(names) == 4
    with zipfile.ZipFile(full_workbook_path) as archive:
        entries = set(archive.namelist())
        for name in entries:
            assert ElementTree.fromstring(archive.read(name)).tag
        text = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    defined = text.findall(".//m:definedName", SPACE)
    names = [each.get("name") for each in defined]
    assert names.count("_xlnm.Print_Titles") == len(book.sheetnames)
    assert set(names) == {"_xlnm.Print_Titles"}


@pytest.mark.simulation
def test_the_same_cohort_gives_the_same_bytes_in_another_process(full_workbook_path, tmp_path):
    program = """if True:
        import sys
        from reporting.conftest import GENERATED, _fitted
        from reporting.stand_in import associations_of
        from clinclust import write_report
        model, frame = _fitted()
        write_report(model, frame, sys.argv[1], associations=associations_of(model),
                     names={1: "Tremor dominant"}, generated=GENERATED)
    """
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.xlsx"
        tests = str(Path(__file__).parents[1])
        paths = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": paths}
        subprocess.run([sys.executable, "-c", program, str(path)], env=environment, check=True)
        assert path.read_bytes() == full_workbook_path.read_bytes()
