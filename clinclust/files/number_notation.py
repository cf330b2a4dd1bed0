"""How a column writes its numbers: decimal mark, separator of thousands, unit, flags, and limits in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.data import data
from clinclust.errors import show_cells
from clinclust.files.cell_text import compile_short, listed, number_of, quote_cell
from clinclust.files.text_table import is_blank

DecimalMark = Literal[".", ","]
ThousandsMark = Literal[".", ",", " ", "'"]

BEYOND_A_LIMIT = compile_short(r"(<=|>=|=<|=>|<|>|≤|≥)\s*(.+)")
"""The texts of values below or above a limit of detection, such as ``<5``: a sign, then a number."""

_CURRENCIES = "€$£¥"
_PARTS = compile_short(
    rf"(?P<currency>[{_CURRENCIES}]|EUR|USD|CHF|GBP)?\s*"
    r"(?P<number>[-+]?(?:[0-9][0-9.,'’ \u00a0\u202f\u2009]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?)\s*"
    rf"(?P<unit>[^\W\d].*|[%‰°µ{_CURRENCIES}/×].*)?"
)
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'", "−": "-"})
_HEAD = "[+-]?[1-9][0-9]{0,2}"  # before a group of thousands: 813 is not written `0.813`
GROUPED_BY_POINT = re.compile(rf"{_HEAD}\.[0-9]{{3}}")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?")
_GROUPED = {mark: re.compile(rf"{_HEAD}(?:{re.escape(mark)}[0-9]{{3}})+(?P<rest>[.,][0-9]+)?") for mark in ",.' "}
_EITHER = re.compile(rf"{_HEAD}[.,][0-9]{{3}}")  # only the other numbers say whether the mark is a decimal mark
_TOKEN = re.compile(r"[^\W\d_]+²?|[%‰°]\w?|m2|[$€£¥]")
_UNITS = data("units")
_PREFIXED = (prefix + word for prefix in _UNITS["prefixes"] for word in _UNITS["prefixed"])
_KNOWN_UNITS = frozenset([*_UNITS["words"], *_PREFIXED])
_FAR = 1000**0.5
_WRITTEN = compile_short(
    r"[<>≤≥~]?\s*[+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+|"
    r"\d{1,3}(?:[.,'\u2019\u00a0\u202f ]\d{3})+(?:[.,]\d+)?)(?:[eE][+-]?\d+)?\s*%?"
)
_CELLS_LOOKED_AT = 4000
_FEWEST = 0.5
_REMARKS: dict[str, str] = data("remarks")["notation"]


class WrittenNumber(NamedTuple):
    """A cell that holds a number: the sign of a limit, the number as written, and its unit or currency; or ``""``."""

    limit: str
    number: str
    unit: str


class Marks(NamedTuple):
    """The decimal mark and the separator of thousands, if not a point and none; a guess, if nothing decides it."""

    decimal: Literal[","] | None = None
    thousands: ThousandsMark | None = None
    is_guess: bool = False


def with_plain_spaces(text: str) -> str:
    """Return a text with plain spaces, apostrophes and minus signs instead of typographic ones."""
    return text.translate(_SPACES)


def parts_of(text: str) -> WrittenNumber | None:
    """Return the parts of a cell that holds a number, (<; 5,2; mg/L) of ``<5,2 mg/L``; None if it holds none."""
    cell = with_plain_spaces(text)
    limit = BEYOND_A_LIMIT.fullmatch(cell)
    parts = _PARTS.fullmatch(limit[2] if limit else cell)
    if parts is None:
        return None
    unit = parts["currency"] or parts["unit"] or ""
    return WrittenNumber(limit[1] if limit else "", parts["number"].strip(), unit.strip())


def marks_of(numbers: Sequence[str]) -> Marks:
    """Return the marks of numbers without units."""
    with_comma = [number for number in numbers if "," in number]
    if not with_comma:
        mark = _grouping(numbers, ("'", " "))
        if mark is None and any(number.count(".") > 1 for number in numbers):
            return Marks(",", ".")
        return Marks(None, mark)
    is_decimal_comma, is_decimal_point = _is_decimal(",", ".", numbers), _is_decimal(".", ",", numbers)
    has_points = any("." in number for number in numbers)
    is_undecided = is_decimal_comma == is_decimal_point and any(map(_EITHER.fullmatch, numbers))
    if has_points and (is_undecided or _is_far_above_the_rest(numbers, "." if is_decimal_comma else ",")):
        return Marks(",", None, is_guess=True)
    if not is_decimal_comma and all(map(_GROUPED[","].fullmatch, with_comma)):
        is_guess = not has_points and all(number.count(",") == 1 for number in with_comma)
        return Marks(None, ",", is_guess)
    grouped = _grouping(numbers, (".", "'", " "))
    if all(_DECIMAL_COMMA.fullmatch(number) or _GROUPED[grouped or "."].fullmatch(number) for number in with_comma):
        return Marks(",", grouped)
    return Marks()


def _is_decimal(mark: str, other: str, numbers: Sequence[str]) -> bool:
    """Return whether a mark must be a decimal mark: somewhere it divides no thousands, or the other one does."""
    return any(
        number.count(other) > 1 or (mark in number and not _GROUPED[mark].fullmatch(number)) for number in numbers
    )


def _is_far_above_the_rest(numbers: Sequence[str], mark: str) -> bool:
    """Return whether a mark, as that of thousands, puts its numbers far above all others: 5,321 among 7.58 and 3.2."""
    if any(number.count(mark) > 1 or ("," in number and "." in number) for number in numbers):
        return False
    decimal = "." if mark == "," else ","
    either = [float(number.replace(mark, "")) for number in numbers if mark in number and _EITHER.fullmatch(number)]
    try:
        others = [float(number.replace(decimal, ".")) for number in numbers if mark not in number]
    except ValueError:  # such as 1 234
        return False
    return bool(either and others) and min(map(abs, either)) > _FAR * max(map(abs, others))


def _grouping(numbers: Sequence[str], marks: Sequence[ThousandsMark]) -> ThousandsMark | None:
    return next((mark for mark in marks if any(_GROUPED[mark].fullmatch(number) for number in numbers)), None)


def are_thousands(numbers: Sequence[str]) -> bool:
    """Return whether all points are before three digits, as in `1.305` among `987`."""
    pointed = [number for number in numbers if "." in number]
    return bool(pointed) and all(map(_GROUPED["."].fullmatch, pointed))


def is_unit(text: str) -> bool:
    """Return whether the text after a number is a unit, and no part of the number itself (`3½`)."""
    return any(letter.isalpha() or letter in "%‰°" + _CURRENCIES for letter in text)


def is_known_unit(text: str) -> bool:
    """Return whether a text consists of words of `clinclust/data/units.toml`: ``mg/dL``, ``x10^9/L``; not ``_yes``."""
    tokens = _TOKEN.findall(text.casefold().replace(" per ", "/").strip(" ._-"))
    return bool(tokens) and _KNOWN_UNITS.issuperset(tokens)


def unit_key(unit: str) -> str:
    """Return a unit as it is compared: ``Kg`` and ``kg.`` are ``kg``, and a degree without a letter is one Celsius."""
    folded = unit.casefold()
    return "°c" if folded == "°" else folded.rstrip(". ") or folded


def number_as_written(text: str, decimal: DecimalMark | None, thousands: ThousandsMark | None) -> str | None:
    """Return a number without separators of thousands and with a decimal point; None if the text is none.

    With a decimal comma and no separator of thousands, ``1.5`` is a number, but ``1.500`` could be 1,500 and is none.
    """
    if thousands is not None and thousands in text:
        whole, mark, rest = text.partition(decimal or ".")
        head, *groups = whole.split(thousands)
        if not re.fullmatch(_HEAD, head) or not all(re.fullmatch("[0-9]{3}", group) for group in groups):
            return None
        text = f"{head}{''.join(groups)}{mark}{rest}"
    if decimal == ",":
        if "," in text:
            text = text.replace(".", " ").replace(",", ".")  # a point and a decimal comma make no number
        elif GROUPED_BY_POINT.fullmatch(text) and thousands is None:
            return None
    return None if math.isnan(number_of(text)) else text


def looks_like_number(text: str) -> bool:
    """Return whether a cell holds a number, written in any usual way, such as ``3,5`` or ``<5`` or ``1.234,5``."""
    return bool(_WRITTEN.fullmatch(text.strip()))


def share_of_numbers(texts: Iterable[str]) -> float:
    """Return the share of texts that are numbers; 0 if there are none."""
    are_numbers = [looks_like_number(text) for text in texts]
    return sum(are_numbers) / len(are_numbers) if are_numbers else 0.0


def columns_with_comma(frame: pd.DataFrame, decimal: DecimalMark | None) -> tuple[set[int], list[str]]:
    """Return the places of the columns with decimal commas, and remarks on them, given the mark if the user said it."""
    if decimal == ".":
        return set(), []
    examples: dict[str, dict[int, str]] = {kind: {} for kind in _REMARKS}
    rows = np.unique(np.linspace(0, max(0, len(frame) - 1), min(len(frame), _CELLS_LOOKED_AT), dtype=np.int64))
    for place in range(frame.shape[1]):
        kind, example = _kind_of_column(frame.iloc[rows, place].tolist())
        examples.get(kind, {})[place] = example
    if decimal == "," or examples["comma"]:
        examples["comma"], examples["either"] = examples["comma"] | examples["either"], {}
    told = {kind: places for kind, places in examples.items() if places and not (kind == "comma" and decimal == ",")}
    return set(examples["comma"]), [
        _REMARKS[kind].format(listed(f"{str(frame.columns[place]).strip()} ({text})" for place, text in places.items()))
        for kind, places in told.items()
    ]


def _kind_of_column(texts: Sequence[str]) -> tuple[str, str]:
    """Return what the numbers of a column show, and one of them: ``comma``, ``either``, ``mixed`` or nothing."""
    if not any("," in text for text in texts):
        return "", ""
    filled = [text.strip() for text in texts if not is_blank(text)]
    numbers = [parts.number for text in filled if (parts := parts_of(text)) is not None and not parts.unit]
    commas = [number for number in numbers if number.count(",") == 1 and number.find(",") > number.rfind(".")]
    if not commas or len(numbers) < _FEWEST * len(filled):
        return "", ""
    points = (number for number in numbers if number.count(".") == 1 and "," not in number)
    if (point := next((number for number in points if not GROUPED_BY_POINT.fullmatch(number)), None)) is not None:
        return "mixed", show_cells(f"{commas[0]} and {point}")
    marks = marks_of(numbers)
    if marks.thousands == ",":
        return ("either" if marks.is_guess else ""), quote_cell(commas[0])
    return ("comma" if marks.decimal and not marks.is_guess else "mixed"), quote_cell(commas[0])


_WORDS_BEFORE, _WORDS = ("|".join(map(re.escape, data("number_words")["flags"][side])) for side in ("before", "after"))
_APPROXIMATELY = rf"[~≈≃∼]|(?:{_WORDS_BEFORE})(?:\.|(?=\s))|c\."
_SIGNS = r"\*{1,3}|[#!?†‡§^▲▼⇑⇓]|↑{1,3}|↓{1,3}"
_LETTERS = "HH|LL|H|L|A|N"
_ARE_LETTERS = re.compile(_LETTERS)
_GLUED = "HH|LL|H|L"  # `12A` is a code
_FLAG = rf"(?:(?i:{_WORDS})|{_LETTERS})"
_NUMBER_FOLLOWS = r"\s*(?=[-+<>≤≥=€$£]?\s*[.,]?[0-9])"
_BEFORE = compile_short(rf"(?P<mark>(?i:{_APPROXIMATELY})|{_SIGNS}|[(\[]{_FLAG}[)\]]|{_FLAG}(?=\s)){_NUMBER_FOLLOWS}")
_AFTER = compile_short(
    rf".*[0-9].*?(?P<mark>\s*[(\[](?:{_FLAG}|{_SIGNS})[)\]]|\s+{_FLAG}|(?<=[0-9])(?:{_GLUED})|\s*{_SIGNS})"
)
_NEARLY_ALL, _HALF = 0.9, 0.5
_ABOVE, _BELOW = ("|".join(data("number_words")["limits"][side]) for side in ("above", "below"))
_WORDED = compile_short(rf"(?:(?P<above>{_ABOVE})|(?:{_BELOW}))\s*(?P<number>[0-9].*)", re.IGNORECASE)


class Marked(NamedTuple):
    """The marks that were taken off, the longest first, each text without them, and whether it held one."""

    marks: tuple[str, ...]
    texts: list[str]
    is_marked: NDArray[np.bool_]


def without_flags(texts: Sequence[str], counts: NDArray[np.int64]) -> Marked:
    """Return the distinct texts of a column, of which each has so many cells, without the marks at their numbers.

    Letters in (nearly) all cells are a unit or part of a code: litres are no flag for low, and ``L 4`` is a vertebra.
    """
    marked = [_marks_of(text) for text in texts]
    letters: set[str] = set()  # that are units or codes in this column, and no flags
    n_before = n_after = 0
    for (before, after, _), count in zip(marked, counts.tolist(), strict=True):
        flagged, followed = (set(filter(_ARE_LETTERS.fullmatch, marks)) for marks in (before, after))
        letters |= flagged | followed
        n_before += count if flagged else 0
        n_after += count if followed else 0
    is_code = n_before > _HALF * counts.sum() or (len(letters) == 1 and n_after >= _NEARLY_ALL * counts.sum())
    refused = letters if is_code else set()
    keep = [bool(before or after) and refused.isdisjoint([*before, *after]) for before, after, _ in marked]
    marks = {mark for (before, after, _) in compress(marked, keep) for mark in [*before, *after]}
    bodies = [body if is_marked else text for text, (_, _, body), is_marked in zip(texts, marked, keep, strict=True)]
    return Marked(tuple(sorted(marks, key=lambda mark: (-len(mark), mark))), bodies, np.array(keep, dtype=bool))


def _marks_of(text: str) -> tuple[list[str], list[str], str]:
    """Return the marks before and after a number, and the text without them."""
    before: list[str] = []
    after: list[str] = []
    while match := _BEFORE.match(text):
        before.append(match["mark"].strip())
        text = text[match.end() :]
    while match := _AFTER.fullmatch(text):
        after.append(match["mark"].strip())
        text = text[: match.start("mark")].rstrip()
    return before, after, text


def limits_in_words(texts: Sequence[str], counts: NDArray[np.int64]) -> dict[str, str]:
    """Return the texts that say in words that a value lies beyond a limit, each with the same in signs: ``>90``.

    At least half of the cells must be numbers: of others, ``under 20`` is an interval of a scale.
    """
    matches = {text: match for text in texts if (match := _WORDED.fullmatch(with_plain_spaces(text))) is not None}
    is_number = np.array([bool(matches) and text not in matches and parts_of(text) is not None for text in texts])
    if not matches or counts[is_number].sum() < _HALF * counts.sum():
        return {}
    signed = {text: (">" if match["above"] else "<") + match["number"] for text, match in matches.items()}
    return {text: sign for text, sign in signed.items() if parts_of(sign) is not None}
