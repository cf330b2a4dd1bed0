"""The commands, and the options of each in the order of its help.

The docstring of a command is its help, `SUMMARY` its line in the list of commands, and `RUN` the function that runs it,
in the module of that name: what it imports is loaded only then. Options that several commands share come first.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from clinclust.cli.options import (
    DECLARED,
    PUBLISHED,
    Command,
    Options,
    declared_options,
    flag_of,
    in_options,
    of_parameter,
    option,
    whole_number,
)
from clinclust.estimators.parameters import (
    MAPDPParameters,
    PublishedParameters,
    combination_problems,
    declarations,
    rules_of,
)

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.files.selection.row_choice import RowChoice
    from clinclust.schema import FeatureSchema


# Reading the table, its schema and its model.


@dataclass(kw_only=True)
class RowOptions(Options):
    """The options that choose rows: the fields of `RowChoice`."""

    TITLE = "choosing rows and columns"
    where: str | None = option(
        "keep rows that meet it, such as \"visit == 'baseline' and age >= 18\"", None, "CONDITION"
    )
    one_row_per: str | None = option("keep one row for each subject, named by this column", None, "COLUMN")
    keep: Literal["first", "last"] = option("which one (default: first)", "first")
    by: str | None = option("numbers or dates that order its rows (default: the file)", None, "COLUMN")
    dates: Literal["day-first", "month-first"] | None = option(
        "how --where and --by read 03/04/2020, if no other date of the column tells it"
    )
    rows: str | None = option("rows of the subjects, such as 2-61 or 2-61,66- (default: found)", None, "FIRST-LAST")

    @property
    def choice(self) -> RowChoice:
        """The choice of rows."""
        from clinclust.files.selection.row_choice import RowChoice

        return RowChoice(**{item.name: getattr(self, item.name) for item in fields(RowChoice)})


@dataclass(kw_only=True)
class _ColumnOptions(Options):
    TITLE = RowOptions.TITLE
    only: tuple[str, ...] = option("keep these columns; names with commas in double quotes", (), "A,B")
    drop: tuple[str, ...] = option("leave these columns out; names with commas in double quotes", (), "A,B")


def _row(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:9]) < 2**20):
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is no row of a table; give its number, from 1, or 0 if no row holds the names of columns"
        )
    return int(text)


@dataclass(kw_only=True)
class _ReadingOptions(Options):
    TITLE = "reading the table"
    sheet: str | None = option("sheet of a workbook, by name or number (default: the first)")
    encoding: str | None = option("encoding of a text file (default: UTF-8, else Windows-1252)")
    header_row: int | None = option(
        "row of the names of columns; 0 if there is none (default: found)", None, "N", type=_row
    )
    decimal: Literal[",", "."] | None = option("decimal mark of numbers such as 1,234")


@dataclass(kw_only=True)
class TableOptions(_ReadingOptions, RowOptions, _ColumnOptions):
    """The table, how it is read, and its rows and columns."""

    table: Path = option(
        "cohort table: csv, tsv, xlsx; parquet, xls, xlsb, ods, SPSS, Stata or SAS with a further package (`draft`, "
        "`check --schema`, `fit`: or a folder of parquet files)",
        metavar="TABLE",
        positional=True,
    )

    @property
    def shown_table(self) -> str:
        """The name of the table in messages."""
        from clinclust.files.opening import shown_name

        return shown_name(self.table)


@dataclass(kw_only=True)
class SchemaOptions(Options):
    """The schema of the table."""

    schema: Path = option("feature schema (YAML)", required=True)


@dataclass(kw_only=True)
class ModelOptions(TableOptions, Command):
    """The model fitted on the table, and whether to include rows that the fit left out."""

    model: Path = option("folder that `clinclust fit` wrote", metavar="DIR", required=True)
    all_rows: bool = option("take all rows of the table, also if the model was fitted on some", False)


@dataclass(kw_only=True)
class DictionaryOptions(Options):
    """A data dictionary of the table."""

    dictionary: Path | None = option(
        "REDCap data dictionary, or a codebook (csv, xlsx): labels, levels, units, missing codes of the columns",
        metavar="FILE",
    )
    dictionary_sheet: str | None = option("sheet of an xlsx dictionary (default: the first)", metavar="SHEET")


ROLES = ("cluster", "describe", "ignore")
"""The roles that options give to columns."""


@dataclass(kw_only=True)
class RoleOptions(Options):
    """The options that change roles; their names are those of the roles."""

    TITLE = "what columns are for"
    cluster: tuple[str, ...] = option(
        "form subtypes from these columns, whatever the schema or the draft says", (), "NAME"
    )
    describe: tuple[str, ...] = option("report and test these columns, and form no subtypes from them", (), "NAME")
    ignore: tuple[str, ...] = option("leave these columns out of subtypes and reports", (), "NAME")


# What a command writes, and what it withholds.


def overwrite(what: str) -> bool:
    """Declare the option that allows a command to replace `what` it wrote before."""
    allowed: bool = option(f"replace {what} if it exists", False)
    return allowed


@dataclass(kw_only=True)
class OutputOptions(TableOptions):
    """The file that a command writes."""

    out: Path | None = option("file to write (default: standard output)", metavar="FILE")
    overwrite: bool = overwrite("the file")


@dataclass(kw_only=True)
class SummaryOptions(Options):
    """The option of a command that can summarise what it did for a program."""

    json: bool = option("print a summary as JSON on standard output, in the place of sentences", False, parameter=None)


@dataclass(kw_only=True)
class SuppressOptions(Options):
    """Whether small counts are withheld."""

    TITLE = "results that can be shared"
    suppress: int | None = option(
        "withhold counts below N (10), and all about single subjects, so that the result can be shared; commands on "
        "the model of a fit do as the fit was asked (0: nothing is withheld)",
        None,
        "N",
        type=whole_number,
        nargs="?",
        const=10,
    )
    is_off: bool = False
    """Whether the options exclude suppression."""
    is_as_fitted: bool = False
    """Whether counts are withheld as in the fit."""


@dataclass(kw_only=True)
class SharingOptions(SuppressOptions):
    """How counts are withheld or rounded."""

    TITLE = SuppressOptions.TITLE
    round_to: int | None = option(
        "with --suppress: round every count to a multiple of N, such as 5, and leave out tests", None, "N"
    )
    missing_is_harmless: bool = option(
        "with --suppress: numbers of missing values are shown unless they give small counts away", False
    )
    min_n: int | None = option(
        "with --suppress: means and quartiles of fewer than N values withheld (default: of fewer than --suppress)",
        None,
        "N",
    )


# The search, and the reports of its subtypes.


@dataclass(kw_only=True)
class JobOptions(Options):
    """The number of threads."""

    n_jobs: Any = of_parameter("n_jobs")


@dataclass(kw_only=True)
class SearchOptions(JobOptions, Command):
    """The options of the search: parameters of `MAPDP`."""

    TITLE = "the search"
    n_clusters: Any = of_parameter("n_clusters")
    min_size: Any = of_parameter("min_size")
    as_published: bool = option(
        "search as Raykov et al. (2016) published: --n-clusters none --coarsening 1 --block-weights none",
        False,
        parameter=None,
    )
    concentration: Any = of_parameter("concentration")
    hyperparameters: Any = of_parameter("hyperparameters")
    coarsening: Any = of_parameter("coarsening")
    block_weights: Any = of_parameter("block_weights")
    select_features: Any = of_parameter("select_features")
    n_restarts: Any = of_parameter("n_restarts")
    max_sweeps: Any = of_parameter("max_sweeps")
    max_seconds: Any = of_parameter("max_seconds")
    random_state: Any = of_parameter("random_state", 0)

    @property
    def n_stated(self) -> int | None:
        """The number of subtypes, if it is stated."""
        return self.n_clusters if isinstance(self.n_clusters, int) else None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults, by name."""
        names = [item.name for _, item in declared_options(SearchOptions) if item.name in DECLARED]
        values = {name: getattr(self, name) for name in names}
        stated = {name: value for name, value in values.items() if value is not None and value is not False}
        return {name: None if value == "none" else value for name, value in stated.items()}

    def problems(self) -> list[str]:
        """Return one sentence for each option that cannot be used or combined."""
        parameters = PublishedParameters if self.as_published else MAPDPParameters
        rules, stated, problems = rules_of(parameters), self.parameters(), []
        for name, value in stated.items():
            repair = ""
            if name == "min_size":
                repair = (
                    "; leave --min-size out to merge no small subtype; `clinclust report --min-size` says after the "
                    "fit how small a subtype may be that is tested"
                )
            elif not rules[name].accepts(value) and PUBLISHED[name].rule.accepts(value):
                repair = "; give --as-published as well"
            problems += [f"{problem}{repair}" for problem in rules[name].problems_of_option(flag_of(name), value)]
        defaults = {name: declared.default for name, declared in declarations(parameters).items()}
        return problems or [in_options(problem) for problem in combination_problems(defaults | stated)]

    def build_model(self, schema: FeatureSchema | None) -> MAPDP:
        """Return the estimator with these options, not fitted."""
        from clinclust.estimators.mapdp import MAPDP, PublishedMAPDP

        make = PublishedMAPDP if self.as_published else MAPDP
        return make(schema, **self.parameters(), progress=not self.quiet)


