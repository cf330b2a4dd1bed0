"""The reports of a fit with other options, and the subtype table of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from clinclust.cli.inputs import ModelOptions, read_cohort_of_model, read_model
from clinclust.cli.options import (
    Command,
    JobOptions,
    flag_of,
    number,
    option,
    read_path,
    whole_number,
)
from clinclust.cli.outputs import (
    FILES_OF_A_FIT,
    FILES_OF_A_MODEL,
    NOT_SHARED,
    REPORTS,
    REPORTS_IN_WORDS,
    OutputOptions,
    SharingOptions,
    as_the_fit_was_asked,
    follow_the_fit,
    overwrite,
    reports_placed,
    say,
    say_what_is_withheld,
    sharing_in_words,
    spare_file,
    spare_folder,
    spare_the_inputs,
    tell_of_other_files,
)
from clinclust.errors import InputError, refuse
from clinclust.files.writing import MANIFEST
from clinclust.nearest import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.fitted_cohort import FittedCohort
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.reporting.options import ReportOptions
    from clinclust.reporting.subtype_table.plan import ColumnName


@dataclass(kw_only=True)
class ComparisonOptions(SharingOptions):
    """The options of comparisons of subtypes: a report, and the table of a paper."""

    TITLE = "the reports"
    significance_level: float = option(
        "of p in the pairwise tests, and of q of features that are called validated (default: 0.01)",
        0.01,
        type=number,
        metavar="P",
    )
    name: tuple[str, ...] = option(
        "name of subtype K; may be given for each", (), action="append", metavar="K=NAME", parameter="names"
    )


@dataclass(kw_only=True)
class ModelComparisonOptions(ComparisonOptions, ModelOptions):
    """The options of a command on a model with its own smallest size of subtypes."""

    smallest_tested: int = option(
        "smallest subtype that is tested (default: 3); the --min-size of the fit applies where it is larger",
        3,
        name="min_size",
        type=whole_number,
        metavar="N",
        parameter="min_size",
    )


@dataclass(kw_only=True)
class FitReportOptions(ComparisonOptions, JobOptions, Command):
    """The options of the reports of a fit."""

    TITLE = "the reports"
    associations: str = option(
        "whether each feature is tested against subtypes that it did not form: by up to 24 searches without some "
        "features (refit), or not at all (none; default: refit)",
        "refit",
        choices=("refit", "none"),
    )
    stability: int | None = option(
        "search for the subtypes again in N halves and N bootstrap samples of the cohort, such as 100, and say "
        "which come out again (not in a report made for sharing)",
        type=whole_number,
        metavar="N",
    )
    whole_procedure: bool = option(
        "with --stability: choose everything anew in each sample, as the fit did (ten to thirty times as long)", False
    )
    posterior: bool = option(
        "draw partitions by their probability, and say how many groups there could be and how sure each subtype "
        "is (not in a report made for sharing)",
        False,
    )
    other_methods: bool = option(
        "cluster the cohort by K-means, mixtures, latent classes and others too, and say what each found, as "
        "`clinclust compare` does (not in a report made for sharing)",
        False,
    )


@dataclass(kw_only=True)
class RepeatOptions(FitReportOptions, ModelComparisonOptions):
    """The options of `clinclust report`."""

    out: Path | None = option("folder to write to (default: the folder of the model)", type=read_path, metavar="DIR")
    overwrite: bool = overwrite("the reports in this folder")


def run_report(options: RepeatOptions) -> int:
    """Make the reports again with other names, levels or suppression, from the model and the table of a fit."""
    from clinclust.comparisons.dominance import find_dominant
    from clinclust.progress import Progress
    from clinclust.reporting.writing import gather_findings, write_findings

    options = follow_the_fit(options, options.model)
    _check_report_options(options)
    folder = options.model if options.out is None else options.out
    _check_folder(options, folder)
    model = read_model(options)
    refuse(problems_of_names(options, model))
    table, cohort = read_cohort_of_model(options, model)
    refuse(size_problems(options, len(cohort.table)))
    dominant = find_dominant(cohort, table)
    tell_of_other_files(folder, FILES_OF_A_FIT)
    with reports_placed(folder) as new:  # both or none
        findings = gather_findings(cohort, cohort.table, report_asked_for(options), dominant=dominant)
        for name in REPORTS:
            write_findings(findings, new / name, progress=Progress(not options.quiet))
    say(f"Wrote {folder}: {', '.join(REPORTS)}, {MANIFEST}")
    say_what_is_withheld(options)
    say_what_to_share(options, folder)
    return 0


def _check_report_options(options: RepeatOptions) -> None:
    from clinclust.estimators.parameters import RULES

    problems = report_problems(options) + RULES["n_jobs"].problems_of_option("--n-jobs", options.n_jobs)
    if problems:
        raise InputError("; ".join(problems) + as_the_fit_was_asked(options))


def _check_folder(options: RepeatOptions, folder: Path) -> None:
    replaced = (*REPORTS, MANIFEST)
    spare_the_inputs([("the table itself", options.table)], *(folder / name for name in replaced))
    if folder.exists() and options.model.exists() and folder.samefile(options.model):
        spare_folder(folder, REPORTS, allowed=options.overwrite)
        return
    spare_folder(
        folder,
        FILES_OF_A_MODEL,
        allowed=False,
        instead="reports of this model would not belong to it; give another folder after --out",
    )
    spare_folder(folder, replaced, allowed=options.overwrite)


def named_subtypes(options: ComparisonOptions) -> dict[int, str]:
    """Return the names of subtypes by number; `name_problems` must be empty."""
    parts = (text.partition("=") for text in options.name)
    return {int(subtype): name.strip() for subtype, _, name in parts}


def name_problems(options: ComparisonOptions) -> list[str]:
    """Return one sentence for each ``--name`` that cannot be parsed."""
    numbers = [text.partition("=")[0].strip() for text in options.name]
    repeated = sorted({number for number in numbers if numbers.count(number) > 1})
    return [f"--name: subtype {number} has more than one name" for number in repeated] + [
        f"--name takes the number of a subtype and its name, as 1=Tremor, not {text!r}"
        for text in options.name
        if not text.partition("=")[0].strip().isdecimal() or not text.partition("=")[2].strip()
    ]


def problems_of_names(options: ComparisonOptions, model: MAPDP) -> list[str]:
    """Return which of the named subtypes the model does not have."""
    from clinclust.reporting.options import unknown_names

    return unknown_names(named_subtypes(options), range(1, model.n_clusters_ + 1), called="--name")


def report_asked_for(options: ComparisonOptions) -> ReportOptions:
    """Return the options of the report; `report_problems` must be empty."""
    from clinclust.reporting.options import ReportOptions

    names = {item.name for item in fields(ReportOptions)} - {"associations", "names", "min_size"}
    values = {name: getattr(options, name) for name in names if hasattr(options, name)}
    if isinstance(options, FitReportOptions):
        values["associations"] = None if options.associations == "none" else options.associations
        values |= {"n_jobs": options.n_jobs, "progress": not options.quiet}
    if isinstance(options, ModelComparisonOptions):
        values["min_size"] = options.smallest_tested
    return ReportOptions(names=named_subtypes(options), **values)


def report_problems(options: ComparisonOptions) -> list[str]:
    """Return one sentence for each option of the report that cannot be used, whatever the model."""
    problems = name_problems(options)
    report_options = report_asked_for(replace(options, name=()) if problems else options)
    private = ("stability", "posterior", "other_methods") if options.suppress is not None else ()
    return [
        *report_options.problems(flag_of),
        *(
            f"{flag_of(name)} cannot be used with --suppress: {NOT_SHARED}"
            for name in private
            if getattr(report_options, name)
        ),
        *problems,
    ]


def size_problems(options: FitReportOptions, n_subjects: int) -> list[str]:
    """Return one sentence for each option of the reports that needs a larger cohort."""
    from clinclust.methods.compare import FEWEST_SUBJECTS

    problems = []
    if options.suppress is not None and n_subjects < options.suppress:
        problems.append(
            f"--suppress {options.suppress} withholds everything of {n_subjects} subjects; give a lower number"
        )
    if options.other_methods and n_subjects < FEWEST_SUBJECTS:
        problems.append(f"--other-methods needs at least {FEWEST_SUBJECTS} subjects, and there are {n_subjects}")
    return problems


def say_what_to_share(options: FitReportOptions, folder: Path) -> None:
    """Print which files of a folder may be shared, if counts are withheld, and which may not."""
    if options.suppress is None:
        return
    say(f"For sharing: {REPORTS_IN_WORDS} only.")
    private = [name for name in FILES_OF_A_MODEL if (folder / name).exists()]
    if private:
        say(
            f"Not for sharing: {', '.join(private)} (one row for each subject) and {MANIFEST} (their checksums). "
            f"`clinclust report TABLE --model {folder} {sharing_in_words(options)} --out DIR` writes the reports to "
            "a folder of their own."
        )


@dataclass(kw_only=True)
class SubtypeTableOptions(ModelComparisonOptions, OutputOptions):
    """The options of `clinclust table`."""

    out: Path = option(
        "file to write: .docx, .xlsx, .html, .tex, .md or .csv", type=read_path, required=True, metavar="FILE"
    )
    title: str | None = option("caption of the table (default: the title of the schema)")
    between: tuple[int, int] | None = option(
        "p of these two subtypes, not of all at once", type=whole_number, nargs=2, metavar=("A", "B")
    )
    columns: tuple[str, ...] = option(
        "columns after the label, in this order: missing, all, subtypes, smd (standardised mean difference), p, "
        "validated (p and q of a search without each feature; takes time) (default: missing all subtypes p)",
        (),
        nargs="+",
        choices=("missing", "all", "subtypes", "smd", "p", "validated"),
        metavar="COLUMN",
    )
    decimals: int | None = option("decimals of means, medians and percentages", type=whole_number, metavar="N")
    missing_rows: bool = option("a row below each feature for the subjects without a value", False)
    weights: str | None = option(
        "column of sampling weights: percentages, means and quartiles of the population, without tests",
        metavar="COLUMN",
    )
    significant: bool = option("only features whose descriptive p is significant", False)


def run_table(options: SubtypeTableOptions) -> int:
    """Write every feature in all subjects and in each subtype, as papers print it, for the cohort of a fit."""
    from clinclust.associations import validated_associations
    from clinclust.comparisons import compare_subtypes
    from clinclust.disclosure import suppress_small_cells, withhold_associations
    from clinclust.reporting.subtype_table import subtype_table
    from clinclust.reporting.subtype_table.table import suffix_problems

    options = follow_the_fit(options, options.model)
    is_validated = "validated" in options.columns
    refuse(suffix_problems(options.out) + report_problems(options) + _problems_of_columns(options))
    spare_file(options)
    model = read_model(options)
    refuse(_problems_of_subtypes(options, model))
    table, cohort = read_cohort_of_model(options, model)
    comparisons = compare_subtypes(
        cohort.table,
        cohort.labels,
        cohort.schema,
        min_size=max(options.smallest_tested, model.min_size_),
        significance_level=options.significance_level,
        weights=None if options.weights is None else _weights(table, cohort, options.weights),
    )
    if options.suppress is not None:
        comparisons = suppress_small_cells(
            comparisons,
            threshold=options.suppress,
            rounding=options.round_to,
            missing_is_harmless=options.missing_is_harmless,
            min_n=options.min_n,
        )
    associations = None
    if is_validated:
        associations = validated_associations(model, cohort.table, progress=not options.quiet)
    if associations is not None and options.suppress is not None:
        associations = withhold_associations(associations, comparisons)
    printed = subtype_table(
        comparisons,
        associations=associations,
        names=named_subtypes(options),
        features="significant" if options.significant else None,
        between=options.between,
        columns=cast("Sequence[ColumnName]", options.columns) or None,
        decimals=options.decimals,
        missing_rows=options.missing_rows,
        title=options.title or model.schema_.title or None,
    )
    printed.save(options.out)
    say(f"Wrote {options.out}: {len({row.feature for row in printed.rows})} features")
    say_what_is_withheld(options)
    return 0


def _weights(table: pd.DataFrame, cohort: FittedCohort, name: str) -> pd.Series[Any]:
    """Return a column of the table as numbers, in the order of the cohort of the fit."""
    import pandas as pd

    from clinclust.estimators.fitted_cohort import rows_of_the_fit

    if name not in table:
        near = did_you_mean(name, [str(column) for column in table])
        raise InputError(f"--weights: the table has no column {name!r}.{near}".removesuffix("."))
    numbers = pd.to_numeric(table[name], errors="coerce")
    rows = rows_of_the_fit(cohort.fit, table)
    return pd.Series((numbers if rows is None else numbers.iloc[rows]).to_numpy(dtype=float), index=cohort.table.index)


def _problems_of_columns(options: SubtypeTableOptions) -> list[str]:
    columns = options.columns
    problems = ["--columns takes each column once"] if len(set(columns)) < len(columns) else []
    if columns and not {"all", "subtypes"} & set(columns):
        problems.append("--columns must have all, subtypes or both")
    if "validated" in columns and options.round_to is not None:
        problems.append("--columns: validated cannot be used with --round-to, because every p is one of exact counts")
    if options.weights is not None and (options.suppress is not None or options.significant or options.between):
        problems.append("--weights cannot be used with --suppress, --significant or --between: nothing is tested")
    if options.decimals is not None and options.decimals > 6:
        problems.append(f"--decimals must be from 0 to 6, not {options.decimals}")
    return problems


def _problems_of_subtypes(options: SubtypeTableOptions, model: MAPDP) -> list[str]:
    from clinclust.reporting.options import unknown_names

    pair: Sequence[int] = options.between or ()
    unknown = unknown_names(dict.fromkeys(pair, ""), range(1, model.n_clusters_ + 1), called="--between")
    if not unknown and len(set(pair)) < len(pair):
        unknown = [f"--between takes two different subtypes, not {pair[0]} twice"]
    return problems_of_names(options, model) + unknown + ([] if unknown else _untested(pair, options, model))


def _untested(pair: Sequence[int], options: SubtypeTableOptions, model: MAPDP) -> list[str]:
    if model.min_size_ > options.smallest_tested:
        floor, why = model.min_size_, f"than the {model.min_size_} that the fit asks for, so it is untested"
        repair = "compare other subtypes, or fit again with a lower --min-size"
    else:
        floor, why = options.smallest_tested, f"than --min-size {options.smallest_tested}, so it is not tested"
        repair = "give a lower --min-size"
    sizes = {subtype: int(model.cluster_sizes_[subtype - 1]) for subtype in pair}
    return [
        f"--between: subtype {subtype} has {size} subject(s), fewer {why}; {repair}"
        for subtype, size in sizes.items()
        if size < floor
    ]
