"""What a person who looks at a sheet sees otherwise than a program that reads its cells."""

from __future__ import annotations

from collections.abc import Sequence

from clinclust.files.listed import listed
from clinclust.files.xlsx.archive import Attributes
from clinclust.files.xlsx.names import is_true
from clinclust.files.xlsx.references import MOST_COLUMNS, start_of_area, whole

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

    def remarks(self, header: Sequence[str], last_row: int) -> list[str]:
        """Return what the reader must know of a table with this header that ends in this row."""
        remarks = []
        if self._n_rows:
            rows = listed(self._rows, self._n_rows)
            remarks.append(f"hidden rows are read like the others ({rows}): delete what shall not count")
        hidden = [name for place, name in enumerate(header, 1) if self._columns[place]]
        if hidden:
            remarks.append(f"hidden columns are read like the others ({listed(hidden)})")
        starts = ((area, start_of_area(area)) for area in self._merged)
        merged = [area for area, at in starts if at and at[0] <= last_row and at[1] <= len(header)]
        if merged:
            remarks.append(
                f"merged cells ({listed(merged)}): the value counts for the first cell only, and the others are empty; "
                "unmerge them, and write the value into each cell"
            )
        return remarks
