"""Repairs of text that YAML cannot read."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import yaml

from clinclust.files.cell_text import shortened
from clinclust.schema.feature import Feature

_TYPOGRAPHIC = re.compile(r"[“”„‟«»‘’‚‹›].*[“”„‟«»‘’‚‹›]", re.DOTALL)
_STRAIGHT = str.maketrans(dict.fromkeys("“”„‟«»‘’‚‹›", ""))
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_COMMA_ALONE = re.compile(r"(?P<key>decimal|thousands)\s*:\s*,")
_NO_SPACE_IN_DASH = re.compile(r"\s*-[^\s-]")
_TWO_COLONS = re.compile(r"(?P<key>[\w ]+?)\s*:\s+(?P<text>[^\"'\[{][^,}\]]*:(?:\s[^,}\]]*|$))")
_STARTS = re.compile(r"(?:[:,\[{]|^\s*-)\s*(?P<text>[%@`|>&*!?][^,\]}]*)")
_BRACKET_INSIDE = re.compile(r"[{,]\s*\w+\s*:\s+(?P<text>[^\s\"'\[{,:#][^,:\[\]{}]*[\[{][^,]*[\]}](?=\s*[,}]))")
_AFTER_QUOTES = re.compile(r"(?P<text>(?P<mark>['\"])(?:(?!(?P=mark)).)*(?P=mark)\s*[^\s,:\]}#].*)")
_KEYS = "|".join(Feature.model_fields)
_WHYS = (
    (_STARTS, "begins with a sign that means something else in YAML"),
    (_TWO_COLONS, "holds a colon and a space"),
    (_BRACKET_INSIDE, "holds a bracket"),
)
_NO_COMMA = re.compile(
    rf"[{{,]\s*(?P<key>\w+)\s*:\s+(?P<value>[^\s\"'\[{{,:;][^\"'\[{{,:;]*?|\"\"|\[[^\]]*\])"
    rf"(?P<gap>\s*;\s*|\s+)(?P<next>{_KEYS})\s*:(?=\s)"
)
_LONGEST_LINE = 1000
_CLOSED_BY = {"[": "]", "{": "}"}


def typographic_quotes(text: str) -> str | None:
    """Return the text without enclosing typographic quotes; None if it has none."""
    return text.translate(_STRAIGHT).strip() if _TYPOGRAPHIC.fullmatch(text.strip()) else None


def with_odd_spaces(text: str) -> int | None:
    """Return the first line, from 1, that begins with spaces that YAML takes for letters, or None."""
    found = re.search(r"^[ ]*[\u00a0\u2000-\u200b\u202f\u3000]", text, re.MULTILINE)
    return text[: found.start()].count("\n") + 1 if found else None


def said_of_lone_key(key: str) -> str:
    """Return what is wrong with a word between commas that has no colon: a part of a text, or of a number."""
    shown = shortened(key)
    if ":" in key:
        return f"{shown!r} has no space after its colon: write {': '.join(shown.split(':', 1))}"
    return (
        f"{shown!r} is between commas without a key: write a text with a comma in quotes, such as "
        '"Pain, at night", and a number has a decimal point, such as 0.5'
    )


def repair_of(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str]:
    """Return the line at fault in a document, from 1, and a sentence on the repair."""
    lines = text.split("\n")
    marks = [mark.line for mark in (error.problem_mark, error.context_mark) if mark is not None] or [0]
    at = min(marks[0], len(lines) - 1)
    begun = min(marks[-1], at)
    for line in dict.fromkeys((at, begun, max(at - 1, 0))):
        said = _said_of_line(lines[line])
        if said is not None:
            return line + 1, said
    for first in (begun, 0):
        opened = _never_closed(lines[first : at + 1])
        if opened is not None:
            return first + opened[0] + 1, opened[1]
    return at + 1, _said_of_dash(lines, at) or _said_of_structure(str(error.problem or error.context), lines[at])


def _said_of_line(line: str) -> str | None:
    if len(line) > _LONGEST_LINE:  # the patterns take time that grows with its square
        return None
    if line.lstrip().startswith("#"):  # a comment
        return None
    outside = _QUOTED.sub('""', line)
    if "\t" in line:
        return "the line holds a tab, which YAML does not allow there: write spaces"
    comma = _COMMA_ALONE.search(outside)
    if comma:
        return f'{comma["key"]}: a comma alone means nothing in YAML: write {comma["key"]}: ","'
    if _NO_SPACE_IN_DASH.match(outside) and not outside.strip().startswith("---"):
        return "there is no space after the -: write `- ` before each feature or level"
    if lacking := _NO_COMMA.search(outside):
        return _said_of_comma(lacking)
    for pattern, why in _WHYS:
        if found := pattern.search(outside):
            return f"{_written(found['text'])} {why}: write it in quotes: {_in_quotes(found['text'])}"
    found = _AFTER_QUOTES.search(line)
    if found:
        return (
            f"a text goes on after its quotes, or holds quotes ({_written(found['text'])}): write the whole "
            'text in quotes of the other kind, such as \'the "bad" day\' or "patient\'s view"'
        )
    return None


def _said_of_comma(found: re.Match[str]) -> str:
    value = found["value"] if found["value"][0] not in '"[' else "..."
    before, after = f"{found['key']}: {value.strip()}", f"{found['next']}:"
    between = "a semicolon" if ";" in found["gap"] else "no comma"
    return f"there is {between} between {_written(before)} and {_written(after)}: write {before}, {after}"


def _written(text: str) -> str:
    return repr(shortened(text.strip()))


def _in_quotes(text: str) -> str:
    shown = shortened(text.strip())
    return f"'{shown}'" if '"' in shown or "\\" in shown else f'"{shown}"'


@dataclass
class _Open:
    """An open bracket or quote: its sign, its line, and whether a comment follows."""

    sign: str
    line: int
    is_cut: bool = False


def _never_closed(lines: list[str]) -> tuple[int, str] | None:
    """Return the line, from 0, of a bracket or quote that is not closed, and the repair; or None."""
    opened: list[_Open] = []
    for number, line in enumerate(lines):
        before = ","  # the last sign that is no space: only after some signs does a text begin
        for at, sign in enumerate(line):
            in_quotes = opened and opened[-1].sign in "'\""
            if in_quotes:
                if sign == opened[-1].sign and line[at - 1] != "\\":
                    opened.pop()
            elif sign == "#" and (at == 0 or line[at - 1] in " ["):
                opened = [replace(each, is_cut=True) if each.line == number else each for each in opened]
                break
            elif sign in "[{'\"" and before in ":,[{-":
                opened.append(_Open(sign, number))
            elif sign in "]}" and opened:
                if sign != _CLOSED_BY[opened[-1].sign]:
                    return number, _not_closed(opened[-1])
                opened.pop()
            before = before if sign == " " else sign
    return (opened[-1].line, _not_closed(opened[-1])) if opened else None


def _not_closed(opened: _Open) -> str:
    if opened.sign in _CLOSED_BY:
        said = f"the {opened.sign} that opens here is not closed: write {_CLOSED_BY[opened.sign]} where it ends"
        return f"{said}; texts with a # stand in quotes, because it begins a comment" if opened.is_cut else said
    return f"the text that opens with {opened.sign} here is not closed: write {opened.sign} at its end"


def _said_of_dash(lines: list[str], at: int) -> str | None:
    line = lines[at]
    above = next((each for each in reversed(lines[:at]) if each.lstrip().startswith("- ")), None)
    if above is None or not line.lstrip().startswith("- "):
        return None
    found, wanted = (len(each) - len(each.lstrip(" ")) for each in (line, above))
    if found == wanted:
        return None
    return (
        f"the - is behind {found} space{'' if found == 1 else 's'}, and the one above it behind {wanted}: write "
        f"{wanted} before it, as before each feature"
    )


def _said_of_structure(problem: str, line: str) -> str:
    if line.strip().startswith(("---", "...")):
        return "a second document begins here, and a schema is one: delete this line and what follows"
    if "simple key" in problem or "expected ':'" in problem or "expected key" in problem:
        return "this is not `key: value`: write a key, a colon, a space and its value"
    if "mapping values" in problem or "indicator" in problem:
        return "the line does not stand below the one above it: keys of one feature begin in the same column"
    return (
        f"this is not valid YAML ({problem}): compare it with a line that a draft wrote, and put texts with signs such "
        'as : # , [ ] { } in quotes: "..."'
    )
