"""The commands, and the options of each in the order of its help.

The help of commands and options is in `clinclust/data/command_line.toml`. `runs` of a command is the function that runs
it, in a module of this folder: what it imports is loaded only then. Options that several commands share come first.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, ClassVar, Literal

from clinclust.cli.options import (
    DECLARED,
    PUBLISHED,
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

COMMANDS: dict[str, type[Command]] = {}
"""The commands by name, in the order of the help."""


class Command(Options):
    """A command with its options; `run_start` of the module `fit` runs `start` for ``runs="fit.run_start"``."""

    RUN: ClassVar[str] = ""

    command: str = ""
    debug: bool = False
    quiet: bool = option(False, parameter=None)

    def __init_subclass__(cls, runs: str = "", **more: Any) -> None:
        """Add a command that runs to the list."""
        super().__init_subclass__(**more)
        if runs:
            cls.RUN = f"clinclust.cli.{runs}"
            COMMANDS[runs.rpartition("run_")[2]] = cls


# Reading the table, its schema and its model.


class RowOptions(Options, title="choosing rows and columns"):
    """The options that choose rows: the fields of `RowChoice`."""

    where: str | None = option(None, "CONDITION")
    one_row_per: str | None = option(None, "COLUMN")
    keep: Literal["first", "last"] = option("first")
    by: str | None = option(None, "COLUMN")
    dates: Literal["day-first", "month-first"] | None = option()
    visit_time: str | None = option(None, "COLUMN", name="time", parameter="time")
    summarise: tuple[str, ...] = option((), "COLUMN=mean,slope", action="append")
    rows: str | None = option(None, "FIRST-LAST")


class _ColumnOptions(Options, title="choosing rows and columns"):
    only: tuple[str, ...] = option((), "A,B")
    drop: tuple[str, ...] = option((), "A,B")


def _row(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:9]) < 2**20):
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is no row of a table; give its number, from 1, or 0 if no row holds the names of columns"
        )
    return int(text)


class TableOptions(RowOptions, _ColumnOptions, title="reading the table"):
    """The table, how it is read, and its rows and columns."""

    table: Path = option(metavar="TABLE", positional=True)
    sheet: str | None = option()
    encoding: str | None = option()
    header_row: int | None = option(None, "N", type=_row)
    decimal: Literal[",", "."] | None = option()


class SchemaOptions(Options):
    """The schema of the table."""

    schema: Path = option(required=True)


class ModelOptions(TableOptions, Command):
    """The model fitted on the table, and whether to include rows that the fit left out."""

    model: Path = option(metavar="DIR", required=True)
    all_rows: bool = option(False)


ROLES = ("cluster", "describe", "ignore")
"""The roles that options give to columns."""


class RoleOptions(Options, title="what columns are for"):
    """The options that change roles; their names are those of the roles."""

    cluster: tuple[str, ...] = option((), "NAME")
    describe: tuple[str, ...] = option((), "NAME")
    ignore: tuple[str, ...] = option((), "NAME")


# What a command writes, and what it withholds.


class OutputOptions(TableOptions):
    """The file that a command writes."""

    out: Path | None = option(metavar="FILE")
    overwrite: bool = option(False)


class SummaryOptions(Options):
    """The option of a command that can summarise what it did for a program."""

    json: bool = option(False, parameter=None)


class SuppressOptions(Options, title="results that can be shared"):
    """Whether small counts are withheld."""

    suppress: int | None = option(None, "N", type=whole_number, nargs="?", const=10)
    is_as_fitted: bool = False
    """Whether counts are withheld as in the fit."""


class SharingOptions(SuppressOptions, title="results that can be shared"):
    """How counts are withheld or rounded."""

    round_to: int | None = option(None, "N")
    missing_is_harmless: bool = option(False)
    min_n: int | None = option(None, "N")


# The search, and the reports of its subtypes.


class JobOptions(Options):
    """The number of threads."""

    n_jobs: Any = of_parameter("n_jobs")


class SearchOptions(JobOptions, Command, title="the search"):
    """The options of the search: parameters of `MAPDP`."""

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


class ComparisonOptions(SharingOptions, title="the reports"):
    """The options of comparisons of subtypes: a report, and the table of a paper."""

    significance_level: float = option(0.01, "P")
    name: tuple[str, ...] = option((), "K=NAME", action="append", parameter="names")


class ModelComparisonOptions(ComparisonOptions, ModelOptions):
    """The options of a command on a model with its own smallest size of subtypes."""

    min_size: int = option(3, "N")


class FitReportOptions(ComparisonOptions, JobOptions, Command, title="the reports"):
    """The options of the reports of a fit."""

    associations: Literal["refit", "none"] = option("refit")
    stability: int | None = option(None, "N")
    whole_procedure: bool = option(False)
    posterior: bool = option(False)
    other_methods: bool = option(False)


class ResultOptions(RoleOptions, TableOptions, SearchOptions, FitReportOptions):
    """The options of a command that searches and writes a folder of results."""

    schema: Path = option()
    out: Path = option()


class CheckedOptions(RoleOptions, TableOptions, Command):
    """The options of a command that checks a table."""

    all: bool = option(False)


class DictionaryOptions(CheckedOptions):
    """The options of a command that drafts a schema: a data dictionary of the table."""

    dictionary: Path | None = option(metavar="FILE")
    dictionary_sheet: str | None = option(metavar="SHEET")


# The commands, in the order of the help.


class StartOptions(DictionaryOptions, ResultOptions, runs="fit.run_start"):
    """The options of `clinclust start`."""

    every_row: bool = option(False)
    out: Path = option(metavar="DIR")
    yes: bool = option(False)
    no_open: bool = option(False)
    schema: Path = option(None, "FILE")
    wrote_schema: bool = False
    """Whether this run drafted the schema."""


class DraftOptions(DictionaryOptions, OutputOptions, SummaryOptions, runs="fit.run_draft"):
    """The options of `clinclust draft`."""

    out: Path | None = option(None, "SCHEMA")


class CheckOptions(CheckedOptions, SchemaOptions, ModelOptions, OutputOptions, SummaryOptions, runs="check.run_check"):
    """The options of `clinclust check`."""

    schema: Path = option(either=True)
    model: Path = option(None, "DIR", either=True)
    out: Path | None = option(None, "SCHEMA")


class FitOptions(SchemaOptions, ResultOptions, SummaryOptions, runs="fit.run_fit"):
    """The options of `clinclust fit`."""

    out: Path = option(None, "DIR", required=True)
    overwrite: bool = option(False)


class RepeatOptions(FitReportOptions, ModelComparisonOptions, runs="fitted.run_report"):
    """The options of `clinclust report`."""

    out: Path | None = option(None, "DIR")
    overwrite: bool = option(False)


class SubtypeTableOptions(ModelComparisonOptions, OutputOptions, runs="fitted.run_table"):
    """The options of `clinclust table`."""

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


class OutcomesOptions(SuppressOptions, ModelOptions, OutputOptions, runs="fitted.run_outcomes"):
    """The options of `clinclust outcomes`."""

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


class ImputeOptions(ModelOptions, OutputOptions, runs="fitted.run_impute"):
    """The options of `clinclust impute`."""

    out: Path = option(None, "FILE", required=True)
    tables: int = option(1, "M")
    random_state: int = option(0)


class CompareOptions(SuppressOptions, ModelOptions, OutputOptions, runs="fitted.run_compare"):
    """The options of `clinclust compare`."""

    out: Path | None = option(None, "FILE")
    method: tuple[str, ...] = option((), "NAME", action="append", parameter="methods")
    n_resamples: int = option(10)
    n_draws: int = option(50)
    random_state: int = option(0)


class AssignOptions(SuppressOptions, ModelOptions, OutputOptions, SummaryOptions, runs="fitted.run_assign"):
    """The options of `clinclust assign`."""

    unseen: Literal["leave-out", "missing"] = option("leave-out")
    explain: bool = option(False)
    cohort: Path | None = option(None, "TABLE")


class ValidateOptions(SuppressOptions, ModelOptions, OutputOptions, runs="fitted.run_validate"):
    """The options of `clinclust validate`."""

    cohort: Path = option(None, "TABLE", required=True)
    out: Path | None = option(None, "FILE")


class SchemasOptions(Command, runs="fitted.run_schemas"):
    """The options of `clinclust schemas`."""

    instrument: str | None = option(positional=True, nargs="?")
