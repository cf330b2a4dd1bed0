"""The options for reading a table, which every command that takes one has."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.row_options import add_rows, rows_asked_for
from clinclust.cli.several_names import all_names, names_between_commas
from clinclust.errors import CohortError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.files.selection.row_choice import RowChoice

__all__ = ["about_table", "add_table", "path_given", "read_table"]


def path_given(text: str) -> Path:
    """Return the path that an argument gives. An empty text, as an unset variable leaves it, would mean this folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty; give the name of a file or folder")
    return Path(text)


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the argument of the table, the options for reading it, and those for choosing rows and columns."""
    parser.add_argument(
        "table",
        type=path_given,
        metavar="TABLE",
        help="cohort table: csv, tsv, xlsx; parquet, xls, xlsb, ods, SPSS, Stata or SAS with a further package",
    )
    reading = parser.add_argument_group("reading the table")
    reading.add_argument("--sheet", help="sheet of a workbook, by name or number (default: the first)")
    reading.add_argument("--encoding", help="encoding of a text file (default: UTF-8, else Windows-1252)")
    reading.add_argument(
        "--header-row", type=_row, metavar="N", help="row of the names of columns; 0 if there is none (default: found)"
    )
    reading.add_argument(
        "--rows", metavar="FIRST-LAST", help="rows of the subjects, such as 2-61 or 2-61,66- (default: found)"
    )
    reading.add_argument("--decimal", choices=(",", "."), help="decimal mark of numbers such as 1,234")
    choosing = parser.add_argument_group("choosing rows and columns")
    add_rows(choosing)
    for option, what in (("--only", "keep these columns"), ("--drop", "leave these columns out")):
        choosing.add_argument(
            option,
            action="append",
            type=names_between_commas,
            metavar="A,B",
            help=f"{what}; names with commas in double quotes",
        )


def _row(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:9]) < 2**20):
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is no row of a table; give its number, from 1, or 0 if no row holds the names of columns"
        )
    return int(text)


def read_table(options: argparse.Namespace, rows: RowChoice | None = None, *, rows_of: str = "") -> pd.DataFrame:
    """Return the table as text, indexed by the row numbers of a spreadsheet.

    The first row of a sheet is row 1, wherever its header is. Messages about rows then agree with a spreadsheet.

    Parameters
    ----------
    options : argparse.Namespace
    rows : RowChoice, optional
        The rows to take; by default those of the options.
    rows_of : str
        What the reader is told if they cannot be chosen: who says which rows are taken, and what to do.
    """
    from clinclust.files.listed import limited
    from clinclust.files.selection.row_choice import ChoiceError

    asked = rows_asked_for(options) if rows is None else rows
    try:
        return _read(options, asked)
    except ChoiceError as error:
        if not rows_of or asked == rows_asked_for(options):
            raise
        raise ChoiceError(limited(f"{error.at_command_line} ({rows_of})")) from error


def _read(options: argparse.Namespace, rows: RowChoice) -> pd.DataFrame:
    import pandas as pd

    from clinclust.files.opening import shown_name
    from clinclust.progress import Progress
    from clinclust.reading import read_cohort

    with Progress(not getattr(options, "quiet", False)).stage(f"reading {shown_name(options.table)}"):
        frame = read_cohort(
            options.table,
            sheet=options.sheet,
            encoding=options.encoding,
            header_row=options.header_row,
            decimal=options.decimal,
            only=all_names(options.only),
            drop=all_names(options.drop),
            **rows.as_dict(),
        )
    if not pd.api.types.is_integer_dtype(frame.index):  # a parquet file may store labels as the index
        frame = frame.reset_index(drop=True)
    frame.index = frame.index + 2
    return frame


@contextmanager
def about_table(options: argparse.Namespace) -> Iterator[None]:
    """Make an error about the content of the table name its file."""
    from clinclust.files.opening import shown_name

    try:
        yield
    except CohortError as error:
        raise CohortError(error.failures, shown_name(options.table)) from error
    except InputError as error:
        raise InputError(f"{shown_name(options.table)}: {error}") from error
