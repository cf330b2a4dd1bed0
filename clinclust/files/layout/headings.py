"""Rows between the subjects that hold one text: the name of a ward above its subjects, or a remark."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.layout.doubts import Doubt, rows_named
from clinclust.files.layout.headerless import shape_of
from clinclust.files.layout.row_ranges import ranges_of
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.listed import listed, quoted

__all__ = ["headings", "names_group"]

_FEWEST_COLUMNS = 3
_GROUP = re.compile(
    r"(?:station|ward|unit|group|gruppe|groupe|grupo|klinik|clinic|clinique|abteilung|department|service|site|"
    r"cent(?:er|re)|zentrum|cohort|kohorte|cohorte|arm|hospital|krankenhaus|praxis|practice|visit|visite|jahr|year|"
    r"intervention|control|controls|kontrolle|kontrollgruppe|placebo|verum)\b.{0,40}",
    re.IGNORECASE,
)
_SHAPES_LOOKED_AT = 2000


def names_group(text: str) -> bool:
    """Return whether a text reads like the name of a ward, a site or an arm of a trial."""
    return bool(_GROUP.fullmatch(text.strip()))


def headings(
    frame: pd.DataFrame, mask: NDArray[np.bool_], remarks: list[str], doubts: list[Doubt]
) -> NDArray[np.bool_]:
    """Return where a row is certainly a heading, and add what to say of these and of doubtful ones.

    A row that holds one text in the first column is a subject of whom nothing else is known if this text has the shape
    of those of other subjects, as ``P33`` has that of ``P01``.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows below the header, as text; the labels plus 2 are row numbers.
    mask : bool ndarray, shape (N,)
        The rows that are no subjects for other reasons.
    remarks, doubts : list
        What was found is added to them.
    """
    found = np.zeros(len(frame), dtype=bool)
    if frame.shape[1] < _FEWEST_COLUMNS:
        return found
    alone = _alone(frame, mask)
    shapes = _shapes(frame, ~mask, set(alone.tolist())) if alone.size else set()
    texts = frame.iloc[alone, 0].tolist()
    odd = {at: text.strip() for at, text in zip(alone.tolist(), texts, strict=True) if _is_odd(text, shapes)}
    certain = {at: text for at, text in odd.items() if names_group(text)}
    rest = {at: text for at, text in odd.items() if at not in certain}
    found[list(certain)] = True
    if certain:
        are = "is" if len(certain) == 1 else "are"
        remarks.append(
            f"{_told(frame, certain)} as a heading between the subjects, and {are} left out: if "
            "subtypes should know these groups, write them into a column of their own"
        )
    if rest and shapes:
        doubts.append(
            Doubt(
                f"{_told(frame, rest)}, unlike those of other rows, and nothing else: a heading, a remark, or a "
                f"subject of whom nothing else is known{_of_the_rows_below(frame, min(rest), ~mask)}",
                tuple(int(frame.index[at]) + 2 for at in rest),
            )
        )
    return found


def _of_the_rows_below(frame: pd.DataFrame, at: int, kept: NDArray[np.bool_]) -> str:
    """Return what to say if a text below an empty row is the title of rows that are no subjects either."""
    numbers = np.asarray(frame.index) + 2
    is_below_gap = at > 0 and numbers[at] > numbers[at - 1] + 1
    if not is_below_gap or not kept[at + 1 :].any():
        return ""
    above = ranges_of(numbers[:at][kept[:at]].tolist(), numbers[~kept].tolist())
    return "" if above is None else f"; if it is the title of rows that are none, say --rows {above}"


def _is_odd(text: str, shapes: set[str]) -> bool:
    """Return whether a text may be a heading: a word, of another shape than the names of subjects."""
    return any(map(str.isalpha, text)) and shape_of(text.strip()) not in shapes


def _told(frame: pd.DataFrame, texts: dict[int, str]) -> str:
    numbers = [int(frame.index[at]) + 2 for at in texts]
    shown = listed(map(quoted, texts.values()), len(texts))
    one_or_more = "holds one text" if len(numbers) == 1 else "hold one text each"
    return f"{rows_named(numbers)} {one_or_more} ({shown})"


def _alone(frame: pd.DataFrame, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the places of the rows that hold something in the first column, and nothing in all others."""
    left = np.flatnonzero(~mask & ~_blank(frame.iloc[:, 0]))
    for place in range(1, frame.shape[1]):
        if not left.size:
            break
        left = left[_blank(frame.iloc[left, place])]
    return left


def _blank(cells: pd.Series) -> NDArray[np.bool_]:
    return np.asarray(cells.str.strip() == "", dtype=bool)


def _shapes(frame: pd.DataFrame, kept: NDArray[np.bool_], alone: set[int]) -> set[str]:
    """Return the shapes of the first texts of rows that hold more than these."""
    fuller = [at for at in np.flatnonzero(kept).tolist() if at not in alone]
    step = max(1, len(fuller) // _SHAPES_LOOKED_AT)
    cells = frame.iloc[fuller[::step], 0].tolist()
    return {shape_of(cell.strip()) for cell in cells if not is_blank(cell)}
