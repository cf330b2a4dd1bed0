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

__all__ = ["groups_found", "number_asked_for", "sentence_on_unions", "unions_in_words"]


def groups_found(fit: Fit) -> int | None:
    """Return how many groups the search found, if they were merged to fewer subtypes; else None."""
    n_groups = int(fit.subtype_of_.size)
    return n_groups if n_groups > fit.n_clusters_ else None


def number_asked_for(findings: Findings) -> int | None:
    """Return the number of subtypes that was asked for; None if it follows from the data."""
    asked = parameters_of(findings.model).get("n_clusters")
    return int(asked) if isinstance(asked, Integral) else findings.n_asked


def unions_in_words(findings: Findings) -> str:
    """Return what follows the number of subtypes: how many were asked for, and of what they are unions; or nothing."""
    if findings.fit is None:
        return ""
    n_groups = groups_found(findings.fit)
    n_asked = number_asked_for(findings)
    asked = n_asked is not None
    if n_groups is None:
        if n_asked is not None and n_asked > findings.fit.n_clusters_:
            return f" ({n_asked} were asked for, and the search found no more)"
        return ", as many as asked for" if asked else ""
    all_in_one = findings.fit.n_clusters_ == 1
    unions = f"{'the union' if all_in_one else 'unions'} of the {n_groups} groups that the search found"
    if asked and merged_small_groups(findings):
        return f" ({n_asked} were asked for, and small ones were merged): {unions}"
    if n_asked is not None and n_asked > n_groups:
        return f" ({n_asked} were asked for, and the search found no more groups): {unions}"
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
    if parameters_of(findings.model).get("n_clusters") is None and merged_small_groups(findings):
        return [f"{number}. No subject changed its group."]
    if shows_distinct_subtypes(findings.fit):
        return [f"{number}. Groups whose division was not distinct were merged; no subject changed its group."]
    n_asked = number_asked_for(findings)
    if n_asked is not None and n_asked > findings.fit.subtype_of_.size:
        return [f"{number}. No subject changed its group."]
    n_left = n_subtypes if n_asked is None else n_asked
    return [
        f"{number}. Groups were merged, each time the two with the least evidence between them, until {n_left} "
        f"{'was' if n_left == 1 else 'were'} left; no subject changed its group."
    ]
