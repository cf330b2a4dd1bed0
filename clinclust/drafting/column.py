"""A column as drafting sees it: its texts, the numbers that they write, and what is proposed for it."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.data import data
from clinclust.errors import show_cells
from clinclust.files import notation
from clinclust.files.cell_text import listed, number_of, numbers_of, quote_cell, shortened
from clinclust.files.notation import Marks, marks_of, name_words
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
    notes: ColumnNotes = field(default_factory=ColumnNotes)
    is_time: bool = False  # whether the cells are dates or times by their type
    order: tuple[str, ...] = ()  # all levels from low to high of an ordered categorical of pandas
    codes_of_table: frozenset[float] = frozenset()  # numbers that stand for missing in several columns of the table
    has_decimal_commas: bool = False  # whether other columns of the table do
    is_wanted: bool = False  # whether the user clusters on it or describes it, whatever its name or file says

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of cells that hold each text, (len(texts),)."""
        return np.bincount(self.codes + 1, minlength=len(self.texts) + 1)[1:].astype(np.int64)

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
        codes, texts = _numbered(self.codes, [meant.get(text, text) for text in self.texts])
        return replace(self, codes=codes, texts=texts)

    def without(self, texts: Iterable[str]) -> Column:
        """Return the column with the cells that hold one of some texts empty."""
        return self.rewritten(dict.fromkeys(texts, ""))

    def in_rows(self, of_text: Array) -> Array:
        """Return the number of each row, float64 (N,), given that of each text; NaN where the cell is empty."""
        return np.append(of_text, np.nan)[self.codes]


