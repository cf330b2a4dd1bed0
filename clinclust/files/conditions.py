"""Conditions on rows, such as "visit == 'baseline' and age >= 18": how they are read, and which rows meet them."""

from __future__ import annotations

import ast
import datetime
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import and_, eq, ge, gt, le, lt, or_
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Mask
from clinclust.errors import InputError, did_you_mean, show_cells
from clinclust.files import notation, say
from clinclust.files.cell_text import listed, number_of, numbers_of, quote_cell, quoted, texts_of
from clinclust.files.text_table import TableRead

# Dates in a column whose cells say, together, whether the day or the month comes first.

DateOrder = Literal["day-first", "month-first"]
_ORDERED: dict[DateOrder, tuple[str, str]] = {"day-first": ("two", "one"), "month-first": ("one", "two")}
DATE_ORDERS = tuple(_ORDERED)
A_DAY = 86_400  # seconds

# `2024-05-31`, `31.05.2024`, `5/31/24 08:15`: the year first with four digits, or last with four or two
_DATE = re.compile(
    r"(?=\d{4}\D\d+\D\d{1,2}(?!\d)|\d{1,2}\D\d+\D(?:\d{2}){1,2}(?!\d))"
    r"(?P<one>\d+)(?P<mark>[-./])(?P<two>\d{1,2})(?P=mark)(?P<three>\d+)"
    r"(?:[T ,]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<part>\.\d+)?)?)?",
    re.ASCII,
)


class DateColumn(NamedTuple):
    """The dates of a column."""

    moments: NDArray[np.float64]  # seconds from a fixed day, at midnight if no time is written; NaN without a date
    order: DateOrder | None  # how dates such as 03/04/2020 were read; None without one of which it matters
    was_derived: bool  # whether other dates of the column gave the order, and not the separator or the user


def looks_like_date(text: str) -> bool:
    """Return whether a text is written as a date is, in any known notation."""
    return _DATE.fullmatch(text) is not None


def date_column(texts: NDArray[np.object_], present: Mask, order_of_dates: DateOrder | None) -> DateColumn | str:
    """Return the dates of the cells that are `present`, or why they cannot be read: a clause that follows a name.

    With the year last, they are read in the order that was given or in which all cells are dates. If both orders fit,
    points mean that the day comes first; other separators decide nothing.
    """
    distinct = list(dict.fromkeys(texts[present].tolist()))
    matches = filter(None, map(_DATE.fullmatch, reversed(distinct)))
    marks = {match["mark"]: match[0] for match in matches if len(match["three"]) == 4}  # with the year last
    orders = DATE_ORDERS if order_of_dates is None else (order_of_dates,)
    by_order = {order: {text: _moment(text, order) for text in distinct} for order in orders}
    faults = {order: next((text for text in distinct if np.isnan(by_order[order][text])), None) for order in orders}
    fitting = [order for order in orders if faults[order] is None]
    if not fitting:
        wrong = dict.fromkeys(quote_cell(text) for text in faults.values() if text is not None)
        return say("not_all_dates", cells=" and ".join(wrong), orders=order_of_dates or "in one order")
    if len(fitting) > 1 and marks.keys() - {"."}:
        return say("day_or_month", date=next(text for mark, text in marks.items() if mark != "."))
    cells = [by_order[fitting[0]][text] if here else np.nan for text, here in zip(texts, present, strict=True)]
    was_derived = order_of_dates is None and len(fitting) == 1
    return DateColumn(np.array(cells, dtype=np.float64), fitting[0] if marks else None, was_derived)


def _moment(text: str, order: DateOrder) -> float:
    match = _DATE.fullmatch(text)
    if match is None or max(map(len, match.group("one", "three"))) < 4:
        return np.nan
    names = ("one", "two", "three") if len(match["one"]) == 4 else ("three", *_ORDERED[order])
    year, month, day, hour, minute, second = (int(match[name] or 0) for name in (*names, "hour", "minute", "second"))
    try:
        when = datetime.datetime(year, month, day, hour, minute, second)
    except ValueError:
        return np.nan
    return (when - datetime.datetime.min).total_seconds() + float(match["part"] or 0)


# The language of ``where``: a condition on the columns of a table, which is never run as code.
#
# Comparisons of a column (a name, perhaps in backticks) with a value (a number, or a text or date in quotes), joined by
# ``and``, ``or``, ``not`` and parentheses. Outside of a list, 5,2 is a number with a decimal comma. Comparisons are
# ``column == value`` (also =, !=, <>, <, <=, >, >=, and chains such as ``18 <= age < 65``), ``column in (value, ...)``,
# ``column not in [...]``, ``column is missing`` and ``column is not missing``.

