"""Read a cohort table from a file without interpreting it: text stays text until a schema converts it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd

from clinclust.arguments import PATH, TEXT, TEXTS, WHOLE, Kind, accepting
from clinclust.errors import CohortWarning, InputError
from clinclust.files.chosen_columns import chosen_columns
from clinclust.files.contents import kind_of
from clinclust.files.delimited import read_delimited
from clinclust.files.layout.decimal_marks import Decimal
from clinclust.files.layout.row_ranges import RowRanges
from clinclust.files.layout.sheet_table import SheetOptions
from clinclust.files.listed import limited, quoted
from clinclust.files.opening import check_readable, shown_name
from clinclust.files.other_workbooks import read_ods_or_xlsb, read_xls
from clinclust.files.packed import unpacked
from clinclust.files.parquet import read_parquet
from clinclust.files.repeated_names import with_distinct_names
from clinclust.files.selection.chosen_rows import ChoiceError, chosen_rows
from clinclust.files.selection.dates import DATE_ORDERS, DateOrder
from clinclust.files.selection.row_choice import Keep, RowChoice
from clinclust.files.selection.rows_taken import note_rows_taken
from clinclust.files.source import Source
from clinclust.files.statistical import STATISTICAL, read_statistical
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.workbook import read_xlsx

__all__ = ["read_codebook", "read_cohort"]

_WORKBOOKS = ("xlsx", "xls", "xlsb", "ods")
_ROW = Kind("the number of a row, from 1, or 0 for none", lambda value: WHOLE.accepts(value) and 0 <= value < 2**20)
_DECIMAL = Kind("',' or '.'", lambda value: value in (",", "."))
_KEEP = Kind("'first' or 'last'", lambda value: value in ("first", "last"))
_DATES = Kind("'day-first' or 'month-first'", lambda value: value in DATE_ORDERS)


@accepting(
    path=PATH,
    sheet=TEXT,
    encoding=TEXT,
    header_row=_ROW,
    rows=TEXT,
    decimal=_DECIMAL,
    where=TEXT,
    only=TEXTS,
    drop=TEXTS,
    one_row_per=TEXT,
    keep=_KEEP,
    by=TEXT,
    dates=_DATES,
)
def read_cohort(
    path: str | os.PathLike[str],
    *,
    sheet: str | None = None,
    encoding: str | None = None,
    header_row: int | None = None,
    rows: str | None = None,
    decimal: Decimal | None = None,
    where: str | None = None,
    only: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    one_row_per: str | None = None,
    keep: Keep = "first",
    by: str | None = None,
    dates: DateOrder | None = None,
) -> pd.DataFrame:
    """Read a table from a text file, a workbook, or a file of a statistical program.

    Read are csv, tsv and txt; xlsx; parquet (with ``clinclust[parquet]``); and with ``clinclust[formats]`` xls, xlsb
    and ods, sav, zsav and por of SPSS, dta of Stata, sas7bdat and xpt of SAS. Each may be packed with gzip or zip. What
    a file is is recognised by its content; a name that says something else is told.

    Parameters
    ----------
    path : str or path
        The file. The delimiter of a text file is the comma, semicolon, tab or bar that splits all rows alike, or else
        most of them. A first line such as ``sep=;`` sets it, and is no row.
    sheet : str, optional
        Name or number of the sheet of a workbook. By default the first sheet that is not hidden is read, with a warning
        if there are several.
    encoding : str, optional
        Encoding of a text file, or of a file of a statistical program that states it wrongly. The default is UTF-8, or
        UTF-16 or UTF-32 if the file begins with its byte order mark. A file without one that is not UTF-8 is read as
        UTF-16, Windows-1252, or else Latin-1, with a warning.
    header_row : int, optional
        The row of the names of the columns, as a spreadsheet counts it. By default it is the first row, or the first
        that names all columns below titles. 0 says that there is none: the columns are then named ``column 1``,
        ``column 2`` and so on, by their number in the file.
    rows : str, optional
        The rows of the subjects, as a spreadsheet counts them: ``2-61``, ``2-61,66-90`` or ``5-``. No other row is a
        subject, and each of these is one, even if it looks like a total, a legend or another table. The other options
        choose among these.
    decimal : {",", "."}, optional
        The decimal mark of numbers that could be read in two ways, such as ``1,234``. Cells stay as they are; the notes
        on the columns say which have decimal commas.
    where : str, optional
        Keep the rows that meet a condition, such as ``visit == 'baseline' and age >= 18``; `and`, `or`, `not`, `in`,
        `is missing`, parentheses, and backticks around names with spaces. Numbers may be written as the column writes
        them (``crp > '5,2 mg/L'``), and dates as usual (``seen >= '01.03.2020'``).
    only, drop : list of str, optional
        Columns to keep, or to leave out. ``name#2`` is the second column of a name, ``#7`` the seventh of the file.
    one_row_per : str, optional
        Keep one row for each value of this column.
    keep : {"first", "last"}
        Which row that is, in the order of the file or of `by`.
    by : str, optional
        A column of numbers or dates that orders the rows of each subject.
    dates : {"day-first", "month-first"}, optional
        How `where` and `by` read dates such as 03/04/2020. It is needed only if no other date of the column tells it.

    Returns
    -------
    pandas.DataFrame, shape (N, D)
        Every cell as text, unchanged (``001``, ``1E5`` and ``NA`` too); no cell is missing. A cell of a workbook is
        the text of its value (1.0 as ``1``, 50% as ``0.5``, dates in ISO form). A coded value of SPSS, Stata or SAS is
        its label if all values have one. Columns of a parquet file keep their types; bytes are read as text. The label
        of a row plus 2 is its row number in a spreadsheet. ``frame.attrs["column_notes"]`` holds what the file says of
        its columns: labels, units, coded values, user-missing values; see `clinclust.files.column_notes`.
        ``frame.attrs["rows_taken"]`` holds which rows were chosen, and how many; a draft, a fit and a report say so.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    OSError
        If the path names a folder, a pipe or a device, or if the file may not be read.
    ValueError
        If the file cannot be read as a table, or could be read in two ways: columns without a name or with one name, a
        header that looks like a subject, rows that may be no subjects (legends, totals that do not add up, headings, a
        second table), two tables side by side, an xlsx file whose formulas have no value yet, or whose rows or cells
        contradict their own numbers. The message names the lines, cells or columns at fault. Also if a choice of rows
        or columns cannot be understood, or leaves nothing.
    ImportError
        If the package that reads the format is not installed.

    Warns
    -----
    CohortWarning
        For everything that was guessed, left out or chosen: the encoding; titles, units, totals and footnotes around
        the table, and totals and headings in it; headers of two rows, whose names are joined; repeated headers; decimal
        commas; the first of several sheets; labels that only some values have; how many rows and columns a choice
        keeps. Also for what a reader of a workbook sees otherwise: cells with errors such as ``#N/A``, merged cells,
        hidden rows and columns, old values of formulas.

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
    check_readable(path)
    choice = RowChoice(where, one_row_per, keep, by, dates, rows)
    if choice.problems():
        raise InputError("; ".join(choice.problems()))
    with _about(path):
        layout: dict[str, object] = {"header_row": header_row, "rows": rows, "decimal": decimal}
        options = SheetOptions(header_row, decimal, None if rows is None else RowRanges.parsed(rows))
        read, taken = chosen_rows(_table(path, sheet, encoding, options, layout), choice, decimal)
        frame, told = chosen_columns(read, only, drop)
        note_rows_taken(frame, taken)
    for remark in [*read.remarks, *told]:
        warnings.warn(limited(f"{shown_name(path)}: {remark}"), CohortWarning, stacklevel=3)
    return frame


