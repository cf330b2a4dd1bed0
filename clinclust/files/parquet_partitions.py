"""Tables larger than memory: a folder of parquet files, or a parquet file of many rows, read by row groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from clinclust.errors import InputError, missing_package

if TYPE_CHECKING:
    import pandas as pd

MANY_ROWS = 2_000_000
"""Number of rows from which on a parquet file is read in partitions, its row groups."""


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
    from clinclust.files.listed import limited, listed
    from clinclust.files.typed_files import frame_of_arrow

    parts, problems, empty = list[Part](), [], None
    if folders := sorted({file.parent.name for file in table.glob("*/*") if _is_parquet(file)}):
        raise InputError(
            f"folders in it hold parquet files, too ({listed(folders)}); put all, with all columns, into one folder"
        )
    files = filter(_is_parquet, table.glob("*"))
    for file in sorted(files, key=lambda one: natural_sort_key(one.name)) or [table]:
        try:
            with _naming(file):
                about = parquet.read_metadata(file)
                empty = frame_of_arrow(about.schema.to_arrow_schema().empty_table()) if empty is None else empty
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
    import pandas as pd
    from pyarrow import parquet

    from clinclust.files.typed_files import frame_of_arrow

    columns = None if names is None else list(names)
    with _naming(part.file), parquet.ParquetFile(part.file, page_checksum_verification=True) as opened:
        frame = frame_of_arrow(opened.read_row_group(part.group, columns=columns))
    frame = frame.set_axis(pd.RangeIndex(part.first, part.first + len(frame)), axis="index")
    return frame if columns is None else frame[columns]


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    from clinclust.files.opening import guarded

    try:
        with guarded("parquet file", "write it again with the program that made it"):
            yield
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from error