_LONGEST, _DEEPEST = 5000, 50
_LONGEST_NAME = 200
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")  # without backticks; Python's identifiers may hold more, such as a middle dot
_TOKEN = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+,[0-9]+(?![\w.,])|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.])))"
    r"|`(?P<name>[^`]*)`|'(?P<text>[^']*)'|\"(?P<quoted>[^\"]*)\"|(?P<word>[^\W\d][\w.]*)"
    r"|(?P<sign>==|!=|<>|<=|>=|[=<>(),\[\]])|(?P<other>\S)"
)
_SIGNS = {"==": "==", "=": "==", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_SIGN_OF = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
# the signs that ask which of two values is larger, and what they are if the values change places
ORDERS = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
IS_MISSING = "is missing"
WORDS = ("and", "or", "not", "in", "is", "missing")  # a column of such a name is put in backticks


@dataclass(frozen=True)
class Operand:
    """A name, a text or a number, as it was written."""

    kind: str
    text: str
    # the digits that follow this number in a list, after a comma without a space: they may be its decimals
    decimals: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True)
class Comparison:
    """A column, one of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=`` and `IS_MISSING`, and a value."""

    column: str
    sign: str
    value: Operand


@dataclass(frozen=True)
class Joined:
    """Conditions that must all be met (``and``), of which one must be met (``or``), or one that must not (``not``)."""

    word: str
    parts: tuple[Condition, ...]


Condition = Comparison | Joined


def parsed(text: str) -> Condition:
    """Return the condition that a text means; InputError, which shows the place that is wrong, if it has no meaning.

    Python's own parser gives the grammar. It sees names of operands, one on each line, signs and the words of the
    language alone, ``_0 == _1`` for ```Age at visit` = '65'``, and what it returns is read, never run.
    """
    if len(text) > _LONGEST:
        raise InputError(f"`where` has {len(text):,} characters; at most {_LONGEST:,} are read")
    operands, words, starts = dict[str, Operand](), list[str](), list[int]()
    for token in _TOKEN.finditer(text):
        word, group = token[0].casefold(), str(token.lastgroup)
        starts.append(token.start())
        if group == "other":
            words.append("$")  # means nothing in Python
        elif group == "sign" or word in WORDS:
            words.append("None" if word == "missing" else _SIGNS.get(word, word))
        else:
            words.append(f"_{len(operands)}")
            operands[words[-1]] = Operand({"quoted": "text", "word": "name"}.get(group, group), token[group])
    try:
        return _read_tree(ast.parse("\\\n".join(words), mode="eval").body, operands)
    except (RecursionError, MemoryError, SyntaxError) as error:
        if not isinstance(error, SyntaxError) or "too many nested" in error.msg:
            raise InputError(f"`where` has more than {_DEEPEST} 'not' or parentheses inside each other") from None
        place = (error.lineno or 0) - (error.offset != 0)  # without an offset, it is behind the last word
        at = starts[place] if place < len(starts) else len(text)
        shown = f"at {quoted(rest[:20])}" if (rest := text[at:].strip()) else "at its end"
        raise InputError(say("condition_not_understood", place=shown, before=text[:at].rstrip()[-40:])) from None


