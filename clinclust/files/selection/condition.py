"""The language of ``where``: a condition on the columns of a table, which is never run as code.

Comparisons of a column (a name, perhaps in backticks) with a value (a number, or a text or date in quotes), joined by
``and``, ``or``, ``not`` and parentheses. Outside of a list, 5,2 is a number with a decimal comma. Comparisons are
``column == value`` (also =, !=, <>, <, <=, >, >=, and chains such as ``18 <= age < 65``), ``column in (value, ...)``,
``column not in [...]``, ``column is missing`` and ``column is not missing``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from clinclust.errors import InputError
from clinclust.files.listed import quoted

_LONGEST, _DEEPEST = 5000, 50
_LONGEST_NAME = 200
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")
"""The names that a condition reads without backticks; Python's identifiers may hold more, such as a middle dot."""
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))|`(?P<name>[^`]*)`"
    r"|'(?P<text>[^']*)'|\"(?P<quoted>[^\"]*)\"|(?P<word>[^\W\d][\w.]*)|(?P<sign>==|!=|<>|<=|>=|[=<>(),\[\]])|$)"
)
_DECIMALS = re.compile(r",[0-9]+(?![\w.,])")
_SIGNS = {"==": "==", "=": "==", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
IS_MISSING = "is missing"
WORDS = ("and", "or", "not", "in", "is", "missing")
"""The words of the language: a column of such a name is put in backticks."""


@dataclass(frozen=True)
class Operand:
    """A name, a text or a number, as it was written."""

    kind: str
    text: str
    decimals: str = field(default="", repr=False, compare=False)
    """The digits that follow this number in a list, after a comma without a space: they may be its decimals."""


@dataclass(frozen=True)
class Comparison:
    """A column, one of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=`` and `IS_MISSING`, and a value."""

    column: str
    sign: str
    value: Operand


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    part: Condition


@dataclass(frozen=True)
class Joined:
    """Conditions that must all be met (``and``), or of which one must be met (``or``)."""

    word: str
    parts: tuple[Condition, ...]


Condition = Comparison | Not | Joined


def parsed(text: str) -> Condition:
    """Return the condition that a text means; InputError, which shows the place that is wrong, if it is none."""
    if len(text) > _LONGEST:
        raise InputError(f"`where` has {len(text):,} characters; at most {_LONGEST:,} are read")
    parser = _Parser(text)
    found = parser.any_of()
    parser.expect("")
    return found


class _Parser:
    """Reads a condition from left to right."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def take(self, *words: str) -> str | None:
        """Return which of these words and signs comes next, and go past it; None if none does. The end is ``""``."""
        found = _TOKEN.match(self._text, self._at)
        if found is None or found.lastgroup not in (None, "word", "sign") or found[0].strip().casefold() not in words:
            return None
        self._at = found.end()
        return found[0].strip().casefold()

    def expect(self, *words: str) -> str:
        """Return what `take` returns; InputError if it is None."""
        word = self.take(*words)
        if word is None:
            raise self._misunderstood()
        return word

    def any_of(self) -> Condition:
        """Return parts that are joined by ``or``."""
        return self._joined("or", lambda: self._joined("and", self._part))

    def _joined(self, word: str, part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self.take(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _part(self) -> Condition:
        word = self.take("not", "(")
        if word is None:
            return self._comparisons()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise InputError(f"`where` has more than {_DEEPEST} 'not' or parentheses inside each other")
        found = Not(self._part()) if word == "not" else self.any_of()
        if word == "(":
            self.expect(")")
        self._depth -= 1
        return found

    def _comparisons(self) -> Condition:
        left, is_opposite = self._operand(), False
        if self.take("is"):
            is_opposite = self.take("not") is not None
            self.expect("missing")
            found: Condition = _comparison(left, IS_MISSING, Operand("number", "missing"))
        elif word := self.take("in", "not"):
            is_opposite = word == "not" and bool(self.expect("in"))
            end = {"(": ")", "[": "]"}[self.expect("(", "[")]
            among: list[Condition] = []
            while not among or self.expect(",", end) == ",":
                among.append(_comparison(left, "==", self._operand(is_list=True)))
            found = Joined("or", tuple(among))
        else:
            chain = []
            while sign := self.take(*_SIGNS):
                right = self._operand()
                chain.append(_comparison(left, _SIGNS[sign], right))
                left = right
            if not chain:
                raise self._misunderstood()
            found = chain[0] if len(chain) == 1 else Joined("and", tuple(chain))
        return Not(found) if is_opposite else found

    def _operand(self, *, is_list: bool = False) -> Operand:
        found = _TOKEN.match(self._text, self._at)
        group = found and found.lastgroup
        if not found or group in (None, "sign") or (group == "word" and found["word"].casefold() in WORDS):
            raise self._misunderstood()
        self._at = found.end()
        if group != "number":
            return Operand("text" if group in ("text", "quoted") else "name", found[str(group)])
        decimals = _DECIMALS.match(self._text, self._at) if found["number"].lstrip("+-").isdecimal() else None
        if decimals and not is_list:
            self._at = decimals.end()
            return Operand("number", found["number"] + decimals[0])
        return Operand("number", found["number"], decimals[0][1:] if decimals else "")

    def _misunderstood(self) -> InputError:
        rest = self._text[self._at :].strip()
        where = f"at {quoted(rest[:20])}" if rest else "at its end"
        return InputError(
            f"`where` cannot be understood {where}, after {quoted(self._text[: self._at][-40:])}: write columns, signs "
            "and values such as visit in ('baseline', 'month 6') and 18 <= `Age at visit` < 65; texts and dates are in "
            "quotes, names with spaces in backticks"
        )


def _comparison(left: Operand, sign: str, right: Operand) -> Comparison:
    if (left.kind == "name") == (right.kind == "name"):
        raise InputError(
            f"`where` compares {left.kind} {quoted(left.text)} with {right.kind} {quoted(right.text)}: give one column "
            "and one value. Texts stand in quotes, names with spaces in backticks; two columns are not compared with "
            "each other: add a column with their difference to the table"
        )
    if right.kind == "name":
        return Comparison(right.text, _TURNED.get(sign, sign), left)
    return Comparison(left.text, sign, right)


def compared_columns(condition: Condition) -> tuple[str, ...]:
    """Return the columns that a condition compares with values, each once."""
    match condition:
        case Comparison(column, sign):
            return () if sign == IS_MISSING else (column,)
        case Not(part):
            return compared_columns(part)
        case Joined(_, parts):
            return tuple(dict.fromkeys(name for part in parts for name in compared_columns(part)))


def is_order(sign: str) -> bool:
    """Return whether a sign asks which of two values is larger."""
    return sign in _TURNED


def name_in_condition(name: str, number: int) -> str:
    """Return a column as a condition takes it: ``age``, ```Age at visit```, or its number if it cannot be pasted."""
    if _PLAIN_NAME.fullmatch(name) and name.casefold() not in WORDS and len(name) <= _LONGEST_NAME:
        return name
    return f"`{name}`" if "`" not in name and _can_be_pasted(name) else f"`#{number}`"


def text_in_condition(text: str) -> str | None:
    """Return a text as a condition takes it; None if no condition can hold it, or it cannot be pasted."""
    quote = next((mark for mark in "\"'" if mark not in text), None)
    return None if quote is None or not _can_be_pasted(text) else f"{quote}{text}{quote}"


def _can_be_pasted(name: str) -> bool:
    return name.isprintable() and len(name) <= _LONGEST_NAME
