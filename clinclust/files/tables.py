"""Read the table of a file without interpreting it, with the rows and columns that were chosen."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd

from clinclust.arguments import PATH, TEXT, accepting
from clinclust.errors import CohortWarning, InputError, refuse
from clinclust.files.chosen_columns import MOST_COLUMNS, chosen_columns, refuse_many_columns, with_distinct_names
from clinclust.files.delimited import read_delimited
from clinclust.files.layout.sheet_table import SheetOptions
from clinclust.files.listed import limited, quoted
from clinclust.files.number_notation import DecimalMark
from clinclust.files.opening import check_readable, kind_of, shown_name, unpacked
from clinclust.files.selection.row_choice import ChoiceError, RowChoice, chosen_rows, note_rows_taken
from clinclust.files.text_table import RowRanges, TableRead
from clinclust.files.typed_files import STATISTICAL, read_parquet, read_statistical
from clinclust.files.workbooks import read_ods_or_xlsb, read_xls
from clinclust.files.xlsx import read_xlsx

_WORKBOOKS = ("xlsx", "xls", "xlsb", "ods")


def cohort_table(
    path: Path,
    choice: RowChoice,
    *,
    sheet: str | None,
    encoding: str | None,
    header_row: int | None,
    decimal: DecimalMark | None,
    only: Sequence[str] | None,
    drop: Sequence[str] | None,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the table of a file as `clinclust.read_cohort` does, and remarks on it."""
    with _about(path):
        ranges = None if choice.rows is None else RowRanges.parsed(choice.rows)
        most = MOST_COLUMNS if only is None and drop is None else None
        whole = _table(path, sheet, encoding, SheetOptions(header_row, decimal, ranges, most_columns=most))
        refuse_many_columns(whole.frame.shape[1], most)
        read, taken = chosen_rows(whole, choice, decimal)
        frame, more = chosen_columns(read, only, drop)
        note_rows_taken(frame, taken)
    return frame, [limited(f"{shown_name(path)}: {remark}") for remark in [*read.remarks, *more]]


@accepting(path=PATH, sheet=TEXT)
def read_codebook(path: str | os.PathLike[str], sheet: str | None = None) -> pd.DataFrame:
    """Read a table whose rows are variables; everything else is as in `read_cohort`."""
    path = Path(path)
    check_readable(path)
    with _about(path):
        read = _table(path, sheet, None, SheetOptions(of_subjects=False))
        frame, more = chosen_columns(read, None, None)
    for remark in [*read.remarks, *more]:
        warnings.warn(limited(f"{shown_name(path)}: {remark}"), CohortWarning, stacklevel=3)
    return frame


def _table(path: Path, sheet: str | None, encoding: str | None, options: SheetOptions) -> TableRead:
    source, remarks = unpacked(path)
    kind, of_kind = kind_of(source)
    _refuse_options(kind, sheet, encoding, options)
    if kind == "text":
        read = read_delimited(source, encoding, options)
    elif kind == "parquet":
        read = read_parquet(source)
    elif kind in STATISTICAL:
        read = read_statistical(source, kind, encoding)
    elif kind == "xlsx":
        read = read_xlsx(source, sheet, options)
    elif kind == "xls":
        read = read_xls(source, sheet, options)
    else:
        read = read_ods_or_xlsb(source, kind, sheet, options)
    read = with_distinct_names(read)
    return replace(read, remarks=[*remarks, *of_kind, *read.remarks])


def _refuse_options(kind: str, sheet: str | None, encoding: str | None, options: SheetOptions) -> None:
    given = (
        ("sheet", sheet, _WORKBOOKS, "a workbook"),
        ("encoding", encoding, ("text", *STATISTICAL), "a text file"),
        ("header_row", options.header_row, ("text", *_WORKBOOKS), "a text file or a workbook"),
        ("rows", options.rows and options.rows.text, ("text", *_WORKBOOKS), "a text file or a workbook"),
        ("decimal", options.decimal, ("text", *_WORKBOOKS), "a text file or a workbook"),
    )
    problems = [
        f"{name}={quoted(value)} makes sense for {what} only"
        for name, value, kinds, what in given
        if value is not None and kind not in kinds
    ]
    refuse(problems)


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
