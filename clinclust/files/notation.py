"""How cells are written: numbers with marks, units, flags and limits; words, and which mean missing or name subjects.

The words are in `clinclust/data/`: `units`, `number_words`, `remarks`, `missing_words`, `roles` and `tables` (.toml).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.data import data
from clinclust.errors import show_cells, visible
from clinclust.files.cell_text import LONGEST_NUMBER, compile_short, is_blank, listed, number_of, quote_cell

# How a column writes its numbers: decimal mark, separator of thousands, unit, flags, and limits in words.

DecimalMark = Literal[".", ","]
ThousandsMark = Literal[".", ",", " ", "'"]

# values below or above a limit of detection, such as `<5`: a sign, then a number
BEYOND_A_LIMIT = compile_short(r"(<=|>=|=<|=>|<|>|≤|≥)\s*(.+)")
_CURRENCIES = "€$£¥"
_PARTS = compile_short(
    rf"(?P<currency>[{_CURRENCIES}]|EUR|USD|CHF|GBP)?\s*"
    r"(?P<number>[-+]?(?:[0-9][0-9.,'’ \u00a0\u202f\u2009]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?)\s*"
    rf"(?P<unit>[^\W\d¼½¾].*|[%‰°µ{_CURRENCIES}/×].*)?"
)
TYPOGRAPHIC = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'", "−": "-"})
_STROKED = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i", "đ": "d", "æ": "ae", "Æ": "Ae", "œ": "oe"})
_HEAD = "[+-]?[1-9][0-9]{0,2}"  # before a group of thousands: 813 is not written `0.813`
GROUPED_BY_POINT = re.compile(rf"{_HEAD}\.[0-9]{{3}}")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?")
# 1,234 and 1.234.567,8 and 12 345
_GROUPED = {mark: re.compile(rf"{_HEAD}(?:{re.escape(mark)}[0-9]{{3}})+(?P<rest>[.,][0-9]+)?") for mark in ",.' "}
_EITHER = re.compile(rf"{_HEAD}[.,][0-9]{{3}}")  # only the other numbers say whether the mark is a decimal mark
# `x10^9/L` has the words x and l, `m²` one
_TOKEN = re.compile(r"[^\W\d_]+²?|[%‰°]\w?|m2|[$€£¥]")
_BRACKETED = re.compile(r"(.*\S)\s*[\[(]\s*+([^\])(\[\d][^\])(\[]{0,19}?)\s*[\])]\s*", re.DOTALL)
_UNITS = data("units")
_PREFIXED = (prefix + word for prefix in _UNITS["prefixes"] for word in _UNITS["prefixed"])
_KNOWN_UNITS = frozenset([*_UNITS["words"], *_PREFIXED])
# 5,321 among 7.58 and 3.2 is 5.321: as 5,321 it would be 700 times as large as all others
_FAR = 1000**0.5
_WRITTEN = compile_short(
    r"[<>≤≥~]?\s*[+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+|"
    r"\d{1,3}(?:[.,'\u2019\u00a0\u202f ]\d{3})+(?:[.,]\d+)?)(?:[eE][+-]?\d+)?\s*%?"
)
_CELLS_LOOKED_AT = 4000
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


def parts_of(text: str) -> WrittenNumber | None:
    """Return the parts of a cell that holds a number, (<; 5,2; mg/L) of ``<5,2 mg/L``; None if it holds none."""
    cell = text.translate(TYPOGRAPHIC)
    limit = BEYOND_A_LIMIT.fullmatch(cell)
    parts = _PARTS.fullmatch(limit[2] if limit else cell)
    if parts is None:
        return None
    unit = parts["currency"] or parts["unit"] or ""
    return WrittenNumber(limit[1] if limit else "", parts["number"].strip(), unit.strip())


def marks_of(numbers: Sequence[str]) -> Marks:
    """Return the marks of numbers without units."""

    def find_grouping(*marks: ThousandsMark) -> ThousandsMark | None:
        return next((mark for mark in marks if any(map(_GROUPED[mark].fullmatch, numbers))), None)

    def is_decimal(mark: str, other: str) -> bool:  # somewhere it divides no thousands, or the other one does
        return any(text.count(other) > 1 or (mark in text and not _GROUPED[mark].fullmatch(text)) for text in numbers)

    with_comma = [number for number in numbers if "," in number]
    if not with_comma:
        grouped = find_grouping("'", " ")
        if grouped is None and any(number.count(".") > 1 for number in numbers):
            return Marks(",", ".")
        return Marks(None, grouped)
    is_decimal_comma, is_decimal_point = is_decimal(",", "."), is_decimal(".", ",")
    has_points = any("." in number for number in numbers)
    is_undecided = is_decimal_comma == is_decimal_point and any(map(_EITHER.fullmatch, numbers))
    if has_points and (is_undecided or _is_far_above_the_rest(numbers, "." if is_decimal_comma else ",")):
        return Marks(",", None, is_guess=True)
    if not is_decimal_comma and all(map(_GROUPED[","].fullmatch, with_comma)):
        is_guess = not has_points and all(number.count(",") == 1 for number in with_comma)
        return Marks(None, ",", is_guess)
    grouped = find_grouping(".", "'", " ")
    if all(_DECIMAL_COMMA.fullmatch(number) or _GROUPED[grouped or "."].fullmatch(number) for number in with_comma):
        return Marks(",", grouped)
    return Marks()


def _is_far_above_the_rest(numbers: Sequence[str], mark: str) -> bool:
    """Return whether a mark, as that of thousands, puts its numbers far above all others: 5,321 among 7.58 and 3.2."""
    if any(number.count(mark) > 1 or ("," in number and "." in number) for number in numbers):
        return False
    either = [float(number.replace(mark, "")) for number in numbers if mark in number and _EITHER.fullmatch(number)]
    try:
        others = [float(number.replace("." if mark == "," else ",", ".")) for number in numbers if mark not in number]
    except ValueError:  # such as 1 234
        return False
    return bool(either and others) and min(map(abs, either)) > _FAR * max(map(abs, others))


def are_thousands(numbers: Sequence[str]) -> bool:
    """Return whether all points are before three digits, as in `1.305` among `987`."""
    pointed = [number for number in numbers if "." in number]
    return bool(pointed) and all(map(_GROUPED["."].fullmatch, pointed))


def is_known_unit(text: str) -> bool:
    """Return whether a text consists of words of `clinclust/data/units.toml`: ``mg/dL``, ``x10^9/L``; not ``_yes``."""
    text = text.casefold().replace(" per ", "/").strip(" .")
    tokens, joints = {*_TOKEN.findall(text)}, _TOKEN.sub("", text)
    are_sexes = tokens in ({"m", "f"}, {"m", "w"})  # not metres per week
    is_unit = tokens <= _KNOWN_UNITS and bool(tokens - {"x", "t"}) and not are_sexes
    return is_unit and set(joints) <= set("0123456789/^*.,×·-+ ²³")


def split_unit(name: str) -> tuple[str, str]:
    """Return a name and the known unit in brackets at its end: CRP and mg/L of ``CRP (mg/L)``; else all and ``""``."""
    match = _BRACKETED.fullmatch(name)
    return (match[1], match[2]) if match and is_known_unit(match[2]) else (name, "")


def unit_key(unit: str) -> str:
    """Return a unit for comparisons: ``Kg`` and ``kg.`` are ``kg``, and a degree without a letter is one Celsius."""
    folded = unit.casefold()
    return "°c" if folded == "°" else folded.rstrip(". ") or folded


def number_as_written(text: str, decimal: DecimalMark | None, thousands: ThousandsMark | None) -> str | None:
    """Return a number with a decimal point alone; None for other texts, and for ``1.500`` among decimal commas."""
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
    return None if np.isnan(number_of(text)) else text


def looks_like_number(text: str) -> bool:
    """Return whether a cell holds a number, written in any usual way, such as ``3,5`` or ``<5`` or ``1.234,5``."""
    return bool(_WRITTEN.fullmatch(text.strip()))


def share_of_numbers(texts: Iterable[str]) -> float:
    """Return the share of texts that are numbers; 0 without any."""
    return float(np.mean([looks_like_number(text) for text in texts] or [False]))


def columns_with_comma(frame: pd.DataFrame, decimal: DecimalMark | None) -> tuple[set[int], list[str]]:
    """Return the places of the columns with decimal commas, and remarks on them, given the mark if the user said it."""
    examples: dict[str, dict[int, str]] = {kind: {} for kind in _REMARKS}
    rows = np.unique(np.linspace(0, max(0, len(frame) - 1), min(len(frame), _CELLS_LOOKED_AT), dtype=np.int64))
    for place in range(frame.shape[1]) if decimal != "." else ():
        texts = frame.iloc[rows, place].tolist()
        if not any("," in text for text in texts):
            continue
        filled = [text.strip() for text in texts if not is_blank(text)]
        numbers = [parts.number for text in filled if (parts := parts_of(text)) is not None and not parts.unit]
        commas = [number for number in numbers if number.count(",") == 1 and number.find(",") > number.rfind(".")]
        if not commas or len(numbers) < _HALF * len(filled):
            continue
        pointed = (number for number in numbers if number.count(".") == 1 and "," not in number)
        point, marks = next((it for it in pointed if not GROUPED_BY_POINT.fullmatch(it)), None), marks_of(numbers)
        if point is not None:
            examples["mixed"][place] = show_cells(f"{commas[0]} and {point}")
        elif marks.thousands != ",":
            examples["comma" if marks.decimal and not marks.is_guess else "mixed"][place] = quote_cell(commas[0])
        elif marks.is_guess:
            examples["either"][place] = quote_cell(commas[0])
    if decimal == "," or examples["comma"]:
        examples["comma"], examples["either"] = examples["comma"] | examples["either"], {}
    shown = {kind: places for kind, places in examples.items() if places and not (kind == "comma" and decimal == ",")}
    return set(examples["comma"]), [
        _REMARKS[kind].format(listed(f"{str(frame.columns[place]).strip()} ({text})" for place, text in places.items()))
        for kind, places in shown.items()
    ]


_WORDS_BEFORE, _WORDS = ("|".join(map(re.escape, data("number_words")["flags"][side])) for side in ("before", "after"))
# `~5`, `ca. 5`, `c.5`
_APPROXIMATELY = rf"[~≈≃∼]|(?:{_WORDS_BEFORE})(?:\.|(?=\s))|c\."
# `12*`, `12 †`, `↑↑12`
_SIGNS = r"\*{1,3}|[#!?†‡§^▲▼⇑⇓]|↑{1,3}|↓{1,3}"
_LETTERS = "HH|LL|H|L|A|N"
_FLAG = rf"(?:(?i:{_WORDS})|{_LETTERS})"
_NUMBER_FOLLOWS = r"\s*(?=[-+<>≤≥=€$£]?\s*[.,]?[0-9])"
# `H 5.2`, `(L) 4`
_BEFORE = compile_short(rf"(?P<mark>(?i:{_APPROXIMATELY})|{_SIGNS}|[(\[]{_FLAG}[)\]]|{_FLAG}(?=\s)){_NUMBER_FOLLOWS}")
# `5.2 H`, `12*`, `12HH`; `12A` is a code
_AFTER = compile_short(
    rf".*[0-9].*?(?P<mark>\s*[(\[](?:{_FLAG}|{_SIGNS})[)\]]|\s+{_FLAG}|(?<=[0-9])(?:HH|LL|H|L)|\s*{_SIGNS})"
)
_NEARLY_ALL, _HALF = 0.9, 0.5
_ABOVE, _BELOW = ("|".join(data("number_words")["limits"][side]) for side in ("above", "below"))
# `under 5` is `<5`, `above 90` is `>90`
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
    marked = []  # the marks before and after the number of each text, and the text without them
    for text in texts:
        before, after, body = list[str](), list[str](), text
        while match := _BEFORE.match(body):
            before.append(match["mark"].strip())
            body = body[match.end() :]
        while match := _AFTER.fullmatch(body):
            after.append(match["mark"].strip())
            body = body[: match.start("mark")].rstrip()
        marked.append((before, after, body))
    letters = set(_LETTERS.split("|"))
    n_before, n_after = (counts[[not letters.isdisjoint(marks[at]) for marks in marked]].sum() for at in (0, 1))
    letters &= {mark for before, after, _ in marked for mark in [*before, *after]}
    # units or codes in this column, and no flags
    is_code = n_before > _HALF * counts.sum() or (len(letters) == 1 and n_after >= _NEARLY_ALL * counts.sum())
    refused = letters if is_code else set()
    keep = [bool(before or after) and refused.isdisjoint([*before, *after]) for before, after, _ in marked]
    marks = {mark for (before, after, _) in compress(marked, keep) for mark in [*before, *after]}
    bodies = [body if is_marked else text for text, (_, _, body), is_marked in zip(texts, marked, keep, strict=True)]
    return Marked(tuple(sorted(marks, key=lambda mark: (-len(mark), mark))), bodies, np.array(keep, dtype=bool))


def limits_in_words(texts: Sequence[str], counts: NDArray[np.int64]) -> dict[str, str]:
    """Return the texts that say in words that a value lies beyond a limit, with the same in signs, among numbers."""
    # where fewer than half of the cells are numbers, `under 20` is an interval of a scale
    matches = {text: match for text in texts if (match := _WORDED.fullmatch(text.translate(TYPOGRAPHIC))) is not None}
    is_number = np.array([bool(matches) and text not in matches and parts_of(text) is not None for text in texts])
    if not matches or counts[is_number].sum() < _HALF * counts.sum():
        return {}
    signed = {text: (">" if match["above"] else "<") + match["number"] for text, match in matches.items()}
    return {text: sign for text, sign in signed.items() if parts_of(sign) is not None}


# Words without markup, case and accents: which mean missing, and which name subjects.

_UNSHOWN = re.compile(
    r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)|&#\d{8,};?",  # no character has so large a number
    re.IGNORECASE | re.DOTALL,
)
# Only elements that exist: "CRP <5 mg/L" holds no markup.
_INLINE = re.compile(r"</?(?:a|b|em|font|i|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BREAK = re.compile(
    r"</?(?:br|center|div|h[1-6]|hr|img|label|li|ol|p|pre|table|tbody|td|th|thead|tr|ul)(?:\s[^<>]*)?/?>|\n",
    re.IGNORECASE,
)
Choices = tuple[tuple[str, str], ...]  # codes and their labels
_MISSING_LABELS = frozenset(label for labels in data("missing_words")["labels"].values() for label in labels)
# without a word, and what spreadsheet programs write for an error; in lower case
MISSING_SIGNS = frozenset(data("missing_words")["short"]["signs"])


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text without HTML elements and comments, its entities as characters."""
    parts = _BREAK.split(_INLINE.sub("", _UNSHOWN.sub(" ", text)))
    return [plain for part in parts if (plain := visible(" ".join(html.unescape(part).split())))]


