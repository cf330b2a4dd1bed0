"""The commands, and the options of each in the order of its help.

The help of commands and options is in `clinclust/data/command_line.toml`. `RUN` of a command is the function that runs
it, in the module of that name: what it imports is loaded only then. Options that several commands share come first.
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
from clinclust.errors import refuse
from clinclust.estimators.parameters import (
    MAPDPParameters,
    PublishedParameters,
    combination_problems,
    declarations,
    rules_of,
)

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.files.row_choice import RowChoice
    from clinclust.schema import FeatureSchema


# Reading the table, its schema and its model.


@dataclass(kw_only=True)
class RowOptions(Options):
    """The options that choose rows: the fields of `RowChoice`."""

    TITLE = "choosing rows and columns"
    where: str | None = option(None, "CONDITION")
    one_row_per: str | None = option(None, "COLUMN")
    keep: Literal["first", "last"] = option("first")
    by: str | None = option(None, "COLUMN")
    dates: Literal["day-first", "month-first"] | None = option()
    visit_time: str | None = option(None, "COLUMN", name="time", parameter="time")
    summarise: tuple[str, ...] = option((), "COLUMN=mean,slope", action="append")
    rows: str | None = option(None, "FIRST-LAST")

    @property
    def choice(self) -> RowChoice:
        """The choice of rows."""
        from clinclust.files.row_choice import RowChoice

        shared = {item.name: getattr(self, item.name) for item in fields(RowChoice) if hasattr(self, item.name)}
        return RowChoice(**shared | {"time": self.visit_time, "summarise": _read_summaries(self.summarise)})


def _read_summaries(texts: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """Return the summaries of columns that options such as ``egfr=mean,slope`` state; None without any option."""
    parts = [text.rpartition("=") for text in texts]
    refuse(
        f"--summarise takes a column and its summaries, as egfr=mean,slope, not {text[:40]!r}"
        for text, (name, _, summaries) in zip(texts, parts, strict=True)
        if not name.strip() or not summaries.strip()
    )
    pairs = [(name.strip(), tuple(word.strip() for word in words.split(","))) for name, _, words in parts]
    return tuple(pairs) or None


@dataclass(kw_only=True)
class _ColumnOptions(Options):
    TITLE = RowOptions.TITLE
    only: tuple[str, ...] = option((), "A,B")
    drop: tuple[str, ...] = option((), "A,B")


def _row(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:9]) < 2**20):
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is no row of a table; give its number, from 1, or 0 if no row holds the names of columns"
        )
    return int(text)


@dataclass(kw_only=True)
class _ReadingOptions(Options):
    TITLE = "reading the table"
    sheet: str | None = option()
    encoding: str | None = option()
    header_row: int | None = option(None, "N", type=_row)
    decimal: Literal[",", "."] | None = option()


@dataclass(kw_only=True)
class TableOptions(_ReadingOptions, RowOptions, _ColumnOptions):
    """The table, how it is read, and its rows and columns."""

    table: Path = option(metavar="TABLE", positional=True)

    @property
    def shown_table(self) -> str:
        """The name of the table in messages."""
        from clinclust.files.opening import shown_name

        return shown_name(self.table)


@dataclass(kw_only=True)
class SchemaOptions(Options):
    """The schema of the table."""

    schema: Path = option(required=True)


@dataclass(kw_only=True)
class ModelOptions(TableOptions, Command):
    """The model fitted on the table, and whether to include rows that the fit left out."""

    model: Path = option(metavar="DIR", required=True)
    all_rows: bool = option(False)


@dataclass(kw_only=True)
class DictionaryOptions(Options):
    """A data dictionary of the table."""

    dictionary: Path | None = option(metavar="FILE")
    dictionary_sheet: str | None = option(metavar="SHEET")


ROLES = ("cluster", "describe", "ignore")
"""The roles that options give to columns."""


@dataclass(kw_only=True)
class RoleOptions(Options):
    """The options that change roles; their names are those of the roles."""

    TITLE = "what columns are for"
    cluster: tuple[str, ...] = option((), "NAME")
    describe: tuple[str, ...] = option((), "NAME")
    ignore: tuple[str, ...] = option((), "NAME")


# What a command writes, and what it withholds.


@dataclass(kw_only=True)
class OutputOptions(TableOptions):
    """The file that a command writes."""

    out: Path | None = option(metavar="FILE")
    overwrite: bool = option(False)


@dataclass(kw_only=True)
class SummaryOptions(Options):
    """The option of a command that can summarise what it did for a program."""

    json: bool = option(False, parameter=None)


@dataclass(kw_only=True)
class SuppressOptions(Options):
    """Whether small counts are withheld."""

    TITLE = "results that can be shared"
    suppress: int | None = option(None, "N", type=whole_number, nargs="?", const=10)
    is_off: bool = False
    """Whether the options exclude suppression."""
    is_as_fitted: bool = False
    """Whether counts are withheld as in the fit."""


@dataclass(kw_only=True)
class SharingOptions(SuppressOptions):
    """How counts are withheld or rounded."""

    TITLE = SuppressOptions.TITLE
    round_to: int | None = option(None, "N")
    missing_is_harmless: bool = option(False)
    min_n: int | None = option(None, "N")


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
    as_published: bool = option(False, parameter=None)
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
        words = {"none": None, "yes": True, "no": False}
        return {name: words.get(value, value) for name, value in stated.items()}

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
    significance_level: float = option(0.01, "P")
    name: tuple[str, ...] = option((), "K=NAME", action="append", parameter="names")


@dataclass(kw_only=True)
class ModelComparisonOptions(ComparisonOptions, ModelOptions):
    """The options of a command on a model with its own smallest size of subtypes."""

    smallest_tested: int = option(3, "N", name="min_size", parameter="min_size")


@dataclass(kw_only=True)
class FitReportOptions(ComparisonOptions, JobOptions, Command):
    """The options of the reports of a fit."""

    TITLE = "the reports"
    associations: Literal["refit", "none"] = option("refit")
    stability: int | None = option(None, "N")
    whole_procedure: bool = option(False)
    posterior: bool = option(False)
    other_methods: bool = option(False)


@dataclass(kw_only=True)
class ResultOptions(RoleOptions, TableOptions, SearchOptions, FitReportOptions):
    """The options of a command that searches and writes a folder of results."""

    out: Path = option()


@dataclass(kw_only=True)
class CheckedOptions(RoleOptions, TableOptions, Command):
    """The options of a command that checks a table."""

    all: bool = option(False)


@dataclass(kw_only=True)
class DraftedOptions(CheckedOptions, DictionaryOptions):
    """The options of a command that drafts a schema."""


# The commands, in the order of the help.


@dataclass(kw_only=True)
class StartOptions(DraftedOptions, ResultOptions):
    """The options of `clinclust start`."""

    RUN = "clinclust.cli.fit.run_start"

    every_row: bool = option(False)
    out: Path = option(metavar="DIR")
    yes: bool = option(False)
    no_open: bool = option(False)
    schema: Path = option(None, "FILE")
    wrote_schema: bool = False
    """Whether this run drafted the schema."""


@dataclass(kw_only=True)
class DraftOptions(DraftedOptions, OutputOptions, SummaryOptions):
    """The options of `clinclust draft`."""

    RUN = "clinclust.cli.fit.run_draft"

    out: Path | None = option(None, "SCHEMA")


@dataclass(kw_only=True)
class CheckOptions(CheckedOptions, SchemaOptions, ModelOptions, OutputOptions, SummaryOptions):
    """The options of `clinclust check`."""

    RUN = "clinclust.cli.check.run_check"

    schema: Path = option(either=True)
    model: Path = option(None, "DIR", either=True)
    out: Path | None = option(None, "SCHEMA")


@dataclass(kw_only=True)
class FitOptions(SchemaOptions, ResultOptions, SummaryOptions):
    """The options of `clinclust fit`."""

    RUN = "clinclust.cli.fit.run_fit"

    out: Path = option(None, "DIR", required=True)
    overwrite: bool = option(False)


@dataclass(kw_only=True)
class RepeatOptions(FitReportOptions, ModelComparisonOptions):
    """The options of `clinclust report`."""

    RUN = "clinclust.cli.fitted.run_report"

    out: Path | None = option(None, "DIR")
    overwrite: bool = option(False)


SHOWN_COLUMNS = ("missing", "all", "subtypes", "smd", "p", "validated")


@dataclass(kw_only=True)
class SubtypeTableOptions(ModelComparisonOptions, OutputOptions):
    """The options of `clinclust table`."""

    RUN = "clinclust.cli.fitted.run_table"

    out: Path = option(None, "FILE", required=True)
    title: str | None = option()
    between: tuple[int, int] | None = option(None, ("A", "B"), type=whole_number, nargs=2)
    columns: tuple[str, ...] = option(
        (), "COLUMN", nargs="+", choices=("missing", "all", "subtypes", "smd", "p", "validated")
    )
    decimals: int | None = option(None, "N")
    missing_rows: bool = option(False)
    weights: str | None = option(None, "COLUMN")
    significant: bool = option(False)


@dataclass(kw_only=True)
class OutcomesOptions(SuppressOptions, ModelOptions, OutputOptions):
    """The options of `clinclust outcomes`."""

    RUN = "clinclust.cli.fitted.run_outcomes"

    visit_time: str | None = option(None, "COLUMN", name="visit-time", parameter=None)
    outcome: str | None = option(None, "COLUMN", either=True)
    predictors: tuple[str, ...] = option((), "COLUMN", either=True, nargs="+")
    every_feature: bool = option(False, either=True)
    time: str | None = option(None, "COLUMN")
    entry: str | None = option(None, "COLUMN")
    event: str | None = option(None, "VALUE")
    covariates: tuple[str, ...] = option((), "COLUMN", nargs="+")
    versus: int = option(1, "N")
    level: float = option(0.95, "SHARE")
    out: Path | None = option(None, "FILE")


@dataclass(kw_only=True)
class ImputeOptions(ModelOptions, OutputOptions):
    """The options of `clinclust impute`."""

    RUN = "clinclust.cli.fitted.run_impute"

    out: Path = option(None, "FILE", required=True)
    tables: int = option(1, "M")
    random_state: int = option(0)


@dataclass(kw_only=True)
class CompareOptions(SuppressOptions, ModelOptions, OutputOptions):
    """The options of `clinclust compare`."""

    RUN = "clinclust.cli.fitted.run_compare"

    out: Path | None = option(None, "FILE")
    method: tuple[str, ...] = option((), "NAME", action="append", parameter="methods")
    n_resamples: int = option(10)
    n_draws: int = option(50)
    random_state: int = option(0)


@dataclass(kw_only=True)
class AssignOptions(SuppressOptions, ModelOptions, OutputOptions, SummaryOptions):
    """The options of `clinclust assign`."""

    RUN = "clinclust.cli.fitted.run_assign"

    unseen: Literal["leave-out", "missing"] = option("leave-out")
    explain: bool = option(False)
    cohort: Path | None = option(None, "TABLE")


@dataclass(kw_only=True)
class ValidateOptions(SuppressOptions, ModelOptions, OutputOptions):
    """The options of `clinclust validate`."""

    RUN = "clinclust.cli.fitted.run_validate"

    cohort: Path = option(None, "TABLE", required=True)
    out: Path | None = option(None, "FILE")


@dataclass(kw_only=True)
class SchemasOptions(Command):
    """The options of `clinclust schemas`."""

    RUN = "clinclust.cli.fitted.run_schemas"

    instrument: str | None = option(positional=True, nargs="?")


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
