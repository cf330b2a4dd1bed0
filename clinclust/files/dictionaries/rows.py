"""The rows of a dictionary by what their columns hold; the words of headers are `clinclust/data/dictionaries.toml`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clinclust.data import data
from clinclust.files.cell_text import canonical_text
from clinclust.files.dictionaries.plain_text import folded

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CODEBOOK", "REDCAP", "SAYS", "Row", "meanings", "rows_of"]

SAYS = "the dictionary says: "
_WORDS = data("dictionaries")
CODEBOOK, REDCAP = (
    {folded(header): meaning for meaning, headers in _WORDS[kind].items() for header in headers}
    for kind in ("headers", "redcap_headers")
)
"""What the columns of a codebook, and of a REDCap data dictionary, hold, by folded header."""


class Row(dict[str, str]):
    """The texts of one row by what they are, empty where there is none; and its number in a spreadsheet."""

    number: int

    def __missing__(self, what: str) -> str:
        return ""


def meanings(frame: pd.DataFrame, words: dict[str, str]) -> list[str | None]:
    """Return what each column of a dictionary holds; None for one whose header is not among the words."""
    return [words.get(folded(canonical_text(header))) for header in frame.columns]


def rows_of(frame: pd.DataFrame, meanings: Sequence[str | None]) -> list[Row]:
    """Return the rows of a dictionary; of several columns that hold the same, the first with a text counts."""
    numbered = frame.index.inferred_type == "integer"
    cells = frame.astype(object).where(frame.notna(), "").to_numpy()
    rows = []
    for place, values in enumerate(cells):
        row = Row()
        row.number = int(frame.index[place]) + 2 if numbered else place + 2
        for meaning, value in zip(meanings, values, strict=True):
            if meaning is not None and (text := canonical_text(value)):
                row.setdefault(meaning, text)
        rows.append(row)
    return rows
