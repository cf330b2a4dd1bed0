"""Provenance of a report: the fingerprint of the data, the date, and bytes that depend on nothing else."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NO_DATE", "copy_without_times", "data_fingerprint", "date_of_report"]


def data_fingerprint(frame: pd.DataFrame) -> str:
    """Return the SHA-256 (hex) of the columns of a validated frame: names, types and values in order, without index."""
    import pandas as pd

    digest = hashlib.sha256()
    for name, column in frame.items():
        digest.update(f"{name!r} {column.dtype}\n".encode())
        digest.update(pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes())
    return digest.hexdigest()


def date_of_report(given: datetime | None) -> datetime:
    """Return the date of a report, with a time zone.

    It is `given`, or else the environment variable SOURCE_DATE_EPOCH (seconds since 1970, UTC), or else the present
    time.
    """
    if given is not None:
        return given if given.tzinfo else given.astimezone()
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now().astimezone()


NO_DATE = datetime(1980, 1, 1, tzinfo=UTC)
"""Date of documents without a date: the earliest date that a ZIP archive can store."""


def copy_without_times(
    archive: IO[bytes], target: Path, changes: Mapping[str, Callable[[bytes], bytes]] | None = None
) -> None:
    """Copy a ZIP archive to `target`; give every entry the date `NO_DATE`.

    Parameters
    ----------
    archive : file
        The archive to copy, open for reading bytes.
    target : Path
    changes : dict of str to callable, optional
        By name of an entry, a function from its old content to its new content.
    """
    changes = changes or {}
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, NO_DATE.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            with old.open(name) as content, new.open(entry, "w", force_zip64=True) as copy:
                if name in changes:
                    copy.write(changes[name](content.read()))
                else:
                    shutil.copyfileobj(content, copy)
