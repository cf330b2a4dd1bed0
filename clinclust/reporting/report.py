"""The options of a report, its findings, and the files that it is written to, for readers and for programs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

import clinclust.arguments as arguments
from clinclust import __version__
from clinclust.arguments import NOTHING, ON_OR_OFF, WHOLE, accepting, either, is_number, is_partitioned, is_whole
from clinclust.arrays import Code
from clinclust.associations.associate import associate_cohort, number_persons
from clinclust.associations.refit import TestRules
from clinclust.comparisons import compare_subtypes
from clinclust.comparisons.compare import compare_cohort
from clinclust.comparisons.dominance import find_dominant, tell_divisions
from clinclust.comparisons.frame import ComparisonsFrame
from clinclust.data import Language, Style, speaking
from clinclust.disclosure.counts import FACTS, SHEETS, Rule
from clinclust.engine.search.plan import blas_on_one_thread
from clinclust.errors import InputError, refuse, warn
from clinclust.estimators.fit import MEANING_OF_MARKS, NO_FLOOR, PartitionedFit, n_standing
from clinclust.estimators.gibbs import GibbsDP
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.subtype_model import (
    FittedCohort,
    SubtypeModel,
    cohort_of,
    cohort_problems,
    fewest_subjects,
    is_fitted,
    require_fitted,
)
from clinclust.files.cell_text import listed, quoted
from clinclust.files.tables import Part, rows_of
from clinclust.files.writing import check_place, write_text
from clinclust.methods.compare import FEWEST_SUBJECTS, Measures, MethodComparison, run_methods
from clinclust.progress import SILENT, Progress
from clinclust.reporting.assignments import write_inert_csv
from clinclust.reporting.divisions import Answer, Division, divisions_of, find_answer
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WORDS, Kind, Sheet, Table, Value, number_text, percent
from clinclust.reporting.sheets.associations import association_table, grades_of, outcomes_sheets
from clinclust.reporting.sheets.divisions import other_methods_sheets
from clinclust.reporting.sheets.methods import methods_sheet
from clinclust.reporting.sheets.model_check import likelihoods_sheets, withheld_sheets
from clinclust.reporting.sheets.overview import answer_sentence, overview, say_unsure, summary, trust
from clinclust.reporting.sheets.subjects import (
    ASSIGNMENTS,
    DATA,
    assignments_sheets,
    codebook,
    tidy_data,
    unusual_sheets,
)
from clinclust.reporting.sheets.subtypes import on_adjustment, table_of_report
from clinclust.stability.assess import Stability, resample_cohort

# The options of a report, and the check of all its arguments before the first search.

SUFFIXES = (".xlsx", ".html", ".json", ".csv")
"""How the file of a report may end: a workbook, a page, and for programs its sheets, or one table of all numbers."""


@dataclass(frozen=True, eq=False)
class ReportOptions:
    """What a report shows, as in `write_report`; `whole_procedure` is that of `assess_stability`."""

    associations: pd.DataFrame | Literal["refit"] | None = None
    stability: Stability | int | None = None
    names: Mapping[Any, str] = field(default_factory=dict)
    min_size: int = 3
    significance_level: float = 0.01
    suppress: int | None = None
    round_to: int | None = None
    missing_is_harmless: bool = False
    min_n: int | None = None
    whole_procedure: bool = False
    posterior: GibbsDP | bool = False
    other_methods: MethodComparison | bool = False
    n_jobs: int | None = None
    progress: bool = True
    language: Language = "en"
    style: Style | None = None
    decimal: str | None = None

    def problems(self, called: Callable[[str], str] = str) -> list[str]:
        """Return which of them cannot be used, whatever the model; `called` says how a reader knows a name."""
        suppress = self.suppress if self.suppress is not None and is_whole(self.suppress, 2) else 2
        lowest = {
            "min_size": (1, "1 subject"),
            "suppress": (2, "2, because no count lies between 0 and 1"),
            "stability": (1, "1 sample"),
            "round_to": (3, "3"),
            "min_n": (suppress, f"{called('suppress')}, {suppress}"),
        }
        numbers = {name: number for name in lowest if (number := getattr(self, name)) is not None}
        if isinstance(self.stability, Stability):
            del numbers["stability"]
        problems = [
            f"{called(name)} must be at least {lowest[name][1]}, not {number!r}"
            for name, number in numbers.items()
            if not is_whole(number, lowest[name][0])
        ]
        if not (is_number(self.significance_level) and 0 < self.significance_level < 1):
            problems.append(f"{called('significance_level')} must lie between 0 and 1, not {self.significance_level!r}")
        if isinstance(self.associations, str) and self.associations != "refit":
            problems.append(f"associations must be 'refit', a frame or None, not {self.associations!r}")
        needs = {
            "round_to": "suppress",
            "missing_is_harmless": "suppress",
            "min_n": "suppress",
            "whole_procedure": "stability",
        }
        alone = {name: other for name, other in needs.items() if getattr(self, name) and getattr(self, other) is None}
        return problems + [
            f"{called(name)} can be used only together with {called(other)}" for name, other in alone.items()
        ]

    def problems_of_size(self, n_subjects: int, called: Callable[[str], str] = str) -> Iterator[str]:
        """Yield which of them need a larger cohort."""
        if self.suppress and n_subjects < self.suppress:
            lower = f"{called('suppress')} {self.suppress} withholds everything of {n_subjects} subjects"
            yield f"{lower}; give a lower number"
        if self.other_methods is True and n_subjects < FEWEST_SUBJECTS:
            needs = f"{called('other_methods')} needs at least {FEWEST_SUBJECTS} subjects"
            yield f"{needs}, and there are {n_subjects}"


def _foreign_results(model: SubtypeModel, options: ReportOptions) -> Iterator[str]:
    """Yield which results of other analyses do not belong to the model."""
    n, stability, posterior, others = len(model.labels_), options.stability, options.posterior, options.other_methods
    if isinstance(stability, Stability):
        assessed, sizes = stability.subtypes["size"].tolist(), np.bincount(np.asarray(model.labels_)).tolist()
        if assessed != sizes:
            yield (
                f"stability is that of subtypes of sizes {assessed}, and the model has sizes {sizes}; assess that of "
                "this model"
            )
    if not isinstance(posterior, bool):
        if not is_fitted(posterior):
            yield "posterior is not fitted: call its fit with the cohort first"
        elif (n_drawn := posterior.draws_.shape[1]) != n:
            yield f"posterior was drawn for {n_drawn} subjects, and the model has {n}"
    yield from options.problems_of_size(n)
    if not isinstance(others, bool) and {len(method.labels_) for method in others.models.values()} != {n}:
        yield f"other_methods were compared on other subjects than the {n} of the model"


def unknown_names(names: Iterable[Code], codes: Sequence[Code], *, called: str = "names") -> list[str]:
    """Return what is wrong: subtypes that do not exist, or have one name; `called` is the name of the argument."""
    unknown = [str(code) for code in names if code not in codes]
    of_codes = [str(name).strip() for name in names.values()] if isinstance(names, Mapping) else []
    if alike := sorted({name for name in of_codes if of_codes.count(name) > 1}):
        return [f"{called}: several subtypes are called {listed(map(quoted, alike))}: each needs a name of its own"]
    if not unknown:
        return []
    they = (
        f"they are {', '.join(map(str, codes))}" if isinstance(codes[0], str) else f"they are numbered 1 to {codes[-1]}"
    )
    return [f"{called}: there is no subtype {', '.join(unknown)}; {they}"]


def names_by_number(names: Mapping[Code, str], codes: Sequence[Code]) -> dict[int, str]:
    """Return names by the number of the subtype from 1, in the order of its code."""
    return {subtype: names[code] for subtype, code in enumerate(codes, start=1) if code in names}


# Reports of a table in partitions: the comparisons are of all subjects, everything else of the sample of its fit.


def in_sample_of(model: SubtypeModel, table: Any) -> tuple[MAPDP, pd.DataFrame]:
    """Return the model in the sample of its table, and the sample; InputError if the table is not that of the fit."""
    fit: Any = model.fit_
    if not (isinstance(fit, PartitionedFit) and isinstance(model, MAPDP)):
        raise InputError("the model was fitted on a table in memory, and this one is in partitions; give the former")
    if fit.labels_ is not None and fit.labels_.npartitions != table.npartitions:
        raise InputError(
            f"the table has {table.npartitions} partitions, and that of the fit had {fit.labels_.npartitions}; give "
            "the table that the model was fitted on"
        )
    return model.in_sample()


def comparisons_of_all(model: Any, table: Any, options: ReportOptions) -> pd.DataFrame | None:
    """Return comparisons of the subtypes in the sample, among all subjects of the table; None if all are in the sample.

    CohortWarning is issued if there are other subtypes, which are left out.
    """
    in_sample, sample = model.in_sample()
    n_subjects = int(model.cluster_sizes_.sum())
    if len(sample) == n_subjects:
        return None
    left_out = model.cluster_sizes_[in_sample.n_clusters_ :]
    floor = in_sample.fit_.min_size_
    if floor > NO_FLOOR:
        floor = math.ceil(floor * n_subjects / len(sample))
    labels: Any = model.labels_
    if left_out.size:
        warn(
            f"the report leaves out {left_out.size} of {model.n_clusters_} subtypes, of {left_out.sum()} subjects in "
            "all: the sample has no subject of them"
        )
        table, labels = (
            rows.map_partitions(
                lambda part, of, n: part[of.to_numpy() < n], labels, in_sample.n_clusters_, meta=rows._meta
            )
            for rows in (table, labels)
        )
    least, level = max(options.min_size, floor), options.significance_level
    with Progress(options.progress).stage("comparisons of all subjects"):
        return compare_subtypes(table, labels, model.schema_, min_size=least, significance_level=level)


def write_assignments(model: MAPDP, parts: list[Part], file: Path) -> None:
    """Write the identifiers and subtypes of all subjects as a parquet file, one partition after the other."""
    import pyarrow as pa
    from pyarrow import parquet

    ids = [feature.name for feature in model.schema_.ids]
    labels_of_all: Any = model.labels_
    codes = np.array(model.codes_)
    schema = pa.schema([*((name, pa.string()) for name in ids), ("subtype", pa.from_numpy_dtype(codes.dtype))])
    with parquet.ParquetWriter(file, schema) as writer:
        for part, labels in zip(parts, labels_of_all.to_delayed(), strict=True):
            rows = rows_of(part, ids).astype(str)
            rows["subtype"] = codes[labels.compute(scheduler="synchronous").to_numpy()]
            writer.write_table(pa.Table.from_pandas(rows, schema, preserve_index=False))


# Gather the findings of a report, and write them: make the sheets and pass them to the writer of the file type.


def as_shared(sheets: Sequence[Sheet]) -> Iterator[Sheet]:
    """Yield the sheets that a shared report may print, with those of their columns and facts that are listed."""
    facts = {WORDS["facts"][fact] for fact in FACTS}
    for sheet in (sheet for sheet in sheets if sheet.name in SHEETS):
        tables = []
        for table in sheet.tables:
            has_facts = table.columns[0].key == "what_was_run.item"
            columns = [place for place, column in enumerate(table.columns) if column.key in SHEETS[sheet.name]]
            rows = [place for place, row in enumerate(table.rows) if not has_facts or row[0] in facts]
            if 0 in columns:  # without its first column a table says nothing
                tables.append(table.only(rows, columns))
        yield replace(sheet, tables=tables)


_SMALLEST_P = 0.001


def as_printed(sheet: Sheet) -> Sheet:
    """Return the sheet with every number as printed, so that a shared file stores nothing that is not seen."""
    tables = []
    for table in sheet.tables:
        kinds = [column.kind for column in table.columns]
        numbered = ((row, table.decimals_of(place)) for place, row in enumerate(table.rows))
        rows = [[_number(*cell, decimals) for cell in zip(row, kinds, strict=True)] for row, decimals in numbered]
        tables.append(replace(table, rows=rows))
    return replace(sheet, tables=tables)


def _number(value: Value, kind: Kind, decimals: int) -> Value:
    if not isinstance(value, float) or value.is_integer():
        return value
    if kind == "p" and value < _SMALLEST_P:
        return float(f"{value:.1g}")
    if kind in ("any", "text"):
        return float(f"{value:.4g}")
    with speaking("en"):
        return float(number_text(value, kind, decimals).replace(",", ""))


@blas_on_one_thread()
def write_findings(
    findings: Findings, path: Path, generated: datetime | None = None, progress: Progress = SILENT
) -> None:
    """Write a report to a path that ends in one of `SUFFIXES`; ValueError if a workbook cannot hold it."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now()
    suffix, moment = path.suffix.lower(), generated or now
    moment, findings = moment if moment.tzinfo else moment.astimezone(), findings.spoken
    with progress.stage(f"report {suffix}"), speaking(findings.language):
        title = findings.cohort.schema.title or WORDS["page"]["title"]
        sheets = _sheets(findings, moment, on_page=suffix == ".html")
        if findings.rule is not None:
            # A page holds the texts that are printed, and nothing more.
            sheets = [sheet if suffix == ".html" else as_printed(sheet) for sheet in as_shared(sheets)]
        if suffix == ".xlsx":
            from clinclust.reporting.workbook import write_workbook

            write_workbook(sheets, path, title=title, generated=moment)
        elif suffix == ".csv":
            write_tidy(next(sheet for sheet in sheets if sheet.name == DATA), path)
        elif suffix == ".json":
            others = [sheet for sheet in sheets if sheet.name != ASSIGNMENTS]  # assignments.csv has them
            write_results(findings, others, path, title=title)
        else:
            from clinclust.reporting.page import illustrations, write_page

            write_page(sheets, path, title=title, illustrations=illustrations(findings))


