"""Levels as a file declares them for a column, compared with the texts that the column holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from clinclust.drafting.column import Column
from clinclust.drafting.levels import no_before_yes, order_of
from clinclust.drafting.missing import quoted
from clinclust.drafting.proposal import joined
from clinclust.files.cell_text import number_of, shortened
from clinclust.files.column_notes import ORDERED, ColumnNotes
from clinclust.files.dictionaries.words import means_missing, plain_text

__all__ = ["NotedLevels", "noted_levels"]

_MOST_LEVELS = 50
_MOST_STRANGERS = 5  # values that no choice names, beyond which the choices do not describe the column


class NotedLevels(NamedTuple):
    """What a file's list of values makes of a column.

    `fields` holds levels, synonyms and missing codes; without levels the column is drafted by its values.
    """

    fields: dict[str, Any]
    reason: str
    is_ordered: bool = False


@dataclass(frozen=True)
class _Level:
    """A level: its text in the schema, the code and the label of the file, and the texts of the column that mean it."""

    text: str
    code: str
    label: str
    seen: tuple[str, ...] = ()


def noted_levels(column: Column) -> NotedLevels:
    """Return what the values that the file lists make of a column, which is without its missing codes.

    Nothing is lost: a value that the file does not list becomes a level, and a column that contradicts the list is left
    to the draft by its values.
    """
    notes, present = column.notes, list(column.texts)
    levels, strangers = _matched(_named(notes, present), present, is_yes_no=notes.kind == "yes/no")
    unsaid = [text for text in strangers if means_missing(text)]
    strangers = [text for text in strangers if text not in unsaid]
    codes = {"missing_codes": unsaid} if unsaid else {}
    if strangers and all(not math.isnan(number_of(text)) for text in strangers) and len(strangers) > len(levels):
        return NotedLevels(codes, "but only some of its values have a label: the column holds numbers")
    if len(strangers) > max(_MOST_STRANGERS, len(levels)):
        return NotedLevels(
            codes, f"but {len(strangers)} other values are in the column, so it is drafted by its values"
        )
    reason = f"{quoted(unsaid)} taken for missing" if unsaid else ""
    seen = [level for level in levels if level.seen]
    if len(levels) + len(strangers) > _MOST_LEVELS:
        levels = seen
        reason = joined(reason, f"only the {len(seen) + len(strangers)} that the column holds are levels")
    ordered = _ordered(notes, levels, strangers)
    if strangers:
        told = f"{quoted(strangers)} not among its choices, added as a level (or list it under missing_codes)"
        reason = joined(reason, told)
    levels = ordered if ordered is not None else _no_first([*levels, *(_Level(t, t, t, (t,)) for t in strangers)])
    if len(levels) == 2 and no_before_yes([level.label for level in levels]) is None:
        reason = joined(reason, f"{shortened(levels[1].text)!r} counts as yes (swap the levels to change that)")
    return NotedLevels({**_fields(levels), **codes}, reason, ordered is not None and len(levels) > 2)


def _named(notes: ColumnNotes, present: list[str]) -> list[_Level]:
    """Return the levels, called by their labels; or by their codes, if a label could be taken for another's code."""
    pairs = [(code, plain_text(label) or code) for code, label in notes.levels]
    pairs = [(code, code if label in notes.missing_codes else label) for code, label in pairs]
    repeated = {label for label, count in Counter(label for _, label in pairs).items() if count > 1}
    texts = [f"{label} ({code})" if label in repeated else label for code, label in pairs]
    others = {code for code, _ in pairs}
    ambiguous = any(text in others and text != code for text, (code, _) in zip(texts, pairs, strict=True))
    if (ambiguous and (others & set(present))) or len(set(texts)) < len(texts):
        texts = [code for code, _ in pairs]
    return [_Level(text, code, label) for text, (code, label) in zip(texts, pairs, strict=True)]


