"""Numbers and lists in sentences, the names of tests and methods, and the works that a report may cite."""

from __future__ import annotations

from collections.abc import Sequence

from clinclust.data import data

METHODS = {
    "refit": "subtypes found again, in the same subjects, without the feature and those left out with it",
    "direct": "the feature had no part in finding the subtypes, which are tested as they are",
}
"""The methods of `validated_associations`."""


def counted(number: int, noun: str, ending: str = "s") -> str:
    """Return a number of things: "1 subtype", "2 subtypes"."""
    return f"{number:,} {noun}{'' if number == 1 else ending}"


def was(number: int) -> str:
    """Return "was" of one thing, else "were"."""
    return "was" if number == 1 else "were"


def listed(parts: Sequence[str], comma: str = ", ") -> str:
    """Return a list in words: "a, b and c"."""
    *most, last = parts
    return f"{comma.join(most)} and {last}" if most else last


class References:
    """Collects the works that are cited, of those in `clinclust/data/references.toml`."""

    def __init__(self) -> None:
        self._cited: set[str] = set()

    def cite(self, key: str) -> str:
        """Record that a work is cited, and return the citation for the text: author and year."""
        self._cited.add(key)
        return str(data("references")[key]["cited"])

    def listed(self) -> list[str]:
        """Return the full references of the works cited, ordered by author and year."""
        return sorted(data("references")[key]["full"] for key in self._cited)


# Tests by their name in the comparisons: name in a sentence, and key of the reference.
_TESTS = {
    "Student's t": ("Student’s t-test", "student"),
    "Welch's t": ("Welch’s t-test", "welch"),
    "ANOVA": ("one-way analysis of variance", "anova"),
    "Welch's ANOVA": ("Welch’s analysis of variance", "welch anova"),
    "Mann-Whitney": ("the Mann–Whitney test", "mann-whitney"),
    "Kruskal-Wallis": ("the Kruskal–Wallis test", "kruskal"),
    "chi-squared": ("the chi-squared test", "chi-squared"),
    "Fisher's exact": ("Fisher’s exact test", "exact"),
    "Fisher's exact (simulated)": (
        "Fisher’s exact test, p from 9,999 random tables of the same margins",
        "exact tables",
    ),
}


def tests_in_words(names: Sequence[str], references: References | None) -> str:
    """Return the names of tests of the comparisons as a list in words, each with its reference if they are cited."""
    called = []
    of_parts = "Fisher's combination of "  # the tests of both parts of a feature with point masses
    for name in names:
        if name.startswith(of_parts):
            both = tests_in_words(name.removeprefix(of_parts).split(", "), references)
            called.append(f"Fisher’s combination of {both}")
            continue
        title, key = _TESTS.get(name, (name, None))
        called.append(f"{title} ({references.cite(key)})" if references and key else title)
    return listed(called)