def plain_text(text: str) -> str:
    """Return all paragraphs of a text on one line: ``CRP <5 mg/L`` of ``<div><p>CRP &lt;5<br>mg/L</p></div>``."""
    return " ".join(paragraphs(text))


def words_of(text: str) -> list[str]:
    """Return the words of a text without case, accents and signs: non, realise and refus of `Non réalisé (refus)`."""
    return re.findall(r"[^\W_]+", "".join(map(_without_accents, text.casefold())))


@lru_cache(maxsize=10_000)
def _without_accents(letter: str) -> str:
    """Return a letter without accents; one by one, as a text of accents is sorted in the square of its length."""
    signs = unicodedata.normalize("NFKD", letter.translate(_STROKED))
    return unicodedata.normalize("NFC", "".join(sign for sign in signs if not unicodedata.combining(sign)))


def folded(text: str) -> str:
    """Return the form in which names and headers are compared: letters and digits, without case and accents."""
    return "_".join(words_of(text))


def means_missing(label: str) -> bool:
    """Return whether a label says that the value is not known, in any listed language: "Unknown", not "None"."""
    return len(label) <= LONGEST_NUMBER and " ".join(words_of(label)) in _MISSING_LABELS


def divided(choices: Sequence[tuple[str, str]]) -> tuple[Choices, Choices]:
    """Return the choices (code, label) that are levels, and those whose label says that the value is missing."""
    # with one level, the question is whether something is known: all are levels
    levels = tuple(choice for choice in choices if not means_missing(choice[1]))
    missing = tuple(choice for choice in choices if means_missing(choice[1]))
    return (tuple(choices), ()) if len(levels) == 1 and missing else (levels, missing)


