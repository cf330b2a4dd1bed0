"""What Excel is strict about: how much a workbook holds, and how tables are named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import openpyxl
import pytest

from clinclust.reporting import workbook
from clinclust.reporting.layout import Column, Sheet, Table
from clinclust.reporting.workbook import write_workbook

from .conftest import GENERATED

SPACE = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


def written(path, sheet):
    write_workbook([sheet], path, title="title", generated=GENERATED)
    return openpyxl.load_workbook(path)


def a_sheet(rows, name="Data", columns=("a", "b"), **more):
    table = Table("caption", [Column(title) for title in columns], rows, **more)
    return Sheet(name, [], [table])


def test_several_tables_with_more_rows_than_a_sheet_holds_are_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook, "_MOST_ROWS", 40)
    one = Table("caption", [Column("a")], [["x"]] * 30)
    with pytest.raises(ValueError, match="sheet 'Two' needs 90 rows and a workbook holds 40"):
        written(tmp_path / "x.xlsx", Sheet("Two", [], [one, one]))
    assert not list(tmp_path.iterdir())


@pytest.mark.simulation
def test_as_many_columns_as_excel_has_and_not_one_more(tmp_path):
    many = [f"c{number}" for number in range(16_385)]
    sheet = written(tmp_path / "x.xlsx", a_sheet([["x"] * 16_384], columns=many[:-1]))["Data"]
    assert sheet["XFD4"].value == "x"
    (table,) = sheet.tables.values()
    assert table.ref == "A3:XFD4"
    with pytest.raises(ValueError, match="sheet 'Data' needs 16,385 columns and a workbook holds 16,384"):
        written(tmp_path / "y.xlsx", a_sheet([["x"] * 16_385], columns=many))


@pytest.mark.parametrize(
    ("titles", "headings"),
    [
        (("a", "A"), ["a", "A (2)"]),
        (("a\nb", "a b"), ["a b", "a b (2)"]),
        ((" ", "=1+1"), ["Column", "=1+1"]),
        (("a", "a (2)", "a"), ["a", "a (2)", "a (3)"]),
        (("_x0041_", "A"), ["_x005F_x0041_", "A"]),
    ],
)
def test_headings_of_tables_are_texts_that_differ(tmp_path, titles, headings):
    sheet = written(tmp_path / "x.xlsx", a_sheet([["x"] * len(titles)], columns=titles))["Data"]
    (table,) = sheet.tables.values()
    assert [cell.value for cell in sheet[3]] == headings
    # openpyxl reads escapes in names of columns as Excel does, but not those in cells.
    assert [column.name for column in table.tableColumns] == [text.replace("_x005F_", "_") for text in headings]


def test_a_heading_that_is_shared_is_preceded_by_its_group(tmp_path):
    columns = [Column("n", "0", ("First", "")), Column("n", "0", ("Second", "")), Column("p", "p", ("Second", ""))]
    sheet = written(tmp_path / "x.xlsx", Sheet("Data", [], [Table("c", columns, [[1, 2, 0.5]])]))["Data"]
    assert [cell.value for cell in sheet[4]] == ["First: n", "Second: n", "p"]


def test_what_excel_would_repair_is_no_table_but_still_has_filters(tmp_path):
    for number, (rows, titles) in enumerate([([], ("a", "b")), ([["x", "y"]], ("a", "b" * 256))]):
        sheet = written(tmp_path / f"{number}.xlsx", a_sheet(rows, columns=titles))["Data"]
        assert not sheet.tables
        assert sheet.auto_filter.ref
    sheet = written(tmp_path / "x.xlsx", a_sheet([["x", "y"]], columns=("a", "b" * 255)))["Data"]
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
