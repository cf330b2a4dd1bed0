"""A column as drafting sees it, its dates and its missing values."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.data import data
from clinclust.drafting.levels import without_number
from clinclust.files.cell_text import compile_short, number_of, numbers_of, quote_cell
from clinclust.files.dictionaries.words import MISSING_SIGNS, means_missing, words_of
from clinclust.files.text_table import ColumnNotes
from clinclust.schema.reading import LOOK, text_cells

# One column of a table in one pass: its distinct texts, how many cells hold each, and what is proposed for it.


@dataclass(frozen=True)
class Column:
    """A column of a table as its distinct texts. Cells without a value or text are not among them."""

    name: str
    codes: NDArray[np.int64]  # (N,) the index of the text of each row; -1 where the cell is empty
    texts: tuple[str, ...]  # distinct, without outer white space, sorted
    counts: NDArray[np.int64]  # (len(texts),) the number of cells that hold each text
    notes: ColumnNotes = field(default_factory=ColumnNotes)
    is_time: bool = False  # whether the cells are dates or times by their type
    order: tuple[str, ...] = ()  # all levels from low to high of an ordered categorical of pandas

    @property
    def n_observed(self) -> int:
        """The number of cells that hold a text."""
        return int(self.counts.sum())

    @cached_property
    def numbers(self) -> Array:
        """The number that each text writes without units or marks, float64 (len(texts),); NaN for other texts."""
        return numbers_of(list(self.texts))

    @cached_property
    def first_rows(self) -> NDArray[np.int64]:
        """The first row of each text, int64 (len(texts),)."""
        codes, rows = np.unique(self.codes, return_index=True)
        return rows[codes >= 0].astype(np.int64)

    def without(self, texts: frozenset[str] | set[str]) -> Column:
        """Return the column with the cells that hold one of some texts empty."""
        kept = np.array([text not in texts for text in self.texts], dtype=bool)
        if kept.all():
            return self
        place = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        left = tuple(text for text, is_kept in zip(self.texts, kept, strict=True) if is_kept)
        return replace(self, codes=place[self.codes], texts=left, counts=self.counts[kept])

    def in_rows(self, of_text: Array) -> Array:
        """Return the number of each row, float64 (N,), given that of each text; NaN where the cell is empty."""
        return np.append(of_text, np.nan)[self.codes]


def column_of(name: str, cells: pd.Series, notes: ColumnNotes) -> Column:
    """Return cells of any type as a column."""
    found = text_cells(cells)
    texts = sorted({text for text in found.texts if text})
    place = {text: index for index, text in enumerate(texts)}
    of_cell = np.array([*(place.get(text, -1) for text in found.texts), -1], dtype=np.int64)
    codes = of_cell[found.codes]
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    used = counts > 0
    if not used.all():  # levels of a categorical that no row has
        codes = np.append(np.where(used, np.cumsum(used) - 1, -1), -1)[codes]
        texts, counts = [text for text, is_used in zip(texts, used, strict=True) if is_used], counts[used]
    dtype = cells.dtype
    is_time = pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype)
    is_ordered = isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)
    order = tuple(dict.fromkeys(text for text in found.texts if text)) if is_ordered else ()
    return Column(name, codes, tuple(texts), counts.astype(np.int64), notes, is_time, order)


DOUBTFUL = 0.8  # the probability below which the next best kind is offered


@dataclass(frozen=True)
class Proposal:
    """The fields of a drafted feature, and the reason for them."""

    fields: dict[str, Any] = field(default_factory=dict)  # of `Feature`, without its name
    reason: str = ""
    probability: float = 1.0  # of the kind, given the values and what other tables hold
    otherwise: str = ""  # the line of schema for the next best kind, if there is one
    looks: tuple[str, ...] = ()  # what a person should decide, each as a sentence without a full stop

    @property
    def is_doubtful(self) -> bool:
        """Whether another kind is nearly as probable."""
        return self.probability < DOUBTFUL and bool(self.otherwise)

    def comment(self) -> str:
        """Return the comment above the feature: the reason, then what a person should decide, a line each."""
        lines = [joined(self.reason, f"probability {self.probability:.2f}" if self.is_doubtful else "")]
        lines += [f"{LOOK}otherwise {self.otherwise}"] if self.is_doubtful else []
        return "\n".join([*lines, *(f"{LOOK}{look}" for look in self.looks)])

    def extended(self, *looks: str, reason: str = "", **fields: Any) -> Proposal:
        """Return the proposal with more to decide, a further reason, and other fields."""
        return replace(
            self,
            fields={**self.fields, **fields},
            reason=joined(self.reason, reason),
            looks=(*self.looks, *(look for look in looks if look)),
        )


@dataclass(frozen=True)
class Look:
    """Something that fits a schema, but may make subtypes that are none."""

    columns: tuple[str, ...]  # in the order of the table; empty if it concerns the whole table
    what: str  # what was seen, as a sentence without a full stop
    repair: str  # what to write in the schema, or which option to give; empty if `what` says it


def joined(*parts: str) -> str:
    """Return the parts that are not empty, with semicolons between them."""
    return "; ".join(part for part in parts if part)


def with_codes(fields: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Return fields with those of `more` that they lack, and with the missing codes of both."""
    codes = dict.fromkeys([*more.get("missing_codes", ()), *fields.get("missing_codes", ())])
    return {**more, **fields, **({"missing_codes": list(codes)} if codes else {})}


