"""Workbooks that other programs write, sound and unsound: each is read right, or refused, or told."""

import datetime
import re
import warnings

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_workbook import (
    STRICT,
    number,
    row_xml,
    shared_strings_xml,
    sheet_xml,
    text,
    workbook_bytes,
    workbook_parts,
    zipped,
)
from scored import scored

from clinclust import read_cohort
from clinclust.errors import CohortWarning, InputError
from clinclust.files.formats import shown_by

HEADER = row_xml(1, text("a"), text("b"))
SOUND = sheet_xml(HEADER + row_xml(2, number(1), number(2)))


def read(folder, content, **more):
    path = folder / "cohort.xlsx"
    path.write_bytes(content)
    return read_cohort(path, **more)


def read_rows(folder, *rows, **more):
    return read(folder, workbook_bytes(sheet_xml(HEADER + "".join(rows)), **more))


UNSOUND = {
    "a formula without a value": (row_xml(2, "><f>1+1</f><v/>", number(2)), r"A2: formulas without a computed value"),
    "a formula without value element": (row_xml(2, 't="str"><f>1+1</f>', number(2)), "A2: formulas without"),
    "a row twice": (row_xml(2, number(1)) * 2, "row 2 after row 2"),
    "rows out of order": (row_xml(3, number(1)) + row_xml(2, number(1)), "row 2 after row 3"),
    "row 0": (row_xml(0, number(1)), "row 0 after row 1"),
    "a negative row": (row_xml(-5, number(1)), "row -5 after row 1"),
    "a row far beyond the last": (row_xml(999_999_999, number(1)), "row 999999999 after row 1"),
    "a row number that is none": (row_xml("x", number(1)), "row x after row 1"),
    "a cell twice": ('<row r="2"><c r="A2"><v>1</v></c><c r="A2"><v>7</v></c></row>', "A2: rows and cells"),
    "cells out of order": ('<row r="2"><c r="B2"><v>1</v></c><c r="A2"><v>7</v></c></row>', "A2: rows and cells"),
    "a cell of another row": ('<row r="2"><c r="A9"><v>1</v></c></row>', "A9: rows and cells"),
    "a column beyond the last": ('<row r="2"><c r="XFE2"><v>1</v></c></row>', "XFE2: rows and cells"),
    "a column that is none": ('<row r="2"><c r="XFDZZ2"><v>1</v></c></row>', "XFDZZ2: rows and cells"),
    "a reference that is none": ('<row r="2"><c r="$A$2"><v>1</v></c></row>', "A.2: rows and cells"),
    "a negative shared text": (row_xml(2, 't="s"><v>-1</v>'), r"A2 \('-1'\): cells with a value"),
    "a shared text too many": (row_xml(2, 't="s"><v>2</v>'), r"A2 \('2'\): cells with a value"),
    "a shared text without number": (row_xml(2, 't="s"><v>x</v>'), r"A2 \('x'\): cells with a value"),
    "a number that is none": (row_xml(2, "><v>1_000</v>"), r"A2 \('1_000'\): cells with a value"),
    "an infinite number": (row_xml(2, "><v>1e999</v>"), r"A2 \('1e999'\): cells with a value"),
    "a boolean that is none": (row_xml(2, 't="b"><v>2</v>'), r"A2 \('2'\): cells with a value that their type"),
    "a type that is none": (row_xml(2, 't="q"><v>2</v>'), r"A2 \('2'\): cells with a value that their type"),
    "a date that is none": (row_xml(2, 't="d"><v>2020-13-01</v>'), r"A2 \('2020-13-01'\)"),
    "a style that is none": (row_xml(2, number(1, style=99)), r"A2 \('1'\): cells with a value"),
    "a row in a row": ('<row r="2"><row r="3"/></row>', "row 2 after row 3"),
}


