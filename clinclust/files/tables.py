"""Read a cohort table from a file without interpreting it: text stays text until a schema converts it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from clinclust.arguments import PATH, TEXT, accepting
from clinclust.errors import CohortWarning, InputError
from clinclust.files.cell_text import shortened
from clinclust.files.delimited import read_delimited
from clinclust.files.listed import limited, quoted
from clinclust.files.opening import check_readable, shown_name
from clinclust.files.parquet import read_parquet
from clinclust.files.xlsx.workbook import read_xlsx

__all__ = ["read_cohort"]

_SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx", ".parquet")
_SAVE_AS = {
    ".xlsm": "a workbook with macros: in Excel, save it as an Excel workbook (.xlsx)",
    ".xls": "the old format of Excel: open it in Excel or LibreOffice, and save it as an Excel workbook (.xlsx)",
    ".xlsb": "a binary workbook: in Excel, save it as an Excel workbook (.xlsx)",
    ".ods": "an OpenDocument sheet: in LibreOffice, save it as an Excel workbook (.xlsx) or as .csv",
    ".numbers": "a document of Numbers: export it to Excel (.xlsx) or to .csv",
}


@accepting(path=PATH, sheet=TEXT, encoding=TEXT)
def read_cohort(path: str | os.PathLike[str], *, sheet: str | None = None, encoding: str | None = None) -> pd.DataFrame:
    """Read a table from a csv, tsv (or txt), xlsx or parquet file.

    Parameters
    ----------
    path : str or path
        The file. Its suffix determines the format. The delimiter of a csv file is the comma or the semicolon, whichever
        splits all rows alike or else the header into more names, or else the tab; that of a tsv or txt file is the tab.
        A first line such as ``sep=;`` sets it, and is no row.
    sheet : str, optional
        Name of the sheet of an xlsx file. By default the first sheet that is not hidden is read, with a
        warning if there are several.
    encoding : str, optional
        Encoding of a text file. The default is UTF-8, or UTF-16 or UTF-32 if the file begins with its byte order mark.
        A file without one that is not UTF-8 is read as UTF-16, Windows-1252, or else Latin-1, with a warning.

    Returns
    -------
    pandas.DataFrame, shape (N, D)
        Every cell as text, unchanged (``001``, ``1E5`` and ``NA`` too); no cell is missing. A cell of an xlsx file is
        the text of its value (1.0 as ``1``, 50% as ``0.5``, dates in ISO form). Columns of a parquet file keep their
        types; bytes are read as text. Empty rows are left out but counted: the label of a row plus 2 is its row number
        in a spreadsheet. Columns at the end without a name and without a value are left out.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    OSError
        If the path names a folder, a pipe or a device, or if the file may not be read.
    ValueError
        If the file cannot be read as a table, or could be read in two ways: an xlsx file whose formulas have no value
        yet, or whose rows or cells contradict their own numbers. The message names the lines or cells at fault.
    ImportError
        If it is a parquet file and pyarrow is not installed.

    Warns
    -----
    CohortWarning
        If the file is not UTF-8; if a text in quotes holds whole rows; if a header with delimiters was read as one
        name. For an xlsx file: if the first of several sheets was read; if cells hold errors such as ``#N/A``, or
        numbers shown as dates that no date has; if cells are merged; if rows or columns are hidden, which are read like
        the others; if values of formulas may be out of date.

    Examples
    --------
    Every cell stays the text that it is in the file:

    >>> import clinclust as cc
    >>> import pandas as pd
    >>> cohort = pd.DataFrame({"patient": ["001", "002"], "icd": ["1E5", "G20"], "falls": ["NA", 3]})
    >>> cohort.to_csv("cohort.csv", index=False)
    >>> cc.read_cohort("cohort.csv")
      patient  icd falls
    0     001  1E5    NA
    1     002  G20     3
    """
    path = Path(path)
    suffix = path.suffix.lower()
    _refuse_format(path, suffix, sheet, encoding)
    check_readable(path)
    with _about(path):
        if suffix == ".xlsx":
            read = read_xlsx(path, sheet)
        elif suffix == ".parquet":
            read = read_parquet(path)
        else:
            read = read_delimited(path, encoding, "," if suffix == ".csv" else "\t")
    for remark in read.remarks:
        warnings.warn(limited(f"{shown_name(path)}: {remark}"), CohortWarning, stacklevel=3)
    return read.frame


def _refuse_format(path: Path, suffix: str, sheet: str | None, encoding: str | None) -> None:
    """Raise InputError if the suffix names no format that is read, or one that an argument does not fit."""
    name = shown_name(path)
    if suffix not in _SUFFIXES:
        given = shortened(suffix) or "no suffix"
        what = f", {_SAVE_AS[suffix]}" if suffix in _SAVE_AS else ""
        raise InputError(f"{name}: tables are read from {', '.join(_SUFFIXES)}, not from {given}{what}")
    if sheet is not None and suffix != ".xlsx":
        raise InputError(f"{name}: sheet={quoted(sheet)} makes sense for an xlsx file only")
    if encoding is not None and suffix in (".xlsx", ".parquet"):
        raise InputError(f"{name}: encoding={quoted(encoding)} makes sense for a text file only")


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Make every error name the file, in a message of bounded length."""
    name = shown_name(path)
    try:
        yield
    except InputError as error:
        raise InputError(limited(f"{name}: {error}")) from error
    except OSError as error:
        raise type(error)(f"{name} cannot be read: {error.strerror or error}") from error
