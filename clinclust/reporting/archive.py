"""Write Office documents (ZIP archives) whose bytes depend only on their content."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

__all__ = ["NO_DATE", "copy_without_times"]

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
