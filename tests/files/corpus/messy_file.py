"""One file of the corpus."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class MessyFile:
    """A file, and what must become of it.

    `told` has a pattern for each remark, and there must be no others. `rows` are the header and the rows; `numbers` the
    rows of a spreadsheet that they stand in. `notes` are what must be in the notes on columns. A file with `refused`
    must be refused with these words, and must be read with the options `repaired`.
    """

    trap: str
    name: str
    make: bytes | str | Callable[[Path], None]
    rows: list[list[str]] = field(default_factory=list)
    told: tuple[str, ...] = ()
    numbers: list[int] | None = None
    notes: dict[str, dict] = field(default_factory=dict)
    refused: str | None = None
    options: dict = field(default_factory=dict)
    repaired: dict | None = None

    def write(self, folder: Path) -> Path:
        path = folder / self.name
        if isinstance(self.make, str):
            path.write_bytes(self.make.encode())
        elif isinstance(self.make, bytes):
            path.write_bytes(self.make)
        else:
            self.make(path)
        return path
