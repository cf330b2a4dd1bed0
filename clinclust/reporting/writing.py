"""Gather the findings of a report, and write them: make the sheets and pass them to the writer of the file type."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from clinclust.associations import validated_associations
from clinclust.associations.associate import persons_of
from clinclust.comparisons.compare import compare_cohort
from clinclust.comparisons.dominance import find_dominant
from clinclust.comparisons.frame import ComparisonsFrame
from clinclust.disclosure.counts import Rule
from clinclust.disclosure.released import FACTS, SHEETS, may_be_printed
from clinclust.estimators.fitted_cohort import FittedCohort
from clinclust.estimators.gibbs import GibbsDP
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.subtype_model import fewest_subjects
from clinclust.methods.compare import compare_methods
from clinclust.progress import SILENT, Progress
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Column, Kind, Sheet, Table, Value, number_text
from clinclust.reporting.options import ReportOptions
from clinclust.reporting.sheets.associations import association_table
from clinclust.reporting.sheets.charts import charts, effect_sizes
from clinclust.reporting.sheets.codebook import DATA, codebook, tidy_data
from clinclust.reporting.sheets.methods import methods_sheet
from clinclust.reporting.sheets.model_check import likelihoods_sheets, model_check_sheets
from clinclust.reporting.sheets.outcomes import outcomes_sheets
from clinclust.reporting.sheets.overview import overview
from clinclust.reporting.sheets.posterior import posterior_sheets
from clinclust.reporting.sheets.profile import profile
from clinclust.reporting.sheets.stability import other_methods_sheets, stability_sheets
from clinclust.reporting.sheets.subjects import ASSIGNMENTS, assignments, unusual_sheets
from clinclust.reporting.sheets.subtypes import missing_data, pairwise_tests, table_of_report
from clinclust.reporting.sheets.summary import summary
from clinclust.reporting.sheets.trust import trust
from clinclust.reporting.sheets.withheld import withheld
from clinclust.stability import Stability, assess_stability

_FACTS = "Item"  # heading of the first column of a table with one fact in a row


def as_shared(sheets: Sequence[Sheet]) -> Iterator[Sheet]:
    """Yield the sheets that a shared report may print, with those of their columns and facts that are listed."""
    for sheet in sheets:
        if sheet.name in SHEETS:
            tables = [_listed(sheet.name, table) for table in sheet.tables]
            is_whole = [len(table.columns) for table in tables] == [len(table.columns) for table in sheet.tables]
            charts = sheet.charts if is_whole else ()  # they refer to tables and columns by their places
            yield replace(sheet, tables=[table for table in tables if table.columns], charts=charts)


def _listed(sheet: str, table: Table) -> Table:
    places = range(len(table.columns))
    columns = [place for place in places if may_be_printed(sheet, *_headings(table.columns[place]))]
    has_facts = table.columns[0].title == _FACTS
    rows = [place for place, row in enumerate(table.rows) if not has_facts or row[0] in FACTS]
    return table.only(rows, columns if 0 in columns else [])  # without its first column a table says nothing


def _headings(column: Column) -> tuple[str, str]:
    return (column.title, column.group[0])


_SMALLEST_P = 0.001


def as_printed(sheet: Sheet) -> Sheet:
    """Return the sheet with every number as it is printed, so that a shared file stores nothing that is not seen."""
    return replace(sheet, tables=[_printed(table) for table in sheet.tables])


def _printed(table: Table) -> Table:
    kinds = [column.kind for column in table.columns]
    rows = [
        [_number(value, kind, table.decimals_of(place)) for value, kind in zip(row, kinds, strict=True)]
        for place, row in enumerate(table.rows)
    ]
    return replace(table, rows=rows)


def _number(value: Value, kind: Kind, decimals: int) -> Value:
    if not isinstance(value, float) or value.is_integer():
        return value
    if kind == "p" and value < _SMALLEST_P:
        return float(f"{value:.1g}")
    if kind in ("any", "text"):
        return float(f"{value:.4g}")
    return float(number_text(value, kind, decimals).replace(",", ""))


def write_findings(
    findings: Findings, path: Path, generated: datetime | None = None, progress: Progress = SILENT
) -> None:
    """Write a report to a path that ends in one of `SUFFIXES`; ValueError if a workbook cannot hold it."""
    suffix, moment = path.suffix.lower(), _date(generated)
    title = findings.cohort.schema.title or "Subtype report"
    with progress.stage(f"report {suffix}"):
        sheets = _sheets(findings, moment, on_page=suffix == ".html")
        sheets = list(as_shared(sheets)) if findings.is_shared else sheets
        if findings.is_shared and suffix != ".html":  # a page holds the texts that are printed, and nothing more
            sheets = [as_printed(sheet) for sheet in sheets]
        if suffix == ".xlsx":
            from clinclust.reporting.workbook.workbook import write_workbook

            write_workbook(sheets, path, title=title, generated=moment)
        elif suffix in (".csv", ".parquet"):
            from clinclust.reporting.results import write_tidy

            write_tidy(next(sheet for sheet in sheets if sheet.name == DATA), path)
        elif suffix == ".json":
            from clinclust.reporting.results import write_results

            listed = [sheet for sheet in sheets if sheet.name != ASSIGNMENTS]  # assignments.csv has them
            write_results(listed, path, title=title, divisions=() if findings.is_shared else findings.divisions)
        else:
            from clinclust.reporting.page.illustrations import illustrations
            from clinclust.reporting.page.page import write_page

            write_page(sheets, path, title=title, illustrations=illustrations(findings))


def _sheets(findings: Findings, moment: datetime, *, on_page: bool) -> list[Sheet]:
    """Return the sheets in the order a reader asks; a page has those that are read, a workbook also the long lists."""
    several, is_exact = len(findings.sizes) > 1, not findings.is_rounded
    table = table_of_report(findings)
    tests = [] if findings.associations is None or not several else [association_table(findings)]
    read = [
        overview(findings),
        *([withheld(findings)] if findings.is_shared else []),
        table.sheet(),
        trust(findings),
        *tests,
        *outcomes_sheets(findings),
        *likelihoods_sheets(findings),
        *stability_sheets(findings),
        *posterior_sheets(findings),
        *other_methods_sheets(findings),
    ]
    if on_page:
        return [*read, methods_sheet(findings)]
    return [
        *read,
        *([profile(findings), charts(findings)] if several else []),
        *([effect_sizes(findings), pairwise_tests(findings)] if several and is_exact else []),
        table.numbers_sheet(),
        *([] if findings.is_shared or findings.sizes_of_all is not None else [assignments(findings)]),
        *unusual_sheets(findings),
        *model_check_sheets(findings),
        missing_data(findings),
        summary(findings, moment),
        codebook(findings),
        methods_sheet(findings),
        tidy_data(findings),
    ]


def gather_findings(
    cohort: FittedCohort,
    table: pd.DataFrame,
    options: ReportOptions,
    *,
    dominant: pd.DataFrame | None = None,
    of_all: pd.DataFrame | None = None,
) -> Findings:
    """Return the findings of a report whose arguments `check_report` has checked; `dominant` is computed by default.

    `table` has the columns that the schema ignores too. If it is the sample of a table in partitions, `of_all` are the
    comparisons of all its subjects.
    """
    model, level = cohort.model, options.significance_level
    min_size = max(options.min_size, fewest_subjects(model))
    comparisons = options.comparisons if of_all is None else of_all
    if comparisons is None:
        with Progress(options.progress).stage("comparisons"):
            comparisons = compare_cohort(cohort, min_size=min_size, significance_level=level)
    if dominant is None:
        dominant = find_dominant(cohort, table)
    names = {**model.names_, **options.names}
    findings = Findings(cohort, comparisons, level, None, names, min_size=min_size, dominant=dominant)
    if of_all is not None:
        findings = replace(findings, sizes_of_all=ComparisonsFrame(of_all).exact_sizes)
    if options.suppress is not None:
        rule = Rule(options.suppress, False, options.round_to, options.missing_is_harmless, options.min_n)
        findings = findings.for_sharing(rule)
    how: dict[str, Any] = {"n_jobs": options.n_jobs, "progress": options.progress}
    # Every association is a function of exact counts, so that a report of rounded ones has none.
    associations = None if options.round_to is not None else options.associations
    if isinstance(associations, str):
        persons = persons_of(model, table, None)
        associations = validated_associations(model, cohort.table, min_size=options.min_size, persons=persons, **how)
    findings = findings if associations is None else findings.with_associations(associations)
    if findings.is_shared:  # it has no functions of all counts
        return findings
    # One group has nothing that could come apart.
    stability = options.stability if model.fit_ is not None and len(findings.sizes) > 1 else None
    if not (stability is None or isinstance(stability, Stability)):
        whole_procedure = options.whole_procedure
        stability = assess_stability(model, cohort.table, int(stability), whole_procedure=whole_procedure, **how)
    drawn, others = options.posterior, options.other_methods
    if drawn is True and model.fit_ is not None:
        drawn = draw_posterior(cohort, **how)
    if others is True and isinstance(model, MAPDP):
        others = compare_methods(cohort.table, cohort.schema, model=model, progress=options.progress)
    return replace(
        findings,
        stability=stability,
        drawn=None if isinstance(drawn, bool) else drawn,
        other_methods=None if isinstance(others, bool) else others,
    )


def draw_posterior(cohort: FittedCohort, *, n_jobs: int | None = None, progress: bool = True) -> GibbsDP:
    """Return draws from the posterior whose mode a fitted `MAPDP` found, with the seed of the fit.

    Outlying values of the fit are missing for the sampler. CohortWarning is issued if the chains have not converged.
    """
    fit, table = cohort.fit, cohort.table.copy()
    for part, is_outlying in zip(fit.schema_.parts, fit.outliers_.T, strict=True):
        if is_outlying.any():
            table[part.column] = table[part.column].mask(is_outlying)
    sampler = GibbsDP.of(cohort.model, random_state=fit.random_seed_, n_jobs=n_jobs, progress=progress)
    return sampler.fit(table)


def _date(given: datetime | None) -> datetime:
    """Return the date of a report with a time zone: `given`, or SOURCE_DATE_EPOCH (seconds since 1970, UTC), or now."""
    if given is not None:
        return given if given.tzinfo else given.astimezone()
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now().astimezone()
