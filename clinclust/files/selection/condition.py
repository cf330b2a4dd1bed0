"""The language of ``--where``: a condition on the columns of a table. It is parsed here, and never run as code.

condition   = both { "or" both }
both        = single { "and" single }
single      = "not" single | "(" condition ")" | comparison
comparison  = operand ("==" | "=" | "!=" | "<" | "<=" | ">" | ">=") operand
            | operand ["not"] "in" "(" operand { "," operand } ")"
            | operand "is" ["not"] "missing"
operand     = NAME | `NAME` | 'text' | "text" | number

Outside of a list, 5,2 is a number with a decimal comma.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from clinclust.errors import InputError
from clinclust.files.cell_text import shortened
from clinclust.files.listed import quoted

__all__ = [
    "WORDS",
    "All",
    "Any",
    "Comparison",
    "Condition",
    "IsMissing",
    "Not",
    "Operand",
    "compared_columns",
    "is_order",
    "parsed",
    "written",
]

_LONGEST, _DEEPEST = 5000, 50
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<tick>`[^`]*`)|(?P<text>'[^']*'|\"[^\"]*\")|(?P<word>[^\W\d][\w.]*)"
    r"|(?P<sign>==|!=|<>|<=|>=|[=<>(),\[\]]))"
)
_DECIMALS = re.compile(r",[0-9]+(?![\w.,])")
_ORDERS = ("<", "<=", ">", ">=")
_SAME = {"=": "==", "<>": "!="}
_EXAMPLE = "visit == 'baseline' and age >= 18"
WORDS = ("and", "or", "not", "in", "is", "missing")
"""The words of the language: a column of such a name stands in backticks."""


@dataclass(frozen=True)
class Operand:
    """A column, a text or a number, as it was written."""

    kind: str
    text: str
    decimals: str = field(default="", repr=False)
    """The digits that follow this number in a list, after a comma without a space: they may be its decimals."""


@dataclass(frozen=True)
class Comparison:
    """Two operands and one of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``."""

    left: Operand
    sign: str
    right: Operand


@dataclass(frozen=True)
class IsMissing:
    """Whether a column has no value."""

    operand: Operand


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    part: Condition


@dataclass(frozen=True)
class All:
    """Conditions that must all be met."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Any:
    """Conditions of which one must be met."""

    parts: tuple[Condition, ...]


Condition = Comparison | IsMissing | Not | All | Any


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def parsed(text: str) -> Condition:
    """Return what a condition says.

    Raises
    ------
    InputError
        If it is none. The message shows where it cannot be understood.

    Examples
    --------
    >>> from clinclust.files.selection.condition import parsed
    >>> parsed("age >= 18")
    Comparison(left=Operand(kind='name', text='age'), sign='>=', right=Operand(kind='number', text='18'))
    """
    if len(text) > _LONGEST:
        raise InputError(f"--where has {len(text):,} characters; at most {_LONGEST:,} are read")
    reader = _Reader(text)
    found = reader.condition(0)
    if reader.next.kind != "end":
        raise reader.misunderstood("'and', 'or' or the end")
    return found


