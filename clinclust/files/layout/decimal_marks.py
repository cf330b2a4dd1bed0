"""Numbers as people write them, and which columns write theirs with a decimal comma."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.listed import listed, quoted

__all__ = ["Decimal", "columns_with_comma", "looks_like_number", "number_with", "share_of_numbers"]

Decimal = Literal[",", "."]
_WRITTEN = re.compile(
    r"[<>≤≥~]?\s*[+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+|"
    r"\d{1,3}(?:[.,'\u2019\u00a0\u202f ]\d{3})+(?:[.,]\d+)?)(?:[eE][+-]?\d+)?\s*%?"
)
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)?,\d+(?:[eE][+-]?\d+)?")
_GROUPED_OR_DECIMAL = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_DECIMAL_POINT = re.compile(r"[+-]?(?!(?!0\.)\d{1,3}\.\d{3}$)\d*\.\d+")  # 1.234 may be grouped
_CELLS_LOOKED_AT = 4000
_FEWEST = 0.5
_TOLD = {
    "comma": "numbers with a decimal comma in {}: a drafted schema says so; if the commas keep thousands apart, say "
    "decimal='.'",
    "either": "the comma in {} may be a decimal mark or keep thousands apart: say decimal=',' or decimal='.'",
    "mixed": "numbers with a comma and others with a point stand in one column: {}",
}


def looks_like_number(text: str) -> bool:
    """Return whether a cell holds a number, written in any usual way, such as ``3,5`` or ``<5`` or ``1.234,5``."""
    return bool(_WRITTEN.fullmatch(text.strip()))


def share_of_numbers(texts: Iterable[str]) -> float:
    """Return the share of texts that are numbers; 0 if there are none."""
    found = [looks_like_number(text) for text in texts]
    return sum(found) / len(found) if found else 0.0


def number_with(text: str, decimal: str | None) -> str:
    """Return a text with a point as its decimal mark if it is a number with this decimal mark, otherwise unchanged."""
    if decimal == "," and _DECIMAL_COMMA.fullmatch(text.strip()):
        return text.strip().replace(".", "").replace(",", ".")
    return text


def columns_with_comma(frame: pd.DataFrame, decimal: Decimal | None) -> tuple[set[int], list[str]]:
    """Return the places of the columns with decimal commas, and what the reader must know of them.

    If somebody said the decimal mark of the file, what else could be taken for one keeps thousands apart.
    """
    if decimal == ".":
        return set(), []
    found: dict[str, dict[int, str]] = {kind: {} for kind in _TOLD}
    rows = np.unique(np.linspace(0, max(0, len(frame) - 1), min(len(frame), _CELLS_LOOKED_AT), dtype=np.int64))
    for place in range(frame.shape[1]):
        kind, example = _kind_of_column(frame.iloc[rows, place].tolist())
        found.get(kind, {})[place] = example
    if decimal == "," or found["comma"]:
        found["comma"], found["either"] = found["comma"] | found["either"], {}
    told = []
    for kind, places in found.items():
        if places and not (kind == "comma" and decimal == ","):
            names = listed(f"{str(frame.columns[place]).strip()} ({text})" for place, text in places.items())
            told.append(_TOLD[kind].format(names))
    return set(found["comma"]), told


def _kind_of_column(texts: Sequence[str]) -> tuple[str, str]:
    """Return what the numbers of a column show, and one of them: ``comma``, ``either``, ``mixed`` or nothing."""
    commas = [text.strip() for text in texts if "," in text and _DECIMAL_COMMA.fullmatch(text.strip())]
    if not commas:
        return "", ""
    filled = [text.strip() for text in texts if not is_blank(text)]
    point = next(filter(_DECIMAL_POINT.fullmatch, filled), None)
    if point is not None:
        return "mixed", f"{commas[0]} and {point}"
    if len(commas) + sum(text.lstrip("+-").isdecimal() for text in filled) < _FEWEST * len(filled):
        return "", ""
    clear = next((text for text in commas if not _GROUPED_OR_DECIMAL.fullmatch(text)), None)
    return ("either", quoted(commas[0])) if clear is None else ("comma", quoted(clear))
