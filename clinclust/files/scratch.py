"""The one kind of temporary thing of this package: a private folder beside the file that is to be written.

It is named ``.clinclust-scratch-`` and 16 hexadecimal digits. Its process holds a lock on the file ``lock`` inside; the
lock ends with the process, so that a later run can tell what a dead process left from what a living one uses.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clinclust.files.locks import try_lock
from clinclust.files.system_errors import naming

__all__ = ["LOCK", "NEW", "OLD", "PLANS", "final_place", "is_scratch_name", "remove_scratch", "scratch_folder"]

LOCK, NEW, OLD = "lock", "new", "old"
"""What lies in a scratch folder: the lock, the files to be put in place, and the files that they replace."""

PLANS = ("forward", "back")
"""Names of the plan of moves that are under way; while there is one, the folder holds the only copy of some files."""

_PREFIX = ".clinclust-scratch-"
_PASSES = 3  # a program that looks through new files may hold one for a moment
_NAME = re.compile(re.escape(_PREFIX) + "[0-9a-f]{16}")


def is_scratch_name(name: str) -> bool:
    """Return whether this is the name of a scratch folder."""
    return _NAME.fullmatch(name) is not None


def final_place(path: Path) -> Path:
    """Return where a file of a scratch folder will go; any other path is returned unchanged."""
    for place, part in enumerate(path.parts):
        if is_scratch_name(part):
            inside = path.parts[place + 1 :]
            return final_place(Path(*path.parts[:place], *(inside[1:] if inside[:1] == (NEW,) else inside)))
    return path


@contextmanager
def scratch_folder(folder: Path, shown: Path) -> Iterator[Path]:
    """Yield a new scratch folder in `folder`, locked by this process; it is removed at the end, unless files remain.

    Only its owner can read it: it may hold data of patients in a folder that others read.

    Raises
    ------
    OSError
        If it cannot be made; the message names `shown`, the file or folder that was to be written.
    """
    with naming(shown):
        scratch, handle = _made(folder)
    try:
        with naming(shown):
            (scratch / NEW).mkdir()
            (scratch / OLD).mkdir()
        yield scratch
    finally:
        remove_scratch(scratch, handle)


def _made(folder: Path) -> tuple[Path, int]:
    """Make a scratch folder, and return it with its locked file."""
    while True:
        scratch = folder / f"{_PREFIX}{secrets.token_hex(8)}"
        scratch.mkdir(mode=0o700)
        # As long as it is not locked, another run may take it for that of a dead process: then a new one is made.
        try:
            handle = os.open(scratch / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:
            continue
        except BaseException:
            with suppress(OSError):
                scratch.rmdir()
            raise
        if try_lock(handle) != "another" and os.fstat(handle).st_nlink:
            return scratch, handle
        os.close(handle)


def remove_scratch(scratch: Path, handle: int) -> None:
    """Remove a scratch folder and then its lock, so that a removal that was cut short can be taken up again.

    A folder with a plan is kept, because its moves are not finished. What cannot be removed is left to the next run.
    """
    if any((scratch / name).exists() for name in PLANS):
        os.close(handle)
        return
    for _ in range(_PASSES):
        with suppress(OSError):
            for content in sorted(scratch.iterdir()):
                if content.name != LOCK:
                    _remove(content)
    if os.name == "nt":  # an open file cannot be removed there
        os.close(handle)
    for _ in range(_PASSES):
        with suppress(OSError):
            (scratch / LOCK).unlink(missing_ok=True)
            scratch.rmdir()
            break
    if os.name != "nt":
        os.close(handle)


def _remove(content: Path) -> None:
    if content.is_dir() and not content.is_symlink():
        shutil.rmtree(content, ignore_errors=True)
    else:
        content.unlink(missing_ok=True)
