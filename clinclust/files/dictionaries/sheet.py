"""The table of a dictionary: its rows as texts, by what its columns hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clinclust.files.cell_text import canonical_text

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.files.column_notes import ColumnNotes

__all__ = ["SAYS", "Entry", "Row", "Sheet"]

SAYS = "the dictionary says: "


@dataclass(frozen=True)
class Entry:
    """What a dictionary says of one column of the table.

    `field` is its variable, which differs from `name` for a choice of a checkbox; `headers` are what the column may be
    called where the table has labels for names.
    """

    name: str
    notes: ColumnNotes
    field: str
    headers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One row: its number in a spreadsheet, and its texts by what they are."""

    number: int
    texts: dict[str, list[str]]

    def __getitem__(self, what: str) -> str:
        """Return the first text of this kind that is not empty."""
        return next(iter(self.all(what)), "")

    def all(self, what: str) -> list[str]:
        """Return all texts of this kind that are not empty."""
        return [text for text in self.texts.get(what, []) if text]


class Sheet:
    """A dictionary as a table of texts, from the frame that `clinclust.read_cohort` returned."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.headers = [canonical_text(header) for header in frame.columns]
        numbered = frame.index.inferred_type == "integer"
        self._numbers = [int(label) + 2 for label in frame.index] if numbered else [*range(2, len(frame) + 2)]
        filled = frame.astype(object).where(frame.notna(), "")
        self.columns = [[canonical_text(cell) for cell in filled.iloc[:, at]] for at in range(frame.shape[1])]

    def rows(self, meanings: Sequence[str | None]) -> Iterator[Row]:
        """Yield every row; `meanings` says what each column holds, None for one that is not read."""
        for place, number in enumerate(self._numbers):
            texts: dict[str, list[str]] = {}
            for meaning, column in zip(meanings, self.columns, strict=True):
                if meaning is not None:
                    texts.setdefault(meaning, []).append(column[place])
            yield Row(number, texts)
