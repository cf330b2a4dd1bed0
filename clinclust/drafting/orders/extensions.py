"""Ranks of levels that extend or deny one another: `fit`, `fit with limits`, `unfit`; `X`, `X with signs`, `X grave`.

And of levels with two orders at once, the course before the severity: `intermittent mild`, `persistent mild`.
"""

from __future__ import annotations

from collections.abc import Sequence

from clinclust.drafting.orders.words import is_absent, rank_in, stems_of
from clinclust.drafting.yes_no import denies

__all__ = ["ranks_of_extensions", "ranks_of_two_orders"]

Phrase = tuple[str, ...]
Ranks = list[float]

_WITH = frozenset(stems_of(word) for word in ("with", "mit", "avec", "con", "com", "met", "and", "plus"))
_MORE, _SEVERE = 1.0, 10.0
_COURSES = {stems_of(word): 0.0 for word in ("intermittent", "intermittierend", "intermitente", "intermittente")}
_COURSES |= {
    stems_of(word): 100.0 for word in ("persistent", "persistierend", "persistente", "persistant", "persisterend")
}


def ranks_of_extensions(labels: Sequence[str]) -> Ranks | None:
    """Return ranks of levels of which one is denied by another or extended by the others; None for other levels.

    Examples
    --------
    >>> from clinclust.drafting.orders.extensions import ranks_of_extensions
    >>> ranks_of_extensions(["dengue", "dengue with warning signs", "severe dengue"])
    [0.0, 1.0, 10.0]
    >>> ranks_of_extensions(["eligible", "eligible with restrictions", "not eligible"])
    [2.0, 1.0, 0.0]
    """
    if len(labels) != len(set(labels)) or len(labels) < 3:
        return None
    for label in labels:
        others = [one for one in labels if one != label]
        denial = [one for one in others if denies(one, label)]
        extended = [one for one in others if one not in denial and _extends(one, label)]
        between = extended or [one for one in others if one not in denial and rank_in("frequency", stems_of(one))]
        if len(denial) == 1 and len(between) == 1 == len(labels) - 2:
            return [{label: 2.0, denial[0]: 0.0}.get(one, 1.0) for one in labels]
        ranks = [0.0 if one == label else _degree(stems_of(one), stems_of(label)) for one in labels]
        known = [rank for rank in ranks if rank is not None]
        if len(set(known)) == len(labels) and max(known) >= _SEVERE:
            return known
    return None


def _extends(longer: str, shorter: str) -> bool:
    """Return whether one text holds all words of the other, one behind another, and more."""
    words, base = stems_of(longer), stems_of(shorter)
    return len(words) > len(base) > 0 and any(
        words[start : start + len(base)] == base for start in range(len(words) - len(base) + 1)
    )


def _degree(words: Phrase, base: Phrase) -> float | None:
    """Return how much what is added to a level says: that something comes with it, or that it is severe."""
    if not base or len(words) <= len(base):
        return None
    if words[: len(base)] == base:
        rest = words[len(base) :]
    elif words[-len(base) :] == base:
        rest = words[: -len(base)]
    else:
        return None
    if (rest[0],) in _WITH:
        return _MORE
    rank = rank_in("amount", rest)
    return None if rank is None or rank <= 0 else _SEVERE * max(rank / 2.5, 1.0)


def ranks_of_two_orders(labels: Sequence[str]) -> Ranks | None:
    """Return ranks of levels that name a course and a severity, or that what they name is absent; None for others.

    Examples
    --------
    >>> from clinclust.drafting.orders.extensions import ranks_of_two_orders
    >>> ranks_of_two_orders(["absent", "intermittent mild", "persistent mild", "persistent moderate to severe"])
    [-1000.0, -2.0, 98.0, 101.25]
    """
    ranks: Ranks = []
    for label in labels:
        words = stems_of(label)
        courses = [word for word in words if (word,) in _COURSES]
        if is_absent(label):
            ranks.append(-1000.0)
        elif len(courses) == 1:
            severity = rank_in("amount", tuple(word for word in words if word not in courses)) if words[1:] else -2.0
            if severity is None:
                return None
            ranks.append(_COURSES[(courses[0],)] + severity)
        else:
            return None
    return ranks
