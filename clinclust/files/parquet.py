"""Read a table from a parquet file, with the types of its columns."""

from __future__ import annotations

from pathlib import Path

from clinclust.errors import InputError, MissingPackageError
from clinclust.files.listed import quoted
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
            frame = pyarrow.parquet.read_table(file, page_checksum_verification=True).to_pandas()
    except MemoryError:
        raise
    except Exception as error:  # damaged metadata end in errors of many types, of pyarrow, pandas and json
        said = quoted(next(iter(str(error).splitlines()), ""))
        raise InputError(
            f"this parquet file cannot be read ({type(error).__name__}: {said}); write it again, for instance with "
            "pandas: frame.to_parquet(path)"
        ) from None
    named = [name for name in frame.index.names if name is not None]
    return TableRead(frame.reset_index() if named else frame)