# Names of columns: their words, whatever joins these, and the lists of words that a name may hold.

# `HbA1c` has the words Hb, A, 1 and c, and `mRS90` mRS and 90.
_WORD = re.compile(r"[a-z][A-Z]{2,}(?![a-z])|[A-ZÀ-Þ]+(?![a-zß-ÿ])|[A-ZÀ-Þ]?[a-zß-ÿ]+|[0-9]+|[^\W\dA-Za-zÀ-ÿ_]+")
_CONCEPTS = [*data("roles").values(), {"subjects": data("tables")["subjects"]["words"]}]
_LISTED = frozenset(part for lists in _CONCEPTS for words in lists.values() for word in words for part in word.split())
_SHORTEST_PARTED, _LONGEST_PARTED = 6, 40
_CHINESE = "\u2e80"  # the first character of Chinese, Japanese and Korean
_PARTS_OF_WORDS = frozenset(["to", "id", "no", "nr", *(part for part in _LISTED if len(part) > 2 or part >= _CHINESE)])


def name_words(name: str) -> list[str]:
    """Return the words of a name without case and accents: `LeftHand_größe2` holds left, hand, grosse and 2.

    Listed words that are written together are parted: `survivaltime` holds survival and time.
    """
    return [part for piece in _WORD.findall("".join(map(_without_accents, name))) for part in _parted(piece.casefold())]


