"""A column as drafting sees it: its texts, the numbers that they write, dates, identifiers and missing values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import compress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import pdtr

from clinclust.arrays import Array
from clinclust.data import data
from clinclust.errors import show_cells
from clinclust.files import notation
from clinclust.files.cell_text import compile_short, listed, number_of, numbers_of, quote_cell, shortened
from clinclust.files.notation import MISSING_SIGNS, Marks, marks_of, means_missing, name_words, says_only, words_of
from clinclust.files.text_table import ColumnNotes
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.schema.feature import Feature
from clinclust.schema.reading import LOOK, number_meant, read_column, text_cells

_LIMITS = SimpleNamespace(**data("drafting")["column"])

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
    codes_of_table: frozenset[float] = frozenset()  # numbers that stand for missing in several columns of the table
    has_decimal_commas: bool = False  # whether other columns of the table do
    is_wanted: bool = False  # whether the user clusters on it or describes it, whatever its name or file says

    @property
    def n_observed(self) -> int:
        """The number of cells that hold a text."""
        return int(self.counts.sum())

    @cached_property
    def numbers(self) -> Array:
        """The number that each text writes without units or marks, float64 (len(texts),); NaN for other texts."""
        return numbers_of(list(self.texts))

    @cached_property
    def finite(self) -> Array:
        """The finite ones of the numbers, ascending."""
        return np.sort(self.numbers[np.isfinite(self.numbers)])

    @cached_property
    def written(self) -> Written | None:
        """How the column writes its numbers; None if it writes none."""
        return _read_written(self)

    @property
    def has_fractions(self) -> bool:
        """Whether a number is not whole."""
        return bool((self.finite % 1 != 0).any())

    @cached_property
    def words(self) -> list[str]:
        """The words of the name."""
        return name_words(self.name)

    @cached_property
    def names(self) -> list[list[str]]:
        """The words of the name, and of the label unless that is a sentence: "positive events during the week"."""
        label = name_words(self.notes.label or "")
        return [self.words, *([label] if 0 < len(label) <= _LIMITS.most_label_words else [])]

    def rewritten(self, meant: Mapping[str, str]) -> Column:
        """Return the column with some texts written as others, or as empty cells where that is ``""``."""
        if meant.keys().isdisjoint(self.texts):
            return self
        written = [meant.get(text, text) for text in self.texts]
        texts = tuple(sorted({*written} - {""}))
        place = {text: index for index, text in enumerate(texts)}
        codes = np.array([*(place.get(text, -1) for text in written), -1], dtype=np.int64)
        counts = np.bincount(codes[:-1] + 1, weights=self.counts, minlength=len(texts) + 1)[1:].astype(np.int64)
        return replace(self, codes=codes[self.codes], texts=texts, counts=counts)

    def without(self, texts: Iterable[str]) -> Column:
        """Return the column with the cells that hold one of some texts empty."""
        return self.rewritten(dict.fromkeys(texts, ""))

    def in_rows(self, of_text: Array) -> Array:
        """Return the number of each row, float64 (N,), given that of each text; NaN where the cell is empty."""
        return np.append(of_text, np.nan)[self.codes]


def column_of(name: str, cells: pd.Series, notes: ColumnNotes) -> Column:
    """Return cells of any type as a column."""
    cells_of_text = text_cells(cells)
    texts = sorted({cells_of_text.texts[code] for code in np.unique(cells_of_text.codes) if code >= 0} - {""})
    place = {text: index for index, text in enumerate(texts)}
    codes = np.array([*(place.get(text, -1) for text in cells_of_text.texts), -1], dtype=np.int64)[cells_of_text.codes]
    counts = np.bincount(codes[codes >= 0], minlength=len(texts)).astype(np.int64)
    dtype = cells.dtype
    is_time = pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype)
    is_ordered = isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)
    order = tuple(dict.fromkeys(text for text in cells_of_text.texts if text)) if is_ordered else ()
    return Column(name, codes, tuple(texts), counts, notes, is_time, order)


DOUBTFUL = 0.8  # the probability below which the next best kind is offered


@dataclass(frozen=True)
class Proposal:
    """The fields of a drafted feature, and the reason for them."""

    fields: dict[str, Any] = field(default_factory=dict)  # of `Feature`, without its name
    reason: str = ""
    probability: float = 1.0  # of the kind, given the values and what other tables hold
    otherwise: str = ""  # the line of schema for the next best kind, if there is one
    looks: tuple[str, ...] = ()  # what a person should decide, each as a sentence without a full stop

    def comment(self) -> str:
        """Return the comment above the feature: the reason, then what a person should decide, a line each."""
        is_doubtful = self.probability < DOUBTFUL and bool(self.otherwise)  # another kind is nearly as probable
        lines = [joined(self.reason, f"probability {self.probability:.2f}" if is_doubtful else "")]
        lines += [f"{LOOK}otherwise {self.otherwise}"] if is_doubtful else []
        return "\n".join([*lines, *(f"{LOOK}{look}" for look in self.looks)])

    def extended(self, *looks: str, reason: str = "", **fields: Any) -> Proposal:
        """Return the proposal with more to decide, a further reason, and other fields, unless they are empty."""
        fields = {**self.fields, **{name: value for name, value in fields.items() if value}}
        looks = (*self.looks, *filter(None, looks))
        return replace(self, fields=fields, reason=joined(self.reason, reason), looks=looks)

    def with_missing_codes(self, codes: Sequence[str]) -> Proposal:
        """Return the proposal with more missing codes before its own."""
        return self.extended(missing_codes=list(dict.fromkeys([*codes, *self.fields.get("missing_codes", ())])))


def leave_out(reason: str, *looks: str) -> Proposal:
    """Return the proposal to ignore a column."""
    return Proposal({"role": "ignore"}, reason, looks=looks)


@dataclass(frozen=True)
class Look:
    """Something that fits a schema, but may make subtypes that are artefacts."""

    columns: tuple[str, ...]  # in the order of the table; empty if it concerns the whole table
    what: str  # what was seen, as a sentence without a full stop
    repair: str  # what to write in the schema, or which option to give; empty if `what` says it


def joined(*parts: str) -> str:
    """Return the parts that are not empty, with semicolons between them."""
    return "; ".join(part for part in parts if part)


MOST_TEXTS, MOST_LEVELS = 50, 11
"""Texts with more different values are no levels; such whole numbers are counts or measurements."""
LOOKS: dict[str, str] = data("remarks")["looks"]
FOR_READERS = ("label", "section", "description", "asked_if")
COMPUTE = "compute what matters from them, such as a duration in years"


@contextmanager
def surviving(report: Callable[[Exception], None]) -> Iterator[None]:
    """Report a fault of this program, and go on: it must not cost a draft."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        report(error)


