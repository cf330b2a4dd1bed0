"""Write files so that a crash never leaves half of one, and never costs the one that was there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["atomic_write"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path to write to; it takes the place of `path` when the block ends without an error.

    The temporary file lies in the same folder (so that the replacement is one step of the file system) and keeps
    the suffix of `path` (some writers choose their format by it). It is flushed to disk before it replaces
    `path`; after an error it is removed and `path` is as it was.

    Raises
    ------
    FileNotFoundError
        If the folder of `path` does not exist.
    """
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem[:40]}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        # mkstemp makes private files; a report is to be as readable as any other new file of this user.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
