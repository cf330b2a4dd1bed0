"""Gather the findings of a report: compare the subtypes, withhold numbers, validate the associations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clinclust.associations import validated_associations
from clinclust.associations.persons import persons_of
from clinclust.comparisons import compare_subtypes
from clinclust.comparisons.cohort_columns import ignored_columns
from clinclust.comparisons.dominance import dominant_in
from clinclust.estimators.fitted_cohort import cohort_of
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.subtype_model import fewest_subjects
from clinclust.progress import Progress
from clinclust.reporting.findings import Findings
from clinclust.stability import Stability, assess_stability

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.gibbs import GibbsDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.method_comparison import MethodComparison
    from clinclust.reporting.options import ReportOptions

__all__ = ["gathered_findings"]


def gathered_findings(
    model: SubtypeModel, frame: pd.DataFrame, options: ReportOptions, *, dominant: pd.DataFrame | None = None
) -> Findings:
    """Return the findings of a report whose arguments `check_report` has checked.

    The validated associations come last because they need searches: an earlier error then costs no search. The dominant
    columns are looked for in `frame`, unless they are given.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema of the model.
    ValueError
        If `frame` is not the cohort of the model, or the cohort is too small to withhold counts in it.

    Warns
    -----
    CohortWarning
        If the rows of `frame` are in another order than at the fit; they are put back into it.
    """
    # Every association is a function of exact counts, so that a report of rounded ones has none.
    associations = None if options.round_to is not None else options.associations
    persons = persons_of(model, frame, None) if isinstance(associations, str) else None
    table, frame = frame, cohort_of(model, frame, stacklevel=4)
    comparisons, level = options.comparisons, options.significance_level
    min_size = max(options.min_size, fewest_subjects(model))
    if comparisons is None:
        with Progress(options.progress).stage("comparisons"):
            comparisons = compare_subtypes(
                frame, model.labels_, model.schema_, min_size=min_size, significance_level=level
            )
    if dominant is None:
        dominant = dominant_in(model, frame, ignored_columns(table, frame))
    names = {**model.names_, **options.names}
    findings = Findings(model, frame, comparisons, level, None, names, min_size=min_size, dominant=dominant)
    if options.suppress is not None:
        findings = findings.for_sharing(
            options.suppress,
            rounding=options.round_to,
            missing_is_harmless=options.missing_is_harmless,
            min_n=options.min_n,
        )
    if isinstance(associations, str):
        associations = validated_associations(
            model,
            frame,
            method=associations,
            min_size=options.min_size,
            persons=persons,
            n_jobs=options.n_jobs,
            progress=options.progress,
        )
    findings = findings if associations is None else findings.with_associations(associations)
    if findings.is_shared:  # it has no functions of all counts
        return findings
    # One group has nothing that could come apart.
    may_come_apart = model.fit_ is not None and len(findings.sizes) > 1
    stability = _stability(model, frame, options) if may_come_apart else None
    drawn = _drawn(model, frame, options)
    return replace(findings, stability=stability, drawn=drawn, other_methods=_compared(model, frame, options))


def _stability(model: SubtypeModel, frame: pd.DataFrame, options: ReportOptions) -> Stability | None:
    if options.stability is None or isinstance(options.stability, Stability):
        return options.stability
    return assess_stability(
        model,
        frame,
        int(options.stability),
        whole_procedure=options.whole_procedure,
        n_jobs=options.n_jobs,
        progress=options.progress,
    )


def _drawn(model: SubtypeModel, frame: pd.DataFrame, options: ReportOptions) -> GibbsDP | None:
    if not isinstance(options.posterior, bool):
        return options.posterior
    if not options.posterior or model.fit_ is None:
        return None
    from clinclust.estimators.posterior_around import posterior_around

    return posterior_around(model, frame, n_jobs=options.n_jobs, progress=options.progress)


def _compared(model: SubtypeModel, frame: pd.DataFrame, options: ReportOptions) -> MethodComparison | None:
    if not isinstance(options.other_methods, bool):
        return options.other_methods
    if not options.other_methods or not isinstance(model, MAPDP):
        return None
    from clinclust.method_comparison import compare_methods

    return compare_methods(frame, model.schema_, model=model, progress=options.progress)
