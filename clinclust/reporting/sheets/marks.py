"""What marks a subtype: the features in which it lies farthest from all subjects, as the subtype table shows them.

Each text is made of the cells of the subtype table, so that the first page cannot say anything else than this table.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clinclust.comparisons.frame import ALL_SUBJECTS, is_missing
from clinclust.reporting.layout import WITHHELD, number_text
from clinclust.reporting.profiles import Profiles, profiles_of
from clinclust.reporting.subtype_table.summaries import Compared, Summary, decimals_of, parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clinclust.reporting.findings import Findings

__all__ = ["LEAST_MARK", "MOST_MARKS", "Marks", "marks_of"]

MOST_MARKS = 3
LEAST_MARK = 0.25
"""Distance from all subjects, in standard deviations, below which a feature is not named."""
_NOTHING = "–"
_CALLED: dict[Summary, str] = {"mean": "mean ", "median": "median ", "rate": "mean "}


class Marks(NamedTuple):
    """The features in which a subtype lies higher and lower than all subjects, each in words, the farthest first."""

    higher: list[str]
    lower: list[str]
    is_withheld: bool
    """Whether numbers of the subtype are withheld, so that more may mark it than is named."""

    def cells(self) -> list[str]:
        """Return the two texts of a table."""
        nothing = WITHHELD if self.is_withheld else _NOTHING
        return ["; ".join(named) or nothing for named in (self.higher, self.lower)]


def marks_of(findings: Findings) -> list[Marks]:
    """Return what marks each subtype, in the order of the subtypes."""
    profiles, compared = profiles_of(findings.comparisons), Compared(findings.comparisons)
    candidates = _candidates(findings, profiles)
    in_words = partial(_in_words, findings, compared, profiles)
    marks = []
    for place, subtype in enumerate(profiles.subtypes):
        farthest = list(_farthest(profiles, candidates, place))
        sides = [
            [text for row, distance in farthest if sign * distance > 0 and (text := in_words(row, subtype))]
            for sign in (1, -1)
        ]
        # Every row of a rounded frame counts as withheld, whether or not its numbers are shown.
        lacks = np.isnan(profiles.standardised[:, place])
        is_withheld = bool((lacks if profiles.is_rounded else profiles.withheld[:, [0, place + 1]]).any())
        marks.append(Marks(sides[0][:MOST_MARKS], sides[1][:MOST_MARKS], is_withheld))
    return marks


def _candidates(findings: Findings, profiles: Profiles) -> list[int]:
    """Return the rows that may be named.

    Those of a search have a relevance above 0. Given subtypes have none, so every feature is a candidate; so is one
    whose relevance is withheld, because to leave it out would tell its sign.
    """
    if findings.fit is None:
        return list(range(len(profiles.features)))
    relevance = findings.fit.feature_relevance_.to_dict()
    return [
        row
        for row, feature in enumerate(profiles.features)
        if feature in profiles.withheld_features or relevance.get(feature, 0.0) > 0
    ]


def _farthest(profiles: Profiles, candidates: list[int], place: int) -> Iterator[tuple[int, float]]:
    """Yield the rows that lie far from all subjects, the farthest first, and one row for each feature and side."""
    distances = profiles.standardised[:, place]
    far = [row for row in candidates if abs(distances[row]) >= LEAST_MARK]
    seen: set[tuple[str, bool]] = set()
    for row in sorted(far, key=lambda row: -abs(distances[row])):
        side = (profiles.features[row], bool(distances[row] > 0))
        if side not in seen:
            seen.add(side)
            yield row, float(distances[row])


def _in_words(findings: Findings, compared: Compared, profiles: Profiles, row: int, subtype: int) -> str:
    """Return a feature with its number in the subtype and in all subjects; empty if either is withheld."""
    level = profiles.levels[row]
    feature = next(part for part in compared.features[profiles.features[row]].parts if level in part.summaries)
    summary, records = profiles.summaries[row], feature.summaries[level]
    place = 1 if summary == "n" else 0  # after the count comes the percentage
    found = [parts(records[group], summary) for group in (subtype, ALL_SUBJECTS)]
    numbers = [None if cell is None else cell[place] for cell in found]
    here, everywhere = (
        None if number is None else number_text(number, "measure", decimals_of(feature, summary)) for number in numbers
    )
    if here is None or everywhere is None or here == everywhere:
        return ""
    if summary == "n":
        return f"{profiles.titles[row]}: {here}% ({everywhere}%)"
    declared = findings.model.schema_[feature.name]
    has_ends = declared.range_text is not None and not is_missing(records[ALL_SUBJECTS]["minimum"])
    scale = f" on {declared.range_text}" if has_ends else ""
    unit = f" {feature.unit}" if feature.unit and not scale else ""
    return f"{profiles.titles[row]}: {_CALLED[summary]}{here}{unit} ({everywhere}){scale}"
