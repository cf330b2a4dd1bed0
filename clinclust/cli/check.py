"""`clinclust check`, and the roles of columns and tables in partitions, which `draft`, `fit` and `start` have too."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from clinclust.check import ModelCheck, check_model
from clinclust.check.table import facts_of_check, look_at_table, render_check, wrap_item
from clinclust.cli.commands import (
    ROLES,
    CheckedOptions,
    CheckOptions,
    FitReportOptions,
    RoleOptions,
    SearchOptions,
    TableOptions,
)
from clinclust.cli.inputs import read_cohort_of_model, read_model, read_schema, read_table_of_schema
from clinclust.cli.options import declared_options, flag_of, next_command
from clinclust.cli.outputs import check_output, note, record, say
from clinclust.drafting.column import Look
from clinclust.drafting.draft import with_wanted_roles
from clinclust.errors import CohortError, InputError, refuse
from clinclust.estimators.cost import duration_sentence
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.preparation import Prepared, prepared
from clinclust.estimators.settings import Settings
from clinclust.files.opening import shown_name
from clinclust.files.parquet_partitions import Part, is_in_partitions, table_of_parts
from clinclust.progress import Progress
from clinclust.schema import FeatureSchema
from clinclust.schema.changed_roles import on_unused
from clinclust.schema.partitions import validated_sample
from clinclust.schema.yaml_writer import yaml_line

WithRoles = TypeVar("WithRoles", bound=RoleOptions)


def run_check(options: CheckOptions) -> int:
    """Check a table against a schema, or whether the model of a fit describes its table."""
    if options.model is not None:
        if flags := [flag_of(role) for role in ROLES if getattr(options, role)]:
            raise InputError(f"{', '.join(flags)} can be used only together with --schema: fit again to change roles")
        return _check_model(options)
    stated = {"--out": options.out is not None, "--overwrite": options.overwrite, "--all-rows": options.all_rows}
    if flags := [flag for flag in stated if stated[flag]]:
        raise InputError(f"{', '.join(flags)} can be used only together with --model")
    schema, n_rows = read_schema(options.schema), None
    if is_in_partitions(options.table):
        refuse_in_partitions(options)
        with table_in_partitions(options.table) as (partitions, _):
            table, n_rows = validated_sample(partitions, schema, progress=not options.quiet)
    else:
        table = read_table_of_schema(options, schema, options.schema)
        schema = apply_roles(options, schema, table)
    check_cohort(options, schema, table, options.schema, n_rows=n_rows)
    say_next_fit(options, options.schema)
    return 0


def prepare_cohort(options: TableOptions, table: pd.DataFrame, model: MAPDP) -> Prepared:
    """Check a table as a fit does, and return the prepared cohort.

    Values that do not fit the schema are a CohortError, a table without anything to cluster an InputError.
    """
    try:
        with Progress(not getattr(options, "quiet", False)).stage("checking values"):
            return prepared(Settings.of(model), table, stacklevel=1)
    except CohortError as error:
        raise CohortError(error.failures, options.shown_table) from error


def check_cohort(
    options: CheckedOptions,
    schema: FeatureSchema,
    table: pd.DataFrame,
    path: Path,
    looks: Sequence[Look] | None = None,
    n_rows: int | None = None,
) -> Prepared:
    """Return the cohort of `prepare_cohort`, and print what it holds.

    `looks` are the remarks of a draft, if any. The table may be a sample of `n_rows` validated rows.
    """
    is_search = isinstance(options, SearchOptions)
    model = options.build_model(schema) if is_search else MAPDP(schema, progress=not options.quiet)
    cohort = prepare_cohort(options, table, model)
    if looks is None:
        with Progress(not options.quiet).stage("comparing columns"):
            looks = look_at_table(cohort, table)
    say_unused(schema)
    record(**facts_of_check(cohort, table, looks))
    is_sample = n_rows is not None and n_rows > len(table)
    if is_sample:
        record(rows=n_rows)
        say(f"A sample of {len(table):,} of {n_rows:,} rows, all of which were validated:")
    say(*render_check(cohort, table, names=(str(options.table), str(path)), looks=looks, is_all=options.all))
    if not is_sample:
        with_reports = isinstance(options, FitReportOptions)
        work: dict[str, Any] = {"options": "default options"}
        if with_reports:
            work = {"associations": options.associations, "stability": options.stability}
        say(f"{duration_sentence(cohort.problem, Settings.of(model), **work)}.")
    return cohort


def say_next_fit(options: CheckedOptions, schema: Path) -> None:
    """Print the command that finds the subtypes of the table."""
    folder, repeated = Path(results_folder(options.table).name), (TableOptions, RoleOptions)
    say(f"next: {next_command('fit', options, '--schema', schema, '--out', folder, repeated=repeated)}")


def results_folder(table: Path) -> Path:
    """Return the default folder for the results of a table, next to it and named after it."""
    return table.with_name(f"{stem(table)}-subtypes")


def stem(table: Path) -> str:
    """Return the name of a table without its suffix, and without that of a compression."""
    name = table.with_suffix("") if table.suffix.lower() in (".gz", ".zip") else table
    return name.stem


# What columns are for.


def read_roles(options: RoleOptions) -> dict[str, str]:
    """Return the role of each column that the options name; a column has one role."""
    roles: dict[str, str] = {}
    problems = []
    for role in ROLES:
        for name in getattr(options, role):
            if roles.setdefault(name, role) != role:
                problems.append(f"{name} is named after {flag_of(roles[name])} and {flag_of(role)}: give one of them")
    refuse(problems)
    return roles


def without_roles_of(options: WithRoles, names: Collection[object]) -> WithRoles:
    """Return the options without the roles of these columns."""
    return replace(
        options, **{role: tuple(name for name in getattr(options, role) if name not in names) for role in ROLES}
    )


def apply_roles(options: RoleOptions, schema: FeatureSchema, table: pd.DataFrame) -> FeatureSchema:
    """Return the schema with the roles of the options; note what was drafted from the values of the table."""
    roles = read_roles(options)
    if not roles:
        return schema
    changed = with_wanted_roles(schema, table, roles)
    for before, after in zip(schema, changed, strict=True):
        if before.likelihood is None and after.likelihood is not None:
            note(f"drafted by its values: {yaml_line(after)}")
    return changed


def say_unused(schema: FeatureSchema) -> None:
    """Print which columns form no subtypes, and why."""
    text, width = on_unused(schema, repair="Use one with --cluster NAME."), shutil.get_terminal_size().columns
    say(*textwrap.wrap(text, min(max(width, 40), 120), break_long_words=False, break_on_hyphens=False))


# Tables larger than memory: a folder of parquet files, or a parquet file of many rows.


@contextmanager
def table_in_partitions(path: Path) -> Iterator[tuple[Any, list[Part]]]:
    """Yield a table as a Dask DataFrame, and its partitions; errors about its content name its files."""
    parts: list[Part] = []
    try:
        table, parts = table_of_parts(path)
        yield table, parts
    except CohortError as error:
        raise name_files(error, path, parts) from error
    except InputError as error:
        raise InputError(f"{shown_name(path)}: {error}") from error


def name_files(error: CohortError, path: Path, parts: Sequence[Part]) -> CohortError:
    """Return an error about a table with the names of the files in the place of the numbers of partitions."""
    failures = error.failures
    if "partition" in failures:
        files = failures["partition"].map(lambda number: parts[number].file.name if number >= 0 else number)
        failures = failures.assign(partition=files)
    return CohortError(failures, shown_name(path))


def refuse_in_partitions(options: TableOptions, *, roles: bool = True) -> None:
    """Raise InputError for options that choose rows, columns, or (with `roles`) roles of a table in memory."""
    names = {item.name for kind in (TableOptions, *[RoleOptions] * roles) for _, item in declared_options(kind)}
    items = [item for _, item in declared_options(type(options)) if item.name in names - {"table"}]
    if flags := [flag_of(item.name) for item in items if getattr(options, item.name) != item.default]:
        raise InputError(
            f"{', '.join(flags)} cannot be used with a table in partitions: choose rows and columns when its files are "
            "written, and roles in the schema"
        )


# Whether a model fits its table.


def _check_model(options: CheckOptions) -> int:
    check_output(options, ".yaml", ".yml", called="a schema", holds="your edits")
    model = read_model(options)
    _, cohort = read_cohort_of_model(options, model)
    with Progress(not options.quiet).stage("checking the model"):
        check = check_model(model, cohort.table)
    advice = check.advice.to_dict("records")
    mended = None if options.out is None or not check.mended else str(options.out)
    record(subjects=len(cohort.table), fits=not advice, advice=advice, mended=mended)
    say(*_render_advice(check, len(model.schema_.clustered)))
    _write_mended_schema(options, check, model.schema_)
    return 0


def _render_advice(check: ModelCheck, n_features: int) -> list[str]:
    n = check.advice["feature"].nunique()
    if not n:
        return [check.summary]
    lines = [f"{n} of {n_features} features {'is' if n == 1 else 'are'} not as the model says; what would mend it:"]
    for row in check.advice.to_dict("records"):
        lines += wrap_item(f"{row['feature']}: {row['problem']} ({row['evidence']})")
        line = f"      {row['line']}"  # in one piece, to be copied; one line may mend two problems
        lines += [line] if row["line"] and line not in lines else []
    return lines


def _write_mended_schema(options: CheckOptions, check: ModelCheck, schema: FeatureSchema) -> None:
    n, repeated = len(check.mended), (TableOptions,)
    if options.out is None:
        if n:
            again = ("--model", options.model, "--out", "mended.yaml")
            say(f"To write a copy of the schema with {'this line' if n == 1 else 'these lines'}:")
            say(f"next: {next_command('check', options, *again, repeated=repeated)}")
        return
    if not n:
        note(f"there is no line to mend, so that {options.out} was not written")
        return
    check.applied_to(schema).to_yaml(options.out)
    say(f"Wrote {options.out}: a copy of the schema of the model, with {n} line{'' if n == 1 else 's'} changed.")
    say("Read them: follow the advice only where a line says what the column is.")
    folder = options.out.with_name(f"{options.out.stem}-subtypes")
    say(f"next: {next_command('fit', options, '--schema', options.out, '--out', folder, repeated=repeated)}")