class _Reader:
    """Reads a condition token by token."""

    def __init__(self, text: str) -> None:
        self._text, self._end = text, 0
        self.next = self._token()

    def misunderstood(self, expected: str) -> InputError:
        """Return the error of a condition that has something else than what is expected at this place."""
        found = quoted(self.next.text) if self.next.kind != "end" else "its end"
        before = quoted(self._text[: self.next.at][-40:])
        return InputError(
            f"--where cannot be understood at {found}, after {before}: expected {expected}. An example: {_EXAMPLE}; "
            "texts and dates stand in quotes, and names with spaces in backticks: `Age at visit`"
        )

    def _token(self) -> _Token:
        rest = self._text[self._end :]
        if not rest.strip():
            return _Token("end", "", len(self._text))
        match = _TOKEN.match(self._text, self._end)
        if match is None:
            at = self._end + len(rest) - len(rest.lstrip())
            self.next = _Token("other", self._text[at : at + 20], at)
            raise self.misunderstood("a name, a text in quotes, a number or a sign")
        self._end = match.end()
        kind = str(match.lastgroup)
        text = match[kind]
        if kind == "word" and text.casefold() in WORDS:
            return _Token(text.casefold(), text, match.start(kind))
        return _Token(kind, text, match.start(kind))

    def _take(self) -> _Token:
        taken, self.next = self.next, self._token()
        return taken

    def _takes(self, *kinds_or_signs: str) -> bool:
        """Take the next token if it is one of these words or signs; return whether it was."""
        is_one = (self.next.text if self.next.kind == "sign" else self.next.kind) in kinds_or_signs
        if is_one:
            self._take()
        return is_one

    def condition(self, depth: int) -> Condition:
        """Read conditions with ``or`` between them."""
        if depth > _DEEPEST:
            raise InputError(f"--where has more than {_DEEPEST} parentheses or 'not' inside each other")
        parts = [self._both(depth)]
        while self._takes("or"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else Any(tuple(parts))

    def _both(self, depth: int) -> Condition:
        parts = [self._single(depth)]
        while self._takes("and"):
            parts.append(self._single(depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _single(self, depth: int) -> Condition:
        if self._takes("not"):
            if depth > _DEEPEST:
                raise InputError(f"--where has more than {_DEEPEST} parentheses or 'not' inside each other")
            return Not(self._single(depth + 1))
        if self._takes("("):
            inside = self.condition(depth + 1)
            if not self._takes(")"):
                raise self.misunderstood("')'")
            return inside
        return self._comparison()

    def _comparison(self) -> Condition:
        left = self._alone()
        if self._takes("is"):
            negated = self._takes("not")
            if not self._takes("missing"):
                raise self.misunderstood("'missing'")
            return Not(IsMissing(left)) if negated else IsMissing(left)
        negated = self._takes("not")
        if self._takes("in"):
            among = Any(tuple(Comparison(left, "==", each) for each in self._operands()))
            return Not(among) if negated else among
        if negated:
            raise self.misunderstood("'in'")
        if self.next.kind != "sign" or self.next.text in "(),[]":
            raise self.misunderstood("==, !=, <, <=, >, >=, 'in' or 'is missing'")
        sign = self._take().text
        return Comparison(left, _SAME.get(sign, sign), self._alone())

    def _alone(self) -> Operand:
        """Read an operand outside of a list, where a comma between digits can only be a decimal mark."""
        operand = self._operand()
        decimals = _DECIMALS.match(self._text, self.next.at) if self.next.text == "," else None
        if operand.kind != "number" or not operand.text.lstrip("+-").isdecimal() or decimals is None:
            return operand
        if self._text[self.next.at - 1].isspace():
            return operand
        self._end = decimals.end()
        self.next = self._token()
        return Operand("number", f"{operand.text}{decimals[0]}")

    def _operands(self) -> list[Operand]:
        closing = ")" if self._takes("(") else "]" if self._takes("[") else ""
        if not closing:
            raise self.misunderstood("'(' and a list, such as in ('a', 'b')")
        operands = [self._listed()]
        while self._takes(","):
            operands.append(self._listed())
        if not self._takes(closing):
            raise self.misunderstood(f"',' or '{closing}'")
        return operands

    def _listed(self) -> Operand:
        """Read an operand of a list, and note whether the next item may be its decimals: ``(1,5)``."""
        start = self.next.at
        operand = self._operand()
        follows = _DECIMALS.match(self._text, start + len(operand.text))
        if operand.kind == "number" and operand.text.lstrip("+-").isdecimal() and follows is not None:
            return Operand(operand.kind, operand.text, follows[0][1:])
        return operand

    def _operand(self) -> Operand:
        if self.next.kind in ("tick", "text"):
            kind = "name" if self.next.kind == "tick" else "text"
            return Operand(kind, self._take().text[1:-1])
        if self.next.kind in ("word", "number"):
            kind = "name" if self.next.kind == "word" else "number"
            return Operand(kind, self._take().text)
        raise self.misunderstood("a name, a text in quotes, or a number")


def written(comparison: Comparison) -> str:
    """Return a comparison as it is written in a condition."""
    return f"{_written(comparison.left)} {comparison.sign} {_written(comparison.right)}"


def _written(operand: Operand) -> str:
    if operand.kind == "number":
        return operand.text
    if operand.kind == "text":
        return quoted(operand.text)
    text = shortened(operand.text)
    return text if text.isidentifier() and text.casefold() not in WORDS else f"`{text}`"


def compared_columns(condition: Condition) -> tuple[str, ...]:
    """Return what a condition compares, each once: names of columns, and texts on the left that may be such names."""
    match condition:
        case All(parts) | Any(parts):
            names = [name for part in parts for name in compared_columns(part)]
        case Not(part):
            names = list(compared_columns(part))
        case IsMissing():
            names = []
        case Comparison(left, _, right):
            names = [each.text for each in (left, right) if each.kind == "name"]
            names += [left.text] if left.kind == "text" else []
    return tuple(dict.fromkeys(names))


def is_order(sign: str) -> bool:
    """Return whether a sign asks which of two values is larger."""
    return sign in _ORDERS