@scored([(name, *case) for name, case in UNSOUND.items()])
def test_a_sheet_that_could_give_a_wrong_cell_is_refused(name, rows, words, tmp_path):
    shared = shared_strings_xml("<t>x</t>", "<t>y</t>")
    with pytest.raises(InputError, match=words) as caught:
        read_rows(tmp_path, rows, shared=shared)
    assert str(caught.value).startswith("cohort.xlsx: ")


def test_a_cell_of_the_header_in_another_place_is_refused(tmp_path):
    with pytest.raises(InputError, match="B7: rows and cells"):
        read(tmp_path, workbook_bytes(sheet_xml('<row r="1"><c r="B7" t="str"><v>a</v></c></row>')))


def test_all_faults_of_a_sheet_are_listed_at_once_and_counted(tmp_path):
    rows = [row_xml(k, "><f>1+1</f><v/>", "><v>x</v>") for k in range(2, 2002)]
    with pytest.raises(InputError) as caught:
        read_rows(tmp_path, *rows)
    assert "A2, A3, A4, A5, A6 and 1,995 more: formulas" in str(caught.value)
    assert "B2 ('x'), B3 ('x')" in str(caught.value)
    assert len(str(caught.value)) < 1000


ODD = {
    "0.30000000000000004": "><v>0.30000000000000004</v>",
    "100000": "><v>1E5</v>",
    "7": "><v> 007 </v>",
    "12345678901234567890": "><v>12345678901234567890</v>",
    "0.5": number(0.5, style=4),
    "True": 't="b"><v>1</v>',
    "": 't="str"><f>""</f><v></v>',
    "x": 't="str"><f>A1</f><v>x</v>',
    "3": "><f>1+2</f><v>3</v>",
    "2020-01-02": number(43832, style=1),
    "2020-01-02T12:00:00": number(43832.5, style=2),
    "1900-02-28": number(59, style=5),
    "1900-03-01": number(61, style=1),
    "12:00:00": number(0.5, style=2),
    "1 day, 12:00:00": number(1.5, style=3),
    "2021-02-03": 't="d"><v>2021-02-03T00:00:00Z</v>',
    "shared rich": 't="s"><v>0</v>',
    "inline rich": 't="inlineStr"><is><r><t>inline</t></r><r><t> rich</t></r><rPh sb="0" eb="1"><t>hint</t></rPh></is>',
    "two\rlines _x000D_ 😀": 't="inlineStr"><is><t>two_x000D_lines _x005F_x000D_ 😀</t></is>',
    " 001 ": text(" 001 "),
    "1.50": text("1.50"),
}


@scored(ODD.items())
@scored(["transitional", "strict"])
def test_a_cell_is_the_text_of_its_value(expected, cell, namespace, tmp_path):
    shared = shared_strings_xml("<r><t>shared</t></r><r><t> rich</t></r><rPh sb='0' eb='1'><t>hint</t></rPh>")
    xml = sheet_xml(HEADER + row_xml(2, number(1), cell), **({"namespace": STRICT} if namespace == "strict" else {}))
    frame = read(tmp_path, workbook_bytes(xml, shared=shared))
    assert frame.to_numpy().tolist() == [["1", expected]]


def test_rows_and_cells_without_numbers_follow_each_other(tmp_path):
    rows = "<row><c><v>1</v></c><c><v>2</v></c></row><row/><row><c/><c><v>4</v></c></row>"
    frame = read_rows(tmp_path, rows)
    assert frame.to_numpy().tolist() == [["1", "2"], ["", "4"]]
    assert frame.index.tolist() == [0, 2]


def test_empty_rows_above_the_header_are_counted(tmp_path):
    frame = read(tmp_path, workbook_bytes(sheet_xml(row_xml(4, text("a")) + row_xml(6, number(1)))))
    assert frame.index.tolist() == [4]
    assert frame["a"].tolist() == ["1"]


@pytest.mark.parametrize(("days", "expected"), [(0, "1904-01-01"), (42370, "2020-01-02"), (59, "1904-02-29")])
def test_days_are_counted_from_1904_if_the_workbook_says_so(tmp_path, days, expected):
    frame = read_rows(tmp_path, row_xml(2, number(days, style=1)), workbook='<workbookPr date1904="1"/>')
    assert frame["a"].tolist() == [expected]


