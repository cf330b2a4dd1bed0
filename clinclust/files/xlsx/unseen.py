"""What a person who looks at a sheet sees otherwise than a program that reads its cells."""

from __future__ import annotations

from clinclust.files.layout.header_groups import Area
from clinclust.files.listed import listed
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.archive import Attributes
from clinclust.files.xlsx.names import is_true
from clinclust.files.xlsx.references import MOST_COLUMNS, corners_of_area, whole

__all__ = ["Unseen"]

_ROWS_KEPT = 10


class Unseen:
    """Hidden rows and columns, which hold values all the same, and merged cells, of which only the first does."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._n_rows = 0
        self._columns = bytearray(MOST_COLUMNS + 1)  # 1 where hidden, by number from 1
        self._merged: list[str] = []

    def add_row(self, number: int) -> None:
        """Add a hidden row that holds text."""
        self._n_rows += 1
        if len(self._rows) < _ROWS_KEPT:
            self._rows.append(number)

    def add_columns(self, attributes: Attributes) -> None:
        """Add the columns that an element `col` describes, if it hides them."""
        if is_true(attributes.get("hidden")):
            first, last = (min(whole(attributes.get(key, "")), MOST_COLUMNS) for key in ("min", "max"))
            self._columns[first : last + 1] = b"\1" * max(0, last + 1 - first)

    def add_merged(self, attributes: Attributes) -> None:
        """Add the area that an element `mergeCell` merges."""
        self._merged.append(attributes.get("ref", ""))

    def merged_areas(self) -> list[Area]:
        """Return the merged areas that can be read as such."""
        return [corners for corners in map(corners_of_area, self._merged) if corners is not None]

    def remarks(self, read: TableRead) -> list[str]:
        """Return what the reader must know of a table."""
        remarks = []
        if self._n_rows:
            rows = listed(self._rows, self._n_rows)
            remarks.append(f"hidden rows are read like the others ({rows}): delete what shall not count")
        named = zip(read.places, read.frame.columns, strict=True)
        hidden = [name for place, name in named if self._columns[place]]
        if hidden:
            remarks.append(f"hidden columns are read like the others ({listed(hidden)})")
        return remarks
