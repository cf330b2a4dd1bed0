"""Gather the findings of a report, and write it in the format of its file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pandas as pd

import clinclust.arguments as arguments
from clinclust.arguments import NOTHING, ON_OR_OFF, WHOLE, accepting, either, is_partitioned
from clinclust.associations.associate import associate_cohort, number_persons
from clinclust.associations.refit import TestRules
from clinclust.comparisons.compare import compare_cohort
from clinclust.comparisons.dominance import find_dominant, tell_divisions
from clinclust.comparisons.frame import ComparisonsFrame
from clinclust.disclosure.counts import FACTS, SHEETS, Rule, may_be_printed
from clinclust.estimators.gibbs import GibbsDP
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.subtype_model import FittedCohort, SubtypeModel, cohort_of, fewest_subjects, require_fitted
from clinclust.files.writing import check_place
from clinclust.methods.compare import Measures, MethodComparison, run_methods
from clinclust.progress import SILENT, Progress
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Column, Kind, Sheet, Table, Value, number_text
from clinclust.reporting.options import ReportOptions, check_report, comparisons_of_all, in_sample_of, names_by_number
from clinclust.reporting.sheets.associations import association_table, outcomes_sheets
from clinclust.reporting.sheets.divisions import (
    charts,
    effect_sizes,
    other_methods_sheets,
    posterior_sheets,
    stability_sheets,
)
from clinclust.reporting.sheets.methods import methods_sheet
from clinclust.reporting.sheets.model_check import likelihoods_sheets, model_check_sheets, withheld
from clinclust.reporting.sheets.overview import overview, summary, trust
from clinclust.reporting.sheets.subjects import ASSIGNMENTS, DATA, assignments, codebook, tidy_data, unusual_sheets
from clinclust.reporting.sheets.subtypes import missing_data, on_adjustment, pairwise_tests, profile, table_of_report
from clinclust.stability.assess import Stability, resample_cohort

# Gather the findings of a report, and write them: make the sheets and pass them to the writer of the file type.

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
            from clinclust.reporting.page.page import illustrations, write_page

            write_page(sheets, path, title=title, illustrations=illustrations(findings))


def _sheets(findings: Findings, moment: datetime, *, on_page: bool) -> list[Sheet]:
    """Return the sheets in the order a reader asks; a page has those that are read, a workbook also the long lists."""
    several, is_exact, made = len(findings.sizes) > 1, not findings.is_rounded, findings.sheets
    if "read" not in made:
        made["table"] = table_of_report(findings)
        made["read"] = [
            overview(findings),
            *([withheld(findings)] if findings.is_shared else []),
            replace(made["table"].sheet(), notes=on_adjustment(findings)),
            trust(findings),
            *([association_table(findings)] if findings.associations is not None and several else []),
            *outcomes_sheets(findings),
            *likelihoods_sheets(findings),
            *stability_sheets(findings),
            *posterior_sheets(findings),
            *other_methods_sheets(findings),
        ]
    if on_page:
        return [*made["read"], methods_sheet(findings)]
    if "lists" not in made:
        made["lists"] = [
            *([profile(findings), charts(findings)] if several else []),
            *([effect_sizes(findings), pairwise_tests(findings)] if several and is_exact else []),
            made["table"].numbers_sheet(),
            *([] if findings.is_shared or findings.sizes_of_all is not None else [assignments(findings)]),
            *unusual_sheets(findings),
            *model_check_sheets(findings),
            missing_data(findings),
            summary(findings, moment),
            codebook(findings),
            methods_sheet(findings),
            tidy_data(findings),
        ]
    return [*made["read"], *made["lists"]]


def _tell_divisions(findings: Findings, table: pd.DataFrame) -> pd.DataFrame:
    """Return `tell_divisions` of the accepted divisions between subtypes, with their numbers."""
    accepted = [division for division in findings.divisions if division.is_accepted and division.subtypes]
    branches = [
        {subtype - 1: place for place, branch in enumerate(division.subtypes or ()) for subtype in branch}
        for division in accepted
    ]
    telling = tell_divisions(findings.cohort, table, branches)
    return telling.assign(division=[accepted[place].number for place in telling["division"]])


def gather_findings(
    cohort: FittedCohort,
    table: pd.DataFrame,
    options: ReportOptions,
    *,
    dominant: pd.DataFrame | None = None,
    of_all: pd.DataFrame | None = None,
) -> Findings:
    """Return the findings of a report whose arguments `check_report` has checked; `dominant` is computed by default.

    `table` has the columns that the schema ignores too, in the order of the cohort. If it is the sample of a table in
    partitions, `of_all` are the comparisons of all its subjects.
    """
    model, level = cohort.model, options.significance_level
    min_size = max(options.min_size, fewest_subjects(model))
    comparisons = options.comparisons if of_all is None else of_all
    if comparisons is None:
        with Progress(options.progress).stage("comparisons"):
            comparisons = compare_cohort(cohort, min_size=min_size, significance_level=level)
    if dominant is None:
        dominant = find_dominant(cohort, table)
    names = {**model.names_, **names_by_number(options.names, model.codes_)}
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
        rules = TestRules(options.min_size, fewest_subjects(model), persons=number_persons(table, cohort.schema))
        associations = associate_cohort(cohort, rules, **how)
    findings = findings if associations is None else findings.with_associations(associations)
    if findings.is_shared:  # it has no functions of all counts
        return findings
    findings = replace(findings, telling=_tell_divisions(findings, table))
    # One group has nothing that could come apart.
    stability = options.stability if model.fit_ is not None and len(findings.sizes) > 1 else None
    if not (stability is None or isinstance(stability, Stability)):
        stability = resample_cohort(cohort, int(stability), whole_procedure=options.whole_procedure, **how)
    drawn, others = options.posterior, options.other_methods
    if drawn is True and model.fit_ is not None:
        drawn = draw_posterior(cohort, **how)
    if others is True and isinstance(model, MAPDP):
        others = run_methods(Measures(cohort), progress=options.progress)
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


# Write a report: check the arguments, gather the findings, and pass them to the writer of the file type.


@accepting(
    frame=arguments.ANY_FRAME,
    comparisons=arguments.WHOLE_COMPARISONS,
    associations=either(arguments.ASSOCIATIONS, arguments.TEXT, NOTHING),
    stability=either(arguments.STABILITY, WHOLE, NOTHING),
    posterior=either(arguments.POSTERIOR, ON_OR_OFF),
    other_methods=either(arguments.METHOD_COMPARISON, ON_OR_OFF),
)
def write_report(
    model: SubtypeModel,
    frame: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    comparisons: pd.DataFrame | None = None,
    associations: pd.DataFrame | Literal["refit"] | None = "refit",
    stability: Stability | int | None = None,
    posterior: GibbsDP | bool = False,
    other_methods: MethodComparison | bool = False,
    names: Mapping[Any, str] | None = None,
    min_size: int = 3,
    significance_level: float = 0.01,
    suppress: int | None = None,
    round_to: int | None = None,
    missing_is_harmless: bool = False,
    min_n: int | None = None,
    generated: datetime | None = None,
    progress: bool = True,
) -> Path:
    """Write a report of the subtypes and their differences as an Excel workbook, a web page, or for programs.

    A workbook contains one row per subject with its identifiers, unless `suppress` makes the report for sharing. All
    arguments are checked before the first search starts.

    Parameters
    ----------
    model : MAPDP, Partition or another SubtypeModel
        A fitted model. If no MAP-DP search made the subtypes, the report says which parts it leaves out.
    frame : pandas.DataFrame or dask.dataframe.DataFrame, N rows
        The cohort of the fit, whose row order is restored; rows of a `Partition` must be in the order of its labels. Of
        a table in partitions, the comparisons are of all subjects and everything else is of the sample.
    path : path
        File to write; ends in ``.xlsx``, ``.html`` or, for programs, ``.json`` (all sheets and tested divisions),
        ``.csv`` or ``.parquet`` (all numbers in one table: a summary, test, effect size or tested division a row). An
        existing file is replaced in one step.
    comparisons : pandas.DataFrame, optional
        From `compare_subtypes` for the same cohort and labels; computed by default.
    associations : "refit", pandas.DataFrame or None
        "refit" tests features against subtypes that they did not form, by up to 24 searches; or the result of
        `validated_associations` for the same model and cohort. None leaves the tests out.
    stability : int, Stability or None
        The number of half-samples and bootstrap samples (100 is usual) in which the subtypes are searched for again, or
        the result of `assess_stability` for the same model and cohort. None leaves it out.
    posterior : GibbsDP or bool
        Partitions drawn from the posterior of the same cohort, or True to draw them with `GibbsDP.of(model)`. They say
        how many groups there could be, and how sure each subtype is. A report of a `GibbsDP` has its own.
    other_methods : MethodComparison or bool
        What `compare_methods` returned for the same cohort, or True to call it: K-means, latent classes and others
        compared with the subtypes of a `MAPDP`.
    names : dict, optional
        Names of subtypes by number: ``{1: "Tremor dominant"}``. The default names of a `Partition` are its labels.
    min_size : int
        Size of the smallest subtype that is tested, if `comparisons` is not given and `MAPDP.min_size` is not larger.
    significance_level : float
        Level of p in the descriptive comparisons, and of q of features that are called validated.
    suppress : int, optional
        Make the report for sharing: withhold counts below this number (10 is usual), as `suppress_small_cells` does,
        all data of single subjects, stability, posterior and other methods.
    round_to : int, optional
        With `suppress`: round every count to a multiple of this number, such as 5, compute percentages from these, and
        leave out or withhold all functions of exact counts: tests, effect sizes, results of the search.
    missing_is_harmless : bool
        With `suppress`: numbers of missing values are not sensitive by themselves, as in `suppress_small_cells`.
    min_n : int, optional
        With `suppress`: withhold means, SDs, medians and quartiles of fewer values than this; by default `suppress`.
    generated : datetime, optional
        Date of the report; by default the environment variable SOURCE_DATE_EPOCH, or else the present time. The same
        results with the same date give the same bytes.
    progress : bool
        Whether to report each stage that takes longer than a second, as `MAPDP` does.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema of the model.
    ValueError
        If an argument cannot be used or does not belong to the model (the message lists all problems), the cohort is
        too small to withhold counts in it, or the content does not fit in a workbook.

    Warns
    -----
    CohortWarning
        If the rows of `frame` were in another order than at the fit.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0).fit(frame)
    >>> cc.write_report(model, frame, "subtypes.xlsx", names={1: "Robust", 2: "Frail"}).name
    'subtypes.xlsx'
    >>> numbers = pd.read_csv(cc.write_report(model, frame, "subtypes.csv", associations=None))
    >>> numbers.query("kind == 'Tested division'")[["subtype", "versus", "method", "n"]].values.tolist()[0]
    ['Subtype 1', 'Subtype 2', 'one continuum', 200.0]
    """
    stated = locals() | {"names": names or {}}
    options = ReportOptions(**{item.name: stated[item.name] for item in fields(ReportOptions) if item.name in stated})
    require_fitted(model)
    path = Path(path)
    if not is_partitioned(frame):
        check_report(model, frame, path, options)
        check_place(path)
        of_all = None
    else:
        whole, table = model, frame
        model, frame, sizes = in_sample_of(whole, table)
        check_report(model, frame, path, options, sizes)
        check_place(path)
        of_all = comparisons_of_all(whole, table, options)
    cohort = cohort_of(model, frame, stacklevel=3)
    findings = gather_findings(cohort, cohort.in_order(frame), options, of_all=of_all)
    write_findings(findings, path, generated, Progress(progress))
    return path
