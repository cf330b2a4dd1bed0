"""The features that a continuum score stands for, where the cohort is one continuum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.reporting.layout import WITHHELD, Column, Table, Value

if TYPE_CHECKING:
    from clinclust.reporting.continuum_score import Continuum
    from clinclust.reporting.findings import Findings
    from clinclust.schema import Feature

__all__ = ["continuum_table", "on_continuum_score"]

_STRONGEST = 5
_HOW_TO_READ = (
    "A higher score goes with higher values of most features; which end is the worse, the features below tell."
)


def on_continuum_score(findings: Findings) -> list[str]:
    """Return what the continuum score is and where it stands; empty if the cohort is not one continuum.

    Where counts are rounded, the report has nothing of the score, which is a function of all values.
    """
    continuum = findings.continuum
    if continuum is None or findings.is_rounded:
        return []
    where = (
        "This report is made to be shared and lists nobody's score"
        if findings.is_shared
        else "Every subject's score is in the column “Continuum score” of Assignments"
    )
    share = "" if findings.is_shared else _share(continuum)
    return [
        "Continuum score: one number for the place of a subject in the continuum, in standard deviations from the mean "
        "of the cohort. It is the first principal component of the features clustered on, each as the normal score of "
        f"its ranks.{share} {where}. {_HOW_TO_READ}"
    ]


def _share(continuum: Continuum) -> str:
    """Return the share of the variance along the axis, and what independent features would give."""
    carried = f" It carries {100 * continuum.share:.0f}% of the variance of these scores"
    if continuum.is_by_chance:
        return (
            f"{carried}, and features that are independent of each other give about "
            f"{100 * continuum.share_by_chance:.0f}%: these features hardly depend on each other, and the score orders "
            "subjects by chance."
        )
    return f"{carried}."


def continuum_table(findings: Findings) -> list[Table]:
    """Return the features that correlate most with the score; no table if the cohort is not one continuum."""
    continuum = findings.continuum
    if continuum is None or findings.is_rounded:
        return []
    columns = [Column("Feature"), Column("With a higher score"), Column("Correlation", "0.00")]
    return [Table("Features that the continuum score stands for", columns, _rows(findings, continuum))]


def _rows(findings: Findings, continuum: Continuum) -> list[list[Value]]:
    """Return the strongest features; correlations are functions of all values, so a shared report withholds them.

    It leaves out features of which a number is withheld, whose place and sign would tell of it.
    """
    rows: list[list[Value]] = []
    shown = [
        name for name in continuum.correlations.index if not findings.is_withheld(findings.model.schema_[str(name)])
    ]
    for name, correlation in continuum.correlations[shown].iloc[:_STRONGEST].items():
        feature, value = findings.model.schema_[str(name)], float(correlation)
        rows.append([feature.title, _direction(feature, value), WITHHELD if findings.is_shared else value])
    return rows


def _direction(feature: Feature, correlation: float) -> str:
    """Return how a feature changes with the score."""
    if feature.traits.is_nominal:
        return "the levels change"
    if feature.traits.is_share:
        return "more often" if correlation > 0.0 else "less often"
    return "higher" if correlation > 0.0 else "lower"