def constant(column: Column) -> Proposal:
    """Return the proposal for a column of at most one value; if other cells are empty, it may be a mark for yes."""
    if not column.texts:
        return Proposal({"role": "ignore"}, "no observed value")
    value, share = quote_cell(column.texts[0]), column.n_observed / column.codes.size
    if share < 1.0:
        look = f"{value} is in {share:.0%} of the cells, and the others are empty: if that means no, write no there"
        return Proposal({"role": "ignore"}, "one value, or none", looks=(look,))
    return Proposal({"role": "ignore"}, f"the same value in every subject observed: {value}")


# Whether a column holds dates or times, in whatever way they are written.

_NEARLY_ALL = 0.95
_SIGNS = compile_short(r".*\d.*[-/.:\s].*\d.*", re.DOTALL)
_CLOCK = compile_short(r"([01]?\d|2[0-4]):[0-5]\d(:[0-5]\d)?(\s?[ap]\.?m\.?)?", re.IGNORECASE)
_WRITTEN = compile_short(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.](19|20)\d{2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|\d{1,2}[-/.\s]?[^\W\d]{3,10}\.?[-/.,\s]*(\d{4}|\d{2})"
    r"|[^\W\d]{3,10}\.?\s+\d{1,2},?\s+\d{4}|[^\W\d]{3,10}[-/.\s]+(\d{4}|\d{2}))([T\s].*)?"
)
_MONTHS = re.compile(
    "jan|feb|m[aäé]r|apr|avr|ma[iyj]|jun|jul|juin|juil|aug|ao[uû]|ago|sep|o[ck]t|nov|de[czs]|dic|ene|gen", re.IGNORECASE
)
_SHARE_OF_CHANCE = 0.35  # of whole numbers of five or six digits that can be read as a day, a month and a year
_CLEAR = 7.0
_YEARS = (1900, 2035)
_FEWEST = 8


def dates_in(column: Column) -> str:
    """Return what dates or times the column holds, in words; empty if it holds others."""
    if column.is_time:
        return "dates or times"
    if not column.texts:
        return ""
    if _share(column, lambda text: _CLOCK.fullmatch(text) is not None) >= _NEARLY_ALL:
        return "times of day"
    if _share(column, _is_written_date) >= _NEARLY_ALL:
        return "dates"
    texts = [text for text in column.texts if text.isdigit()]
    if len(texts) < _NEARLY_ALL * len(column.texts) or len(texts) < _FEWEST:
        return ""
    for width, form in ((8, "%Y%m%d"), (8, "%d%m%Y"), (8, "%m%d%Y"), (6, "%y%m%d"), (6, "%m%d%y"), (6, "%d%m%y")):
        if _is_compact(texts, width, form):
            return "dates without signs"
    return ""


def _share(column: Column, is_one: Callable[[str], bool]) -> float:
    of_text = np.array([is_one(text) for text in column.texts], dtype=bool)
    return float(column.counts[of_text].sum() / column.counts.sum())


def _is_written_date(text: str) -> bool:
    if not _SIGNS.fullmatch(text) and not _MONTHS.search(text):
        return False
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return False
    letters = re.sub(r"[\W\dT]", "", found[1])
    if letters:
        return _MONTHS.match(letters) is not None
    parts = [int(part) for part in re.findall(r"\d+", found[1])]
    if len(parts) == 2:
        return _YEARS[0] <= max(parts) <= _YEARS[1] and 1 <= min(parts) <= 12
    day_month = parts[1:] if parts[0] > 31 else parts[:2]
    return 1 <= min(day_month) <= 12 and 1 <= max(day_month) <= 31


def _is_compact(texts: list[str], width: int, form: str) -> bool:
    """Return whether whole numbers are dates: all are valid, which has a chance of e^-7 at most for others."""
    if not all(width - 1 <= len(text) <= width for text in texts) or len(texts) * -np.log(_SHARE_OF_CHANCE) < _CLEAR:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = pd.to_datetime(pd.Series(texts).str.zfill(width), format=form, errors="coerce")
    years = read.dt.year
    return bool(read.notna().all() and (width == 6 or years.between(*_YEARS).all()))


# Which texts of a column mean a missing value: words, signs, and numbers that can be no values of it.