class DraftedColumn:
    """A column, its proposal, the feature that it makes, and the values of the column under it."""

    def __init__(self, column: Column, propose: Callable[[], Proposal]) -> None:
        self.column, self.has_role = column, False
        self.make(propose)

    def make(self, propose: Callable[[], Proposal]) -> None:
        """Take a proposal; where it has a fault, the column is left out, and its comment says so."""
        with surviving(self._leave_out):
            self._take(propose())

    def _leave_out(self, error: Exception) -> None:
        look = LOOKS["fault"].format(fault=f"{type(error).__name__}: {show_cells(shortened(str(error)))}")
        self._take(leave_out(f"{len(self.column.texts)} different values, which could not be drafted", look))

    def extend(self, *looks: str, reason: str = "", **fields: Any) -> None:
        """Take the proposal with more to decide, a further reason and other fields."""
        self.make(partial(self.proposal.extended, *looks, reason=reason, **fields))

    def note_fault(self, error: Exception) -> None:
        """Note that a rule for roles failed."""
        self.extend(f"its role could not be looked for, which is a fault of clinclust ({type(error).__name__})")

    def _take(self, proposal: Proposal) -> None:
        feature, column = Feature(name=self.column.name, **proposal.fields), self.column
        typed: pd.Series | None = None
        if feature.likelihood is not None:
            cells = pd.Series([*column.texts, ""], dtype=object)
            reading = read_column(feature, ("", *feature.missing_codes), cells)
            if reading.faults:
                raise ValueError(f"cells of {column.name} are not what was proposed: {', '.join(reading.faults)}")
            typed = reading.typed.iloc[column.codes].rename(column.name)
        self.proposal, self.feature, self.typed = proposal, feature, typed

    @property
    def is_number(self) -> bool:
        """Whether the column is drafted as a count or a measurement."""
        return self.feature.traits.is_continuous or self.feature.traits.is_count

    @property
    def is_count_from_0(self) -> bool:
        """Whether the column is drafted as a count, and some subjects have 0."""
        return self.feature.traits.is_count and bool((self.column.finite[:1] == 0.0).any())

    @property
    def begins_near_zero(self) -> bool:
        """Whether the least number is at least 0 and far below the largest, as of times."""
        finite = self.column.finite
        return bool(finite.size and 0.0 <= finite[0] <= _LIMITS.begins_near_zero * finite[-1])

    @cached_property
    def scores(self) -> Array:
        """The number of each row or the place of its level, float64 (N,), as the column was drafted first."""
        return self.column.in_rows(self.column.numbers) if self.typed is None else self.feature.scores(self.typed)

    def take_role(self, role: str, reason: str, look: str = "") -> None:
        """Take the role that a rule proposes: of a column that is clustered on, or left out for its many values."""
        self.has_role = True
        texts = [text for text in self.column.texts if text not in self.feature.missing_codes]
        are_whole = len(texts) > 2 and all(number_of(text) % 1 == 0 for text in texts)
        is_labelled = bool(self.column.notes.levels) or self.feature.traits.is_nominal
        rest = FOR_READERS if role == "ignore" else (*FOR_READERS, "missing_codes")
        fields = {name: value for name, value in self.proposal.fields.items() if name in rest} | {"role": role}
        if role == "ignore":
            self.make(partial(Proposal, fields, reason, looks=(look,) if look else ()))
        elif role == "site" and are_whole and not is_labelled:
            # Numbers are names: hospitals 1 to 25 have no mean, and thousands of postcodes no table.
            if len(texts) <= MOST_TEXTS:
                fields |= {"likelihood": Categorical.name, "levels": sorted(texts, key=number_of)}
            self.make(partial(Proposal, fields, f"site: {reason}", looks=self.proposal.looks))
        elif self.feature.role == "cluster" or role in ("time", "site"):
            self.extend(look, reason=f"{role}: {reason}", role=role)


