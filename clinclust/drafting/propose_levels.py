"""The proposal for levels: as the file declares them, two that are no and yes, ordered, or without order."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from clinclust.arrays import Array
from clinclust.data import data
from clinclust.drafting.column import Column, Proposal, constant, joined
from clinclust.drafting.kinds import best_scale
from clinclust.drafting.levels import meaning, no_before_yes, order_of, ordered_pair, without_number
from clinclust.drafting.missing import quoted
from clinclust.drafting.roles import name_words
from clinclust.files.cell_text import number_of, shortened
from clinclust.files.column_notes import ORDERED, ColumnNotes
from clinclust.files.dictionaries.words import means_missing, plain_text
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical

_MOST_TEXTS, _LONG_TEXT = 50, 30
_UNORDERED_TEXTS = 0.9  # how often texts without known order have none, in tables of the field
_MOST_STEPS, _MOSTLY = 11, 0.9
_TWO_NUMBERS = re.compile(r"[0-9]+(?:[.,][0-9]+)?\s*[/+|]\s*[0-9]+(?:[.,][0-9]+)?")
_NOMINAL = frozenset(data("names")["nominal"])
_LETTERED = re.compile(r"[^\W\d_]+ ?[0-9.]+")


def proposal_of_texts(column: Column) -> Proposal:
    """Return the proposal for a column of texts."""
    synonyms = _one_spelling(column)
    texts = [text for text in column.texts if text not in synonyms]
    merged: dict[str, Any] = {"synonyms": synonyms} if synonyms else {}
    look = f"{quoted(sorted(synonyms))}: other spellings, joined" if synonyms else ""
    if len(texts) == 1:
        return constant(column).extended(look)
    if len(texts) == 2:
        return two_levels(column, texts).extended(look, **merged)
    is_coded = all(without_number(text) != text or _LETTERED.fullmatch(text) for text in texts)
    order = None if is_coded and is_called_nominal(column) else order_of(texts)
    n_numbers = int(column.counts[np.isfinite(column.numbers)].sum())
    if len(texts) > _MOST_STEPS and 2 * n_numbers > column.n_observed:
        others = [text for text, number in zip(column.texts, column.numbers, strict=True) if not np.isfinite(number)]
        repair = "write these as numbers or limits such as <5, or list them in missing_codes"
        look = f"among the numbers the cells hold {quoted(others)}: {repair}"
        return Proposal({"role": "ignore"}, "numbers and other texts", looks=(look,))
    if np.mean([_TWO_NUMBERS.fullmatch(text) is not None for text in texts]) > _MOSTLY:
        repair = "give each of the two numbers a column of its own"
        return Proposal({"role": "ignore"}, "two numbers in each cell", looks=(repair,))
    if len(texts) > _MOST_TEXTS or (column.n_observed < 2 * len(texts) and order is None):
        is_long = np.mean([len(text) for text in texts]) > _LONG_TEXT or np.mean([" " in text for text in texts]) > 0.5
        kind = "free text" if is_long else "too many different values for levels"
        return Proposal({"role": "ignore"}, f"{kind} ({len(texts)} different among {column.n_observed})")
    levels = [text for text in column.order if text in texts]
    if len(levels) == len(texts):
        found = scale_of(column, levels, "an ordered categorical of the table", merged)
    elif order is not None:
        found = scale_of(column, [texts[place] for place in order], f"{len(texts)} ordered levels", merged)
    else:
        found = nominal_of(column, f"{len(texts)} levels without known order", set(), texts)
    return found.extended(look, **merged)


def is_called_nominal(column: Column) -> bool:
    """Return whether the name or label is one of codes without order, such as race and region."""
    return not _NOMINAL.isdisjoint(name_words(f"{column.name} {column.notes.label or ''}"))


def two_levels(column: Column, texts: list[str] | None = None) -> Proposal:
    """Return the proposal for two levels; by default those of the column."""
    pair = list(texts or column.texts)
    numbers = [number_of(text) for text in pair]
    levels = sorted(pair, key=number_of) if not np.isnan(numbers).any() else ordered_pair(pair)
    known = "" if no_before_yes(levels) else f", of which {shortened(levels[1])!r} counts as yes"
    fields = {} if levels == ["0", "1"] else {"levels": levels}
    return Proposal({"likelihood": Bernoulli.name, **fields}, f"two values{known}")


def two_numbers(column: Column, values: Array) -> Proposal:
    """Return the proposal for two numbers that are written in several ways, as 1 and 1.0."""
    places = [int(np.flatnonzero(values == value)[0]) for value in np.unique(values)]
    levels = [column.texts[place] for place in places]
    synonyms = {text: levels[int(value == values[places[1]])] for text, value in zip(column.texts, values, strict=True)}
    fields = {"levels": levels, "synonyms": {text: level for text, level in synonyms.items() if text not in levels}}
    return Proposal({"likelihood": Bernoulli.name, **fields}, "two values")


def scale_of(column: Column, levels: list[str], what: str, merged: dict[str, Any] | None = None) -> Proposal:
    """Return the proposal for levels from low to high, with the synonyms in `merged`."""
    place = {level: float(score) for score, level in enumerate(levels)}
    place |= {text: place[level] for text, level in (merged or {}).get("synonyms", {}).items()}
    scores = np.repeat([place[text] for text in column.texts], column.counts)
    is_whole_scale = levels == [str(step) for step in range(len(levels))]
    fields = best_scale(scores, None if is_whole_scale else levels, len(levels) - 1 if is_whole_scale else None)
    return Proposal(fields, what)


def nominal_of(column: Column, what: str, codes: set[str], texts: list[str] | None = None) -> Proposal:
    """Return levels without order, in the order of the table."""
    wanted = set(texts if texts is not None else column.texts)
    in_table = [column.texts[place] for place in np.argsort(column.first_rows, kind="stable").tolist()]
    fields: dict[str, Any] = {"likelihood": Categorical.name, "levels": [text for text in in_table if text in wanted]}
    if codes:
        fields["missing_codes"] = sorted(codes)
    otherwise = "likelihood: ordinal, with its levels from low to high" if len(wanted) <= 7 else ""
    return Proposal(fields, what, _UNORDERED_TEXTS, otherwise)


def _one_spelling(column: Column) -> dict[str, str]:
    """Return the most frequent spelling for each text that differs from another in case and inner white space only.

    Where several texts all mean no or yes, they are two.
    """
    by_count = sorted(zip(column.texts, column.counts.tolist(), strict=True), key=lambda pair: -pair[1])
    first: dict[str, str] = {}
    meant = {}
    for text, _ in by_count:
        target = first.setdefault(" ".join(text.casefold().split()).rstrip("."), text)
        if target != text:
            meant[text] = target
    left = [text for text, _ in by_count if text not in meant]
    if 2 < len(left) <= 8:
        pairs = [*data("answers")["pairs"], data("answers")["sexes"]]
        for no, yes in ([meaning(words, left) for words in pair] for pair in pairs):
            if no and yes and len(no) + len(yes) == len(left):
                answers = dict.fromkeys(no[1:], no[0]) | dict.fromkeys(yes[1:], yes[0])
                return {text: answers.get(target, target) for text, target in meant.items()} | answers
    return meant


_MOST_LEVELS = 50
_MOST_STRANGERS = 5  # values that no choice names, beyond which the choices do not describe the column


class NotedLevels(NamedTuple):
    """The fields that a file's list of values gives a column; without levels, it is drafted by its values."""

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

    A value that the file does not list becomes a level, and a column that contradicts the list is drafted by its
    values.
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
        added = f"{quoted(strangers)} not among its choices, added as a level (or list it under missing_codes)"
        reason = joined(reason, added)
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
    """Return two levels with that for no first, as far as their labels or codes say; others in their order."""
    if len(levels) != 2:
        return levels
    order = no_before_yes([level.label for level in levels]) or no_before_yes([level.code for level in levels])
    return [levels[place] for place in order or [0, 1]]


def _fields(levels: list[_Level]) -> dict[str, Any]:
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
