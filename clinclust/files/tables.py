"""Read the table of a file without interpreting it, with the rows and columns that somebody chose."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd

from clinclust.arguments import PATH, TEXT, accepting
from clinclust.errors import CohortWarning, InputError
from clinclust.files.chosen_columns import MOST_COLUMNS, chosen_columns, places_that_stay, refuse_many_columns
from clinclust.files.contents import kind_of
from clinclust.files.delimited import read_delimited
from clinclust.files.layout.decimal_marks import Decimal
from clinclust.files.layout.row_ranges import RowRanges
from clinclust.files.layout.sheet_table import SheetOptions
from clinclust.files.listed import limited, quoted
from clinclust.files.opening import check_readable, shown_name
from clinclust.files.other_workbooks import read_ods_or_xlsb, read_xls
from clinclust.files.packed import Source, unpacked
from clinclust.files.parquet import read_parquet
from clinclust.files.repeated_names import with_distinct_names
from clinclust.files.selection.chosen_rows import chosen_rows
from clinclust.files.selection.row_choice import ChoiceError, RowChoice
from clinclust.files.selection.rows_taken import note_rows_taken
from clinclust.files.statistical import STATISTICAL, read_statistical
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.workbook import read_xlsx

__all__ = ["cohort_table", "read_codebook"]

_WORKBOOKS = ("xlsx", "xls", "xlsb", "ods")


def cohort_table(
    path: Path,
    choice: RowChoice,
    *,
    sheet: str | None,
    encoding: str | None,
    header_row: int | None,
    decimal: Decimal | None,
    only: Sequence[str] | None,
    drop: Sequence[str] | None,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the table of a file as `clinclust.read_cohort` does, and what its reader must know.

    Parameters
    ----------
    path : Path
    choice : RowChoice
    sheet, encoding, header_row, decimal, only, drop
        What somebody said of the file; see `clinclust.read_cohort`.
    """
    layout: dict[str, object] = {"header_row": header_row, "rows": choice.rows, "decimal": decimal}
    with _about(path):
        ranges = None if choice.rows is None else RowRanges.parsed(choice.rows)
        most = MOST_COLUMNS if only is None and drop is None else None
        whole = _table(path, sheet, encoding, SheetOptions(header_row, decimal, ranges, most_columns=most), layout)
        refuse_many_columns(whole.frame.shape[1], most)
        stay = places_that_stay(whole, only, drop) if choice.keep == "mean" else None
        read, taken = chosen_rows(whole, choice, decimal, stay=stay)
        frame, told = chosen_columns(read, only, drop)
        note_rows_taken(frame, taken)
    return frame, [limited(f"{shown_name(path)}: {remark}") for remark in [*read.remarks, *told]]


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
    if kind == "parquet":
        return read_parquet(source)
    if kind in STATISTICAL:
        return read_statistical(source, kind, encoding)
    if kind in ("xlsx", "xls"):
        return (read_xlsx if kind == "xlsx" else read_xls)(source, sheet, options)
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
