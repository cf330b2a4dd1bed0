"""Read a table from a parquet file, with the types of its columns."""

from __future__ import annotations

from typing import Any

from clinclust.errors import InputError
from clinclust.files.column_notes import ColumnNotes, notes_of
from clinclust.files.listed import listed, quoted
from clinclust.files.packed import Source
from clinclust.files.reading_packages import guarded, package
from clinclust.files.text_table import TableRead

__all__ = ["read_parquet"]


def read_parquet(source: Source) -> TableRead:
    """Read a parquet file; see `clinclust.read_cohort`."""
    package("pyarrow", "a parquet file")
    from pyarrow import parquet

    with guarded("parquet file", "write it again with the program that made it, or as .csv or .xlsx"):
        with source.open() as file:  # else pyarrow reads all files of a folder of this name
            table = _one_value_a_cell(parquet.read_table(file, page_checksum_verification=True))
        table.validate(full=True)  # else text that is not UTF-8 fails when somebody looks at it
        # Whole numbers beside missing ones stay whole numbers, because a float would change the digits of long ones.
        frame = table.to_pandas(integer_object_nulls=True)
        named = [name for name in frame.index.names if name is not None and name not in frame.columns]
        frame = frame.reset_index(named) if named else frame
    remarks = []
    try:
        known = notes_of(frame)  # which pandas wrote into the file, if there are any
    except InputError:
        known, remarks = {}, ["the notes on its columns cannot be read: left out"]
    frame.attrs = {}
    return TableRead(frame, remarks, [known.get(str(name), ColumnNotes()) for name in frame.columns] if known else [])


def _one_value_a_cell(table: Any) -> Any:
    """Return an Arrow table whose columns of bytes are text, as some programs store text; refuse lists and records."""
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
    return table