def _matched(levels: list[_Level], present: list[str], *, is_yes_no: bool) -> tuple[list[_Level], list[str]]:
    """Return the levels with the texts of the column that mean them, and the texts that mean none."""
    seen: list[list[str]] = [[] for _ in levels]
    ways = _ways(levels, is_yes_no=is_yes_no and len(levels) == 2)
    strangers: list[str] = []
    for text in present:
        place = next((place for way in ways if (place := way(text)) is not None), None)
        (strangers if place is None else seen[place]).append(text)
    return [replace(level, seen=tuple(texts)) for level, texts in zip(levels, seen, strict=True)], strangers


def _ways(levels: list[_Level], *, is_yes_no: bool) -> list[Callable[[str], int | None]]:
    """Return the ways in which a text can mean a level, the surest first: its code, label, number, or letters."""
    places = range(len(levels))
    by_code = all(level.text == level.code for level in levels)
    code = _only([(levels[place].code, place) for place in places])
    text = _only([(name, place) for place in places for name in _called(levels[place], by_code)])
    number = _only([(number_of(levels[place].code), place) for place in places])
    letters = _only([(name.casefold(), place) for place in places for name in _called(levels[place], False)])
    any_case = _only([(levels[place].code.casefold(), place) for place in places])
    ways: list[Callable[[str], int | None]] = [
        code.get,
        text.get,
        lambda given: number.get(number_of(given)),
        lambda given: letters.get(plain_text(given).casefold()),
        lambda given: any_case.get(given.casefold()),
    ]
    if is_yes_no:
        ways.append(partial(_no_or_yes, no_before_yes([level.label for level in levels]) or [0, 1]))
    return ways


def _no_or_yes(places: list[int], given: str) -> int | None:
    """Return the place of no, or of yes, if a text is a word for it."""
    if no_before_yes([given, "yes"]):
        return places[0]
    return places[1] if no_before_yes(["no", given]) else None


def _called(level: _Level, by_code: bool) -> set[str]:
    return {level.text} if by_code else {level.text, level.label}


def _only(named: list[tuple[Any, int]]) -> dict[Any, int]:
    """Return the place of each name that only one place has."""
    count = Counter(name for name, _ in named)
    return {name: place for name, place in named if count[name] == 1}


def _ordered(notes: ColumnNotes, levels: list[_Level], strangers: list[str]) -> list[_Level] | None:
    """Return the levels from the lowest to the highest, with values that no choice names in their places; or None."""
    codes = [number_of(level.code) for level in levels]
    counted = not any(map(math.isnan, codes))
    ends = counted and 2 * sum(level.label == level.code for level in levels) >= len(levels)
    order = order_of([level.label for level in levels])
    if notes.kind == ORDERED or ends:
        by_number = sorted(range(len(levels)), key=lambda place: codes[place])
        order = order or (by_number if counted else list(range(len(levels))))
    if order is None or len(levels) < 2:
        return None
    if not strangers:
        return [levels[place] for place in order]
    extra = [number_of(text) for text in strangers]
    rising = [codes[place] for place in order] == sorted(codes)
    if not counted or not rising or any(map(math.isnan, extra)):
        return None
    every = [*levels, *(_Level(text, text, text, (text,)) for text in strangers)]
    return sorted(every, key=lambda level: number_of(level.code))


def _no_first(levels: list[_Level]) -> list[_Level]:
    """Return two levels with that for no first, as far as their labels or codes tell; others in their order."""
    if len(levels) != 2:
        return levels
    order = no_before_yes([level.label for level in levels]) or no_before_yes([level.code for level in levels])
    return [levels[place] for place in order or [0, 1]]


def _fields(levels: list[_Level]) -> dict[str, Any]:
    """Return `levels` and the `synonyms` of codes and of other spellings in the column."""
    texts = {level.text for level in levels}
    synonyms = {
        other: level.text for level in levels for other in (level.code, *level.seen) if other and other not in texts
    }
    fields: dict[str, Any] = {"levels": [level.text for level in levels]}
    if synonyms:
        fields["synonyms"] = synonyms
    meanings = [f"{level.text} = {level.label}" for level in levels if level.text == level.code != level.label]
    if meanings:
        fields["description"] = "; ".join(meanings)
    return fields