@lru_cache(maxsize=20_000)
def _parted(word: str) -> tuple[str, ...]:
    """Return the listed words that make up a word, from the left, the longest first; the word itself if they do not."""
    if word not in _LISTED and len(plain := re.sub("([aou])e", r"\1", word)) > 2 and plain in _LISTED:
        return (plain,)  # `ueberlebt` is `überlebt`
    if word in _LISTED or word.isdigit() or (word < _CHINESE and not _SHORTEST_PARTED <= len(word) <= _LONGEST_PARTED):
        return (word,)
    parts, start = list[str](), 0
    while start < len(word):
        ends = range(len(word), start, -1)
        longest = next((part for end in ends if (part := word[start:end]) in _PARTS_OF_WORDS), "")
        if not longest and word < _CHINESE:  # Chinese names have other characters between words
            return (word,)
        parts, start = [*parts, longest], start + max(len(longest), 1)
    return tuple(filter(None, parts)) or (word,)


def mentions(words: Sequence[str], listed: frozenset[str]) -> bool:
    """Return whether the words of a name hold a listed word or phrase."""
    padded = f" {' '.join(words)} "
    return not listed.isdisjoint(words) or any(" " in phrase and f" {phrase} " in padded for phrase in listed)


def says_only(words: Sequence[str], listed: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether a name holds a listed word or phrase, and nothing else but numbers and the `others`."""
    words = [word for word in words if not word.isdigit()]
    allowed = listed | others | {part for phrase in listed if " " in phrase for part in phrase.split()}
    return mentions(words, listed) and allowed.issuperset(words)


def names_subjects(name: str) -> bool:
    """Return whether a name is one of identifiers, such as `patient_id` or `CaseNo`, and says nothing else."""
    return says_only(name_words(name), *(frozenset(data("tables")["subjects"][key]) for key in ("words", "beside")))
