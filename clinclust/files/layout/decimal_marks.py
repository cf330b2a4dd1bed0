"""Which columns write their numbers with a decimal comma."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.layout.written_numbers import DECIMAL_COMMA, GROUPED_OR_DECIMAL
from clinclust.files.listed import listed, quoted

__all__ = ["Decimal", "columns_with_comma"]

Decimal = Literal[",", "."]
_CELLS_LOOKED_AT = 4000
_FEWEST = 0.5


def columns_with_comma(frame: pd.DataFrame, decimal: Decimal | None) -> tuple[set[int], list[str]]:
    """Return the places of the columns with decimal commas, and what the reader must know of them.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table as text; its cells stay as they are.
    decimal : {",", "."} or None
        The decimal mark of the file, if somebody said it: what else could be taken for one keeps thousands apart.
    """
    if decimal == ".":
        return set(), []
    clear: dict[int, str] = {}
    unclear: dict[int, str] = {}
    mixed: list[str] = []
    rows = np.unique(np.linspace(0, max(0, len(frame) - 1), min(len(frame), _CELLS_LOOKED_AT), dtype=np.int64))
    sample = frame.iloc[rows]
    for place in range(frame.shape[1]):
        kind, example = _kind_of_column(sample.iloc[:, place].tolist())
        if kind == "comma":
            clear[place] = example
        elif kind == "either":
            unclear[place] = example
        elif kind == "mixed":
            mixed.append(f"{str(frame.columns[place]).strip()} ({example})")
    if decimal == "," or (clear and unclear):
        clear |= unclear
        unclear = {}
    return set(clear), _remarks(frame, clear if decimal is None else {}, unclear, mixed)


def _remarks(frame: pd.DataFrame, clear: dict[int, str], unclear: dict[int, str], mixed: Sequence[str]) -> list[str]:
    def named(found: dict[int, str]) -> str:
        return listed(f"{str(frame.columns[place]).strip()} ({quoted(text)})" for place, text in found.items())

    remarks = []
    if clear:
        remarks.append(
            f"numbers with a decimal comma in {named(clear)}: the cells stay as they are, and a drafted schema says "
            "so; if the commas keep thousands apart, say --decimal ."
        )
    if unclear:
        remarks.append(
            f"the comma in {named(unclear)} may be a decimal mark or keep thousands apart: say --decimal , or "
            "--decimal ."
        )
    if mixed:
        remarks.append(f"numbers with a comma and others with a point stand in one column: {listed(mixed)}")
    return remarks


def _kind_of_column(texts: Sequence[str]) -> tuple[str, str]:
    """Return what the numbers of a column show, and one of them: ``comma``, ``either``, ``mixed`` or nothing."""
    commas = [
        text.strip()
        for text in texts
        if isinstance(text, str) and "," in text and DECIMAL_COMMA.fullmatch(text.strip())
    ]
    if not commas:
        return "", ""
    filled = [text.strip() for text in texts if not is_blank(text)]
    points = [text for text in filled if _is_number_with_point(text)]
    if points:
        return "mixed", f"{commas[0]} and {points[0]}"
    n_whole = sum(text.lstrip("+-").isdecimal() for text in filled)
    if len(commas) + n_whole < _FEWEST * len(filled):
        return "", ""
    clear = next((text for text in commas if not GROUPED_OR_DECIMAL.fullmatch(text)), None)
    return ("either", commas[0]) if clear is None else ("comma", clear)


def _is_number_with_point(text: str) -> bool:
    whole, point, decimals = text.lstrip("+-").partition(".")
    is_grouped = len(decimals) == 3 and whole.isdecimal() and 0 < len(whole) <= 3 and whole != "0"
    return bool(point) and decimals.isdecimal() and (not whole or whole.isdecimal()) and not is_grouped