@accepting(path=PATH, sheet=TEXT)
def read_codebook(path: str | os.PathLike[str], sheet: str | None = None) -> pd.DataFrame:
    """Read a table whose rows are no subjects, but variables; what else is said of `read_cohort` holds."""
    path = Path(path)
    check_readable(path)
    with _about(path):
        read = _table(path, sheet, None, SheetOptions(of_subjects=False), {})
        frame, told = chosen_columns(read, None, None)
    for remark in [*read.remarks, *told]:
        warnings.warn(limited(f"{shown_name(path)}: {remark}"), CohortWarning, stacklevel=3)
    return frame


def _table(
    path: Path, sheet: str | None, encoding: str | None, options: SheetOptions, layout: dict[str, object]
) -> TableRead:
    """Return the table of a file, with all its columns; `layout` names the options that make sense for sheets only."""
    source, remarks = unpacked(path)
    kind, told = kind_of(source)
    _refuse_options(kind, sheet, encoding, layout)
    read = with_distinct_names(_read(source, kind, sheet, encoding, options))
    return replace(read, remarks=[*remarks, *told, *read.remarks])


def _read(source: Source, kind: str, sheet: str | None, encoding: str | None, options: SheetOptions) -> TableRead:
    if kind == "text":
        return read_delimited(source, encoding, options)
    if kind == "xlsx":
        return read_xlsx(source, sheet, options)
    if kind == "xls":
        return read_xls(source, sheet, options)
    if kind == "parquet":
        return read_parquet(source)
    if kind in STATISTICAL:
        return read_statistical(source, kind, encoding)
    return read_ods_or_xlsb(source, kind, sheet, options)


def _refuse_options(kind: str, sheet: str | None, encoding: str | None, layout: dict[str, object]) -> None:
    """Raise InputError if an option makes no sense for a file of this kind."""
    problems = []
    if sheet is not None and kind not in _WORKBOOKS:
        problems.append(f"sheet={quoted(sheet)} makes sense for a workbook only (.xlsx, .xls, .xlsb, .ods)")
    if encoding is not None and kind != "text" and kind not in STATISTICAL:
        problems.append(f"encoding={quoted(encoding)} makes sense for a text file only")
    for name, value in layout.items():
        if value is not None and kind != "text" and kind not in _WORKBOOKS:
            problems.append(f"{name}={quoted(value)} makes sense for a text file or a workbook only")
    if problems:
        raise InputError("; ".join(problems))


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Make every error name the file, in a message of bounded length."""
    name = shown_name(path)
    try:
        yield
    except InputError as error:
        kind = ChoiceError if isinstance(error, ChoiceError) else InputError
        raise kind(limited(f"{name}: {error}")) from error
    except OSError as error:
        raise type(error)(f"{name} cannot be read: {error.strerror or error}") from error
