"""What marks a subtype: the sheet Profile, and the features that the first page names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from clinclust.comparisons.frame import ALL_SUBJECTS, is_missing
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value, number_text
from clinclust.reporting.profiles import Profiles
from clinclust.reporting.sheets.groups import explained_marks, remark
from clinclust.reporting.subtype_table.summaries import Compared, Summary, decimals_of, parts

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


MOST_MARKS = 3
LEAST_MARK = 0.25
"""Distance from all subjects, in standard deviations, below which a feature is not named."""
_NOTHING = "–"
_CALLED: dict[Summary, str] = {"mean": "mean ", "median": "median "}


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
    """Return what marks each subtype, in the order of the subtypes, in texts made of the cells of the subtype table."""
    profiles, compared = findings.profiles, Compared(findings.comparisons)
    candidates = _candidates(findings, profiles)
    in_words = partial(_in_words, findings, compared, profiles)
    marks = []
    for place, subtype in enumerate(profiles.subtypes):
        farthest = list(_farthest(profiles, candidates, place))
        higher, lower = (
            [text for row, distance in farthest if sign * distance > 0 and (text := in_words(row, subtype))]
            for sign in (1, -1)
        )
        # Every row of a rounded frame counts as withheld, whether or not its numbers are shown.
        lacks = np.isnan(profiles.standardised[:, place])
        is_withheld = bool((lacks if profiles.is_rounded else profiles.withheld[:, [0, place + 1]]).any())
        marks.append(Marks(higher[:MOST_MARKS], lower[:MOST_MARKS], is_withheld))
    return marks


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


def _in_words(findings: Findings, compared: Compared, profiles: Profiles, row: int, subtype: int) -> str:
    """Return a feature with its number in the subtype and in all subjects; empty if either is withheld."""
    level = profiles.levels[row]
    feature = next(part for part in compared.features[profiles.features[row]].parts if level in part.summaries)
    summary, records = profiles.summaries[row], feature.summaries[level]
    texts = []
    for group in (subtype, ALL_SUBJECTS):
        cell = parts(records[group], summary)
        number = None if cell is None else cell[summary == "n"]  # after the count comes the percentage
        texts.append("" if number is None else number_text(number, "measure", decimals_of(feature, summary)))
    here, everywhere = texts
    if not here or not everywhere or here == everywhere:
        return ""
    if summary == "n":
        return f"{profiles.titles[row]}: {here}% ({everywhere}%)"
    declared = findings.model.schema_[feature.name]
    has_ends = declared.range_text is not None and not is_missing(records[ALL_SUBJECTS]["minimum"])
    scale = f" on {declared.range_text}" if has_ends else ""
    unit = f" {feature.unit}" if feature.unit and not scale else ""
    return f"{profiles.titles[row]}: {_CALLED[summary]}{here}{unit} ({everywhere}){scale}"
