"""Read a cohort table from a file: cells stay text until a schema converts them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from clinclust.arguments import Rule, accepting, is_whole, one_of
from clinclust.errors import refuse
from clinclust.files.conditions import DATE_ORDERS, DateOrder
from clinclust.files.layout import SheetOptions
from clinclust.files.number_notation import DecimalMark
from clinclust.files.opening import check_readable, naming_file
from clinclust.files.row_choice import KEPT, Keep, RowChoice, choose_rows, note_several_rows, subjects_with_several_rows
from clinclust.files.tables import read_table, warn_of_file
from clinclust.files.text_table import MOST_COLUMNS, RowRanges
from clinclust.files.visits import read_summaries, read_trends


@accepting(
    header_row=Rule("the number of a row, from 1, or 0 for none", lambda value: is_whole(value, 0) and value < 2**20),
    decimal=one_of(",", "."),
    keep=one_of(*KEPT),
    dates=one_of(*DATE_ORDERS),
    summarise=Rule(
        "a dictionary from columns to lists of summaries, such as {'egfr': ['mean', 'slope']}",
        lambda value: isinstance(value, Mapping),
    ),
    trends=Rule("the trends of `rows` of a schema", lambda value: isinstance(value, Mapping)),
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
    time: str | None = None,
    summarise: Mapping[str, Sequence[str]] | None = None,
    trends: Mapping[str, Mapping[str, Any]] | None = None,
) -> pd.DataFrame:
    """Read a table from a text file, a workbook, or a file of SPSS, Stata or SAS.

    Formats: csv, tsv, txt, xlsx; parquet (pyarrow); xls (xlrd); xlsb, ods (python-calamine); sav, zsav, dta, sas7bdat,
    xpt (pyreadstat); each also in gzip or zip. The format is recognised by the content.

    Parameters
    ----------
    path : str or path
        The file.
    sheet : str, optional
        Name or number of the sheet of a workbook; by default the first visible one.
    encoding : str, optional
        Encoding of a text file, or of a statistical file that states it wrongly; by default it is detected.
    header_row : int, optional
        Row of the column names, as a spreadsheet counts it; 0 for none. By default it is detected.
    rows : str, optional
        Rows of the subjects, as a spreadsheet counts them: ``2-61``, ``2-61,66-90`` or ``5-``.
    decimal : {",", "."}, optional
        Decimal mark of ambiguous numbers such as ``1,234``. Cells are unchanged.
    where : str, optional
        Condition on rows, such as ``visit == 'baseline' and 18 <= age < 65``: `and`, `or`, `not`, `in`, `is missing`,
        parentheses, backticks around names with spaces. Numbers and dates may be written as in the column.
    only, drop : list of str, optional
        Columns to keep, or to leave out. ``name#2`` is the second column of a name, ``#7`` the seventh of the file.
    one_row_per : str, optional
        Keep one row for each value of this column.
    keep : {"first", "last"}
        Which row to keep, in the order of `by`, else of `time`, else of the file.
    by : str, optional
        Column of numbers or dates that orders the rows of each subject.
    dates : {"day-first", "month-first"}, optional
        How `where`, `by` and `time` read ambiguous dates such as 03/04/2020.
    time : str, optional
        Column of the time of each row, for `summarise`: numbers, or dates, which count in years from the first of the
        subject. It becomes no column of the table.
    summarise : dict, optional
        Columns with a measurement in several rows of a subject, and which summaries take their place:
        ``{"egfr": ["mean", "slope"]}`` gives ``egfr mean`` and ``egfr slope``. ``mean`` is the level and ``slope`` the
        change per unit of time of the subject's line, predicted by a linear mixed model with random intercepts and
        slopes (REML, empirical Bayes), the level at the mean time of all values. ``last`` is the last value, ``spread``
        the standard deviation of the values about the subject's own least-squares line. A slope needs 2 different
        times, a spread 3 values; else they are missing.
    trends : dict, optional
        The mean lines and variances of a cohort, to summarise new subjects by them: ``read_cohort(new,
        **model.schema_.rows.as_dict())``. By default they are estimated.

    Returns
    -------
    pandas.DataFrame, shape (N, D)
        Every cell as text, unchanged (``001``, ``1E5``, ``NA``); cells of workbooks as the text of their values, coded
        values as labels if all have one, parquet columns with their types. The label of a row plus 2 is its row in a
        spreadsheet. Summaries are numbers. ``frame.attrs`` has ``"column_notes"`` and ``"rows_taken"``.

    Raises
    ------
    ValueError
        If the file is unreadable or ambiguous, or a choice of rows or columns is invalid or leaves nothing.
    OSError
        If the file does not exist or may not be read.
    ImportError
        If the package that reads the format is not installed.

    Warns
    -----
    CohortWarning
        For everything that was guessed, left out or chosen, or that a spreadsheet program shows differently.

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
    choice = RowChoice(where, one_row_per, keep, by, dates, rows, time, read_summaries(summarise), read_trends(trends))
    refuse([*choice.problems(), *choice.find_lost_columns(only, drop)])
    with naming_file(path):
        most = MOST_COLUMNS if only is None and drop is None else None
        ranges = None if rows is None else RowRanges.parsed(rows)
        options = SheetOptions(header_row, decimal, ranges, most_columns=most)
        whole = read_table(path, options, sheet, encoding)
        frame, remarks = choose_rows(whole, choice, decimal, only, drop)
    warn_of_file(path, remarks, stacklevel=3)
    note_several_rows(frame, subjects_with_several_rows(frame))
    return frame
