"""Guess sections of the report from columns whose names begin alike."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

__all__ = ["sections_of"]

_FEWEST = 3
_MOST = 0.8
"""The share of all columns from which on a common beginning says nothing."""
_STEM = re.compile(r"([^\W\d_][^\W_]*?)(?=[ ._-]|[0-9]|$)")


def sections_of(names: Iterable[str]) -> dict[str, str]:
    """Return the section of each column whose name begins like those of at least two others.

    The beginning is what stands before the first separator or digit: `phq1`, `phq2` and `phq_total` begin with phq.

    Examples
    --------
    >>> from clinclust.drafting.sections import sections_of
    >>> sections_of(["age", "phq1", "phq2", "phq_total", "lab.crp", "sex"])
    {'phq1': 'phq', 'phq2': 'phq', 'phq_total': 'phq'}
    """
    names = list(names)
    alike: dict[str, list[str]] = defaultdict(list)
    stem_of: dict[str, str] = {}
    for name in names:
        found = _STEM.match(name)
        if found is not None and len(found[1]) > 1:
            alike[found[1].casefold()].append(name)
            stem_of.setdefault(found[1].casefold(), found[1])
    enough = {stem: members for stem, members in alike.items() if _FEWEST <= len(members) <= _MOST * len(names)}
    return {name: stem_of[stem] for stem, members in enough.items() for name in members}