def _numbered(codes: NDArray[Any], texts: Sequence[str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the codes (N,) of texts that may repeat or be empty, and the distinct ones, sorted."""
    distinct = sorted({*texts} - {""})
    place = {text: index for index, text in enumerate(distinct)}
    return np.array([*(place.get(text, -1) for text in texts), -1], dtype=np.int64)[codes], tuple(distinct)


def column_of(name: str, cells: pd.Series, notes: ColumnNotes) -> Column:
    """Return cells of any type as a column."""
    of_text, dtype = text_cells(cells), cells.dtype
    is_time = pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype)
    is_ordered = isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)
    order = tuple(dict.fromkeys(text for text in of_text.texts if text)) if is_ordered else ()
    held = set(pd.unique(of_text.codes).tolist())  # a category need not occur
    codes, texts = _numbered(of_text.codes, [text if at in held else "" for at, text in enumerate(of_text.texts)])
    return Column(name, codes, texts, notes, is_time, order)


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
        if self.probability >= DOUBTFUL or not self.otherwise:
            return "\n".join([self.reason, *(f"{LOOK}{look}" for look in self.looks)])
        looks = (f"otherwise {self.otherwise}", *self.looks)  # another kind is nearly as probable
        reason = joined(self.reason, f"probability {self.probability:.2f}")
        return replace(self, reason=reason, otherwise="", looks=looks).comment()

    def extended(self, *looks: str, reason: str = "", missing_codes: Iterable[str] = (), **fields: Any) -> Proposal:
        """Return the proposal with more to decide, a further reason, missing codes and fields unless they are empty."""
        fields["missing_codes"] = list(dict.fromkeys([*missing_codes, *self.fields.get("missing_codes", ())]))
        fields = {**self.fields, **{name: value for name, value in fields.items() if value}}
        looks = (*self.looks, *filter(None, looks))
        return replace(self, fields=fields, reason=joined(self.reason, reason), looks=looks)


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


def _log(error: Exception) -> None:
    logging.getLogger(__name__).debug("a part of a draft failed: %r", error, exc_info=True)


@contextmanager
def surviving(report: Callable[[Exception], None] = _log) -> Iterator[None]:
    """Report a fault of this program, and go on: it must not cost a draft."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        report(error)


class DraftedColumn:
    """A column, its proposal, the feature that it makes, and the values of the column under it."""

    def __init__(self, column: Column, propose: Callable[[Column], Proposal]) -> None:
        self.column, self.has_role = column, False
        with surviving(self._leave_out):
            self.take(propose(column))

    def _leave_out(self, error: Exception) -> None:
        look = LOOKS["fault"].format(fault=f"{type(error).__name__}: {show_cells(shortened(str(error)))}")
        self.take(leave_out(f"{len(self.column.texts)} different values, which could not be drafted", look))

    def take(self, proposal: Proposal) -> None:
        """Take a proposal; ValueError if the values of the column are not what it says."""
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
        fields = {name: value for name, value in self.proposal.fields.items() if name in FOR_READERS} | {"role": role}
        coded = self.proposal.fields.get("missing_codes", [])
        names = self.column.without(coded)
        are_numbers = len(names.texts) > 2 and names.finite.size == len(names.texts) and not names.has_fractions
        is_labelled = bool(self.column.notes.levels) or self.feature.traits.is_nominal
        if role == "ignore":
            self.take(Proposal(fields, reason, looks=(look,) if look else ()))
        elif role == "site" and are_numbers and not is_labelled:
            # Numbers are names: hospitals 1 to 25 have no mean, and thousands of postcodes no table.
            if len(names.texts) <= MOST_TEXTS:
                fields |= {"likelihood": Categorical.name, "levels": sorted(names.texts, key=number_of)}
            proposal = Proposal(fields, f"site: {reason}", looks=self.proposal.looks)
            self.take(proposal.extended(missing_codes=coded))
        elif self.feature.role == "cluster" or role in ("time", "site"):
            self.take(self.proposal.extended(look, reason=f"{role}: {reason}", role=role))


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
    """Return how a column writes its numbers; None if fewer than nine cells in ten write a number in one way."""
    within = np.zeros(len(column.texts), dtype=np.int8)
    if np.isfinite(column.numbers).all():
        if not notation.are_thousands(column.texts):
            return Written(column.numbers, within)
        # `1.305` next to 649 and 834 is in thousands, and so it may be where other columns have decimal commas.
        whole, pointed = (column.numbers[[("." in text) == has for text in column.texts]] for has in (False, True))
        goes_on = whole.size > 1 and whole.max() < 1000.0 and np.median(whole) > np.abs(pointed).max()
        if not (goes_on or column.has_decimal_commas):
            return Written(column.numbers, within)
        if not goes_on and all(len(text.lstrip("-").partition(".")[0]) == 1 for text in column.texts):
            return Written(column.numbers, within, fault=LOOKS["undecided_comma"])
        numbers = numbers_of([text.replace(".", "") for text in column.texts])
        return Written(numbers, within, {"decimal": ",", "thousands": "."}, (LOOKS["points"],))
    if not any(character.isdigit() for text in column.texts for character in text):
        return None
    synonyms = notation.limits_in_words(column.texts, column.counts)
    marked = notation.without_flags([synonyms.get(text, text) for text in column.texts], column.counts)
    parts = [notation.parts_of(text) for text in marked.texts]
    unit, fault = _unit_of(column, parts)
    units = {"", notation.unit_key(unit)}
    in_unit = {  # the parts of each text in this unit
        text: part
        for text, part in zip(column.texts, parts, strict=True)
        if part and notation.unit_key(part.unit) in units
    }
    marks = marks_of([part.number for part in in_unit.values()])
    if marks.is_guess and marks.decimal is not None:
        fault = fault or LOOKS["undecided_comma"]
    if fault:
        n_numbers = column.counts[[part is not None for part in parts]].sum()
        return Written(column.numbers, within, fault=fault) if n_numbers >= _LIMITS.most * column.n_observed else None
    if marks.is_guess and marks.thousands == "," and column.has_decimal_commas:
        marks = Marks(",")
    in_signs = {  # as a schema writes it
        text: in_unit[text].limit + number
        for text in synonyms.keys() & in_unit.keys()
        if (number := notation.number_as_written(in_unit[text].number, marks.decimal, marks.thousands)) is not None
    }
    fields: dict[str, Any] = {"marks": list(marked.marks), "unit": unit, "synonyms": in_signs}
    fields |= {"decimal": marks.decimal, "thousands": marks.thousands}
    fields = {name: value for name, value in fields.items() if value}
    signs = [part.limit[:1] if part else "" for part in parts]
    beyond = np.array([(sign in (">", "≥")) - (sign in ("<", "≤")) for sign in signs], dtype=np.int8)
    censored = {"censored": "limit"} if beyond.any() else {}
    feature = Feature(name="x", likelihood=Gaussian.name, **fields, **censored)
    numbers = np.array([number_meant(feature, text) for text in column.texts], dtype=np.float64)  # NaN for None
    if column.counts[np.isfinite(numbers)].sum() < _LIMITS.most * column.n_observed:
        return None
    looks = [LOOKS["commas"]] if marks.is_guess else []
    if marked.marks:
        n = int(column.counts[marked.is_marked].sum())
        looks.insert(0, LOOKS["marks"].format(n=n, example=quote_cell(marked.marks[0])))
    return Written(numbers, np.where(np.isfinite(numbers), beyond, 0), fields, tuple(looks))


def _unit_of(column: Column, parts: Sequence[notation.WrittenNumber | None]) -> tuple[str, str]:
    """Return the unit of the numbers, or "", and why they cannot be compared if there are several."""
    written: dict[str, Counter[str]] = defaultdict(Counter)  # of each unit, the cells of each way to write it
    n_numbers = Counter(notation.unit_key(part.unit) for part in parts if part)
    for part, n in zip(parts, column.counts.tolist(), strict=True):
        if part:
            written[notation.unit_key(part.unit)][part.unit] += n
    n_bare = written.pop("", Counter[str]()).total()
    # of few different numbers, as in `3 cups`, a listed unit only
    units = {key: of for key, of in written.items() if n_numbers[key] > MOST_LEVELS or notation.is_known_unit(key)}
    cells = Counter({key: of.total() for key, of in units.items()}).most_common()
    if not cells:
        return "", ""
    if len(cells) == 1 and cells[0][1] >= n_bare:
        return units[cells[0][0]].most_common(1)[0][0], ""
    # Of `72kg` in one cell among 400 numbers, that cell is odd, and not the column.
    is_odd = n_bare >= _LIMITS.but_for_slips * column.n_observed or len(column.texts) <= MOST_LEVELS
    if is_odd or sum(dict(cells).values()) + n_bare < _LIMITS.most * column.n_observed:
        return "", ""
    shown = listed(f"{quote_cell(key)} ({n:,} cells)" for key, n in cells)
    alone = f" and none ({n_bare:,} cells)" if n_bare else ""
    return "", LOOKS["several_units"].format(units=shown + alone)
