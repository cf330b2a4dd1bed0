"""The language of ``--where``: a condition on the columns of a table, which is never run as code.

Comparisons, joined by ``and``, ``or``, ``not`` and parentheses, in which an operand is a name, a name in backticks, a
text in quotes, or a number::

    operand == operand    also =, !=, <>, <, <=, >, >=
    operand in (operand, ...)    operand not in [...]
    operand is missing    operand is not missing

Operands become placeholders before Python's parser sees the rest, so that nothing but these forms can be written.
Outside of a list, 5,2 is a number with a decimal comma.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from clinclust.errors import InputError
from clinclust.files.cell_text import shortened
from clinclust.files.listed import quoted

__all__ = ["WORDS", "All", "Any", "Comparison", "Condition", "IsMissing", "Not", "Operand"]
__all__ += ["compared_columns", "is_order", "parsed", "written"]

_LONGEST, _DEEPEST = 5000, 50
_TOKEN = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))|`(?P<name>[^`]*)`"
    r"|'(?P<text>[^']*)'|\"(?P<quoted>[^\"]*)\"|(?P<word>[^\W\d][\w.]*)|(?P<sign>==|!=|<>|<=|>=|[=<>(),\[\]])"
)
_DECIMALS = re.compile(r",[0-9]+(?![\w.,])")
_SAME = {"=": "==", "<>": "!=", "missing": "None"}
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
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
    try:
        tree = ast.parse(reader.python, mode="eval").body
    except SyntaxError as error:
        raise reader.misunderstood((error.offset or 0) - 1, "a comparison, 'and', 'or' or the end") from None
    except (RecursionError, MemoryError):
        raise _too_deep() from None
    return reader.condition(tree, 0)


def _misunderstood(text: str, at: int, word: str, expected: str) -> InputError:
    return InputError(
        f"--where cannot be understood at {quoted(word) if word else 'its end'}, after {quoted(text[:at][-40:])}: "
        f"expected {expected}. An example: visit == 'baseline' and age >= 18; texts and dates stand in quotes, and "
        "names with spaces in backticks: `Age at visit`"
    )


def _too_deep() -> InputError:
    return InputError(f"--where has more than {_DEEPEST} 'not' or parentheses inside each other")


class _Reader:
    """The words of a condition as Python's parser takes them, and what its tree means."""

    def __init__(self, text: str) -> None:
        self._text, self._operands = text, dict[str, Operand]()
        self._starts: list[tuple[int, int, str]] = []  # of each word: in `python`, in the text, and what stands there
        self.python, at, is_list = "", 0, False
        while rest := text[at:].lstrip():
            at = len(text) - len(rest)
            match = _TOKEN.match(text, at)
            if match is None:
                raise _misunderstood(text, at, rest[:20], "a name, a text in quotes, a number or a sign")
            end = match.end()
            if match["sign"] or (match["word"] or "").casefold() in WORDS:
                word = match[0].casefold()
                is_list = (self.python.endswith("in ") and word in "([") or (is_list and word not in ")]")
                word = _SAME.get(word, word)
            else:
                kind = "name" if match["word"] or match["name"] is not None else "text"
                operand = Operand(kind, match[str(match.lastgroup)])
                if match["number"]:
                    decimals = _DECIMALS.match(text, end) if match[0].lstrip("+-").isdecimal() else None
                    end = decimals.end() if decimals and not is_list else end
                    operand = Operand("number", text[at:end], decimals[0][1:] if decimals and is_list else "")
                word = f"_{len(self._operands)}"
                self._operands[word] = operand
            self._starts.append((len(self.python), at, text[at:end]))
            self.python += f"{word} "
            at = end

    def misunderstood(self, at: int, expected: str) -> InputError:
        """Return the error of a condition that has something else than what is expected at a place of `python`."""
        before = [start for start in self._starts if start[0] <= at < len(self.python.rstrip())]
        return _misunderstood(self._text, *(before[-1][1:] if before else (len(self._text), "")), expected)

    def condition(self, node: ast.expr, depth: int) -> Condition:
        """Return what a part of the tree means."""
        if depth > _DEEPEST:
            raise _too_deep()
        match node:
            case ast.BoolOp(op=joint, values=values):
                parts = tuple(self.condition(value, depth + 1) for value in values)
                return All(parts) if isinstance(joint, ast.And) else Any(parts)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.condition(operand, depth + 1))
            case ast.Compare(left=left, ops=ops, comparators=others):
                lefts = [left, *others[:-1]]
                each = tuple(self._comparison(*one) for one in zip(lefts, ops, others, strict=True))
                return each[0] if len(each) == 1 else All(each)
        raise self.misunderstood(node.end_col_offset or 0, "==, !=, <, <=, >, >=, 'in' or 'is missing'")

    def _comparison(self, left: ast.expr, sign: ast.cmpop, right: ast.expr) -> Condition:
        one = self._operand(left)
        if isinstance(sign, ast.Is | ast.IsNot):
            if not isinstance(right, ast.Constant):
                raise self.misunderstood(right.col_offset, "'missing'")
            found: Condition = IsMissing(one)
        elif isinstance(sign, ast.In | ast.NotIn):
            items = right.elts if isinstance(right, ast.Tuple | ast.List) else [right]  # in ('a')
            if not items:
                raise self.misunderstood(right.col_offset, "a list, such as in ('a', 'b')")
            found = Any(tuple(Comparison(one, "==", self._operand(item)) for item in items))
        else:
            return Comparison(one, _SIGNS[type(sign)], self._operand(right))
        return Not(found) if isinstance(sign, ast.IsNot | ast.NotIn) else found

    def _operand(self, node: ast.expr) -> Operand:
        if isinstance(node, ast.Name) and node.id in self._operands:
            return self._operands[node.id]
        raise self.misunderstood(node.col_offset, "a name, a text in quotes, or a number")


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
    return sign in ("<", "<=", ">", ">=")
