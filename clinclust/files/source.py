"""Where the bytes of a table are: in a file of its own, or unpacked from an archive."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

__all__ = ["Source"]


@dataclass(frozen=True)
class Source:
    """The bytes of a table.

    Attributes
    ----------
    path : Path
        The file.
    suffix : str
        What the name of the table ends in, in lower case: ``.csv`` for ``cohort.csv.gz`` too.
    content : bytes or None
        The bytes, if they were unpacked; otherwise they are in the file.
    """

    path: Path
    suffix: str
    content: bytes | None = None

    def open(self) -> BinaryIO:
        """Return the bytes as a file to read, which the caller closes."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def read(self) -> bytes:
        """Return all bytes."""
        return self.path.read_bytes() if self.content is None else self.content

    def size(self) -> int:
        """Return the number of bytes."""
        return self.path.stat().st_size if self.content is None else len(self.content)

    def start(self, length: int) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(length)
