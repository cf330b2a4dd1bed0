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
_HALF = 0.5
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


def _place(found: re.Match[str] | None) -> tuple[int, int]:
    """Return the place of a titre among others: below a limit, at it, above it."""
    assert found is not None
    sign = found[1]
    return int(found[3]), _EXACT if not sign else _BELOW if sign in "<≤" else _ABOVE