def constant(column: Column) -> Proposal:
    """Return the proposal for a column of at most one value; if other cells are empty, it may be a mark for yes."""
    if not column.texts:
        return leave_out("no observed value")
    value, share = quote_cell(column.texts[0]), column.n_observed / column.codes.size
    if share == 1.0:
        return leave_out(f"the same value in every subject observed: {value}")
    return leave_out("one value, or none", LOOKS["mark_for_yes"].format(value=value, share=share))


# How a column writes its numbers: decimal commas, thousands, a unit or flags in the cells, values beyond a limit.


@dataclass(frozen=True)
class Written:
    """How a column writes its numbers, and which they are. Arrays are (len(texts),)."""

    numbers: Array  # NaN for texts that write none; beyond a limit it is the limit
    beyond: NDArray[np.int8]  # -1 below a limit, 1 above one, and else 0
    fields: dict[str, Any] = field(default_factory=dict)  # of the feature: unit, marks, decimal, thousands, synonyms
    looks: tuple[str, ...] = ()  # what a person should decide
    fault: str = ""  # why the numbers cannot be compared, and how to repair it


def _read_written(column: Column) -> Written | None:
    """Return how a column writes its numbers; None if fewer than nine cells in ten write a number in one way.

    Where other columns have decimal commas, `1.305` may be thousands.
    """
    within = np.zeros(len(column.texts), dtype=np.int8)
    if np.isfinite(column.numbers).all():
        if not column.has_decimal_commas or not notation.are_thousands(column.texts):
            return Written(column.numbers, within)
        if all(len(text.lstrip("-").partition(".")[0]) == 1 for text in column.texts):
            return Written(column.numbers, within, fault=LOOKS["undecided_comma"])
        numbers = numbers_of([text.replace(".", "") for text in column.texts])
        return Written(numbers, within, {"decimal": ",", "thousands": "."}, (LOOKS["points"],))
    if not any(character.isdigit() for text in column.texts for character in text):
        return None
    synonyms = notation.limits_in_words(column.texts, column.counts)
    marked = notation.without_flags([synonyms.get(text, text) for text in column.texts], column.counts)
    parts = [notation.parts_of(text) for text in marked.texts]
    unit, fault = _unit_of(column, parts)
    units = {"", notation.unit_key(unit or "")}
    marks = marks_of([part.number for part in parts if part is not None and notation.unit_key(part.unit) in units])
    if marks.is_guess and marks.thousands == "," and column.has_decimal_commas:
        marks = Marks(",")
    written = {
        text: part.limit + number  # as a schema writes it
        for text, part in zip(column.texts, parts, strict=True)
        if text in synonyms and part is not None and notation.unit_key(part.unit) in units
        if (number := notation.number_as_written(part.number, marks.decimal, marks.thousands)) is not None
    }
    of_numbers = {"unit": unit, "decimal": marks.decimal, "thousands": marks.thousands, "synonyms": written}
    fields = {name: value for name, value in {"marks": list(marked.marks), **of_numbers}.items() if value}
    signs = [part.limit[:1] if part is not None else "" for part in parts]
    beyond = np.array([(sign in (">", "≥")) - (sign in ("<", "≤")) for sign in signs], dtype=np.int8)
    censored = {"censored": "limit"} if beyond.any() else {}
    feature = Feature(name="x", likelihood=Gaussian.name, **fields, **censored)
    numbers = np.array([number_meant(feature, text) for text in column.texts], dtype=np.float64)  # NaN for None
    if fault:
        return Written(numbers, beyond, fields, fault=fault)
    undecided = marks.is_guess and marks.decimal is not None
    is_number = np.array([part is not None for part in parts]) if undecided else np.isfinite(numbers)
    if column.counts[is_number].sum() < _LIMITS.most * column.n_observed:
        return None
    looks = [LOOKS["commas"]] if marks.is_guess and not undecided else []
    if marked.marks:
        n = int(column.counts[marked.is_marked].sum())
        looks.insert(0, LOOKS["marks"].format(n=n, example=quote_cell(marked.marks[0])))
    beyond[~np.isfinite(numbers)] = 0
    return Written(numbers, beyond, fields, tuple(looks), LOOKS["undecided_comma"] if undecided else "")


