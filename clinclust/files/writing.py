"""Write files atomically: after a crash a file is either complete or as it was before."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clinclust.errors import InputError
from clinclust.files.leftovers import settle_leftovers
from clinclust.files.moves import Plan, carry_out, sync_folder
from clinclust.files.scratch import NEW, alone_in, final_place, scratch_folder
from clinclust.files.system_errors import naming

__all__ = ["atomic_write", "check_place", "write_together"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to; the file replaces `path` if the block ends without an error.

    The temporary file has the name of `path`, in a private folder beside it. It takes over the permissions of the file
    that it replaces. A link is replaced, and what it leads to stays. After an error `path` is unchanged. What a run
    that died has left in the folder is settled first; see `settle_leftovers`.

    Raises
    ------
    OSError
        If `path` cannot be written; an error of the operating system inside the block, such as a full disk, becomes a
        sentence that names `path`.
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
        _keep_permissions(path, temporary)
        with naming(shown):
            temporary.replace(path)
        sync_folder(path.parent)


def check_place(path: Path) -> None:
    """Raise OSError, or InputError for a name that no file can have, if no file can be written at `path`."""
    _refuse_impossible_name(path)
    with naming(path):
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; give the name of a file")
        if not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
        _refuse_what_is_no_file(path)


@contextmanager
def write_together(
    folder: str | os.PathLike[str], *, replacing: Collection[str] = (), last: str | None = None
) -> Iterator[Path]:
    """Yield a temporary folder to write to; its files move to `folder` together if the block ends without an error.

    They replace files of the same names. Files named in `replacing` that were not written are removed from `folder`, so
    that no file of an earlier run remains beside those of a later one. After an error `folder` is as it was before: old
    files are kept, and a folder made by this function is removed. If the process dies before all files are complete,
    the next run removes them; if it dies while they move, the next run finishes the moves (see `settle_leftovers`).

    Parameters
    ----------
    folder : str or path
        It is made if it does not exist.
    replacing : collection of str
        Names of files that this set of files replaces.
    last : str, optional
        Name of the file that moves after all others, such as a manifest, which tells until then that the set is not
        whole.

    Raises
    ------
    OSError
        If `folder` is a file or cannot be written; this is checked before the block begins.
    """
    folder = Path(folder)
    shown = final_place(folder)
    _check_folder(folder, replacing)
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
                plan = Plan(placed, [name for name in replacing if name not in written])
                carry_out(plan, scratch, folder)
    except BaseException:
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise


def _check_folder(folder: Path, replacing: Collection[str]) -> None:
    _refuse_impossible_name(folder)
    with naming(folder):
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"{folder} is a file, not a folder")
    for name in replacing if folder.is_dir() else ():
        check_place(folder / name)


def _refuse_impossible_name(path: Path) -> None:
    """Raise InputError if the name holds a character that no name on this system can hold."""
    try:
        possible = b"\x00" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise InputError(f"{str(path)!r} cannot be the name of a file or folder here; choose another name")


def _refuse_what_is_no_file(path: Path) -> None:
    """Raise OSError if a folder, a device or a pipe stands at `path`, or a file that is protected from writing.

    Renaming would replace all of them, the devices of the system too.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, in the place of a file; move it away")
    if (path.exists() and not path.is_file()) or path.absolute().parent == Path("/dev"):
        raise OSError(f"{path} is no ordinary file, and cannot be replaced by one; give another name")
    if path.is_file() and not path.is_symlink() and not os.access(path, os.W_OK):
        raise PermissionError(f"{path} is protected from writing; give another name, or allow writing to it")


def _keep_permissions(path: Path, temporary: Path) -> None:
    with suppress(OSError):
        old = path.lstat()
        if stat.S_ISREG(old.st_mode):
            temporary.chmod(stat.S_IMODE(old.st_mode) & 0o777)
