"""The table of a dictionary: its rows as texts, by what its columns hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clinclust.files.cell_text import canonical_text

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.files.column_notes import ColumnNotes

__all__ = ["Entry", "Row", "Sheet"]


@dataclass(frozen=True)
class Entry:
    """What a dictionary says of one column of the table.

    Attributes
    ----------
    name : str
        The name of the column.
    notes : ColumnNotes
    field : str
        The variable of the dictionary: another name than that of the column for a choice of a checkbox.
    headers : tuple of str
        What the column may be called where the table has labels for names.
    """

    name: str
    notes: ColumnNotes
    field: str
    headers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One row: its number in a spreadsheet, and its texts by what they are. A text that is not given is empty."""

    number: int
    texts: dict[str, list[str]]

    def __getitem__(self, what: str) -> str:
        """Return the first text of this kind that is not empty."""
        return next(iter(self.all(what)), "")

    def all(self, what: str) -> list[str]:
        """Return all texts of this kind that are not empty."""
        return [text for text in self.texts.get(what, []) if text]


class Sheet:
    """A dictionary as a table of texts.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `clinclust.read_cohort` returned it.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.headers = [canonical_text(header) for header in frame.columns]
        columns = [[_text(cell) for cell in frame.iloc[:, place]] for place in range(frame.shape[1])]
        numbered = frame.index.inferred_type == "integer"
        self.numbers = [int(label) + 2 for label in frame.index] if numbered else [*range(2, len(frame) + 2)]
        self._columns = columns

    def column(self, place: int) -> list[str]:
        """Return the texts of one column, counted from 0."""
        return self._columns[place]

    def rows(self, meanings: Sequence[str | None]) -> Iterator[Row]:
        """Yield every row; `meanings` says what each column holds, None for one that is not read."""
        for place, number in enumerate(self.numbers):
            texts: dict[str, list[str]] = {}
            for meaning, column in zip(meanings, self._columns, strict=True):
                if meaning is not None:
                    texts.setdefault(meaning, []).append(column[place])
            yield Row(number, texts)


def _text(cell: object) -> str:
    import pandas as pd

    return "" if pd.api.types.is_scalar(cell) and bool(pd.isna(cell)) else canonical_text(cell)  # type: ignore[call-overload]
