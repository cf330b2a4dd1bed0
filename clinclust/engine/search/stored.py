"""Arrays in a temporary file without a name: however the process ends, the rows in it are gone from the disk.

They have no header: NumPy reads its own (`numpy.load`) as Python code, at which Python 3.11 may fail with a SystemError
if several threads do so.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_ALIGNED = 8


class Stored(NamedTuple):
    """An array in a file."""

    file: IO[bytes]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int
    """Place of its first byte."""

    @property
    def end(self) -> int:
        """Place behind its last byte."""
        return self.offset + int(np.prod(self.shape)) * self.dtype.itemsize

    def mapped(self) -> NDArray[Any]:
        """Return the array, of which only what is used is read."""
        if 0 in self.shape:
            return np.empty(self.shape, dtype=self.dtype)
        start = self.offset - self.offset % mmap.ALLOCATIONGRANULARITY
        part = mmap.mmap(self.file.fileno(), self.end - start, access=mmap.ACCESS_READ, offset=start)
        return np.ndarray(self.shape, self.dtype, part, self.offset - start)


class Store:
    """A file, open for reading and writing, to which several threads add arrays."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._lock, self._end = file, Lock(), 0

    def add(self, arrays: Iterable[NDArray[Any]], replaced: Sequence[Stored] = ()) -> list[Stored]:
        """Write arrays to the file, in the place of others that were added together, if there is room."""
        arrays = [np.ascontiguousarray(array) for array in arrays]
        length = sum(array.nbytes + -array.nbytes % _ALIGNED for array in arrays)
        found = []
        with self._lock:
            at = replaced[0].offset if replaced and length <= replaced[-1].end - replaced[0].offset else self._end
            self._file.seek(at)
            for array in arrays:
                found.append(Stored(self._file, array.dtype, array.shape, self._file.tell()))
                self._file.write(array.data if array.size else b"")
                self._file.write(bytes(-array.nbytes % _ALIGNED))
            self._file.flush()
            self._end = max(self._end, self._file.tell())
        return found
