"""What is to be shown: which features, subtypes and tests, line by line, still as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from clinclust.comparisons.frame import ALL_SUBJECTS, Record, is_missing
from clinclust.files.visible_text import visible
from clinclust.reporting.subtype_table.compared import Compared, ComparedFeature
from clinclust.reporting.subtype_table.summaries import Summary

__all__ = ["Line", "Missing", "Plan", "clean"]

Missing: TypeAlias = Literal["column", "rows", "none"]

# A yes/no feature whose answer is one of these is its own label: "Tremor", but "Sex: female".
_PLAIN_YES = ("yes", "y", "true", "1", "present")


def clean(text: str) -> str:
    """Return a text of the data in one line, without characters that hide or reorder others."""
    return " ".join(visible(text).split())


@dataclass(frozen=True)
class Line:
    """A line of the table: a feature, the heading of its levels, a level, or its missing values."""

    kind: Literal["feature", "heading", "level", "missing"]
    feature: ComparedFeature
    summary: Summary
    level: str | None = None

    @property
    def records(self) -> dict[int, Record]:
        """Summaries by subtype; of a heading those of the first level."""
        return self.feature.summaries[self.level] if self.kind in ("feature", "level") else self.feature.any_level

    @property
    def title(self) -> str:
        """The feature with its unit and, unless it is a plain yes, the answer that is counted."""
        feature = self.feature
        title = f"{feature.label} ({feature.unit})" if feature.unit else feature.label
        is_answer = self.kind == "feature" and self.level is not None and self.level.lower() not in _PLAIN_YES
        return clean(f"{title}: {self.level}" if is_answer else title)


@dataclass(frozen=True)
class Plan:
    """Everything chosen.

    Attributes
    ----------
    compared : Compared
    associations : dict or None
        Rows of the validated associations by feature.
    names : dict
        Of subtypes.
    features : sequence of ComparedFeature
        Those of a section stand together.
    summaries : dict
        By name of a feature.
    subtypes : sequence of int
    between : tuple of two int, or None
        The pair whose test is shown instead of the contrast.
    overall : bool
    missing : {"column", "rows", "none"}
    """

    compared: Compared
    associations: Mapping[str, Record] | None
    names: Mapping[int, str]
    features: Sequence[ComparedFeature]
    summaries: Mapping[str, Summary]
    subtypes: Sequence[int]
    between: tuple[int, int] | None
    overall: bool
    missing: Missing

    @property
    def groups(self) -> list[int]:
        """The groups of subjects that have a column; 0 = all subjects."""
        return [ALL_SUBJECTS, *self.subtypes] if self.overall else list(self.subtypes)

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the table in order."""
        for feature in self.features:
            summary = self.summaries[feature.name]
            if feature.traits.is_nominal:
                yield Line("heading", feature, summary)
            for level in feature.summaries:
                yield Line("level" if feature.traits.is_nominal else "feature", feature, summary, level)
            if self.missing == "rows" and any(_any_missing(feature, group) for group in self.groups):
                yield Line("missing", feature, summary)

    def descriptive(self, line: Line) -> Record:
        """Return the test whose p is shown in a line; empty if none is."""
        return descriptive_test(line, self.between)

    def validated(self, line: Line) -> Record:
        """Return the validated association shown in a line; empty if none is."""
        shown = self.associations is not None and line.kind in ("feature", "heading")
        return dict((self.associations or {}).get(line.feature.name, {})) if shown else {}

    def heading(self, group: int) -> tuple[str, ...]:
        """Lines above a column: who, the name if there is one, and how many."""
        sizes = self.compared.sizes
        size, total = sizes[group], sizes[ALL_SUBJECTS]
        number = "n = [c]" if size is None else f"n = {size}"
        if group == ALL_SUBJECTS:
            return ("All subjects", number)
        if size is not None and total:
            number += f" ({100 * size / total:.1f}%)"
        name = [clean(self.names[group])] if group in self.names else []
        return (f"Subtype {group}", *name, number)


def descriptive_test(line: Line, between: tuple[int, int] | None) -> Record:
    """Return the contrast of all subtypes, or the test of a pair; empty where a line has none."""
    if line.kind == "missing":
        return {}
    if between is None:
        return {} if line.kind == "level" else line.feature.contrast
    if line.kind == "heading":
        return {}
    a, b = sorted(between)
    test = line.feature.tests.get((line.level, a, b), {})
    return test | {"test": "Student's t"} if test else {}


def _any_missing(feature: ComparedFeature, group: int) -> bool:
    number = feature.any_level[group]["missing"]
    return is_missing(number) or number > 0