def _read_tree(node: ast.expr, operands: Mapping[str, Operand], depth: int = 0) -> Condition:
    """Return the condition of a part of the tree; SyntaxError, with its line, for what the language has not."""

    def read(part: ast.expr) -> Operand:
        if not isinstance(part, ast.Name):
            raise SyntaxError("", ("", part.lineno + 1, 1, ""))
        return operands[part.id]

    def compare(left: Operand, sign: str, right: Operand) -> Comparison:
        if (left.kind == "name") == (right.kind == "name"):
            raise InputError(say("no_column_and_value", left=left, right=right))
        if right.kind == "name":
            return Comparison(right.text, ORDERS.get(sign, sign), left)
        return Comparison(left.text, sign, right)

    if depth > _DEEPEST:
        raise RecursionError
    match node:
        case ast.BoolOp(op, values):
            word = "and" if isinstance(op, ast.And) else "or"
            return Joined(word, tuple(_read_tree(value, operands, depth + 1) for value in values))
        case ast.UnaryOp(ast.Not(), part):
            return Joined("not", (_read_tree(part, operands, depth + 1),))
        case ast.Compare(left, [ast.Is() | ast.IsNot() as op], [ast.Constant()]):
            condition: Condition = compare(read(left), IS_MISSING, Operand("number", "missing"))
        case ast.Compare(
            left, [ast.In() | ast.NotIn() as op], [ast.Name() | ast.Tuple([_, *_]) | ast.List([_, *_]) as among]
        ):
            parts = list[Operand]()
            for value in map(read, [among] if isinstance(among, ast.Name) else among.elts):  # (value) is that value
                if value.kind == "number" and "," in value.text:  # in a list, 5,2 are two numbers
                    first, second = value.text.split(",")
                    parts += [Operand("number", first, second), Operand("number", second)]
                else:
                    parts.append(value)
            condition = Joined("or", tuple(compare(read(left), "==", value) for value in parts))
        case ast.Compare(left, [op, *_] as ops, values) if all(type(sign) in _SIGN_OF for sign in ops):
            sides = [read(side) for side in (left, *values)]
            chain = tuple(map(compare, sides, [_SIGN_OF[type(sign)] for sign in ops], sides[1:]))
            condition = chain[0] if len(chain) == 1 else Joined("and", chain)
        case _:
            operand = node.comparators[0] if isinstance(node, ast.Compare) and read(node.left) else node
            raise SyntaxError("", ("", operand.lineno + 1, 1, ""))
    return Joined("not", (condition,)) if isinstance(op, ast.IsNot | ast.NotIn) else condition


def compared_columns(condition: Condition) -> tuple[str, ...]:
    """Return the columns that a condition compares with values, each once."""
    if isinstance(condition, Comparison):
        return () if condition.sign == IS_MISSING else (condition.column,)
    return tuple(dict.fromkeys(name for part in condition.parts for name in compared_columns(part)))


def name_in_condition(name: str, number: int) -> str:
    """Return a column as a condition takes it: ``age``, ```Age at visit```, or its number if it cannot be pasted."""
    if not name.isprintable() or len(name) > _LONGEST_NAME or "`" in name:
        return f"`#{number}`"
    return name if _PLAIN_NAME.fullmatch(name) and name.casefold() not in WORDS else f"`{name}`"


def text_in_condition(text: str) -> str | None:
    """Return a text as a condition takes it; None if no condition can hold it, or it cannot be pasted."""
    quote = next((mark for mark in "\"'" if mark not in text), None)
    can_be_pasted = text.isprintable() and len(text) <= _LONGEST_NAME
    return f"{quote}{text}{quote}" if quote and can_be_pasted else None


# Which rows of a table meet a condition: the cells of a column as texts, numbers in its notation, and dates.

_COMPARISONS = {"==": eq, "<": lt, "<=": le, ">": gt, ">=": ge}