@pytest.mark.parametrize("days", [-1, 60, 60.5, 1e9])
def test_a_number_that_no_date_has_is_kept_and_told(tmp_path, days):
    with pytest.warns(CohortWarning, match=r"cohort.xlsx: A2: numbers shown as dates that no date has"):
        assert float(read_rows(tmp_path, row_xml(2, number(days, style=1)))["a"].iloc[0]) == days


@given(st.datetimes(datetime.datetime(1900, 3, 1), datetime.datetime(9999, 12, 31)))
def test_dates_agree_with_those_that_openpyxl_writes(tmp_path_factory, moment):
    moment = moment.replace(microsecond=0)
    path = tmp_path_factory.mktemp("dates") / "x.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.active.append([moment])
    book.save(path)
    is_midnight = moment.time() == datetime.time()
    assert read_cohort(path)["a"].tolist() == [moment.date().isoformat() if is_midnight else moment.isoformat()]


@scored(
    [
        ("General", "number"),
        ('0.0" days"', "number"),
        ("[Red]#,##0.00;[Blue]-0", "number"),
        (r"0\ \d", "number"),
        ("0.00E+00", "number"),
        ("[$-409]d-mmm-yy;@", "date"),
        ("mmm", "date"),
        ("yyyy-mm-dd hh:mm", "date"),
        ("h:mm AM/PM", "time"),
        ("mm:ss.0", "time"),
        ("[h]:mm:ss", "duration"),
        ("[mm]:ss", "duration"),
    ]
)
def test_formats_of_dates_are_told_from_others(code, kind):
    assert shown_by("170", code) == kind


TOLD = {
    "merged": (sheet_xml(HEADER + row_xml(2, number(1)), after='<mergeCell ref="A2:A3"/>'), r"merged cells \(A2:A3\)"),
    "a hidden row": (sheet_xml(HEADER + row_xml(2, number(1), attributes='hidden="1"')), r"hidden rows .*\(2\)"),
    "a hidden column": (
        sheet_xml(HEADER + row_xml(2, number(1)), before='<cols><col min="2" max="9" hidden="1"/></cols>'),
        r"hidden columns .*\(b\)",
    ),
    "an error": (sheet_xml(HEADER + row_xml(2, 't="e"><v>#N/A</v>')), r"A2 \(#N/A\): spreadsheet errors"),
}


@pytest.mark.parametrize(("sheet", "words"), TOLD.values(), ids=TOLD)
def test_what_a_reader_of_the_sheet_sees_otherwise_is_told(tmp_path, sheet, words):
    with pytest.warns(CohortWarning, match=rf"^cohort.xlsx: {words}"):
        read(tmp_path, workbook_bytes(sheet))


def test_values_of_formulas_that_the_writer_left_to_be_computed_are_told(tmp_path):
    with pytest.warns(CohortWarning, match="left its 1 formulas to be computed"):
        read_rows(tmp_path, row_xml(2, "><f>1+1</f><v>0</v>"), workbook='<calcPr fullCalcOnLoad="1"/>')
    read_rows(tmp_path, row_xml(2, number(1)), workbook='<calcPr fullCalcOnLoad="1"/>')


def test_merged_cells_and_hidden_columns_beside_the_table_or_nowhere_are_not_told(tmp_path):
    before = '<cols><col min="3" max="9" hidden="1"/><col min="one" max="2" hidden="1"/></cols>'
    after = '<mergeCell ref="D2:E3"/><mergeCell ref="A9:B9"/>'
    sheet = sheet_xml(HEADER + row_xml(2, number(1)), before=before, after=after)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, workbook_bytes(sheet))


