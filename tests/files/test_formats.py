"""Workbooks, statistical files and parquet, sound and unsound: each is read right, or refused, or told."""

import re
import sys
import warnings
from itertools import pairwise

import numpy as np
import openpyxl
import pandas as pd
import pyarrow.parquet
import pytest
from calls import calls_of
from cases import cases_beside, read_beside
from corpus.messy_file import spss
from corpus.sheets import CELLS
from old_and_open_workbooks import ods, xlsb
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
from clinclust.errors import CohortWarning, InputError, MissingPackageError
from clinclust.files import tables


def write_xlsx(path, *sheets):
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for title, rows in sheets:
        worksheet = workbook.create_sheet(title)
        for row in rows:
            worksheet.append(row)
    workbook.save(path)
    return path


COVER = [["Study ABC"], ["As of:", "2024-02-01"]]
LEGEND = [["field", "value"], ["study", "ABC"], ["investigator", "X"]]
FAULTY = [["P00", 13.1, 40], *([f"P{row}", row, 13.1] for row in range(40))]


def subjects(seed=0, n=40):
    rng = np.random.default_rng(seed)
    rows = [[f"P{row:02d}", float(rng.normal(13, 1).__round__(1)), int(rng.integers(18, 90))] for row in range(n)]
    return [["id", "hb", "age"], *rows]


def workbook(path, **sheets):
    return write_xlsx(path, *sheets.items())


@pytest.mark.parametrize("cover", [COVER, LEGEND])
def test_the_only_table_is_read_and_told_first(tmp_path, cover):
    path = workbook(tmp_path / "c.xlsx", Cover=cover, Data=subjects())
    with pytest.warns(CohortWarning, match="read the sheet 'Data': the first, 'Cover', is no table"):
        frame = read_cohort(path)
    assert frame.shape == (40, 3)
    pd.testing.assert_frame_equal(frame, read_cohort(path, sheet="Data"))


def test_several_tables_are_asked_about(tmp_path):
    path = workbook(tmp_path / "c.xlsx", Cover=COVER, Data=subjects(), Labs=subjects(1))
    with pytest.raises(InputError, match=r"'Cover', is no table of subjects.*`sheet`: 'Data', 'Labs'"):
        read_cohort(path)
    assert len(read_cohort(path, sheet="Labs")) == 40


def test_a_first_sheet_at_fault_is_not_passed_over_but_the_others_are_named(tmp_path):
    path = workbook(tmp_path / "c.xlsx", Data=FAULTY, Labs=subjects())
    with pytest.raises(InputError, match="If 'Data' is no table of subjects, choose another sheet by `sheet`: Labs"):
        read_cohort(path)


@pytest.mark.parametrize("kind", ["csv", "xlsx", "ods"])
@pytest.mark.filterwarnings("ignore::clinclust.CohortWarning")
def test_rows_left_out_by_hand_are_counted(tmp_path, kind):
    rows = [["id", "hb"], *([f"P{row:02d}", str(13 + row % 3)] for row in range(30)), ["Total: 30", "14"], [], ["end"]]
    path = tmp_path / f"c.{kind}"
    if kind == "xlsx":
        workbook(path, Data=rows)
    else:
        path.write_bytes(ods(rows) if kind == "ods" else "".join(f"{','.join(row)}\n" for row in rows).encode())
    frame = read_cohort(path, rows="2-31")
    counts = frame.attrs["rows_taken"]["counts"]
    assert (len(frame), counts["in_table"], counts["outside"]) == (30, 32, 2)


@pytest.mark.parametrize("kind", ["xlsx", "ods", "xlsb"])
@pytest.mark.filterwarnings("ignore::clinclust.CohortWarning")
def test_a_stray_cell_in_the_last_column_of_excel_costs_no_work_for_the_empty_cells_of_each_row(tmp_path, kind):
    def read(rows, **choice):
        path = tmp_path / f"c.{kind}"
        if kind == "xlsx":
            workbook(path, Data=rows)
        else:
            path.write_bytes({"ods": ods, "xlsb": xlsb}[kind](rows))
        frames = []
        return calls_of(lambda: frames.append(read_cohort(path, **choice))), frames[0]

    rows = subjects()
    n_calls, frame = read(rows)
    stray = [*rows[:30], [*rows[30], *[None] * 16_380, "x"], *rows[31:]]
    n_more, same = read(stray, drop=["#16384"])
    pd.testing.assert_frame_equal(same, frame)
    assert n_more - n_calls < 200 * len(rows)