class Cells:
    """The cells of a column: their canonical texts, object (N,), and which of them are missing, bool (N,)."""

    def __init__(self, reader: Reader, place: int) -> None:
        read, labels = reader.read, reader.read.frame.index
        self.notes, self.decimal, self._reader = read.notes[place], reader.decimal, reader
        self.name, self.number = str(read.frame.columns[place]), read.places[place]
        # of each cell, as a spreadsheet counts rows; a parquet file may have labels instead
        self.rows = np.asarray(labels + 2 if pd.api.types.is_integer_dtype(labels) else labels)
        texts = texts_of(read.frame.iloc[:, place])
        self.texts = texts.to_numpy(dtype=object)
        self.missing = texts.isin(["", *self.notes.missing_codes]).to_numpy(dtype=bool)

    @cached_property
    def levels(self) -> list[str]:
        """The texts in the column without missing values, the most frequent first."""
        return [text for text, _ in Counter(self.texts[~self.missing].tolist()).most_common()]

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """The least and the greatest number, or second of a date, of each cell: ``<5`` ends below 5. NaN: neither."""
        if self.looks_like_dates:
            return self.dates.moments, self.dates.moments
        if self.marks.is_guess and self.decimal is None:
            example = next(text for text in self.levels if "," in text)
            raise InputError(say("comma_decimal_or_thousands", name=self.name, example=example))
        bounds = dict.fromkeys(self.texts.tolist(), (np.nan, np.nan))
        for text, (limit, number, _) in self._parts.items():
            low = high = self._number(number, self.marks)
            if limit and not np.isnan(low):
                end = -np.inf if {"<", "≤"} & set(limit) else np.inf
                low, high = sorted((end, low if {"=", "≤", "≥"} & set(limit) else float(np.nextafter(low, end))))
            bounds[text] = low, high
        ends = np.array([bounds[text] for text in self.texts.tolist()]).reshape(-1, 2)
        return ends[:, 0], ends[:, 1]

    def _number(self, number: str, marks: notation.Marks) -> float:
        return number_of(notation.number_as_written(number, marks.decimal, marks.thousands) or "")

    def meant(self, text: str, *, in_quotes: bool) -> float:
        """Return the number that a condition gives: in quotes as the cells are written; else with a decimal point."""
        number, parts, marks = np.nan, notation.parts_of(text), self.marks
        if not in_quotes and "," not in text:
            is_grouped = marks.decimal and notation.GROUPED_BY_POINT.fullmatch(text)
            number = np.nan if is_grouped else number_of(text)
        elif parts is not None and not parts.limit and not parts.unit:
            number, text_marks = self._number(parts.number, marks), notation.marks_of([parts.number])
            if np.isnan(number) and not marks.decimal and not text_marks.is_guess:
                number = self._number(parts.number, text_marks)
        if np.isnan(number):
            raise InputError(say("compared_with_no_number", text=text, column=self.name))
        return number

    def describe_notation(self) -> list[str]:
        """Return how the numbers or dates are read, in words; nothing if they are plain."""
        if self.looks_like_dates:
            order = (self.dates.order or "").replace("-", " ")
            return [f"dates of {quoted(self.name)} with the year last are read with the {order}"] if order else []
        words = ["a decimal comma"] if self.marks.decimal else []
        words += [f"thousands kept apart by {self.marks.thousands!r}"] if self.marks.thousands else []
        return [f"the numbers of {quoted(self.name)} are read with {' and '.join(words)}"] if words else []

    @cached_property
    def _parts(self) -> dict[str, notation.WrittenNumber]:
        """The parts of the texts that are a number, or a limit and a number, and nothing else."""
        by_text = {text: notation.parts_of(text) for text in self.levels}
        return {text: parts for text, parts in by_text.items() if parts is not None and not parts.unit}

    @cached_property
    def marks(self) -> notation.Marks:
        """The decimal mark and the separator of thousands of the column."""
        numbers = [parts.number for parts in self._parts.values()]
        commas = [self.decimal, self.notes.decimal, *(notes.decimal for notes in self._reader.read.notes)]
        if "," in commas and notation.are_thousands(numbers) and not any("," in number for number in numbers):
            return notation.Marks(",", ".")
        marks = notation.marks_of(numbers)
        is_plain = not np.isnan(numbers_of(self.levels)).any()
        if "," in commas[:2] and (marks.is_guess or (marks == notation.Marks() and not is_plain)):
            return notation.Marks(",", None)
        return notation.Marks(None, ",") if marks.is_guess and self.decimal == "." else marks

    @cached_property
    def dates(self) -> DateColumn:
        """The dates of the cells; InputError if they cannot be read."""
        dates = date_column(self.texts, ~self.missing, self._reader.order_of_dates)
        if isinstance(dates, str):
            raise InputError(f"{quoted(self.name)} {dates}")
        self._reader.dates.append(dates)
        return dates

    @cached_property
    def looks_like_dates(self) -> bool:
        """Whether all cells with a value are written as dates are, and there is one."""
        return bool(self.levels) and all(map(looks_like_date, self.levels))


