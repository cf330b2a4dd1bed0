"""`clinclust check`: check a table against a schema, or a fitted model against its table."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.inputs import (
    ModelOptions,
    SchemaOptions,
    TableOptions,
    read_cohort_of_model,
    read_model,
    read_schema,
    read_table_of_schema,
)
from clinclust.cli.options import Command, Commands, Options, add_command, next_command, option, path_given
from clinclust.cli.outputs import OutputOptions, spare_file
from clinclust.cli.partitions import refuse_options, table_in_partitions
from clinclust.cli.roles import RoleOptions, refuse_roles_of_model, say_unused, with_roles_asked
from clinclust.cli.search_options import SearchOptions, model_asked_for
from clinclust.cli.streams import say
from clinclust.cli.summary import SummaryOptions, note, record
from clinclust.control_characters import on_one_line
from clinclust.errors import CohortError, InputError
from clinclust.files.parquet_partitions import is_in_partitions

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.check import ModelCheck
    from clinclust.drafting.column import Look
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.preparation import Prepared
    from clinclust.schema import FeatureSchema
    from clinclust.schema.partitions import Sampled

_WIDEST = 120


@dataclass(kw_only=True)
class AllOptions(Options):
    """How much is printed about a table."""

    all: bool = option("tell all that could be decided, and not one screen of it", False)


@dataclass(kw_only=True)
class CheckedOptions(RoleOptions, TableOptions, AllOptions, Command):
    """The options of a command that checks a table."""


@dataclass(kw_only=True)
class _Options(CheckedOptions, SchemaOptions, ModelOptions, OutputOptions, SummaryOptions):
    schema: Path = option("feature schema (YAML)", type=path_given, either=True)
    model: Path = option("folder that `clinclust fit` wrote", type=path_given, metavar="DIR", either=True)
    out: Path | None = option(
        "with --model: file for a copy of the schema that follows the advice", type=path_given, metavar="SCHEMA"
    )


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "check", "check a table, or whether a model fits it", run, _Options)


def run(options: _Options) -> int:
    """Check a table against a schema before a fit, or afterwards whether the model fits its table.

    With --schema: list everything that prevents a fit; otherwise print the use of each column, how much is missing, and
    the next command. With --model: print where the model does not describe its table, and which lines of the schema
    correct it.
    """
    if options.model is not None:
        refuse_roles_of_model(options)
        return _check_model(options)
    given = {"--out": options.out is not None, "--overwrite": options.overwrite, "--all-rows": options.all_rows}
    named = [name for name, is_given in given.items() if is_given]
    if named:
        raise InputError(f"{', '.join(named)} can be used only together with --model")
    schema, n_rows = read_schema(options.schema), None
    if is_in_partitions(options.table):
        table, n_rows = _sample(options, schema)
    else:
        table = read_table_of_schema(options, schema, options.schema)
        schema = with_roles_asked(options, schema, table)
    check_cohort(options, schema, table, options.schema, n_rows=n_rows)
    say_next(options, options.schema)
    return 0


def _sample(options: _Options, schema: FeatureSchema) -> Sampled:
    """Validate a table in partitions, and return the sample of its fit."""
    from clinclust.schema.partitions import validated_sample

    refuse_options(options)
    with table_in_partitions(options.table) as (table, _):
        return validated_sample(table, schema, progress=not options.quiet)


def prepared_cohort(options: TableOptions, table: pd.DataFrame, model: MAPDP) -> Prepared:
    """Check a table as a fit does, and return the prepared cohort.

    Values that do not fit the schema are a CohortError, a table without anything to cluster an InputError.
    """
    from clinclust.estimators.preparation import prepared
    from clinclust.estimators.settings import Settings
    from clinclust.files.opening import shown_name
    from clinclust.progress import Progress

    try:
        with Progress(not getattr(options, "quiet", False)).stage("checking values"):
            return prepared(Settings.of(model), table, stacklevel=1)
    except CohortError as error:
        raise CohortError(error.failures, shown_name(options.table)) from error


def check_cohort(
    options: CheckedOptions,
    schema: FeatureSchema,
    table: pd.DataFrame,
    path: Path,
    looks: Sequence[Look] | None = None,
    n_rows: int | None = None,
) -> Prepared:
    """Return the cohort of `prepared_cohort`, and print its content.

    `looks` are the remarks of a draft, if any. The table may be a sample of `n_rows` validated rows.
    """
    from clinclust.cli.check_report import check_lines, facts_of_check, looks_at_table
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.progress import Progress

    if isinstance(options, SearchOptions):
        model = model_asked_for(options, schema)
    else:
        model = MAPDP(schema, progress=not options.quiet)
    cohort = prepared_cohort(options, table, model)
    if looks is None:
        with Progress(not options.quiet).stage("comparing columns"):
            looks = looks_at_table(cohort, table)
    names = (str(options.table), str(path))
    say_unused(schema)
    record(**facts_of_check(cohort, table, looks))
    is_sample = n_rows is not None and n_rows > len(table)
    if is_sample:
        record(rows=n_rows)
        say(f"A sample of {len(table):,} of {n_rows:,} rows, all of which were validated:")
    for line in check_lines(cohort, table, names=names, looks=looks, is_all=options.all):
        say(line)
    if not is_sample:
        say(f"{_duration(options, cohort, model)}.")
    return cohort


def _duration(options: CheckedOptions, cohort: Prepared, model: MAPDP) -> str:
    from clinclust.cli.report import FitReportOptions
    from clinclust.estimators.cost import duration_sentence
    from clinclust.estimators.settings import Settings

    settings = Settings.of(model)
    if not isinstance(options, FitReportOptions):
        return duration_sentence(cohort.problem, settings, options="default options")
    return duration_sentence(cohort.problem, settings, associations=options.associations, stability=options.stability)


def say_next(options: CheckedOptions, schema: Path) -> None:
    """Print the command that finds the subtypes of the table."""
    folder, repeated = Path(results_folder(options.table).name), (TableOptions, RoleOptions)
    say(f"next: {next_command('fit', options, '--schema', schema, '--out', folder, repeated=repeated)}")


def results_folder(table: Path) -> Path:
    """Return the default folder for the results of a table, next to it and named after it."""
    return table.with_name(f"{stem(table)}-subtypes")


def stem(table: Path) -> str:
    """Return the name of a table without its suffix, and without that of a compression."""
    shown = table.with_suffix("") if table.suffix.lower() in (".gz", ".zip") else table
    return shown.stem


def _check_model(options: _Options) -> int:
    from clinclust.check import check_model
    from clinclust.progress import Progress

    spare_file(options, (".yaml", ".yml"), called="a schema", holds="your edits")
    model = read_model(options)
    _, frame = read_cohort_of_model(options, model)
    with Progress(not options.quiet).stage("checking the model"):
        found = check_model(model, frame)
    advice = found.advice.to_dict("records")
    mended = None if options.out is None or not found.mended else str(options.out)
    record(subjects=len(frame), fits=not advice, advice=advice, mended=mended)
    for line in _lines(found, len(model.schema_.clustered)):
        say(line)
    _mend(options, found, model.schema_)
    return 0


def _lines(found: ModelCheck, n_features: int) -> list[str]:
    n = found.advice["feature"].nunique()
    if not n:
        return [found.summary]
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    lines = [f"{n} of {n_features} features {'is' if n == 1 else 'are'} not as the model says; what would mend it:"]
    for row in found.advice.to_dict("records"):
        said = on_one_line(f"{row['feature']}: {row['problem']} ({row['evidence']})")
        lines += textwrap.wrap(said, width, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)
        line = f"      {row['line']}"  # in one piece, to be copied; one line may mend two problems
        lines += [line] if row["line"] and line not in lines else []
    return lines


def _mend(options: _Options, found: ModelCheck, schema: FeatureSchema) -> None:
    n, repeated = len(found.mended), (TableOptions,)
    if options.out is None:
        if n:
            again = ("--model", options.model, "--out", "mended.yaml")
            say(f"To write a copy of the schema with {'this line' if n == 1 else 'these lines'}:")
            say(f"next: {next_command('check', options, *again, repeated=repeated)}")
        return
    if not n:
        note(f"there is no line to mend, so that {options.out} was not written")
        return
    found.applied_to(schema).to_yaml(options.out)
    say(f"Wrote {options.out}: a copy of the schema of the model, with {n} line{'' if n == 1 else 's'} changed.")
    say("Read them: follow the advice only where a line says what the column is.")
    folder = options.out.with_name(f"{options.out.stem}-subtypes")
    say(f"next: {next_command('fit', options, '--schema', options.out, '--out', folder, repeated=repeated)}")
