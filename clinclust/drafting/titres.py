"""Titres such as 1:160: steps of a scale, or numbers where there are many of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.levels import levels_in_order
from clinclust.drafting.negative_results import is_negative
from clinclust.drafting.proposal import Proposal

__all__ = ["are_titres", "proposal_of_titres", "titre"]

_TITRE = re.compile(r"([<>≤≥]?)\s*(1\s*[:/]\s*)([0-9]{1,6})")
_HIGHEST_TIME = 60  # the titre 1:80 is no time of day, and no day of a month
_HALF, _LEAST_WRITTEN_OUT, _SHOWN = 0.5, 0.1, 3
_FEWEST, _MOST = 3, 15
_BELOW, _EXACT, _ABOVE = 0, 1, 2


def titre(text: str) -> tuple[str, int] | None:
    """Return the mark before the number of a titre, and this number; None for other texts and beyond a limit."""
    found = _TITRE.fullmatch(text)
    return (found[2].strip(), int(found[3])) if found and not found[1] else None


def are_titres(texts: Sequence[str], counts: NDArray[np.int64]) -> bool:
    """Return whether at least half of the cells are titres, of which one is too high for a time or a day."""
    found = [titre(text) for text in texts]
    n = sum(int(count) for match, count in zip(found, counts, strict=True) if match)
    return max((match[1] for match in found if match), default=0) > _HIGHEST_TIME and n >= _HALF * counts.sum()


def proposal_of_titres(column: ObservedColumn) -> Proposal | None:
    """Propose a scale for a column of few titres, in which negative results are the lowest step; or None."""
    bare = _bare_titres(column)
    if bare:
        found_in_bare = proposal_of_titres(column.merged(bare))
        return None if found_in_bare is None else _with_bare(found_in_bare, bare)
    if not are_titres(column.texts, column.counts):
        return None
    negative = [text for text in column.texts if is_negative(text)]
    found = {text: _TITRE.fullmatch(text) for text in column.texts if text not in negative}
    steps = [text for text, match in found.items() if match]
    if len(steps) < len(found) or not _FEWEST <= len(steps) + bool(negative) <= _MOST:
        return None
    ranked = sorted(steps, key=lambda text: _place(found[text]))
    levels = [*negative[:1], *ranked]
    if len({_place(found[text]) for text in steps}) < len(steps):  # one titre is written in two ways
        return None
    meaning = dict.fromkeys(negative[1:], negative[0]) if negative else {}
    proposal = levels_in_order(column.merged(meaning), levels, f"{len(levels)} steps of a titre")
    fields = {**proposal.fields, "synonyms": meaning} if meaning else proposal.fields
    return Proposal(fields, proposal.reason, proposal.looks, proposal.is_clear)


def _bare_titres(column: ObservedColumn) -> dict[str, str]:
    """Return the bare numbers among titres, each with the titre that it means: 1:40 for 40.

    At least a tenth of the cells must be titres, and each bare number must be such a titre times a power of two.
    """
    titres = {text: match for text in column.texts if (match := titre(text)) is not None}
    bare = [text for text in column.texts if text.isascii() and text.isdecimal() and text not in titres]
    n = sum(int(count) for text, count in zip(column.texts, column.counts, strict=True) if text in titres)
    if not bare or not titres or n < _LEAST_WRITTEN_OUT * column.n_observed:
        return {}
    steps = {number for _, number in titres.values()}
    if not all(any(_is_step(int(text), step) for step in steps) for text in bare):
        return {}
    mark = next(iter(titres.values()))[0]
    written = {number: text for text, (_, number) in titres.items()}
    return {text: written.get(int(text), f"{mark}{int(text)}") for text in bare}


def _is_step(number: int, step: int) -> bool:
    """Return whether a number is a step of a titre, times a power of two."""
    larger, smaller = max(number, step), min(number, step)
    times, rest = divmod(larger, smaller) if smaller else (0, 1)
    return rest == 0 and times.bit_count() == 1


def _with_bare(proposal: Proposal, bare: dict[str, str]) -> Proposal:
    shown = ", ".join(f"{text} is {meant}" for text, meant in list(bare.items())[:_SHOWN])
    look = f"numbers beside titres are read as titres (`synonyms`): {shown}"
    fields = {**proposal.fields, "synonyms": {**proposal.fields.get("synonyms", {}), **bare}}
    return Proposal(fields, proposal.reason, (*proposal.looks, look), proposal.is_clear)


def _place(found: re.Match[str] | None) -> tuple[int, int]:
    """Return the place of a titre among others: below a limit, at it, above it."""
    assert found is not None
    sign = found[1]
    return int(found[3]), _EXACT if not sign else _BELOW if sign in "<≤" else _ABOVE