class Reader:
    """A table with the notation of its numbers and dates, if the user said it, which answers conditions.

    By Kleene's logic nothing is known of a missing value: neither ``==`` nor ``!=``, with ``not`` or without, takes it.
    A value beyond a limit is compared where the answer is certain: ``>90`` is above 60, and may be above 100. After
    `find_rows`, `unknown`, bool (N,), has the rows of which no answer is known. `dates` are all columns of dates used.
    """

    def __init__(self, read: TableRead, decimal: notation.DecimalMark | None, order_of_dates: DateOrder | None) -> None:
        self.read, self.decimal, self.order_of_dates = read, decimal, order_of_dates
        self._cells: dict[str, Cells] = {}
        self._parts: list[tuple[Comparison, Cells, pd.arrays.BooleanArray]] = []
        self._remarks: list[str] = []
        self.unknown: Mask = np.zeros(len(read.frame), dtype=bool)
        self.dates: list[DateColumn] = []

    def cells(self, name: str) -> Cells:
        """Return the cells of the column that a text means; InputError without one."""
        if name not in self._cells:
            place = self.read.find_column(name)
            if isinstance(place, str):
                raise InputError(f"{place} The columns are {listed(self.read.names)}")
            self._cells[name] = Cells(self, place)
        return self._cells[name]

    def find_rows(self, condition: Condition) -> Mask:
        """Return where the rows meet the condition; InputError if it names no column, or orders what has no order."""
        answer = self._answer(condition)
        self.unknown = np.asarray(answer.isna(), dtype=bool)
        return answer.to_numpy(dtype=bool, na_value=False)

    def _answer(self, condition: Condition) -> pd.arrays.BooleanArray:
        if isinstance(condition, Joined):
            answers = [self._answer(part) for part in condition.parts]
            joined: pd.arrays.BooleanArray = reduce(and_ if condition.word == "and" else or_, answers)
            return ~joined if condition.word == "not" else joined
        if condition.sign == "!=":
            return ~self._answer(replace(condition, sign="=="))
        cells = self.cells(condition.column)
        if condition.sign == IS_MISSING:
            return pd.arrays.BooleanArray(cells.missing, np.zeros_like(cells.missing))
        met, is_known = self._compared(cells, condition)
        answer = pd.arrays.BooleanArray(met & ~cells.missing, ~is_known | cells.missing)
        self._parts.append((condition, cells, answer))
        return answer

    def _compared(self, cells: Cells, comparison: Comparison) -> tuple[Mask, Mask]:
        """Return where a comparison is met, and where that is known. A date without a time means the whole day."""
        sign, text, is_text = comparison.sign, comparison.value.text.strip(), comparison.value.kind == "text"
        if is_text and looks_like_date(text) and (sign in ORDERS or cells.looks_like_dates):
            moments, order = cells.dates.moments, cells.dates.order or self.order_of_dates
            self._remarks += cells.describe_notation()
            limit = date_column(np.array([text], dtype=object), np.ones(1, bool), order)
            if isinstance(limit, str):
                raise InputError(f"the date with which {quoted(cells.name)} is compared {limit}")
            moment = float(limit.moments[0])
            if ":" not in text:
                moments, moment = moments // A_DAY, moment // A_DAY
            return _met(moments, moments, sign, moment)
        if cells.looks_like_dates and any(map(str.isdigit, text)):
            name = name_in_condition(cells.name, cells.number)
            raise InputError(say("dates_compared", column=cells.name, text=text, name=name))
        if is_text and sign not in ORDERS:
            return np.asarray(cells.texts == text, dtype=bool), ~cells.missing
        (low, high), number = cells.bounds, cells.meant(text, in_quotes=is_text)
        if comparison.value.decimals and cells.marks.decimal == ",":
            raise InputError(say("list_with_decimal_commas", column=cells.name, value=comparison.value))
        self._remarks += cells.describe_notation()
        met, is_known = _met(low, high, sign, number)
        if sign not in ORDERS:  # a cell without a digit is certainly not this number
            is_known |= np.array([not any(map(str.isdigit, text)) for text in cells.texts.tolist()], dtype=bool)
        return met, is_known

    def remarks(self) -> list[str]:
        """Return how numbers and dates were read, what no row meets, and how many rows are left out unknown."""
        unmet: dict[tuple[Cells, str], list[str]] = {}
        for comparison, cells, answer in self._parts:
            if not answer.any():
                unmet.setdefault((cells, comparison.sign), []).append(comparison.value.text)
        remarks = [*self._remarks]
        for (cells, sign), texts in unmet.items():
            count = len(cells.levels)
            levels = cells.levels if count <= 10 else []  # many values may name subjects
            held = listed(map(quote_cell, levels)) or (f"{count:,} different values" if count else "no value")
            hint = next((show_cells(hint) for text in texts if (hint := did_you_mean(text, levels))), "")
            values = listed(map(quoted, texts))
            remarks.append(f"{quoted(cells.name)} {sign} {values} is met by no row ({held}).{hint}".rstrip("."))
        names = dict.fromkeys(cells.name for _, cells, answer in self._parts if (answer.isna() & self.unknown).any())
        if names:
            remarks.append(say("rows_unknown", n_rows=self.unknown.sum(), columns=names))
        return list(dict.fromkeys(remarks))


def _met(low: NDArray[np.float64], high: NDArray[np.float64], sign: str, number: float) -> tuple[Mask, Mask]:
    """Return where numbers in a range meet a comparison, and where this is known: all of the range agree."""
    at_low, at_high = _COMPARISONS[sign](low, number), _COMPARISONS[sign](high, number)
    is_known = ~np.isnan(low) & (at_low == at_high)
    if sign == "==":
        is_known &= (low == high) | (high < number) | (number < low)
    return at_low & is_known, is_known