@dataclass(kw_only=True)
class ComparisonOptions(SharingOptions):
    """The options of comparisons of subtypes: a report, and the table of a paper."""

    TITLE = "the reports"
    significance_level: float = option(
        "of p in the pairwise tests, and of q of features that are called validated (default: 0.01)", 0.01, "P"
    )
    name: tuple[str, ...] = option(
        "name of subtype K; may be given for each", (), "K=NAME", action="append", parameter="names"
    )


@dataclass(kw_only=True)
class ModelComparisonOptions(ComparisonOptions, ModelOptions):
    """The options of a command on a model with its own smallest size of subtypes."""

    smallest_tested: int = option(
        "smallest subtype that is tested (default: 3); the --min-size of the fit applies where it is larger",
        3,
        "N",
        name="min_size",
        parameter="min_size",
    )


@dataclass(kw_only=True)
class FitReportOptions(ComparisonOptions, JobOptions, Command):
    """The options of the reports of a fit."""

    TITLE = "the reports"
    associations: Literal["refit", "none"] = option(
        "whether each feature is tested against subtypes that it did not form: by up to 24 searches without some "
        "features (refit), or not at all (none; default: refit)",
        "refit",
    )
    stability: int | None = option(
        "search for the subtypes again in N halves and N bootstrap samples of the cohort, such as 100, and say "
        "which come out again (not in a report made for sharing)",
        None,
        "N",
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
class ResultOptions(RoleOptions, TableOptions, SearchOptions, FitReportOptions):
    """The options of a command that searches and writes a folder of results."""

    out: Path = option("folder for the results")


@dataclass(kw_only=True)
class CheckedOptions(RoleOptions, TableOptions, Command):
    """The options of a command that checks a table."""

    all: bool = option("tell all that could be decided, and not one screen of it", False)


@dataclass(kw_only=True)
class DraftedOptions(CheckedOptions, DictionaryOptions):
    """The options of a command that drafts a schema."""


# The commands, in the order of the help.


@dataclass(kw_only=True)
class StartOptions(DraftedOptions, ResultOptions):
    """Draft a schema next to the table, check the table, find the subtypes, write the report, and open it.

    An existing schema of the table's name is used unchanged, and nothing is replaced. Where subjects have several rows,
    the options must choose among them.
    """

    SUMMARY = "the whole way, from a table to the report"
    RUN = "clinclust.cli.fit.run_start"

    every_row: bool = option("go on where subjects have several rows: each row counts as a subject", False)
    out: Path = option("folder for the results (default: next to the table, TABLE-subtypes)", metavar="DIR")
    yes: bool = option("do not wait until the schema was read", False)
    no_open: bool = option("do not open the report in the browser", False)
    schema: Path = Path()
    wrote_schema: bool = False
    """Whether this run drafted the schema."""


@dataclass(kw_only=True)
class DraftOptions(DraftedOptions, OutputOptions, SummaryOptions):
    """Propose a likelihood for every column, with the reason; read and edit the result.

    The schema records the choice of rows for later commands. With --out, the table is then checked against it.
    """

    SUMMARY = "propose a feature schema for a table"
    RUN = "clinclust.cli.fit.run_draft"


@dataclass(kw_only=True)
class CheckOptions(CheckedOptions, SchemaOptions, ModelOptions, OutputOptions, SummaryOptions):
    """Check a table against a schema before a fit, or afterwards whether the model fits its table.

    With --schema: list everything that prevents a fit; otherwise print the use of each column, how much is missing, and
    the next command. With --model: print where the model does not describe its table, and which lines of the schema
    correct it.
    """

    SUMMARY = "check a table, or whether a model fits it"
    RUN = "clinclust.cli.check.run_check"

    schema: Path = option("feature schema (YAML)", either=True)
    model: Path = option("folder that `clinclust fit` wrote", None, "DIR", either=True)
    out: Path | None = option("with --model: file for a copy of the schema that follows the advice", None, "SCHEMA")


@dataclass(kw_only=True)
class FitOptions(SchemaOptions, ResultOptions, SummaryOptions):
    """Find the subtypes and write the model, the assignments, two reports, and a manifest of these files."""

    SUMMARY = "find subtypes and write the report"
    RUN = "clinclust.cli.fit.run_fit"

    out: Path = option("folder for model, assignments and report", None, "DIR", required=True)
    overwrite: bool = overwrite("an earlier fit in this folder")


@dataclass(kw_only=True)
class RepeatOptions(FitReportOptions, ModelComparisonOptions):
    """Make the reports again with other names, levels or suppression, from the model and the table of a fit."""

    SUMMARY = "make the reports of a fit again"
    RUN = "clinclust.cli.fitted.run_report"

    out: Path | None = option("folder to write to (default: the folder of the model)", None, "DIR")
    overwrite: bool = overwrite("the reports in this folder")


@dataclass(kw_only=True)
class SubtypeTableOptions(ModelComparisonOptions, OutputOptions):
    """Write every feature in all subjects and in each subtype, as papers print it, for the cohort of a fit."""

    SUMMARY = "write the subtype table of a paper"
    RUN = "clinclust.cli.fitted.run_table"

    out: Path = option("file to write: .docx, .xlsx, .html, .tex, .md or .csv", None, "FILE", required=True)
    title: str | None = option("caption of the table (default: the title of the schema)")
    between: tuple[int, int] | None = option(
        "p of these two subtypes, not of all at once", None, ("A", "B"), type=whole_number, nargs=2
    )
    columns: tuple[str, ...] = option(
        "columns after the label, in this order: missing, all, subtypes, smd (standardised mean difference), p, "
        "validated (p and q of a search without each feature; takes time) (default: missing all subtypes p)",
        (),
        "COLUMN",
        nargs="+",
        choices=("missing", "all", "subtypes", "smd", "p", "validated"),
    )
    decimals: int | None = option("decimals of means, medians and percentages", None, "N")
    missing_rows: bool = option("a row below each feature for the subjects without a value", False)
    weights: str | None = option(
        "column of sampling weights: percentages, means and quartiles of the population, without tests", None, "COLUMN"
    )
    significant: bool = option("only features whose descriptive p is significant", False)


@dataclass(kw_only=True)
class OutcomesOptions(SuppressOptions, ModelOptions, OutputOptions):
    """Compare an outcome between the subtypes of a fit, or regress the subtypes on predictors.

    Some subjects are assigned to the wrong subtype, which makes differences too small. The errors of assignment are
    carried through (BCH, and maximum likelihood in three steps); the answer as assigned is given too.
    """

    SUMMARY = "outcomes by subtype, and predictors of subtypes"
    RUN = "clinclust.cli.fitted.run_outcomes"

    outcome: str | None = option("column to compare between subtypes", None, "COLUMN", either=True)
    predictors: tuple[str, ...] = option(
        "columns that may predict who is in which subtype", (), "COLUMN", either=True, nargs="+"
    )
    every_feature: bool = option("compare every feature, adjusted for --covariates", False, either=True)
    time: str | None = option("column with the end of follow-up, for hazard ratios", None, "COLUMN")
    entry: str | None = option("column with the begin of follow-up (default: 0)", None, "COLUMN")
    event: str | None = option("value of the outcome that is the event", None, "VALUE")
    covariates: tuple[str, ...] = option("columns to adjust for", (), "COLUMN", nargs="+")
    versus: int = option("subtype that others are compared with (default: 1)", 1, "N")
    level: float = option("of the confidence intervals (default: 0.95)", 0.95, "SHARE")
    out: Path | None = option("table to write: .csv (default: only say it)", None, "FILE")


@dataclass(kw_only=True)
class ImputeOptions(ModelOptions, OutputOptions):
    """Write the table of a fit with each missing value drawn, given what else is observed of the subject.

    Columns that the schema clusters on or describes are filled; others stay as they are. One table is enough to look
    at. Its analyses would count drawn values as observed: for standard errors draw 20 tables, analyse each, and pool
    the results by Rubin's rules (`pool_estimates` in Python, `pool` of mice in R).
    """

    SUMMARY = "the table with its missing values drawn"
    RUN = "clinclust.cli.fitted.run_impute"

    out: Path = option("table to write: .csv, .xlsx or .parquet", None, "FILE", required=True)
    tables: int = option("number of completed tables, one below the other; 20 for standard errors (default: 1)", 1, "M")
    random_state: int = option("seed of the draws (default: 0)", 0)


@dataclass(kw_only=True)
class CompareOptions(SuppressOptions, ModelOptions, OutputOptions):
    """Cluster the cohort of a fit by K-means, mixtures, latent classes and other methods.

    For each method: the number of clusters, how many are distinct, how well they predict subjects held out, how far
    half-samples agree, and the agreement with the subtypes of the fit. A method whose package is missing is left out.
    """

    SUMMARY = "other methods of clustering compared with a fit: why not K-means?"
    RUN = "clinclust.cli.fitted.run_compare"

    out: Path | None = option("table to write: .csv (default: only say it)", None, "FILE")
    method: tuple[str, ...] = option(
        'a method to run, as "Latent classes, K by BIC"; may be repeated (default: all)',
        (),
        "NAME",
        action="append",
        parameter="methods",
    )
    n_resamples: int = option("half-samples (default: 10)", 10)
    n_draws: int = option("draws of one population (default: 50)", 50)
    random_state: int = option("of starts, samples and draws (default: 0)", 0)


@dataclass(kw_only=True)
class AssignOptions(SuppressOptions, ModelOptions, OutputOptions, SummaryOptions):
    """Give each subject of a table its most probable subtype; 0 means none of these.

    The rows are chosen as for the fit, unless options choose others. Subjects with a value that the model does not
    know are listed, and not assigned. The subjects of the fit keep its subtypes and probabilities. With --cohort, new
    subjects are compared with the cohort.
    """

    SUMMARY = "assign new subjects to subtypes"
    RUN = "clinclust.cli.fitted.run_assign"

    unseen: Literal["leave-out", "missing"] = option(
        "what to do with subjects who have a value that the model does not know, such as a step beyond a scale: "
        "leave them unassigned, or take the value for missing (default: leave-out)",
        "leave-out",
    )
    explain: bool = option("say in the last column which features speak most for the subtype of each subject", False)
    cohort: Path | None = option(
        "table of the fit, read with the same options but with the rows of the fit: say whether the new subjects "
        "differ from it in subtypes, missing values and distributions",
        None,
        "TABLE",
    )


@dataclass(kw_only=True)
class ValidateOptions(SuppressOptions, ModelOptions, OutputOptions):
    """Look for the subtypes of a fit in another cohort.

    Its subjects are assigned by the model, and clustered again by the same procedure: a subtype is found again if
    mostly the same subjects come together. Sizes and profiles are compared.
    """

    SUMMARY = "are the subtypes found again in another cohort?"
    RUN = "clinclust.cli.fitted.run_validate"

    cohort: Path = option(
        "table of the fit, read with the same options but with the rows of the fit", None, "TABLE", required=True
    )
    out: Path | None = option("page (.html) or table (.csv) to write", None, "FILE")


@dataclass(kw_only=True)
class SchemasOptions(Command):
    """List the instruments with a ready schema, or print one as YAML, to be put among the features of your own."""

    SUMMARY = "list or print ready schemas of instruments"
    RUN = "clinclust.cli.fitted.run_schemas"

    instrument: str | None = option("instrument to print (default: list all)", positional=True, nargs="?")


COMMANDS: dict[str, type[Command]] = {
    "start": StartOptions,
    "draft": DraftOptions,
    "check": CheckOptions,
    "fit": FitOptions,
    "report": RepeatOptions,
    "table": SubtypeTableOptions,
    "outcomes": OutcomesOptions,
    "impute": ImputeOptions,
    "compare": CompareOptions,
    "assign": AssignOptions,
    "validate": ValidateOptions,
    "schemas": SchemasOptions,
}
