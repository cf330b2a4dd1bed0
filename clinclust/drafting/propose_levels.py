"""The proposal for levels: two that are no and yes, an ordered scale, or levels without order."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.data import data
from clinclust.drafting.column import Column
from clinclust.drafting.kinds import best_scale
from clinclust.drafting.levels import no_before_yes, order_of, ordered_pair, side_of, without_number
from clinclust.drafting.missing import quoted
from clinclust.drafting.proposal import Proposal
from clinclust.drafting.roles import names_one_of
from clinclust.files.cell_text import number_of, shortened
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical

__all__ = ["is_called_nominal", "nominal_of", "proposal_of_texts", "scale_of", "two_levels", "two_numbers"]

Array = NDArray[np.float64]

_MOST_TEXTS, _LONG_TEXT = 50, 30
_UNORDERED_TEXTS = 0.9
"""How often texts without known order have none, in tables of the field."""
_MOST_STEPS, _MOSTLY = 11, 0.9
_TWO_NUMBERS = re.compile(r"[0-9]+(?:[.,][0-9]+)?\s*[/+|]\s*[0-9]+(?:[.,][0-9]+)?")
_LETTERED = re.compile(r"[^\W\d_]+ ?[0-9.]+")


def proposal_of_texts(column: Column) -> Proposal:
    """Return the proposal for a column of texts."""
    synonyms = _one_spelling(column)
    texts = [text for text in column.texts if text not in synonyms]
    merged: dict[str, Any] = {"synonyms": synonyms} if synonyms else {}
    told = f"{quoted(sorted(synonyms))}: other spellings, joined" if synonyms else ""
    if len(texts) == 2:
        return two_levels(column, texts).told(told, **merged)
    is_coded = all(without_number(text) != text or _LETTERED.fullmatch(text) for text in texts)
    order = None if is_coded and is_called_nominal(column) else order_of(texts)
    n_numbers = int(column.counts[np.isfinite(column.numbers)].sum())
    if len(texts) > _MOST_STEPS and 2 * n_numbers > column.n_observed:
        others = [text for text, number in zip(column.texts, column.numbers, strict=True) if not np.isfinite(number)]
        look = f"beside numbers the cells hold {quoted(others)}: write these as numbers or limits such as <5"
        return Proposal(
            {"role": "ignore"}, "numbers and other texts", looks=(f"{look}, or list them in missing_codes",)
        )
    if np.mean([_TWO_NUMBERS.fullmatch(text) is not None for text in texts]) > _MOSTLY:
        look = "give each of the two numbers a column of its own"
        return Proposal({"role": "ignore"}, "two numbers in each cell", looks=(look,))
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
    return found.told(told, **merged)


def is_called_nominal(column: Column) -> bool:
    """Return whether the name or label is one of codes without order, such as race and region."""
    return names_one_of("nominal", column.name, column.notes.label)


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
    """Return for each text that differs from another in case and inner white space only the most frequent of them.

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
        sides = [*data("answers")["pairs"], data("answers")["sexes"]]
        for no, yes in ([side_of(words, left) for words in pair] for pair in sides):
            if no and yes and len(no) + len(yes) == len(left):
                answers = dict.fromkeys(no[1:], no[0]) | dict.fromkeys(yes[1:], yes[0])
                return {text: answers.get(target, target) for text, target in meant.items()} | answers
    return meant
