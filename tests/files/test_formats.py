"""Formats that other packages read: what is said without them, and what a file may claim."""

import sys

import pandas as pd
import pytest
from corpus.sheets import CELLS
from corpus.statistical_files import spss
from old_and_open_workbooks import ods, xls

from clinclust import read_cohort
from clinclust.errors import InputError, MissingPackageError


@pytest.mark.parametrize(
    ("name", "package", "make"),
    [
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