def _unit_of(column: Column, parts: Sequence[notation.WrittenNumber | None]) -> tuple[str | None, str]:
    """Return the unit of the numbers, and why they cannot be compared if there are several."""
    pairs = zip(parts, column.counts.tolist(), strict=True)
    rows = [(notation.unit_key(part.unit), part.unit, count) for part, count in pairs if part is not None]
    written = pd.DataFrame(rows, columns=["key", "text", "cells"])
    n_bare = int(written.loc[written["text"] == "", "cells"].sum())
    of_unit = written[written["text"] != ""].groupby("key", sort=False)["cells"].agg(["sum", "size"])
    # of few different numbers, as in `3 cups`, a listed unit only
    is_known = [n > MOST_LEVELS or notation.is_known_unit(str(key)) for key, n in of_unit["size"].items()]
    by_unit = of_unit.loc[np.array(is_known, dtype=bool), "sum"].sort_values(ascending=False, kind="stable")
    if by_unit.empty:
        return None, ""
    if len(by_unit) > 1 or by_unit.iloc[0] < n_bare:
        # Of `72kg` in one cell among 400 numbers, that cell is odd, and not the column.
        is_odd = n_bare >= _LIMITS.but_for_slips * column.n_observed or len(column.texts) <= MOST_LEVELS
        if is_odd or by_unit.sum() + n_bare < _LIMITS.most * column.n_observed:
            return None, ""
        shown = listed(f"{quote_cell(str(key))} ({n:,} cells)" for key, n in by_unit.items())
        alone = f" and none ({n_bare:,} cells)" if n_bare else ""
        return None, LOOKS["several_units"].format(units=shown + alone)
    texts = written[written["key"] == by_unit.index[0]]
    return str(texts.groupby("text", sort=False)["cells"].sum().idxmax()), ""


