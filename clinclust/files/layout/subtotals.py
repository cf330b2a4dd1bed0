"""Totals, means and counts between the subjects, such as a sum below each ward."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.layout.doubts import Doubt, rows_named
from clinclust.files.layout.figures import Figures
from clinclust.files.layout.filled_columns import FilledColumns
from clinclust.files.layout.headings import names_group
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.layout.words_of_totals import (
    LIKE_TOTAL,
    figures_of_word,
    is_count,
    is_long_word,
    rest_beside_total,
    word_of_total,
)
from clinclust.files.listed import listed, quoted

__all__ = ["Subtotals"]

_COLUMNS_LOOKED_AT = 3
_MOST_LOOKED_AT = 1000  # more rows than any sheet has wards: what they hold is then a value of subjects
_FEWEST_WORDS_OF_A_SUBJECT = 2  # one may be the ward
_SHARE_WITHOUT_NAME = 0.05
_CELLS_LOOKED_AT = 2000
_MOST_CODES = 0.9
_CODE = re.compile(r"\S*\d\S*|\w{1,5}")


@dataclass(frozen=True)
class _Row:
    """A row that may hold totals: its place, its texts, the column of the word, and what the word says."""

    at: int
    texts: list[str]
    place: int
    is_total: bool  # a word of totals alone, with the name of a group, or among codes of subjects
    is_long: bool  # the word is nothing but one of totals


@dataclass
class Subtotals:
    """Which rows between the subjects hold totals.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows below the header, as text; the labels plus 2 are row numbers.
    decimal : str or None
    columns : FilledColumns

    Attributes
    ----------
    remarks : list of str
    doubts : list of Doubt
    """

    frame: pd.DataFrame
    decimal: str | None
    columns: FilledColumns
    remarks: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._figures = Figures(self.frame, self.decimal)
        self._numbers = np.asarray(self.frame.index) + 2
        self._rows = self._with_words()

    def found(self) -> NDArray[np.bool_]:
        """Return where a row is certainly a total: it says so, or has no name, and holds figures of rows above it."""
        mask = np.zeros(len(self.frame), dtype=bool)
        begin = 0  # of the block that a total may belong to
        nameless = self._without_name() if len(self.columns.always) > 1 else []
        known = {row.at for row in self._rows}
        counted = np.ones(len(mask), dtype=bool)  # a total counts subjects, and no other total
        counted[[row.at for row in self._rows if row.is_total]] = False
        for row in sorted([*self._rows, *(row for row in nameless if row.at not in known)], key=lambda row: row.at):
            above = counted & ~mask
            above[row.at :] = False
            block = above.copy()
            block[:begin] = False
            if self._is_certain(row, block) or self._is_certain(row, above):
                mask[row.at] = True
                begin = row.at + 1
        if mask.any():
            self.remarks.append(
                f"{self._held(mask)} between the subjects totals or means of the rows above, and "
                f"{'is' if mask.sum() == 1 else 'are'} left out ({self._shown(mask)})"
            )
        return mask

    def tell(self, mask: NDArray[np.bool_]) -> None:
        """Ask about rows that say that they are totals, but agree with no rows above; `mask` has those left out."""
        asked, told = np.zeros(len(mask), dtype=bool), np.zeros(len(mask), dtype=bool)
        texts = [row.texts[row.place].strip() for row in self._rows]
        whole = [(row.place, text) for row, text in zip(self._rows, texts, strict=True) if not self._lacks(row)]
        of_subjects = {value for value in whole if value[0] > 0}  # a level, such as a response that is total
        for row, text in zip(self._rows, texts, strict=True):
            if mask[row.at]:
                continue
            lacks = (row.place, text) not in of_subjects and self._lacks(row)
            if row.is_total and (lacks or (row.is_long and texts.count(text) == 1)):
                asked[row.at] = True
            elif row.place == 0 and row.is_long:
                told[row.at] = True
        if asked.any():
            rows = tuple(self._numbers[asked].tolist())
            norms = any(asked[row.at] and not figures_of_word(row.texts[row.place]) for row in self._rows)
            what = "a total or of a norm" if norms else "a total"
            whose = "its" if len(rows) == 1 else "their"
            self.doubts.append(
                Doubt(
                    f"{self._held(asked)} the word of {what} ({self._shown(asked)}), but "
                    f"{whose} numbers are no sums, means or counts of the rows above",
                    rows,
                )
            )
        if told.any() and 10 * told.sum() <= max(10, len(told)):
            self.remarks.append(
                f"{rows_named(self._numbers[told].tolist())} read{'s' if told.sum() == 1 else ''} like totals "
                f"({self._shown(told)}), but {'is' if told.sum() == 1 else 'are'} read as subjects: if they are none, "
                "leave them out with --where, or say with --rows which rows are subjects"
            )

    def _lacks(self, row: _Row) -> bool:
        return any(is_blank(row.texts[place]) for place in self.columns.always)

    def _held(self, mask: NDArray[np.bool_]) -> str:
        numbers = self._numbers[mask].tolist()
        return f"{rows_named(numbers)} hold{'s' if len(numbers) == 1 else ''}"

    def _shown(self, mask: NDArray[np.bool_]) -> str:
        """Return the words of the totals, or the first figures of those without any."""
        words = {row.at: row.texts[row.place].strip() for row in self._rows}
        first = {at: self.frame.iloc[at].tolist() for at in np.flatnonzero(mask)[:5].tolist()}
        texts = (words.get(at) or next(filter(None, map(str.strip, row))) for at, row in first.items())
        return listed(map(quoted, texts), int(mask.sum()))

    def _with_words(self) -> list[_Row]:
        """Return the rows in whose first columns a text begins or ends like a total."""
        found: dict[int, _Row] = {}
        for place in range(min(_COLUMNS_LOOKED_AT, self.frame.shape[1])):
            like = np.flatnonzero(self.frame.iloc[:, place].str.contains(LIKE_TOTAL).to_numpy(dtype=bool))
            if not 0 < like.size <= min(_MOST_LOOKED_AT, len(self.frame) / 2):
                continue
            is_of_codes = self._holds_codes(place, set(like.tolist()))
            for at in like.tolist():
                texts = self.frame.iloc[at].tolist()
                row = self._row(at, texts, place, is_of_codes and all(map(is_blank, texts[:place])))
                if at not in found and (row.is_total or place == 0):
                    found[at] = row
        return [found[at] for at in sorted(found)]

    def _row(self, at: int, texts: list[str], place: int, is_among_codes: bool) -> _Row:
        word, rest = word_of_total(texts[place]), rest_beside_total(texts[place])
        is_alone = word is not None or is_count(texts[place])
        beside = {text.strip() for text in self._cells_above(at, place)}
        is_of_group = bool(rest) and (is_among_codes or rest in beside or names_group(str(rest)))
        is_long = rest is not None and (word is None or is_long_word(word))
        return _Row(at, texts, place, is_alone or is_of_group, is_long)

    def _holds_codes(self, place: int, like_totals: set[int]) -> bool:
        """Return whether a column holds numbers and short codes of subjects, so that words in it are no names."""
        cells = self.frame.iloc[:, place].tolist()
        others = [text.strip() for at, text in enumerate(cells) if at not in like_totals and not is_blank(text)]
        others = others[:: max(1, len(others) // _CELLS_LOOKED_AT)]
        return bool(others) and sum(map(_is_code, others)) >= _MOST_CODES * len(others)

    def _cells_above(self, at: int, place: int) -> list[str]:
        """Return the texts of the row above in the first columns: a total names the group of the rows above it."""
        above = self.frame.iloc[max(0, at - 1) : at, : place + 1].to_numpy().ravel().tolist()
        return [text for text in above if not is_blank(text)]

    def _without_name(self) -> list[_Row]:
        """Return the rows without a value in the first column, if nearly all others have one."""
        if 0 not in self.columns.always:
            return []
        blank = np.flatnonzero(np.asarray(self.frame.iloc[:, 0].str.strip() == "", dtype=bool))
        if not 0 < blank.size <= min(_MOST_LOOKED_AT, max(1, _SHARE_WITHOUT_NAME * len(self.frame))):
            return []
        return [_Row(at, self.frame.iloc[at].tolist(), -1, False, False) for at in blank.tolist()]

    def _is_certain(self, row: _Row, above: NDArray[np.bool_]) -> bool:
        """Return whether the numbers of a row are figures of some rows above it, as its word or lack of a name says."""
        others = [at for at, text in enumerate(row.texts) if at != row.place and not is_blank(text)]
        if row.place < 0:
            is_figure = self._figures.is_sum_or_mean
            return len(others) > 1 and all(is_figure(row.texts[at], at, above) for at in others)
        texts = {at: row.texts[at] for at in others}
        n_words = sum(not np.isfinite(self._figures.number(text)) for text in texts.values())
        figures = figures_of_word(row.texts[row.place])
        agree = row.is_total and self._figures.agree(texts, figures, above, row.is_long)
        return agree and n_words < _FEWEST_WORDS_OF_A_SUBJECT


def _is_code(text: str) -> bool:
    return bool(_CODE.fullmatch(text))
