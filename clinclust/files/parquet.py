"""Read a table from a parquet file, with the types of its columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clinclust.errors import InputError, MissingPackageError
from clinclust.files.listed import listed, quoted
from clinclust.files.text_table import TableRead

__all__ = ["read_parquet"]


def read_parquet(path: Path) -> TableRead:
    """Read a parquet file; see `clinclust.files.tables.read_cohort`."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("reading a parquet file needs pyarrow: pip install clinclust[parquet]") from None
    try:
        with path.open("rb") as file:  # else pyarrow reads all files of a folder of this name
            table = pyarrow.parquet.read_table(file, page_checksum_verification=True)
        frame = _one_value_a_cell(table).to_pandas()
    except (InputError, MemoryError):
        raise
    except Exception as error:  # damaged metadata end in errors of many types, of pyarrow, pandas and json
        said = quoted(next(iter(str(error).splitlines()), ""))
        raise InputError(
            f"this parquet file cannot be read ({type(error).__name__}: {said}); write it again, for instance with "
            "pandas: frame.to_parquet(path)"
        ) from None
    named = [name for name in frame.index.names if name is not None]
    return TableRead(frame.reset_index() if named else frame)


def _one_value_a_cell(table: Any) -> Any:
    """Return an Arrow table whose columns of bytes are text, as some programs store text without saying so.

    Raises
    ------
    InputError
        If bytes are no UTF-8 text, or if cells hold lists or records: neither is one value that a schema could read.
    """
    import pyarrow

    kinds = pyarrow.types
    unusable = []
    for place, column in enumerate(table.schema):
        kind = column.type.value_type if kinds.is_dictionary(column.type) else column.type
        if kinds.is_nested(kind):
            unusable.append(column.name)
        elif kinds.is_binary(kind) or kinds.is_large_binary(kind) or kinds.is_fixed_size_binary(kind):
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
