"""What marks a subtype: the sheet Profile, and the features that the first page names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from clinclust.comparisons.frame import ALL_SUBJECTS
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value, number_text
from clinclust.reporting.profiles import Profiles
from clinclust.reporting.sheets.groups import explained_marks, remark
from clinclust.reporting.subtype_table.summaries import Compared, decimals_of, parts

_MOST_FEATURES = 40
_SHOWN = {"n": "share", "mean": "mean", "median": "median"}
MEDIANS = (
    "Of features that are skewed or ordered levels: the median, as in the Subtype table; its distance is in standard "
    "deviations of a normal distribution with the same quartiles."
)


def profile(findings: Findings) -> Sheet:
    """Return the sheet: distance of each subtype from all subjects in standard deviations, by feature or level."""
    profiles = findings.profiles
    group = ("Distance from all subjects, in SD", "")
    columns = [Column("Feature"), Column("Level"), Column("Section"), Column("Of the"), *findings.relevance_column]
    columns += [Column(_title(findings, subtype), "0.00", group) for subtype in profiles.subtypes]
    # Given subtypes may differ in any feature, so all features are shown.
    marking = [feature for feature in findings.by_relevance if findings.fit is None or findings.clustered_on(feature)]
    shown = marking[:_MOST_FEATURES]
    rows: list[list[Value]] = []
    for feature in shown:
        for place, (name, level) in enumerate(zip(profiles.features, profiles.levels, strict=True)):
            if name == feature.name:
                about: list[Value] = [profiles.labels[place], level, feature.section, _SHOWN[profiles.summaries[place]]]
                distances = profiles.standardised[place].tolist()
                is_withheld = (profiles.withheld[place, 1:] | profiles.withheld[place, 0]).tolist()
                cells = [_cell(*each) for each in zip(distances, is_withheld, strict=True)]
                rows.append([*about, *findings.relevance_cell(feature), *cells])
    order = "whose means lie farthest apart" if findings.fit is None else "with the largest relevance"
    if findings.fit is not None and findings.is_rounded:
        order = "that come first in the schema"
    notes = [
        "Blue: above all subjects, orange: below, white: about equal; the colours are full at one standard deviation. "
        f"The {len(shown)} features {order}, in this order. Descriptive: found in the same subjects as the subtypes.",
        *([MEDIANS] if profiles.has_medians else []),
        *explained_marks(findings),
    ]
    first = len(columns) - len(profiles.subtypes)
    table = Table("Profile of the subtypes", columns, rows, stub=2, diverging=(first, len(columns) - 1))
    return Sheet("Profile", notes, [table])


def _title(findings: Findings, subtype: int) -> str:
    remarked = remark(findings, subtype)
    return findings.name(subtype) if remarked is None else f"{findings.name(subtype)} ({remarked})"


def _cell(distance: float, is_withheld: bool) -> Value:
    if math.isnan(distance):
        return WITHHELD if is_withheld else None
    return distance if math.isfinite(distance) else None


LEAST_MARK = 0.25
"""Distance from all subjects, in standard deviations, below which a feature is not named."""
_MOST_WORDS = 36
"""Words of names and marks of all subtypes for which a first page read in a minute has room."""
_LENGTHS = ((4, True), (3, True), (2, True), (2, False), (1, False))
"""Features named of each subtype, and whether they propose its name; the first that has room, else the last."""
_UP, _DOWN, _NOTHING = "\N{UPWARDS ARROW}", "\N{DOWNWARDS ARROW}", "–"


class Marks(NamedTuple):
    """The features in which a subtype lies farthest from all subjects."""

    marks: list[str]
    """Each as "↑Urea 72 mmol/L (41)": the direction, the number in the subtype, and in brackets that of everybody."""
    name: str
    """The name proposed from the first ones; empty without any, or without room for it."""
    is_withheld: bool
    """Whether numbers of the subtype are withheld, so that more may mark it than is named."""

    @property
    def text(self) -> str:
        """The marks in one cell."""
        return "\n".join(self.marks) or (WITHHELD if self.is_withheld else _NOTHING)


def marks_of(findings: Findings) -> list[Marks]:
    """Return what marks each subtype, in the order of the subtypes, in texts made of the cells of the subtype table."""
    profiles, compared = findings.profiles, findings.read
    candidates = _candidates(findings, profiles)
    found = []
    for place, subtype in enumerate(profiles.subtypes):
        shown, named = [], []
        for row, distance in _farthest(profiles, candidates, place):
            if text := _in_words(findings, compared, profiles, row, subtype):
                shown.append(f"{_UP if distance > 0 else _DOWN}{text}")
                named.append(_called(profiles, row, is_higher=distance > 0))
        # Every row of a rounded frame counts as withheld, whether or not its numbers are shown.
        lacks = np.isnan(profiles.standardised[:, place])
        is_withheld = bool((lacks if profiles.is_rounded else profiles.withheld[:, [0, place + 1]]).any())
        found.append((shown, named, is_withheld))
    numbers = _telling_apart([named for _, named, _ in found])
    for most, is_named in _LENGTHS:
        marks = [
            Marks(shown[: max(most, number * is_named)], ", ".join(named[: number * is_named]), is_withheld)
            for (shown, named, is_withheld), number in zip(found, numbers, strict=True)
        ]
        if sum(len(f"{mark.name} {mark.text}".split()) for mark in marks) <= _MOST_WORDS:
            break
    return marks


def _telling_apart(named: list[list[str]]) -> list[int]:
    """Return how many of its marks name each subtype: one, and more where others have the same."""
    numbers = [min(1, len(marks)) for marks in named]
    while True:
        called = Counter(frozenset(marks[:number]) for marks, number in zip(named, numbers, strict=True))
        longer = [
            min(number + (called[frozenset(marks[:number])] > 1), len(marks))
            for marks, number in zip(named, numbers, strict=True)
        ]
        if longer == numbers:
            return numbers
        numbers = longer


def _called(profiles: Profiles, row: int, *, is_higher: bool) -> str:
    words = ("more", "less") if profiles.summaries[row] == "n" else ("higher", "lower")
    title = profiles.titles[row]
    return f"{words[0 if is_higher else 1]} {title[:1].lower() + title[1:] if title[1:2].islower() else title}"


def _candidates(findings: Findings, profiles: Profiles) -> list[int]:
    # Those of a search have a relevance above 0. Given subtypes have none; to leave one out whose relevance is withheld
    # would disclose its sign.
    relevance = {} if findings.fit is None else findings.fit.feature_relevance_.to_dict()
    named = {*profiles.withheld_features, *(feature for feature, nats in relevance.items() if nats > 0)}
    return [row for row, name in enumerate(profiles.features) if findings.fit is None or name in named]


def _farthest(profiles: Profiles, candidates: list[int], place: int) -> Iterator[tuple[int, float]]:
    """Yield the rows that lie far from all subjects, the farthest first, one for each feature and direction."""
    distances = profiles.standardised[:, place]
    far = [row for row in candidates if abs(distances[row]) >= LEAST_MARK]
    seen: set[tuple[str, bool]] = set()
    for row in sorted(far, key=lambda row: -abs(distances[row])):
        side = (profiles.features[row], bool(distances[row] > 0))
        if side not in seen:
            seen.add(side)
            yield row, float(distances[row])


def _printed(number: float, decimals: int) -> str:
    return number_text(number, "measure", decimals).replace("-", "\N{MINUS SIGN}")


def _in_words(findings: Findings, compared: Compared, profiles: Profiles, row: int, subtype: int) -> str:
    """Return a feature with its number in the subtype and in all subjects; empty if either is withheld."""
    level = profiles.levels[row]
    feature = next(part for part in compared.features[profiles.features[row]].parts if level in part.summaries)
    summary, records = profiles.summaries[row], feature.summaries[level]
    texts = []
    for group in (subtype, ALL_SUBJECTS):
        cell = parts(records[group], summary)
        number = None if cell is None else cell[summary == "n"]  # after the count comes the percentage
        texts.append("" if number is None else _printed(number, decimals_of(feature, summary)))
    here, everywhere = texts
    if not here or not everywhere or here == everywhere:
        return ""
    if summary == "n":
        return f"{profiles.titles[row]} {here}% ({everywhere}%)"
    unit = f" {feature.unit}" if feature.unit else ""
    return f"{profiles.titles[row]} {here}{unit} ({everywhere})"