def _sheets(findings: Findings, moment: datetime, *, on_page: bool) -> list[Sheet]:
    """Return the sheets in the order a reader asks; a page has those that are read, a workbook also the long lists."""
    several, made = len(findings.sizes) > 1, findings.sheets
    if "read" not in made:
        made["table"] = table_of_report(findings)
        made["read"] = [
            overview(findings),
            *withheld_sheets(findings),
            replace(made["table"].sheet(), notes=on_adjustment(findings)),
            trust(findings),
            *([association_table(findings)] if findings.associations is not None and several else []),
            *outcomes_sheets(findings),
            *likelihoods_sheets(findings),
            *other_methods_sheets(findings),
        ]
    if on_page:
        return [*made["read"], methods_sheet(findings)]
    if "lists" not in made:
        made["lists"] = [
            *unusual_sheets(findings),
            *assignments_sheets(findings),
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


@blas_on_one_thread()
def gather_findings(
    cohort: FittedCohort, table: pd.DataFrame, options: ReportOptions, *, of_all: pd.DataFrame | None = None
) -> Findings:
    """Return the findings of a report whose arguments are checked.

    `table` has the columns that the schema ignores too, in the order of the cohort. If it is the sample of a table in
    partitions, `of_all` are the comparisons of all its subjects.
    """
    model, level = cohort.model, options.significance_level
    min_size = max(options.min_size, fewest_subjects(model))
    comparisons = of_all
    if comparisons is None:
        with Progress(options.progress).stage("comparisons"):
            comparisons = compare_cohort(cohort, min_size=min_size, significance_level=level)
    dominant = find_dominant(cohort, table)
    names = {**model.names_, **names_by_number(options.names, model.codes_)}
    findings = Findings(cohort, comparisons, level, None, names, min_size=min_size, dominant=dominant)
    sizes = None if of_all is None else ComparisonsFrame(of_all).exact_sizes
    findings = replace(findings, language=options.language, style=options.style, decimal=options.decimal, of_all=sizes)
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
    if options.suppress is not None:  # a shared report has no functions of all counts
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


# Write a report: check the arguments, gather the findings, and pass them to the writer of the file type.


@accepting(
    frame=arguments.ANY_FRAME,
    associations=either(arguments.ASSOCIATIONS, arguments.TEXT, NOTHING),
    stability=either(arguments.STABILITY, WHOLE, NOTHING),
    posterior=either(arguments.POSTERIOR, ON_OR_OFF),
    other_methods=either(arguments.METHOD_COMPARISON, ON_OR_OFF),
    language=arguments.one_of(*get_args(Language)),
    style=arguments.one_of(*get_args(Style)),
    decimal=arguments.one_of(",", "."),
)
def write_report(
    model: SubtypeModel,
    frame: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
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
    overwrite: bool = False,
    language: Language = "en",
    style: Style | None = None,
    decimal: Literal[",", "."] | None = None,
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
        or ``.csv`` (all numbers in one table: a summary, test, effect size or tested division a row).
    associations : "refit", pandas.DataFrame or None
        "refit" tests features against subtypes that they did not form, by up to 24 searches; or the result of
        `validated_associations` for the same model and cohort. None leaves the tests out.
    stability : int, Stability or None
        The number of random halves (100 is usual) in which the subtypes are searched for again, or the result of
        `assess_stability` for the same model and cohort. None leaves it out.
    posterior : GibbsDP or bool
        Partitions drawn from the posterior of the same cohort, or True to draw them with `GibbsDP.of(model)`. They say
        how many groups there could be, and how sure each subtype is. A report of a `GibbsDP` has its own.
    other_methods : MethodComparison or bool
        What `compare_methods` returned for the same cohort, or True to call it: K-means, latent classes and others
        compared with the subtypes of a `MAPDP`.
    names : dict, optional
        Names of subtypes by number: ``{1: "Tremor dominant"}``. The default names of a `Partition` are its labels.
    min_size : int
        Size of the smallest subtype that is tested, if `MAPDP.min_size` is not larger.
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
    overwrite : bool
        Whether an existing file is replaced, in one step.
    language : {"en", "de", "es", "fr", "pt"}
        Language of the report, whose sentences and marks in numbers it has: English, German, Spanish, French or
        Portuguese. Labels are those of the schema.
    style, decimal : str, optional
        Journal whose notation Table 1 has, and its decimal mark, as in `subtype_table`.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema of the model.
    ValueError
        If an argument cannot be used or does not belong to the model (the message lists all problems), the file exists
        and `overwrite` is not stated, the cohort is too small to withhold counts in it, or a workbook cannot hold it.

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
    whole, table = model, frame
    if is_partitioned(table):
        model, frame = in_sample_of(whole, table)
    is_in_the_way, formats = path.exists() and not overwrite, f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
    refuse(
        [
            *[f"{path} exists; state overwrite=True to replace it, or give another name"] * is_in_the_way,
            *[f"a report ends in {formats}, not {path.suffix!r} ({path.name})"] * (path.suffix.lower() not in SUFFIXES),
            *[*cohort_problems(model, frame), *options.problems(), *unknown_names(options.names, model.codes_)],
            *_foreign_results(model, options),
        ]
    )
    check_place(path)
    of_all = comparisons_of_all(whole, table, options) if is_partitioned(table) else None
    cohort = cohort_of(model, frame)
    findings = gather_findings(cohort, cohort.in_order(frame), options, of_all=of_all)
    write_findings(findings, path, generated, Progress(progress))
    return path


# Write the numbers of a report for programs: all sheets and tested divisions as JSON, or one tidy table.


def write_results(findings: Findings, sheets: Sequence[Sheet], path: Path, *, title: str) -> None:
    """Write the answer, the sheets and the tested divisions to `path`, reproducibly; what is no number is null."""
    codes = [findings.code(subtype) for subtype in findings.sizes]
    grades = {whose: grades_of(findings, found_from=whose == "formed") for whose in ("formed", "others")}
    results = {
        "clinclust": __version__,
        "title": title,
        "answer": findings.answer.facts(said=answer_sentence(findings)),
        "features": {whose: counts and counts._asdict() for whose, counts in grades.items()},
        "divisions": [_tell_division(division, codes) for division in findings.evidence],
        "sheets": {
            sheet.name: {"notes": [*sheet.notes, *sheet.explanations], "tables": list(map(_table, sheet.tables))}
            for sheet in sheets
        },
    }
    write_text(json_text(results), path)


def write_tidy(sheet: Sheet, path: Path) -> None:
    """Write the sheet of all numbers, one summary, test or effect size a row, as csv.

    A column with withheld numbers is of texts, so that it has one type.
    """
    (table,) = sheet.tables
    columns = {}
    for place, column in enumerate(table.columns):
        values = [row[place] for row in table.rows]
        is_text = column.kind == "text" or any(isinstance(value, str) for value in values)
        cells = [None if value is None else str(value) for value in values] if is_text else values
        columns[column.key.removeprefix("data.")] = pd.Series(cells, dtype=object if is_text else np.float64)
    write_inert_csv(pd.DataFrame(columns), path)


def json_text(found: dict[str, Any]) -> str:
    """Return facts as JSON with a line end; what is no number is null."""
    return json.dumps(_finite(found), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _tell_division(division: Division, codes: Sequence[Code]) -> dict[str, Any]:
    """Return a tested division as facts for a program; `codes` are what the subtypes are called."""
    sides = division.subtypes and [[codes[subtype - 1] for subtype in side] for side in division.subtypes]
    facts = {"subtypes": sides, "excess": division.excess, "result": division.result, "said": division.p_said}
    return asdict(division) | facts


def _table(table: Table) -> dict[str, Any]:
    columns = [": ".join(filter(None, (*column.group, column.title))) for column in table.columns]
    rows = list(map(list, table.rows))
    return {"caption": table.caption, "columns": columns, "rows": rows, "notes": list(table.notes)}


def _finite(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# What a fit says in a few sentences, and its facts for a program.
#
#     3 kinds of subject among 527; no continuum of one peak explains any division between kinds (p < 0.03).
#     Subjects: 1: 210 (39.8%), 2: 180 (34.2%), 3: 137 (26.0%)


def summarise_fit(model: MAPDP, n_stated: int | None = None) -> list[str]:
    """Return sentences on the subtypes of a fitted model, their sizes, and the test of its tree.

    `n_stated` subtypes were to be found.
    """
    n_subjects, n_subtypes, n_groups = int(model.cluster_sizes_.sum()), model.n_clusters_, model.subtype_of_.size
    marks, (answer, sentence), texts = model.fit_.remarks_, _say_answer(model, n_stated), WORDS["answer"]
    sizes = ", ".join(
        f"{code}: {size} ({'; '.join([f'{percent(int(size), n_subjects):.1f}%', *remarks])})"
        for code, size, remarks in zip(model.codes_, model.cluster_sizes_, marks, strict=True)
    )
    few = [str(code) for code, is_small in zip(model.codes_, model.untested_, strict=True) if is_small]
    named = few and not answer.not_counted
    untested = texts["few" if len(few) == 1 else "fews"].format(codes=listed(few)) if named else ""
    unsure = say_unsure(dict(zip(model.codes_, model.summary()["clear"], strict=True)))
    lines = [sentence, *unsure, texts["sizes"].format(sizes=sizes, untested=untested)]
    if any(marks):
        lines.append(texts["noise"].format(marks=MEANING_OF_MARKS, n=n_standing(model.subtypes_)))
    n_before = n_groups if model.n_clusters is None else n_subtypes
    if isinstance(model.n_clusters, Integral):
        n_before = int(model.n_clusters)
    if n_before > n_subtypes:
        lines.append(texts["merged"].format(n=n_before - n_subtypes, least=model.min_size_))
    if answer.is_of_the_test and n_groups > n_subtypes:
        lines.append(texts["united"].format(groups=f"{n_groups} groups"))
    return lines


def _say_answer(model: MAPDP, n_stated: int | None) -> tuple[Answer, str]:
    """Return how many kinds of subject the subtypes are, as the reports of the fit count them, and the sentence."""
    n_least = max(model.min_size_, ReportOptions.min_size)
    too_few = [subtype for subtype, size in enumerate(model.cluster_sizes_, start=1) if size < n_least]
    answer, numbers = find_answer(model.fit_, model.codes_, too_few), range(1, model.n_clusters_ + 1)
    divisions = divisions_of(model.fit_, dict.fromkeys(numbers, ""))
    return answer, answer.sentence(int(model.cluster_sizes_.sum()), divisions, n_asked=n_stated)


def facts_of_fit(model: MAPDP, n_stated: int | None) -> dict[str, Any]:
    """Return the facts about a fitted model, for a program: subtypes, sizes, and p of every tested division."""
    titles = {subtype: f"Subtype {code}" for subtype, code in enumerate(model.codes_, start=1)}
    summary, (answer, sentence) = model.summary().reset_index(), _say_answer(model, n_stated)
    marks = [" ".join(remarks) for remarks in model.fit_.remarks_]
    return {
        "subjects": int(model.cluster_sizes_.sum()),
        "n_subtypes": model.n_clusters_,
        "n_asked": n_stated,
        "n_clusters": int(model.subtype_of_.size),
        "answer": answer.facts(said=sentence),
        "subtypes": summary.assign(untested=model.untested_, remarks=marks).to_dict("records"),
        "divisions": [_tell_division(division, model.codes_) for division in divisions_of(model.fit_, titles)],
        "uninformative": dict(model.uninformative_),
        "seed": model.random_seed_,
        "stopped_early": model.stopped_early_,
    }
