"""Write files atomically: after a crash a file is either complete or as it was before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clinclust.errors import InputError
from clinclust.files.moves import carry_out, settle_leftovers, sync_folder
from clinclust.files.scratch import NEW, alone_in, final_place, scratch_folder
from clinclust.files.system_errors import naming

__all__ = ["atomic_write", "check_place", "write_together"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to; the file replaces `path` if the block ends without an error.

    It has the name of `path` and the permissions of the file that it replaces. A link is replaced, and what it leads to
    stays. After an error `path` is unchanged. What a run that died left in the folder is settled first.

    Raises
    ------
    OSError
        If `path` cannot be written; an error of the operating system inside the block names `path`.
    """
    path = Path(path)
    check_place(path)
    settle_leftovers(path.parent)
    shown = final_place(path)
    with scratch_folder(path.parent, shown) as scratch, naming(shown, instead_of=scratch):
        temporary = scratch / NEW / path.name
        temporary.touch()
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        with suppress(OSError):  # there is no file yet, or the file system keeps no permissions
            if not path.is_symlink():
                shutil.copymode(path, temporary)
        with naming(shown):
            temporary.replace(path)
        sync_folder(path.parent)


def check_place(path: Path) -> None:
    """Raise OSError, or InputError for a name that no file can have, if no file can be written at `path`.

    Renaming would replace devices, pipes and protected files.
    """
    _refuse_impossible_name(path)
    with naming(path):
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder, in the place of a file; move it away, or give another name")
        if not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
        if (path.exists() and not path.is_file()) or path.absolute().parent == Path("/dev"):
            raise OSError(f"{path} is no ordinary file, and cannot be replaced by one; give another name")
        if path.is_file() and not path.is_symlink() and not os.access(path, os.W_OK):
            raise PermissionError(f"{path} is protected from writing; give another name, or allow writing to it")


@contextmanager
def write_together(
    folder: str | os.PathLike[str], *, replacing: Collection[str] = (), last: str | None = None
) -> Iterator[Path]:
    """Yield a temporary folder to write to; its files move to `folder` together if the block ends without an error.

    After an error `folder` is as it was before, and a folder made by this function is removed. If the process dies, the
    next run brings `folder` back to what it was (see `settle_leftovers`).

    Parameters
    ----------
    folder : str or path
        It is made if it does not exist.
    replacing : collection of str
        Names of files that this set replaces: those that were not written are removed.
    last : str, optional
        Name of the file that moves after all others, such as a manifest.

    Raises
    ------
    OSError
        If `folder` is a file or cannot be written; this is checked before the block begins.
    """
    folder = Path(folder)
    shown = final_place(folder)
    _refuse_impossible_name(folder)
    with naming(folder):
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"{folder} is a file, not a folder")
    for name in replacing if folder.is_dir() else ():
        check_place(folder / name)
    settle_leftovers(folder)
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        with naming(shown):
            folder.mkdir(parents=True, exist_ok=True)
        with scratch_folder(folder, shown) as scratch:
            yield scratch / NEW
            written = [file.name for file in (scratch / NEW).iterdir()]
            for name in written:
                check_place(folder / name)
            with alone_in(folder), naming(shown, instead_of=scratch):
                placed = sorted(written, key=lambda name: (name == last, name))
                carry_out(scratch, folder, placed=placed, removed=[name for name in replacing if name not in written])
    except BaseException:
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise


def _refuse_impossible_name(path: Path) -> None:
    """Raise InputError if the name holds a character that no name on this system can hold."""
    try:
        possible = b"\x00" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise InputError(f"{str(path)!r} cannot be the name of a file or folder here; choose another name")
