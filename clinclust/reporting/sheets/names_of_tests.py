"""The names of tests in a sentence, with their references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clinclust.reporting.sheets.words import listed

if TYPE_CHECKING:
    from clinclust.reporting.sheets.references import References

__all__ = ["tests_in_words"]

# Tests of all subtypes at once, by their name in the comparisons: name in a sentence, and key of the reference.
_CONTRASTS = {
    "Student's t": ("Student’s t-test", "student"),
    "Welch's t": ("Welch’s t-test", "welch"),
    "ANOVA": ("one-way analysis of variance", "anova"),
    "Welch's ANOVA": ("Welch’s analysis of variance", "welch anova"),
    "Mann-Whitney": ("the Mann–Whitney test", "mann-whitney"),
    "Kruskal-Wallis": ("the Kruskal–Wallis test", "kruskal"),
    "chi-squared": ("the chi-squared test", "chi-squared"),
    "Fisher's exact": ("Fisher’s exact test", "exact"),
    "Fisher's exact (simulated)": (
        "Fisher’s exact test, its p from 9,999 random tables with the same margins",
        "exact tables",
    ),
}


def tests_in_words(names: Sequence[str], references: References) -> str:
    """Return the names of tests of the comparisons as a list in words, each with its reference if it has one."""
    called = []
    of_parts = "Fisher's combination of "  # the tests of both parts of a feature with point masses
    for name in names:
        if name.startswith(of_parts):
            both = tests_in_words(name.removeprefix(of_parts).split(", "), references)
            called.append(f"Fisher’s combination of {both}")
            continue
        title, key = _CONTRASTS.get(name, (name, None))
        called.append(f"{title} ({references.cite(key)})" if key else title)
    return listed(called)
