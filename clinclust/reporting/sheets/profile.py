"""The sheet Profile: a heat map of how far each subtype lies from all subjects in the most relevant features."""

from __future__ import annotations

import math

from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value
from clinclust.reporting.profiles import profiles_of
from clinclust.reporting.sheets.few_subjects import explained_marks, remark

__all__ = ["profile"]

_MOST_FEATURES = 40
_SHOWN = {"n": "share", "mean": "mean", "rate": "mean", "median": "median"}
_MEDIANS = (
    "Medians stand for features that are skewed or ordered levels, as in the Subtype table; their distance is in "
    "standard deviations of a normal distribution with the same quartiles."
)


def profile(findings: Findings) -> Sheet:
    """Return the sheet: distance of each subtype from all subjects in standard deviations, by feature or level."""
    profiles = profiles_of(findings.comparisons)
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
        *([_MEDIANS] if profiles.has_medians else []),
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
