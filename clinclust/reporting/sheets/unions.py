"""What a report says of subtypes that are unions of the groups that the search found."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

from clinclust.estimators.subtype_model import parameters_of
from clinclust.reporting.divisions import shows_distinct_subtypes
from clinclust.reporting.sheets.few_subjects import merged_small_groups

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.reporting.findings import Findings

__all__ = ["groups_found", "sentence_on_unions", "unions_in_words"]


def groups_found(fit: Fit) -> int | None:
    """Return how many groups the search found, if they were merged to fewer subtypes; else None."""
    n_groups = int(fit.subtype_of_.size)
    return n_groups if n_groups > fit.n_clusters_ else None


def unions_in_words(findings: Findings) -> str:
    """Return what follows the number of subtypes: that it was asked for, and of what they are unions; perhaps empty."""
    if findings.fit is None:
        return ""
    n_groups = groups_found(findings.fit)
    n_asked = parameters_of(findings.model).get("n_clusters")
    asked = isinstance(n_asked, Integral)
    if n_groups is None:
        return ", as many as asked for" if asked else ""
    all_in_one = findings.fit.n_clusters_ == 1
    unions = f"{'the union' if all_in_one else 'unions'} of the {n_groups} groups that the search found"
    if asked and merged_small_groups(findings):
        return f" ({n_asked} were asked for, and small ones were merged): {unions}"
    return f"{', as asked for' if asked else ''}: {unions}"


def sentence_on_unions(findings: Findings) -> list[str]:
    """Return the sentence of the methods section on the number of subtypes; empty if it follows from the data."""
    words = unions_in_words(findings)
    if findings.fit is None or not words:
        return []
    n_subtypes = findings.fit.n_clusters_
    number = f"The number of subtypes is {n_subtypes}{words}"
    if groups_found(findings.fit) is None:
        return [f"{number}."]
    n_asked = parameters_of(findings.model).get("n_clusters")
    if n_asked is None and merged_small_groups(findings):
        return [f"{number}. No subject changed its group."]
    if shows_distinct_subtypes(findings.fit):
        return [f"{number}. Groups whose division was not distinct were merged; no subject changed its group."]
    n_left = n_asked if isinstance(n_asked, Integral) else n_subtypes
    return [
        f"{number}. Groups were merged, each time the two with the least evidence between them, until {n_left} "
        f"{'was' if n_left == 1 else 'were'} left; no subject changed its group."
    ]
