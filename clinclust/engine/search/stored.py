"""Arrays in files that are read on several threads.

They have no header: NumPy reads its own (`numpy.load`) as Python code, at which Python 3.11 may fail with a SystemError
if several threads do so.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_ALIGNED = 8


class Stored(NamedTuple):
    """An array in a file."""

    file: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int
    """Place of its first byte."""

    def mapped(self) -> NDArray[Any]:
        """Return the array, of which only what is used is read."""
        if 0 in self.shape:
            return np.empty(self.shape, dtype=self.dtype)
        return np.memmap(self.file, self.dtype, "r", self.offset, self.shape)


def stored(arrays: Iterable[NDArray[Any]], file: Path) -> list[Stored]:
    """Write arrays to a file."""
    found = []
    with file.open("wb") as stream:
        for array in arrays:
            found.append(Stored(file, array.dtype, array.shape, stream.tell()))
            stream.write(np.ascontiguousarray(array).data if array.size else b"")
            stream.write(bytes(-stream.tell() % _ALIGNED))
    return found
