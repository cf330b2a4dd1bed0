"""Put in order what runs that died left in a folder: finish the moves they had begun, and remove the rest."""

from __future__ import annotations

import os
import stat
import warnings
from contextlib import suppress
from pathlib import Path

from clinclust.control_characters import on_one_line
from clinclust.errors import InputError
from clinclust.files.moves import finish
from clinclust.files.scratch import LOCK, NEW, OLD, PLANS, alone_in, is_scratch_name, remove_scratch, try_lock

__all__ = ["LeftoverWarning", "settle_leftovers"]

_NO_FOLLOWING = getattr(os, "O_NOFOLLOW", 0)


class LeftoverWarning(UserWarning):
    """A run that died had left files in a folder; the message says what was done with them."""


def settle_leftovers(folder: Path) -> None:
    """Finish or remove what dead runs left in `folder`, and warn of it; what a living process uses is left alone.

    If a run died while it moved its files into place, all of them are complete: the moves are finished. If it died
    before, its temporary files are removed and the folder stays as it was before that run.

    Warns
    -----
    LeftoverWarning
        For each run that had left something.
    """
    try:
        names = [entry.name for entry in os.scandir(folder) if is_scratch_name(entry.name)]
    except OSError:
        return  # the folder does not exist yet, or cannot be listed
    for name in sorted(names):
        said = _settle(folder / name, folder)
        if said:
            warnings.warn(f"{on_one_line(str(folder))}: {said}", LeftoverWarning, stacklevel=3)


def _settle(scratch: Path, folder: Path) -> str | None:
    """Finish or remove one scratch folder, and return what to say of it; None if it is not ours to touch."""
    if not _is_of_this_package(scratch):
        return None
    try:
        handle = os.open(scratch / LOCK, os.O_RDWR | _NO_FOLLOWING)
    except FileNotFoundError:
        with suppress(OSError):
            scratch.rmdir()  # its process died, or has only begun, and makes another one
        return None
    except OSError:
        return None  # of another user
    if try_lock(handle) != "ours":
        os.close(handle)
        return None
    said = None  # of a folder with a lock only: that of a living process that is about to lock it looks like this too
    try:
        if {entry.name for entry in os.scandir(scratch)} > {LOCK}:
            said = "removed the temporary files of a run that was interrupted"
        with alone_in(folder):
            done = finish(scratch, folder)
    except (InputError, OSError) as error:
        os.close(handle)
        return f"a run was interrupted while it moved its files here, and this could not be mended: {error}"
    if done:
        said = f"the files that an interrupted run had begun to move here were {done}"
    remove_scratch(scratch, handle)
    return said


def _is_of_this_package(scratch: Path) -> bool:
    """Return whether this is a true folder that holds nothing but what this package puts into a scratch folder."""
    try:
        if not stat.S_ISDIR(scratch.lstat().st_mode):
            return False
        return {entry.name for entry in os.scandir(scratch)} <= {LOCK, NEW, OLD, "plan", *PLANS}
    except OSError:
        return False
