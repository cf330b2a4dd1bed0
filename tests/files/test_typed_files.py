"""Files that say what their columns are: parquet and statistical programs; what is said without their packages."""

import sys

import pandas as pd
import pyarrow.parquet
import pytest
from corpus.sheets import CELLS
from corpus.statistical_files import spss
from old_and_open_workbooks import ods, xls

from clinclust import read_cohort
from clinclust.errors import CohortWarning, InputError, MissingPackageError
from clinclust.files.formats import rows_of, table_of_parts
from clinclust.files.text_table import ColumnNotes, add_notes, notes_of


@pytest.mark.parametrize("metadata", [b"{", b"[]", b"{}", b'{"columns": 3}', b'{"index_columns": [{}], "columns": []}'])
def test_a_parquet_file_whose_metadata_are_damaged_is_refused_or_read(tmp_path, metadata):
    path = tmp_path / "cohort.parquet"
    table = pyarrow.table({"a": [1, 2]}).replace_schema_metadata({b"pandas": metadata})
    pyarrow.parquet.write_table(table, path)
    try:
        assert read_cohort(path)["a"].tolist() == [1, 2]
    except InputError as error:
        assert str(error).startswith("cohort.parquet: this parquet file cannot be read")  # noqa: PT017 - some are read


def test_notes_on_columns_are_kept_by_the_file(tmp_path):
    frame = pd.DataFrame({"crp": ["3,5"], "age": ["61"]})
    add_notes(frame, {"crp": ColumnNotes(unit="mg/L", decimal=",")})
    frame.to_parquet(tmp_path / "cohort.parquet")
    read = read_cohort(tmp_path / "cohort.parquet")
    assert notes_of(read) == {"crp": ColumnNotes(unit="mg/L", decimal=",")}
    frame.attrs["column_notes"] = {"crp": {"unit": 3}}
    frame.to_parquet(tmp_path / "cohort.parquet")
    with pytest.warns(CohortWarning, match="the notes on its columns cannot be read: left out"):
        assert read_cohort(tmp_path / "cohort.parquet").attrs.keys() == {"rows_taken"}


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


def test_an_index_that_is_also_a_column_is_read_once(tmp_path):
    frame = pd.DataFrame({"who": ["a", "b"], "falls": [1, 2]})
    frame.set_index("who", drop=False).to_parquet(tmp_path / "x.parquet")
    assert read_cohort(tmp_path / "x.parquet").columns.tolist() == ["who", "falls"]


def test_text_that_is_no_text_is_refused(tmp_path):
    broken = pyarrow.array([b"caf\xe9", b"x"]).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"name": broken}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet: this parquet file cannot be read"):
        read_cohort(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    ("name", "package", "make"),
    [
        ("c.parquet", "pyarrow", lambda path: path.write_text("x")),
        ("c.xls", "xlrd", xls(CELLS)),
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


def test_a_column_without_a_name_has_its_number_in_partitions_too(tmp_path):
    for part in range(2):
        pd.DataFrame({"": [f"P{part}"], "age": [61]}).to_parquet(tmp_path / f"{part}.parquet")
    table, parts = table_of_parts(tmp_path)
    assert list(table.compute()) == ["#1", "age"]
    assert rows_of(parts[1], ["#1"])["#1"].tolist() == ["P1"]
    with pytest.warns(CohortWarning, match="no name for column 1: read as '#1'"):
        assert list(read_cohort(parts[0].file)) == ["#1", "age"]
