"""Gather the findings of a report: compare the subtypes, withhold numbers, validate the associations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clinclust.associations import validated_associations
from clinclust.comparisons import compare_subtypes
from clinclust.reporting.findings import Findings

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.associations.associate import Method
    from clinclust.estimators.subtype_model import SubtypeModel

__all__ = ["gathered_findings"]


def gathered_findings(
    model: SubtypeModel,
    frame: pd.DataFrame,
    *,
    comparisons: pd.DataFrame | None = None,
    associations: pd.DataFrame | Method | None = None,
    names: Mapping[int, str] | None = None,
    min_size: int = 3,
    significance_level: float = 0.01,
    suppress: int | None = None,
    n_jobs: int | None = None,
) -> Findings:
    """Return the findings of a report whose arguments `check_report` has checked.

    The validated associations come last because they need searches: an earlier error then costs no search.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema of the model.
    ValueError
        If the cohort is too small to withhold counts in it.
    """
    frame = model.schema_.validate(frame, warn=False)
    if comparisons is None:
        comparisons = compare_subtypes(
            frame, model.labels_, model.schema_, min_size=min_size, significance_level=significance_level
        )
    findings = Findings(model, frame, comparisons, significance_level, None, {**model.names_, **(names or {})})
    if suppress is not None:
        findings = findings.for_sharing(suppress)
    if isinstance(associations, str):
        associations = validated_associations(model, frame, method=associations, min_size=min_size, n_jobs=n_jobs)
    return findings if associations is None else findings.with_associations(associations)