def test_a_hidden_first_sheet_is_passed_over(tmp_path):
    content = workbook_bytes(("lists", "hidden", sheet_xml(row_xml(1, text("x")))), ("data", "visible", SOUND))
    with pytest.warns(CohortWarning, match=r"read the first sheet, 'data'; others are lists \(hidden\)"):
        assert read(tmp_path, content).columns.tolist() == ["a", "b"]
    assert read(tmp_path, content, sheet="lists").columns.tolist() == ["x"]


def without(name):
    return {
        part: content for part, content in workbook_parts(SOUND, shared=shared_strings_xml()).items() if part != name
    }


def changed(name, old, new):
    parts = workbook_parts(SOUND)
    assert old in parts[name]
    return {**parts, name: parts[name].replace(old, new)}


BROKEN = {
    "no sheet": (without("xl/worksheets/sheet1.xml"), "part xl/worksheets/sheet1.xml is missing"),
    "no shared texts": (without("xl/sharedStrings.xml"), "part xl/sharedStrings.xml is missing"),
    "no relations of the workbook": (without("xl/_rels/workbook.xml.rels"), "workbook.xml.rels is missing"),
    "no relations": (without("_rels/.rels"), "its part _rels/.rels is missing"),
    "no workbook": (without("xl/workbook.xml"), "part xl/workbook.xml is missing"),
    "a sheet without relation": (changed("xl/workbook.xml", 'r:id="rId1"', ""), "no sheet with cells"),
    "only charts": (changed("xl/_rels/workbook.xml.rels", "/worksheet", "/chartsheet"), "no sheet with cells"),
    "broken XML": (changed("xl/worksheets/sheet1.xml", "</sheetData>", ""), "cannot be read (ParseError"),
    "a binary workbook": ({"mimetype": "x", "xl/workbook.bin": "x"}, "this xlsb workbook cannot be read"),
    "an OpenDocument sheet": ({"mimetype": "x", "content.xml": "x"}, "LibreOffice"),
    "an empty zip": ({}, "_rels/.rels is missing"),
}


@scored([(name, *case) for name, case in BROKEN.items()])
def test_a_broken_workbook_is_one_clear_error(name, parts, words, tmp_path):
    with pytest.raises(InputError, match=rf"^cohort.xlsx: .*{re.escape(words)}"):
        read(tmp_path, zipped(parts))


def test_bytes_that_are_no_sound_zip_are_one_clear_error(tmp_path):
    sound = workbook_bytes(SOUND)
    at = sound.index(b"xl/worksheets/sheet1.xml") + len(b"xl/worksheets/sheet1.xml")
    flipped = sound[:at] + bytes(255 - byte for byte in sound[at : at + 40]) + sound[at + 40 :]
    entry = sound.index(b"PK\x01\x02") + 6  # the version of zip that is needed
    for content, words in (
        (sound[: len(sound) // 2], "not an xlsx file"),
        (sound[:entry] + b"\x61" + sound[entry + 1 :], "not an xlsx file"),
        (flipped, "cannot be read"),
        (zipped({**workbook_parts(SOUND)}).replace(b"xl/styles.xml", b"XL/workbook.x"), "damaged|missing"),
    ):
        with pytest.raises(InputError, match=words):
            read(tmp_path, content)


def test_a_part_that_unpacks_to_far_more_than_a_table_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("clinclust.files.opening._SMALL", 2**20)
    bomb = sheet_xml(HEADER + "<row/>" * 200_000)
    with pytest.raises(InputError, match=r"sheet1.xml unpacks from 0.\d to more than 1 MB"):
        read(tmp_path, workbook_bytes(bomb))


def test_a_lone_cell_in_the_last_column_does_not_fill_the_memory(tmp_path):
    xml = HEADER + "".join(f'<row r="{k}"><c r="XFD{k}"><v>1</v></c></row>' for k in range(2, 1000))
    with pytest.warns(CohortWarning, match="no name for column 16384: read as '#16384'"):
        assert read(tmp_path, workbook_bytes(sheet_xml(xml))).shape == (998, 3)