_DIGITS = [*(digit * k for digit in "789" for k in range(1, 6)), "66", *("9" * k + d for k in (1, 2, 3) for d in "678")]
_AMONG_WORDS = frozenset(["9", "99", "999", "88", "77", "-9", "-99", "-1"])
_REFUSALS = frozenset([7.0, 8.0, 9.0])
_HIGHEST_STEP, _MOST_REFUSALS = 6.0, 0.1
_FAR = 3.0
_SHORT = 3


def missing_words(column: Column) -> set[str]:
    """Return the texts of a column that say in words or signs that a value is missing.

    What repeats the words of another answer is an answer: `not done` where others are `done`.
    """
    if np.isfinite(column.numbers).all():
        return set()
    texts = zip(column.texts, column.numbers, strict=True)
    found = {text for text, number in texts if np.isnan(number) and _says_missing(text)}
    signs = MISSING_SIGNS - set(data("missing_words")["also_values"])
    found |= {text for text in column.texts if text.casefold() in signs}
    others = {word for text in column.texts if text not in found for word in words_of(text)}
    small = set(data("answers")["denials"])
    found = {text for text in found if others.isdisjoint(set(words_of(text)) - small)}
    left = [text for text in column.texts if text not in found]
    if len(left) == 1 and len(left[0]) <= _SHORT:  # "ND" among "D" is "not detected"
        found = {text for text in found if not text.isalpha() or len(text) > _SHORT}
    if any("+" in text for text in left):  # among crosses, "-" is negative
        found.discard("-")
    numbers = [text for text in left if text in _AMONG_WORDS]
    if len(left) - len(numbers) > 1 and all(np.isnan(number_of(text)) for text in left if text not in numbers):
        found |= set(numbers)  # 9 among words
    return found


def _says_missing(text: str) -> bool:
    folded = " ".join(text.casefold().split())
    if folded in data("missing_words")["also_values"]:
        return False
    words = " ".join(dict.fromkeys(words_of(without_number(folded))))  # "NA_NA" too
    return folded in MISSING_SIGNS or means_missing(words)


def missing_numbers(numbers: Array, counts: NDArray[np.int64]) -> set[float]:
    """Return the numbers (m,), in so many cells, that surveys write for a missing value, and that lie apart.

    They are negative where all others are not, or exceed the largest other number by more than the range of the
    others; 7, 8 and 9 are rare, behind a gap of a scale that ends by 6.
    """
    finite = np.isfinite(numbers)
    numbers, counts = numbers[finite], counts[finite]
    found = {number for number in numbers.tolist() if _is_code(number)}
    usual = numbers[~np.isin(numbers, list(found))]
    while np.unique(usual).size < 2 and found:  # a scale may hold such numbers itself
        nearest = min(found, key=abs)
        found.remove(nearest)
        usual = np.append(usual, nearest)
    if not found or np.unique(usual).size < 2:
        return set()
    cells = {code: int(counts[numbers == code].sum()) for code in found}
    refusals = _refusals(found, usual, cells, int(counts.sum()))
    for code in sorted(found, key=abs):  # from the inside: 98 and 99 follow 97, and are no codes
        low, high = float(usual.min()), float(usual.max())
        if code not in _REFUSALS and high < code <= high + max(high - low, _FAR):
            usual = np.append(usual, code)
    low, high = float(usual.min()), float(usual.max())
    above = {code for code in found if code > high} - _REFUSALS
    gap = float(np.diff(np.unique(usual)).max()) if usual.size <= 30 else 1.0
    below = {code for code in found if code < 0.0 <= low and low - code > (1.0 if code < -1.0 else 0.0) * gap}
    below = {code for code in below if code < -1.0 or (cells[code] >= 2 and bool((usual == np.floor(usual)).all()))}
    if low > 0.0 or np.unique(usual).size < 4:
        below.discard(-1.0)
    if (usual != np.floor(usual)).any():  # of scores around 0, only a code that lies apart is one
        below |= {code for code in found if code < low - (high - low) / 2.0 and cells[code] > 1}
    return above | below | refusals


def _is_code(number: float) -> bool:
    """Return whether a number is written as codes are: 99, -9, 998, 99.9; -1 too."""
    digits = f"{abs(number):g}".replace(".", "")
    return digits in _DIGITS or number == -1.0


def _refusals(found: set[float], usual: Array, cells: dict[float, int], n: int) -> set[float]:
    """Return 7, 8 and 9 that are rare and behind a gap of a short scale of whole numbers."""
    high, steps = float(usual.max()), np.unique(usual)
    codes = {code for code in found & _REFUSALS if code > high + 1.0}
    is_scale = bool((np.diff(steps) == 1.0).all()) and 0.0 <= steps[0] <= 1.0 and high <= _HIGHEST_STEP
    is_refusal = is_scale and 9.0 in codes and high + 1.0 not in found
    return codes if is_refusal and sum(cells[code] for code in codes) <= _MOST_REFUSALS * n else set()
