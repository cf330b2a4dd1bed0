"""Say an error of the operating system as a sentence: which file, what happened, and what to do."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clinclust.control_characters import on_one_line

__all__ = ["naming", "plain_error", "plain_sentence"]

_LONGEST_PATH = 300
_MEANINGS: dict[int, str] = {
    errno.ENOSPC: "the disk is full; free some space, or choose a folder on another disk",
    errno.EFBIG: "the file would be larger than this system allows; raise the limit (ulimit -f)",
    errno.EIO: "the disk failed; choose a folder on another disk, and look after this one",
    errno.EROFS: "the disk can only be read; choose a folder on another disk",
    errno.EACCES: "you have no permission; choose another folder, or close the program that has the file open",
    errno.EPERM: "you have no permission; choose another folder, or ask who owns it",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.ENOENT: "a folder or file on the way is missing; make it first",
    errno.ENOTDIR: "a file stands where a folder is needed; choose another name",
    errno.EISDIR: "a folder stands where a file is needed; move it away, or choose another name",
    errno.ENOTEMPTY: "a folder that is not empty stands in its place; move it away, or choose another name",
    errno.ELOOP: "its links lead in a circle; choose another name",
    errno.EINVAL: "this system allows no such name; choose another one",
    errno.EBUSY: "another program uses it; close that program",
    errno.ETXTBSY: "another program uses it; close that program",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n), or close other programs",
    errno.ENFILE: "too many files are open; close other programs",
    errno.EBADF: "it was closed before the program began",
}
if hasattr(errno, "EDQUOT"):
    _MEANINGS[errno.EDQUOT] = "your share of the disk is used up; free some space, or choose a folder on another disk"
if hasattr(errno, "ESTALE"):
    _MEANINGS[errno.ESTALE] = "the network folder was replaced; open it again"


def plain_sentence(error: OSError, path: object = None, doing: str = "used") -> str:
    """Return what an error of the operating system says, as a sentence that names the file.

    Parameters
    ----------
    error : OSError
        An error without a code is one that this package or another wrote as a sentence; it is returned unchanged.
    path : path or str, optional
        The file that the reader knows; by default the file that the error names.
    doing : str
        What was tried with the file: ``written``, ``read`` or ``used``.
    """
    if error.errno is None or (error.strerror is None and error.filename is None):
        return str(error)
    name = path if path is not None else error.filename
    meaning = _MEANINGS.get(error.errno) or error.strerror or os.strerror(error.errno)
    return meaning if name is None else f"{_shown(name)} cannot be {doing}: {meaning}"


def plain_error(error: OSError, path: object, doing: str) -> OSError:
    """Return an error of the same type and code whose message is the sentence."""
    sentence = plain_sentence(error, path, doing)
    made = type(error)(sentence) if type(error).__module__ == "builtins" else OSError(sentence)
    made.errno = error.errno
    return made


@contextmanager
def naming(path: Path, doing: str = "written", instead_of: Path | None = None) -> Iterator[None]:
    """Make an error of the operating system say in a sentence that `path` cannot be written.

    Parameters
    ----------
    path : Path
        The file that the reader knows.
    doing : str
        What is tried with it.
    instead_of : Path, optional
        If given, errors that name a file outside of this folder are left alone: they are about something else.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or (error.strerror is None and error.filename is None):
            raise  # a sentence already
        if instead_of is not None and not _is_about(error, instead_of):
            raise
        raise plain_error(error, path, doing) from error


def _is_about(error: OSError, folder: Path) -> bool:
    """Return whether an error names a file in `folder`, or none, as an error of writing to an open file does."""
    return error.filename is None or str(error.filename).startswith(str(folder))


def _shown(name: object) -> str:
    text = on_one_line(os.fsdecode(name) if isinstance(name, bytes) else str(name))
    return text if len(text) <= _LONGEST_PATH else f"{text[: _LONGEST_PATH // 2]}...{text[-_LONGEST_PATH // 2 :]}"
