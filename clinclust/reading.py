"""Read a cohort table from a file without interpreting it: text stays text until a schema converts it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from clinclust.arguments import PATH, TEXT, TEXTS, WHOLE, Kind, accepting
from clinclust.errors import CohortWarning, InputError
from clinclust.files.number_notation import DecimalMark
from clinclust.files.opening import check_readable
from clinclust.files.selection.dates import DATE_ORDERS, DateOrder
from clinclust.files.selection.repeated_subjects import note_several_rows, subjects_with_several_rows
from clinclust.files.selection.row_choice import KEPT, Keep, RowChoice
from clinclust.files.tables import cohort_table

__all__ = ["read_cohort"]

_ROW = Kind("the number of a row, from 1, or 0 for none", lambda value: WHOLE.accepts(value) and 0 <= value < 2**20)
_DECIMAL = Kind("',' or '.'", lambda value: value in (",", "."))
_KEEP = Kind("'first' or 'last'", lambda value: value in KEPT)
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
    decimal: DecimalMark | None = None,
    where: str | None = None,
    only: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    one_row_per: str | None = None,
    keep: Keep = "first",
    by: str | None = None,
    dates: DateOrder | None = None,
) -> pd.DataFrame:
    """Read a table from a text file, a workbook, or a file of a statistical program.

    Read are csv, tsv, txt and xlsx; parquet with pyarrow; xls with xlrd; xlsb and ods with python-calamine; sav and
    zsav of SPSS, dta of Stata, sas7bdat and xpt of SAS with pyreadstat. Each may be packed with gzip or zip. What a
    file is is recognised by its content; a name that says something else gives a warning.

    Parameters
    ----------
    path : str or path
        The file.
    sheet : str, optional
        Name or number of the sheet of a workbook; by default the first that is not hidden.
    encoding : str, optional
        Encoding of a text file, or of a file of a statistical program that states it wrongly; by default it is found.
    header_row : int, optional
        The row of the names of the columns, as a spreadsheet counts it; by default it is found. 0 is none: columns are
        then named ``column 1`` and so on.
    rows : str, optional
        The rows of the subjects, as a spreadsheet counts them: ``2-61``, ``2-61,66-90`` or ``5-``. Each of these is
        one, even if it looks like a total, and no other row is. The other options choose among these.
    decimal : {",", "."}, optional
        The decimal mark of numbers that could be read in two ways, such as ``1,234``. Cells stay as they are.
    where : str, optional
        Keep the rows that meet a condition, such as ``visit == 'baseline' and 18 <= age < 65``; `and`, `or`, `not`,
        `in`, `is missing`, parentheses, and backticks around names with spaces. Numbers may be written as in the column
        (``crp > '5,2'``), and dates as usual (``seen >= '01.03.2020'``). A number with a unit or flag is not compared.
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
        its label if all values have one. Columns of a parquet file keep their types. The label of a row plus 2 is its
        row number in a spreadsheet. ``frame.attrs`` holds what the file says of its columns (``"column_notes"``), and
        which rows were chosen, and how many (``"rows_taken"``).

    Raises
    ------
    ValueError
        If the file cannot be read as a table, or could be read in two ways, or a choice of rows or columns cannot be
        understood or leaves nothing. The message names the lines, cells or columns at fault, and the repair.
    OSError
        If there is no such file, or it may not be read.
    ImportError
        If the package that reads the format is not installed.

    Warns
    -----
    CohortWarning
        For everything that was guessed, left out or chosen, or that a spreadsheet program shows otherwise.

    Examples
    --------
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
    frame, remarks = cohort_table(
        path, choice, sheet=sheet, encoding=encoding, header_row=header_row, decimal=decimal, only=only, drop=drop
    )
    for remark in remarks:
        warnings.warn(remark, CohortWarning, stacklevel=3)
    note_several_rows(frame, subjects_with_several_rows(frame))
    return frame
