"""Files with typed columns: SPSS, Stata, SAS, parquet, and parquet files in partitions."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from clinclust.errors import InputError, missing_package
from clinclust.files.cell_text import canonical_text, limited, listed, number_of, quoted
from clinclust.files.opening import Source, guarded, naming_file, package
from clinclust.files.text_table import TEXT, ColumnKind, ColumnNotes, TableRead, names_for_unnamed, notes_of

# Read files with declared columns: parquet, and those of SPSS, Stata and SAS.

_READERS = {
    "sav": ("SPSS", "read_sav"),
    "dta": ("Stata", "read_dta"),
    "sas7bdat": ("SAS", "read_sas7bdat"),
    "xpt": ("SAS", "read_xport"),
}
STATISTICAL = tuple(_READERS)
_MOST_CELLS_IN_A_BYTE = 2000  # of the best compression
_KEEPS_USER_MISSING = ("sav", "dta", "sas7bdat")
_PARTLY = "only some values have labels in {}: read as codes"
_EQUAL = "two values have the same label in {}: read as codes"
_DECLARED = (
    "the file declares values that mean a missing one in {}: they are kept as they are, and a drafted schema "
    "declares them"
)
_KINDS: dict[str, ColumnKind] = {"nominal": "nominal", "ordinal": "ordinal", "scale": "number"}
_DATES = ("DATE", "ADATE", "EDATE", "SDATE", "JDATE", "DATETIME", "YMDHMS", "MMDDYY", "DDMMYY", "YYMMDD", "%TD", "%TC")


def read_parquet(source: Source) -> TableRead:
    """Read a parquet file; see `clinclust.read_cohort`."""
    package("pyarrow", "a parquet file")
    from pyarrow import parquet

    repair = "write it again with the program that made it, or as .csv or .xlsx"
    with guarded("parquet file", repair), source.open() as file:  # else pyarrow reads a whole folder
        frame = _frame_of_arrow(parquet.read_table(file, page_checksum_verification=True))
    remarks = []
    try:
        known = notes_of(frame)  # which pandas wrote into the file, if there are any
    except InputError:
        known, remarks = {}, ["the notes on its columns cannot be read: left out"]
    frame.attrs = {}
    return TableRead(frame, remarks, [known.get(str(name), ColumnNotes()) for name in frame.columns] if known else [])


def _frame_of_arrow(table: Any) -> pd.DataFrame:
    """Return what was read of a parquet file as a DataFrame, in which a named index is a column.

    Columns of bytes are text, as some programs store text. InputError is raised for lists and records in cells, errors
    of pyarrow for text that is not UTF-8.
    """
    import pyarrow

    unusable = []
    for place, column in enumerate(table.schema):
        kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
        if pyarrow.types.is_nested(kind):
            unusable.append(column.name)
        elif "binary" in str(kind):
            try:
                table = table.set_column(place, column.name, table.column(place).cast(pyarrow.string()))
            except pyarrow.ArrowException:
                unusable.append(column.name)
    if unusable:
        raise InputError(
            f"cells of {listed(map(quoted, unusable))} hold lists, records or bytes that are no text: store one number "
            "or text in each cell, or leave these columns out"
        )
    table.validate(full=True)  # else text that is not UTF-8 fails later
    # A float, for the missing values of whole numbers, would change the digits of long ones.
    frame: pd.DataFrame = table.to_pandas(integer_object_nulls=True)
    named = [name for name in frame.index.names if name is not None and name not in frame.columns]
    return frame.reset_index(named) if named else frame


def read_statistical(source: Source, kind: str, encoding: str | None) -> TableRead:
    """Read a file of SPSS, Stata or SAS; values are their labels if each that occurs has one of its own."""
    program, reader = _READERS[kind]
    pyreadstat = package("pyreadstat", f"a file of {program}")
    options: dict[str, Any] = {} if encoding is None else {"encoding": encoding}
    if kind in _KEEPS_USER_MISSING:
        options["user_missing"] = True
    repair = (
        "it is damaged, or in another encoding, which `encoding` says, such as cp1252; or open it in "
        f"{program}, and export it as .csv"
    )
    with guarded(f"file of {program}", repair), source.open() as file:
        read = getattr(pyreadstat, reader)
        about = read(file, metadataonly=True, **options)[1]
        n_cells = (about.number_rows or 0) * (about.number_columns or 0)
        if n_cells > _MOST_CELLS_IN_A_BYTE * file.seek(0, io.SEEK_END):  # before memory is taken
            raise InputError(f"the file says that it has {n_cells:,} cells, which it cannot hold: it is damaged")
        file.seek(0)
        frame, about = read(file, **options)
    names = [str(name) for name in frame.columns]
    columns = [_column(frame.iloc[:, at], name, about) for at, name in enumerate(names)]
    texts = {at: cells for at, (cells, _, _) in enumerate(columns)}
    table = pd.DataFrame(texts, index=frame.index, dtype=TEXT)
    table.columns = pd.Index(names, dtype=object)
    remarks = []
    for remark in (_PARTLY, _EQUAL, _DECLARED):
        if which := list(compress(names, [remark in concerned for _, _, concerned in columns])):
            remarks.append(remark.format(listed(which)))
    return TableRead(table, remarks, [notes for _, notes, _ in columns])


def _column(values: pd.Series, name: str, about: Any) -> tuple[list[str], ColumnNotes, set[str]]:
    """Return the cells of a column, its notes, and which remarks concern it; `about` is the metadata of pyreadstat."""
    stored = about.readstat_variable_types.get(name)
    codes = [_text(value, stored) for value in values.tolist()]
    observed = set(codes) - {""}
    labels = about.variable_value_labels.get(name, {})
    levels = {_text(value, stored): str(label).strip() for value, label in labels.items()}
    missing = {_text(value, stored) for value in about.missing_user_values.get(name, [])}
    for bounds in about.missing_ranges.get(name, []):
        low, high = _text(bounds["lo"], stored), _text(bounds["hi"], stored)
        between = {code for code in observed if number_of(low) <= number_of(code) <= number_of(high)}
        missing |= {low} if low == high else between
    valid = observed - missing
    unlabelled = [code for code in valid if not levels.get(code)]
    used = [label for code, label in levels.items() if code in observed]
    remarks = {_EQUAL} if len(set(used)) < len(used) else set()
    shown = {code: label for code, label in levels.items() if label} if valid and not unlabelled and not remarks else {}
    if unlabelled and not valid.isdisjoint(levels):
        remarks.add(_PARTLY)
    if missing:
        remarks.add(_DECLARED)
    is_date = stored != "string" and str(about.original_variable_types.get(name) or "").upper().startswith(_DATES)
    notes = ColumnNotes(
        label=str(about.column_names_to_labels.get(name) or "").strip() or None,
        levels=tuple((code, label) for code, label in levels.items() if code and code not in missing),
        kind="date" if is_date else _KINDS.get(str(about.variable_measure.get(name))),
        missing_codes=tuple(dict.fromkeys(shown.get(code, code) for code in sorted(missing))),
    )
    return [shown.get(code, code) for code in codes], notes, remarks


def _text(value: Any, stored: str) -> str:
    """Return the canonical text of a value; an empty one if it is missing; ``.a`` for a tagged missing value."""
    if pd.isna(value):
        return ""
    if isinstance(value, str):
        return f".{value}" if stored != "string" and len(value) == 1 else value.strip()
    if stored == "float" and isinstance(value, float) and not value.is_integer():
        return str(np.float32(value))
    return canonical_text(value).removesuffix(" 00:00:00").removesuffix("T00:00:00")


# Tables larger than memory: a folder of parquet files, or a parquet file of many rows, read by row groups.

MANY_ROWS = 2_000_000
"""Number of rows from which on a parquet file is read in partitions, its row groups."""


_PARQUET = ("parquet file", "write it again with the program that made it")


class Part(NamedTuple):
    """A row group of a parquet file."""

    file: Path
    group: int
    first: int
    """Number of its first row in the file, from 0."""


def is_in_partitions(table: Path) -> bool:
    """Return whether a table is a folder of parquet files, or a parquet file of many rows."""
    if table.is_dir():
        return any(_is_parquet(file) for pattern in ("*", "*/*") for file in table.glob(pattern))
    if not _is_parquet(table) or not table.is_file():
        return False
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        return False  # the reader of tables says what is missing
    try:
        return bool(parquet.read_metadata(table).num_rows >= MANY_ROWS)
    except (ArrowException, OSError):
        return False  # so it does of a damaged file


def _is_parquet(file: Path) -> bool:
    return file.suffix.lower() == ".parquet"


def table_of_parts(table: Path) -> tuple[Any, list[Part]]:
    """Return a table as a Dask DataFrame, and its partitions; InputError lists all files that cannot be read.

    So it does of folders in the folder that hold parquet files, whose rows would be left out.

    Columns and their types may differ from file to file. The index is the number of the row in its file, from 0.
    """
    try:
        import dask.dataframe
        from dask.utils import natural_sort_key
        from pyarrow import parquet
    except ImportError:
        raise missing_package(f"{table}, a table in partitions,", "'clinclust[dask]'") from None
    parts, problems, empty = list[Part](), [], None
    if folders := sorted({file.parent.name for file in table.glob("*/*") if _is_parquet(file)}):
        raise InputError(
            f"folders in it hold parquet files, too ({listed(folders)}); put all, with all columns, into one folder"
        )
    files = filter(_is_parquet, table.glob("*"))
    for file in sorted(files, key=lambda one: natural_sort_key(one.name)) or [table]:
        try:
            with naming_file(file), guarded(*_PARQUET):
                about = parquet.read_metadata(file)
                if empty is None:
                    schema = about.schema.to_arrow_schema()
                    empty = _frame_of_arrow(schema.empty_table()).rename(columns=_names_of_unnamed(schema.names))
        except InputError as error:
            problems.append(str(error))
            continue
        first = 0
        for group in range(about.num_row_groups):
            parts.append(Part(file, group, first))
            first += about.row_group(group).num_rows
    if problems:
        raise InputError(limited("; ".join(problems)))
    if not parts:
        raise InputError("the table has no rows in any of its files; check how they were written")
    from_map = cast(Any, dask.dataframe.from_map)
    return from_map(rows_of, parts, meta=empty, enforce_metadata=False), parts


def rows_of(part: Part, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the rows of a partition, with all columns or these."""
    from pyarrow import parquet

    with (
        naming_file(part.file),
        guarded(*_PARQUET),
        parquet.ParquetFile(part.file, page_checksum_verification=True) as opened,
    ):
        made = _names_of_unnamed(opened.schema_arrow.names)
        stored = {name: blank for blank, name in made.items()}
        columns = None if names is None else [stored.get(name, name) for name in names]
        frame = _frame_of_arrow(opened.read_row_group(part.group, columns=columns)).rename(columns=made)
    frame = frame.set_axis(pd.RangeIndex(part.first, part.first + len(frame)), axis="index")
    return frame if names is None else frame[list(names)]


def _names_of_unnamed(names: Sequence[str]) -> dict[str, str]:
    return {names[at]: name for at, name in names_for_unnamed(names).items()}
