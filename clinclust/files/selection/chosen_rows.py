"""Choose rows: those that meet a condition, and one for each subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.chosen_columns import place_of_column
from clinclust.files.listed import listed, quoted
from clinclust.files.selection.condition import parsed
from clinclust.files.selection.matching import ISO_DATE, Cells, Matching
from clinclust.files.text_table import TableRead

__all__ = ["Keep", "RowChoice", "chosen_rows"]

Keep = Literal["first", "last"]


@dataclass(frozen=True)
class RowChoice:
    """Which rows to keep.

    Attributes
    ----------
    where : str or None
        A condition; see `clinclust.files.selection.condition`.
    one_row_per : str or None
        The column that says whose row it is.
    keep : {"first", "last"}
        Which of the rows of one subject.
    by : str or None
        The column by whose numbers or dates the rows of a subject are ordered; otherwise by their order in the file.
    """

    where: str | None = None
    one_row_per: str | None = None
    keep: Keep = "first"
    by: str | None = None

    def problems(self) -> list[str]:
        """Return what of it makes no sense without the rest."""
        if self.one_row_per is not None:
            return []
        return [
            f"{option} says which row of a subject stays: give --one-row-per with the column of the subjects too"
            for option, is_given in (("--keep", self.keep != "first"), ("--by", self.by is not None))
            if is_given
        ]


def chosen_rows(read: TableRead, choice: RowChoice) -> TableRead:
    """Return the table with the rows that were chosen, and remarks on how many these are.

    Raises
    ------
    InputError
        If a column is not there, a condition cannot be understood, or no row is left.
    """
    if choice.where is not None:
        matching = Matching(read)
        found = matching.of(parsed(choice.where))
        if not found.any():
            raise InputError(
                f"--where {quoted(choice.where)} keeps none of {len(found):,} rows: compare it with the values in the "
                f"table{_sample(read, matching)}"
            )
        told = f"{found.sum():,} of {len(found):,} rows are kept, as --where says ({quoted(choice.where)})"
        read = _with_rows(read, found, [*matching.remarks, told])
    if choice.one_row_per is not None:
        read = _one_row_per(read, choice, choice.one_row_per)
    return read


def _sample(read: TableRead, matching: Matching) -> str:
    held = [
        f"{cells.name}: {listed(quoted(text) for text in dict.fromkeys(cells.texts.tolist()[:200]))}"
        for cells in matching.looked_at
    ]
    return f" ({'; '.join(held[:3])})" if held else ""


def _with_rows(read: TableRead, mask: NDArray[np.bool_], told: Sequence[str]) -> TableRead:
    frame = read.frame if mask.all() else read.frame[mask]
    return TableRead(frame, [*read.remarks, *told], read.notes, read.places, read.unread)


def _column(read: TableRead, name: str, option: str) -> Cells:
    place = place_of_column(name, [str(each) for each in read.frame.columns], read.places)
    if isinstance(place, str):
        raise InputError(f"{option}: {place} The columns are {listed(map(str, read.frame.columns))}")
    return Cells(read, place)


def _one_row_per(read: TableRead, choice: RowChoice, name: str) -> TableRead:
    subjects = _column(read, name, "--one-row-per")
    if subjects.missing.any():
        rows = _rows(read, subjects.missing)
        raise InputError(
            f"--one-row-per: {quoted(subjects.name)} has no value in {subjects.missing.sum():,} rows (first: {rows}): "
            f"whose rows these are is not known; leave them out: --where '`{subjects.name}` is not missing'"
        )
    order = np.arange(len(read.frame))
    told: list[str] = []
    if choice.by is not None:
        order, told = _ordered(read, _column(read, choice.by, "--by"), subjects, choice.keep)
    chosen = pd.Series(subjects.texts[order]).duplicated(keep=choice.keep).to_numpy()
    mask = np.zeros(len(order), dtype=bool)
    mask[order[~chosen]] = True
    how = f"the {choice.keep}" + (f" by {quoted(choice.by)}" if choice.by is not None else " in the file")
    told.append(f"{mask.sum():,} of {len(mask):,} rows are kept: {how} of each {quoted(subjects.name)}")
    return _with_rows(read, mask, told)


def _rows(read: TableRead, mask: NDArray[np.bool_]) -> str:
    labels = np.asarray(read.frame.index)[mask]
    return listed((int(label) + 2 for label in labels[:5]), 5 if len(labels) > 5 else len(labels))


def _ordered(read: TableRead, cells: Cells, subjects: Cells, keep: Keep) -> tuple[NDArray[np.int64], list[str]]:
    """Return the rows in the order of a column, rows without a value where they are not kept; and remarks."""
    present = ~cells.missing
    are_dates = np.array([bool(ISO_DATE.fullmatch(text)) for text in cells.texts.tolist()], dtype=bool)
    if not np.isnan(cells.numbers[present]).any():
        ranks = pd.Series(cells.numbers).rank(method="dense").to_numpy()
    elif are_dates[present].all():
        ranks = pd.Series(cells.texts).where(present).rank(method="dense").to_numpy()
    else:
        wrong = present & ~are_dates & np.isnan(cells.numbers)
        wrong = wrong if wrong.any() else present & ~are_dates
        raise InputError(
            f"--by: {quoted(cells.name)} holds neither numbers nor dates such as 2024-05-31 throughout (first "
            f"otherwise, in row {_rows(read, wrong).partition(',')[0]}: {quoted(cells.texts[wrong][0])}): correct "
            "them, or leave out --by, and the order in the file decides"
        )
    ranks = np.where(present, ranks, np.inf if keep == "first" else -np.inf)
    told = []
    if not present.all():
        told.append(
            f"{(~present).sum():,} rows have no value in {quoted(cells.name)}, and stay only for lack of another"
        )
    best = pd.Series(ranks).groupby(subjects.texts).transform("min" if keep == "first" else "max").to_numpy()
    tied = pd.Series(subjects.texts[(ranks == best)]).duplicated().sum()
    if tied:
        told.append(
            f"{tied:,} rows have the same {quoted(cells.name)} as the one that is kept: the {keep} in the file stays"
        )
    return np.argsort(ranks, kind="stable"), told