# Whether a column holds dates or times, in whatever way they are written.

_CLOCK = compile_short(r"([01]?\d|2[0-4]):[0-5]\d(:[0-5]\d)?(\s?[ap]\.?m\.?)?", re.IGNORECASE)
_WRITTEN = compile_short(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|(\d{1,2}|\d{4})[-/.](19|20)\d{2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|\d{1,2}[-/.\s]?[^\W\d]{3,10}\.?[-/.,\s]*(\d{4}|\d{2})"
    r"|[^\W\d]{3,10}\.?\s+\d{1,2},?\s+\d{4}|[^\W\d]{3,10}[-/.\s]+(\d{4}|\d{2})"
    r"|\d{1,2}(-|\.\s)[^\W\d]{3,4}\.?)([T\s].*)?"  # 1-5, which a spreadsheet writes 5-Jan, or 01. Mai
)
_MONTHS = re.compile(
    "jan|feb|m[aäé]r|apr|avr|ma[iyj]|jun|jul|juin|juil|aug|ao[uû]|ago|sep|o[ck]t|nov|de[czs]|dic|ene|gen", re.IGNORECASE
)


def leave_out_dates(column: Column) -> Proposal | None:
    """Leave out dates and times, however they are written: they are no measurements. What is wanted is no date."""
    if column.is_wanted:
        return None
    ways: dict[str, Callable[[str], object]] = {"times of day": _CLOCK.fullmatch, "dates": _is_written_date}
    for what, is_of_kind in {"dates or times": lambda _: column.is_time, **ways}.items():
        are_of_kind = np.array([bool(is_of_kind(text)) for text in column.texts])
        if column.counts[are_of_kind].sum() >= _LIMITS.nearly_all * column.n_observed:
            return leave_out(f"{what}: {COMPUTE}")
    texts = pd.Series([text for text in column.texts if text.isdigit()], dtype=object)
    if len(texts) < max(_LIMITS.fewest, _LIMITS.nearly_all * len(column.texts)):
        return None
    lengths = texts.str.len()
    # Whole numbers are dates if all are valid: of five or six digits, a third is by chance, and so e^-7 of eight.
    for width, form in ((8, "%Y%m%d"), (8, "%d%m%Y"), (8, "%m%d%Y"), (6, "%y%m%d"), (6, "%m%d%y"), (6, "%d%m%y")):
        if not lengths.between(width - 1, width).all():
            continue
        days = pd.to_datetime(texts.str.zfill(width), format=form, errors="coerce")
        # 100226, 100231, 100412: of identifiers that rise, the first digits are the same, and no month has one day only
        has_days = days.dt.day.nunique() >= min(_LIMITS.fewest, len(texts) // 3)
        if days.notna().all() and has_days and (width == 6 or days.dt.year.between(*_LIMITS.years).all()):
            return leave_out(f"dates without signs: {COMPUTE}")
    return None


def dates_among_others(column: Column) -> str:
    """Return what to look at, if a few cells of levels or small numbers are dates: a spreadsheet made 1-2 one."""
    numbers = column.numbers
    is_serial = (numbers % 1 == 0) & (numbers >= _LIMITS.serial[0]) & (numbers <= _LIMITS.serial[1])
    is_serial &= numbers[np.isfinite(numbers) & ~is_serial].max(initial=0.0) < _LIMITS.small
    texts = zip(column.texts, numbers, strict=True)
    is_date = is_serial | np.array([np.isnan(number) and _is_written_date(text) for text, number in texts], dtype=bool)
    n = int(column.counts[is_date].sum())
    if not 0 < n < column.n_observed / 2 or is_date.sum() > _LIMITS.most_made:
        return ""
    return LOOKS["dates_among"].format(texts=listed(map(quote_cell, compress(column.texts, is_date))))


def _is_written_date(text: str) -> bool:
    match = _WRITTEN.fullmatch(text)
    if match is None:
        return False
    if letters := re.sub(r"[\W\dT]", "", match[1]):
        return _MONTHS.match(letters) is not None
    parts, (first, last) = [int(part) for part in re.findall(r"\d+", match[1])], _LIMITS.years
    if len(parts) == 2:
        return bool(first <= max(parts) <= last and (1 <= min(parts) <= 12 or min(parts) >= first))
    day_month = parts[1:] if parts[0] > 31 else parts[:2]
    return 1 <= min(day_month) <= 12 and 1 <= max(day_month) <= 31


# Whether a column names the rows, by its name and values.

TWO_NUMBERS = re.compile(r"[0-9]+(?:[.,][0-9]+)?\s*[/+|]\s*[0-9]+(?:[.,][0-9]+)?")
"""A cell of two numbers, such as a pressure of 120/80."""


def looks_identifying(name: str, *, is_unique: bool = False) -> bool:
    """Return whether a name is one of subjects or people, such as `patient_id`, `surname` or `phone`.

    Words such as `number` and `index` say so only of values that are all different.
    """
    subjects, people = data("tables")["subjects"], data("roles")["identifier"]
    unlisted = {"beside", *([] if is_unique else ["if_unique"])}
    words = frozenset(subjects["words"]).union(*(people[key] for key in people if key not in unlisted))
    return says_only(name_words(name), words, frozenset([*subjects["beside"], *people["beside"]]))


def _identifies_rows(column: Column) -> bool:
    """Return whether nearly every cell has a value of its own, and they are no measurements.

    Texts identify, and whole numbers that follow each other, rise from row to row, are drawn evenly, or repeat less
    often than as many measurements with their spread: of n numbers with standard deviation s, in steps, n^2 / (4 s
    sqrt(pi)) pairs are equal on average.
    """
    n, n_different = column.n_observed, len(column.texts)
    is_named = looks_identifying(column.name, is_unique=True)
    if n < _LIMITS.fewest_cells or n - n_different > max(2, _LIMITS.most_shared * n) or n < 0.9 * column.codes.size:
        return n == n_different == column.codes.size > 1 and is_named
    numbers = column.numbers
    if not np.isfinite(numbers).all():
        are_pairs = any(TWO_NUMBERS.fullmatch(text) for text in column.texts[: _LIMITS.fewest_cells])  # as 120/80
        has_words = np.mean([" " in text for text in column.texts]) > 0.5
        are_texts = n_different == n and not are_pairs and np.isfinite(numbers).mean() < 0.5
        return bool(are_texts and (is_named or not has_words))
    if column.has_fractions:
        return False
    span = numbers.max() - numbers.min()
    steps = np.diff(column.in_rows(numbers)[column.codes >= 0])
    is_rising = (n >= _LIMITS.long or span <= _LIMITS.rising * n) and bool((steps > 0).all())
    if is_named or is_rising:
        return True
    step = int(np.gcd.reduce(np.diff(np.unique(np.clip(numbers, -(2.0**62), 2.0**62).astype(np.int64)))))
    # Of five digits or more, and drawn evenly: the log likelihood ratio to a normal distribution of their spread.
    evenly = n * (0.5 + 0.5 * np.log(2.0 * np.pi) + np.log(numbers.std() / max(span, 1.0)))
    if step == 1 and numbers.min() >= _LIMITS.many_digits and n == n_different and evenly >= _LIMITS.clear:
        return True
    pairs = n * (n - 1) / 2.0 / (2.0 * np.sqrt(np.pi) * max(float(numbers.std()) / max(step, 1), 1.0))
    return bool(pdtr(n - n_different, pairs) <= _LIMITS.by_chance)


def propose_identifier(column: Column) -> Proposal | None:
    """Propose the identifier of the rows, unless it is wanted or has units or marks."""
    has_marks = column.written is not None and bool(column.written.fields or column.written.fault)
    if has_marks or column.is_wanted or not _identifies_rows(column):
        return None
    is_whole = len(column.texts) == column.codes.size
    lacks = "" if is_whole else "; rows without an identifier of their own: give each one, and role: id"
    return Proposal({"role": "id" if is_whole else "ignore"}, f"every row has a value of its own{lacks}")


# Which texts of a column mean a missing value: words, signs, and numbers that can be no values of it.

_CODED = re.compile(r"\s*\(?-?[0-9]{1,4}\)?(?:\s*+[-_=:.)]\s*+|\s++)(?=[^\W\d_])")


def without_number(text: str) -> str:
    """Return a text without the code before its words: `0 - none`, `1_yes` and `(2) Good` are words with a code."""
    return _CODED.sub("", text, count=1) if _CODED.match(text) else text


def missing_words(column: Column) -> set[str]:
    """Return the texts of a column that say in words or signs that a value is missing.

    What repeats the words of another answer is an answer: `not done` where others are `done`.
    """
    if np.isfinite(column.numbers).all():
        return set()
    words_for_missing = set[str]()
    for text in compress(column.texts, np.isnan(column.numbers)):
        folded = " ".join(text.casefold().split())
        words = " ".join(dict.fromkeys(words_of(without_number(folded))))  # "NA_NA" too
        if folded not in data("missing_words")["also_values"] and (folded in MISSING_SIGNS or means_missing(words)):
            words_for_missing.add(text)
    others = {word for text in column.texts if text not in words_for_missing for word in words_of(text)}
    small = set(data("answers")["denials"])
    words_for_missing = {text for text in words_for_missing if others.isdisjoint(set(words_of(text)) - small)}
    rest = [text for text in column.texts if text not in words_for_missing]
    if any("+" in text for text in rest):  # among crosses, "-" is negative
        words_for_missing.discard("-")
    numbers = [text for text in rest if text in _LIMITS.among_words]
    if len(rest) - len(numbers) > 1 and all(np.isnan(number_of(text)) for text in rest if text not in numbers):
        words_for_missing |= set(numbers)  # 9 among words
    return words_for_missing


def missing_numbers(numbers: Array, counts: NDArray[np.int64], of_table: frozenset[float] = frozenset()) -> set[float]:
    """Return the numbers (m,), in so many cells, that surveys write for a missing value, and that lie apart.

    They are negative where all others are not, or exceed the largest other number by more than the range of the
    others; are behind a gap of few answers, and rare or codes `of_table`; or are 0 far below all pressures.
    """
    finite = np.isfinite(numbers)
    numbers, counts = numbers[finite], counts[finite]
    gapped = gapped_codes(numbers)
    n_gapped = counts[np.isin(numbers, list(gapped))].sum()
    are_refusals = 9.0 in gapped <= set(_LIMITS.refusals) and n_gapped <= _LIMITS.most_refusals * counts.sum()
    codes = _far_codes(numbers, counts) | (gapped if are_refusals else of_table & gapped)
    # Of 532 women near Phoenix, 35 have a diastolic pressure of 0, 11 a body mass index of 0, 5 a glucose of 0 (Smith
    # et al. 1988, Proceedings of the Annual Symposium on Computer Application in Medical Care). Pack-years and hormones
    # begin near 0, and years at school have few levels.
    rest, of_rest, n = numbers[numbers != 0.0], counts[numbers != 0.0], counts.sum()
    if rest.size > _LIMITS.fewest_others and rest.min() > 0.0 and 0 < n - of_rest.sum() <= _LIMITS.most_zeros * n:
        values = np.repeat(rest, of_rest)
        middle = float(np.median(values))
        is_far = rest.min() >= _LIMITS.far_from_zero * middle and middle >= _LIMITS.far_deviations * values.std()
        codes |= {0.0} if is_far else set()
    return codes


def gapped_codes(numbers: Array) -> set[float]:
    """Return the largest of few whole numbers from 0 or 1 on, if it is 7, 8, 9, 77 to 99 and behind a gap: 1, 2, 9."""
    values = np.unique(numbers[np.isfinite(numbers)])
    answers = values[~np.isin(values, _LIMITS.unknown)]
    is_few = answers.size > 1 and values.size <= _LIMITS.most_answered
    if not is_few or (values % 1 != 0).any() or values[0] not in (0.0, 1.0):
        return set()
    codes = values[values > answers[-1]]
    return set(codes.tolist()) if (codes > answers[-1] + 1.0).all() else set()


def codes_of_table(columns: Sequence[Column]) -> frozenset[float]:
    """Return the codes that in several columns are behind a gap, as 9 after 1 and 2, or have a label such as unknown.

    So an unknown code is one in all columns of a register, however many have it.
    """
    n_columns: Counter[float] = Counter()
    for column in columns:
        if len(column.texts) <= _LIMITS.most_answered:
            named = {number_of(code) for code, label in column.notes.levels if means_missing(label)}
            n_columns.update(gapped_codes(column.numbers) | named)  # texts that are no numbers have no codes
    return frozenset(code for code, n in n_columns.items() if n >= _LIMITS.fewest_with_code)


def _far_codes(numbers: Array, counts: NDArray[np.int64]) -> set[float]:
    """Return the numbers that are written as codes and lie apart: 99, -9, 998, 99.9; -1 too."""
    digits = re.compile(_LIMITS.digits)
    candidates = {n for n in numbers.tolist() if n == -1.0 or digits.fullmatch(f"{abs(n):g}".replace(".", ""))}
    usual = np.unique(numbers[~np.isin(numbers, list(candidates))])
    for code in sorted(candidates, key=abs):  # from the inside: 98 and 99 follow 97, and a scale may hold such numbers
        is_near = usual.size > 1 and usual.max() < code <= usual.max() + max(np.ptp(usual), _LIMITS.far)
        if usual.size < 2 or (is_near and code not in _LIMITS.refusals):
            usual = np.append(usual, code)
            candidates.discard(code)
    if not candidates:
        return set()
    low, high, gap = usual.min(), usual.max(), np.diff(np.sort(usual)).max() if usual.size <= 30 else 1.0
    n_cells = {code: int(counts[numbers == code].sum()) for code in candidates}
    codes = {code for code in candidates if code > high and code not in _LIMITS.refusals}
    codes |= {code for code in candidates if code < -1.0 and low - code > gap and low >= 0.0}
    if (usual % 1 != 0).any():  # of scores around 0, only a code that lies apart is one
        codes |= {code for code in candidates if code < low - (high - low) / 2.0 and n_cells[code] > 1}
    elif n_cells.get(-1.0, 0) > 1 and low == 0.0 and usual.size >= 4:
        codes.add(-1.0)
    return codes