def test_a_workbook_that_ends_its_reader_is_one_clear_error(tmp_path, monkeypatch):
    path = tmp_path / "c.ods"
    path.write_bytes(ods(CELLS))
    monkeypatch.setattr(tables, "_CALAMINE", "import os; os.abort()")
    with pytest.raises(InputError, match=r"^c\.ods: this ods workbook cannot be read \(damaged\): open it in Excel"):
        read_cohort(path)


def test_spreadsheet_edges_without_content_are_left_out(tmp_path):
    rows = [["a", "b", None], [1, None, " "], [None, None, None], [2, 3, None], [None]]
    frame = read_cohort(write_xlsx(tmp_path / "x.xlsx", ("s", rows)))
    assert frame.to_numpy().tolist() == [["1", ""], ["2", "3"]]
    with pytest.warns(CohortWarning, match="no name for column 2: read as '#2'"):
        assert list(read_cohort(write_xlsx(tmp_path / "y.xlsx", ("s", [["a"], [1, 2]])))) == ["a", "#2"]
    with pytest.raises(ValueError, match="the table is empty"):
        read_cohort(write_xlsx(tmp_path / "z.xlsx", ("s", [])))


def test_parquet_keeps_its_types_and_its_named_index(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": pd.Categorical(["u", "v"])})
    path = tmp_path / "x.parquet"
    frame.to_parquet(path)
    pd.testing.assert_frame_equal(read_cohort(path), frame)
    frame.set_index("a").to_parquet(path)
    pd.testing.assert_frame_equal(read_cohort(path), frame)


HEADER = row_xml(1, text("a"), text("b"))
SOUND = sheet_xml(HEADER + row_xml(2, number(1), number(2)))


def read(folder, content, **more):
    path = folder / "cohort.xlsx"
    path.write_bytes(content)
    return read_cohort(path, **more)


def read_rows(folder, *rows, **more):
    return read(folder, workbook_bytes(sheet_xml(HEADER + "".join(rows)), **more))


@scored([(name, *case) for name, case in read_beside(__file__)["unsound"].items()])
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


@scored(cases_beside(__file__, "odd_cells"))
@scored(["transitional", "strict"])
def test_a_cell_is_the_text_of_its_value(expected, cell, namespace, tmp_path):
    shared = shared_strings_xml("<r><t>shared</t></r><r><t> rich</t></r><rPh sb='0' eb='1'><t>hint</t></rPh>")
    xml = sheet_xml(HEADER + row_xml(2, number(1), cell), **({"namespace": STRICT} if namespace == "strict" else {}))
    frame = read(tmp_path, workbook_bytes(xml, shared=shared))
    assert frame.to_numpy().tolist() == [["1", expected]]


def test_empty_rows_above_the_header_are_counted(tmp_path):
    frame = read(tmp_path, workbook_bytes(sheet_xml(row_xml(4, text("a")) + row_xml(6, number(1)))))
    assert frame.index.tolist() == [4]
    assert frame["a"].tolist() == ["1"]
    last = read(tmp_path, workbook_bytes(sheet_xml(row_xml(1, text("a")) + row_xml(1_048_576, number(1)))))
    assert (last.index + 2).tolist() == [1_048_576]


@pytest.mark.parametrize(("days", "expected"), [(0, "00:00:00"), (42370, "2020-01-02"), (59, "1904-02-29")])
def test_days_are_counted_from_1904_if_the_workbook_says_so(tmp_path, days, expected):
    frame = read_rows(tmp_path, row_xml(2, number(days, style=1)), workbook='<workbookPr date1904="1"/>')
    assert frame["a"].tolist() == [expected]


@pytest.mark.parametrize("days", [-1, 60, 60.5, 1e9])
def test_a_number_that_no_date_has_is_kept_and_told(tmp_path, days):
    with pytest.warns(CohortWarning, match=r"cohort.xlsx: A2: numbers shown as dates that no date has"):
        assert float(read_rows(tmp_path, row_xml(2, number(days, style=1)))["a"].iloc[0]) == days


TOLD = {
    "merged": (sheet_xml(HEADER + row_xml(2, number(1)), after='<mergeCell ref="A2:A3"/>'), r"merged cells \(A2:A3\)"),
    "a hidden row": (sheet_xml(HEADER + row_xml(2, number(1), attributes='hidden="1"')), r"row 2: hidden"),
    "an error": (sheet_xml(HEADER + row_xml(2, 't="e"><v>#N/A</v>')), r"A2 \(#N/A\): spreadsheet errors"),
}


@pytest.mark.parametrize(("sheet", "words"), TOLD.values(), ids=TOLD)
def test_what_a_reader_of_the_sheet_sees_otherwise_is_told(tmp_path, sheet, words):
    with pytest.warns(CohortWarning, match=rf"^cohort.xlsx: {words}"):
        read(tmp_path, workbook_bytes(sheet))


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


ENTITIES = "".join(f'<!ENTITY {after} "{f"&{one};" * 10}">' for one, after in pairwise("abcdefghi"))
LAUGHS = f'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{ENTITIES}]><x>&i;</x>'
BROKEN = {
    "no sheet": (without("xl/worksheets/sheet1.xml"), "part xl/worksheets/sheet1.xml is missing"),
    "no styles": (without("xl/styles.xml"), "part xl/styles.xml is missing"),
    "no shared texts": (without("xl/sharedStrings.xml"), "part xl/sharedStrings.xml is missing"),
    "no relations of the workbook": (without("xl/_rels/workbook.xml.rels"), "workbook.xml.rels is missing"),
    "no relations": (without("_rels/.rels"), "its part _rels/.rels is missing"),
    "no workbook": (without("xl/workbook.xml"), "part xl/workbook.xml is missing"),
    "a sheet without relation": (changed("xl/workbook.xml", 'r:id="rId1"', ""), "no sheet with cells"),
    "only charts": (changed("xl/_rels/workbook.xml.rels", "/worksheet", "/chartsheet"), "no sheet with cells"),
    "broken XML": (changed("xl/worksheets/sheet1.xml", "</sheetData>", ""), "cannot be read (ParseError"),
    "a billion letters": ({**workbook_parts(SOUND), "xl/worksheets/sheet1.xml": LAUGHS}, "cannot be read (ParseError"),
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
    heads = rb"(?:PK\x03\x04..|PK\x01\x02....)\x00"  # of each part, and then the flag of a password
    locked = re.sub(heads, lambda head: head[0][:-1] + b"\x01", sound, flags=re.DOTALL)
    for content, words in (
        (sound[: len(sound) // 2], "xlsx file cannot be read"),
        (sound[:entry] + b"\x61" + sound[entry + 1 :], "xlsx file cannot be read"),
        (locked, "in its part _rels/.rels"),
        (flipped, "cannot be read"),
        (zipped({**workbook_parts(SOUND)}).replace(b"xl/styles.xml", b"XL/workbook.x"), "damaged|missing"),
    ):
        with pytest.raises(InputError, match=words):
            read(tmp_path, content)


def test_a_part_that_unpacks_to_far_more_than_a_table_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("clinclust.files.tables._SMALL", 2**20)
    bomb = sheet_xml(HEADER + "<row/>" * 200_000)
    with pytest.raises(InputError, match=r"sheet1.xml unpacks from 0.\d to more than 1 MB"):
        read(tmp_path, workbook_bytes(bomb))


def test_a_lone_cell_in_the_last_column_does_not_fill_the_memory(tmp_path):
    xml = HEADER + "".join(f'<row r="{k}"><c r="XFD{k}"><v>1</v></c></row>' for k in range(2, 1000))
    with pytest.warns(CohortWarning, match="no name for column 16384: read as '#16384'"):
        assert read(tmp_path, workbook_bytes(sheet_xml(xml))).shape == (998, 3)


@pytest.mark.parametrize("metadata", [b"{", b"[]", b"{}", b'{"columns": 3}', b'{"index_columns": [{}], "columns": []}'])
def test_a_parquet_file_whose_metadata_are_damaged_is_refused_or_read(tmp_path, metadata):
    path = tmp_path / "cohort.parquet"
    table = pyarrow.table({"a": [1, 2]}).replace_schema_metadata({b"pandas": metadata})
    pyarrow.parquet.write_table(table, path)
    try:
        assert read_cohort(path)["a"].tolist() == [1, 2]
    except InputError as error:
        assert str(error).startswith("cohort.parquet: this parquet file cannot be read")  # noqa: PT017 - some are read


def test_a_changed_value_is_refused_if_the_file_has_checksums(tmp_path):
    path = tmp_path / "cohort.parquet"
    table = pyarrow.table({"a": ["mild", "severe", "moderate"]})
    pyarrow.parquet.write_table(
        table, path, compression="none", use_dictionary=False, write_page_checksum=True, write_statistics=False
    )
    content = path.read_bytes()
    at = content.index(b"severe")
    path.write_bytes(content[:at] + b"Severe" + content[at + 6 :])
    with pytest.raises(InputError, match=r"^cohort\.parquet: this parquet file cannot be read"):
        read_cohort(path)


def test_bytes_are_text_and_nested_cells_are_refused_all_at_once(tmp_path):
    path = tmp_path / "cohort.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"a": [b"mild", "schwächer".encode(), None], "b": [1, 2, 3]}), path)
    assert read_cohort(path)["a"].tolist()[:2] == ["mild", "schwächer"]
    pyarrow.parquet.write_table(pyarrow.table({"a": [[1], []], "b": [b"\xff", b""], "c": [{"x": 1}, None]}), path)
    with pytest.raises(InputError, match=r"^cohort\.parquet: cells of 'a', 'b', 'c' hold lists, records or bytes"):
        read_cohort(path)


def test_whole_numbers_beside_missing_ones_keep_all_their_digits(tmp_path):
    ids = pyarrow.array([1234567890123456001, None, 1234567890123456002])
    pyarrow.parquet.write_table(pyarrow.table({"id": ids}), tmp_path / "x.parquet")
    assert read_cohort(tmp_path / "x.parquet")["id"].tolist() == [1234567890123456001, None, 1234567890123456002]


def test_text_that_is_no_text_is_refused(tmp_path):
    broken = pyarrow.array([b"caf\xe9", b"x"]).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"name": broken}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet: this parquet file cannot be read"):
        read_cohort(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    ("name", "package", "make"),
    [
        ("c.parquet", "pyarrow", lambda path: path.write_bytes(b"PAR1")),
        ("c.ods", "python_calamine", lambda path: path.write_bytes(ods(CELLS))),
        ("c.sav", "pyreadstat", spss({"n": [1.0]})),
    ],
)
def test_a_missing_package_is_named_with_how_to_install_it(tmp_path, monkeypatch, name, package, make):
    make(tmp_path / name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=f"pip install {package.replace('_', '-')}$"):
        read_cohort(tmp_path / name)


def test_a_file_that_claims_more_cells_than_it_can_hold_is_refused_before_memory_is_taken(tmp_path):
    path = tmp_path / "c.sav"
    spss({"n": [1.0]})(path)
    content = path.read_bytes()
    path.write_bytes(content[:80] + (10**9).to_bytes(4, "little") + content[84:])  # its number of rows
    with pytest.raises(InputError, match="it has 1,000,000,000 cells, which it cannot hold"):
        read_cohort(path)


def test_single_precision_is_read_as_its_program_shows_it(tmp_path):
    path = tmp_path / "c.dta"
    pd.DataFrame({"x": pd.Series([0.1, 1e-7, 2.0], dtype="float32")}).to_stata(path, write_index=False)
    assert read_cohort(path)["x"].tolist() == ["0.1", "1e-07", "2"]
