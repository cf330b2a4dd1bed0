"""Write files atomically: after a crash a file is either complete or as it was before."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["atomic_write", "check_place", "write_together"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to; the file replaces `path` if the block ends without an error.

    The temporary file is in the same folder, so that the replacement is one operation of the file system. It has the
    suffix of `path`, because some writers choose their format by it. It is flushed to disk before it replaces `path`.
    After an error the temporary file is removed and `path` is unchanged.

    Raises
    ------
    FileNotFoundError
        If the folder of `path` does not exist.
    OSError
        If `path` is a folder or cannot be written.
    """
    path = Path(path)
    check_place(path)
    with _about(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.stem[:40]}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        # mkstemp makes files that only their owner can read; give this one the usual permissions of a new file.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        with _about(path):
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_place(path: Path) -> None:
    """Raise OSError if `path` is a folder, or if its parent folder does not exist."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")


@contextmanager
def write_together(folder: str | os.PathLike[str], *, replacing: Collection[str] = ()) -> Iterator[Path]:
    """Yield a temporary folder to write to; its files move to `folder` together if the block ends without an error.

    They replace files of the same names. Files named in `replacing` that were not written are removed from `folder`, so
    that no file of an earlier run remains beside those of a later one. After an error `folder` is as it was before: old
    files are kept, and a folder made by this function is removed.

    Raises
    ------
    OSError
        If `folder` is a file or cannot be written; this is checked before the block begins.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file, not a folder")
    for name in replacing:
        _refuse_folder(folder / name)
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        with _about(folder):
            folder.mkdir(parents=True, exist_ok=True)
            scratch = tempfile.TemporaryDirectory(prefix=".clinclust-", dir=folder)
        with scratch as name:
            new, old = Path(name, "new"), Path(name, "old")
            new.mkdir()
            old.mkdir()
            yield new
            _take_places(new, folder, old, replacing)
    except BaseException:
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise


def _take_places(new: Path, folder: Path, old: Path, replacing: Collection[str]) -> None:
    """Move all files of `new` to `folder`, or none; move the files they replace, and those in `replacing`, to `old`."""
    placed: list[Path] = []
    try:
        for target in (folder / name for name in replacing if not (new / name).exists()):
            with _about(target), suppress(FileNotFoundError):
                target.replace(old / target.name)
        for file in sorted(new.iterdir()):
            target = folder / file.name
            _refuse_folder(target)
            with _about(target):
                if target.exists():
                    target.replace(old / file.name)
                placed.append(target)
                file.replace(target)
    except BaseException:
        for target in placed:
            target.unlink(missing_ok=True)
        for file in old.iterdir():
            file.replace(folder / file.name)
        raise


def _refuse_folder(path: Path) -> None:
    """Raise IsADirectoryError if a folder stands where a file is to be written; it is never replaced."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, in the place of a file; move it away")


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Make an error of the operating system name `path`, not the temporary file."""
    try:
        yield
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror or error}") from error
