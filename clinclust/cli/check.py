"""What commands read (a table and its rows, a schema, a model), and `clinclust check`, also as a step of others."""

from __future__ import annotations

import shutil
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd

from clinclust.check import ModelCheck, check_model
from clinclust.check.check import facts_of_check, look_at_table, render_check, wrap_item
from clinclust.cli import commands
from clinclust.cli.commands import ModelOptions, RoleOptions, RowOptions, SearchOptions, TableOptions
from clinclust.cli.options import declared_options, flag_of, in_options, next_command
from clinclust.cli.outputs import check_output, note, record, say
from clinclust.drafting.column import Look
from clinclust.drafting.draft import with_wanted_roles
from clinclust.errors import CohortError, CohortWarning, InputError, refuse, show_cells
from clinclust.estimators.fitting import Prepared, prepared
from clinclust.estimators.mapdp import MAPDP, PublishedMAPDP
from clinclust.estimators.settings import Settings, duration_sentence
from clinclust.estimators.subtype_model import FittedCohort, cohort_of, rows_of_the_fit
from clinclust.files.cell_text import limited
from clinclust.files.dictionaries import note_columns
from clinclust.files.opening import shown_name
from clinclust.files.row_choice import ChoiceError, RowChoice
from clinclust.files.typed_files import Part, is_in_partitions, table_of_parts
from clinclust.reading import read_cohort
from clinclust.schema import FeatureSchema
from clinclust.schema.feature_schema import SCHEMA_SUFFIXES, read_schema, write_schema
from clinclust.schema.validation import validated_sample
from clinclust.schema.yaml_files import on_unused, yaml_line
from clinclust.texts import did_you_mean

# What commands read: a table with its choice of rows, its schema or model, and a data dictionary.


def read_choice(options: RowOptions) -> RowChoice:
    """Return the choice of rows that the options state; ``--summarise egfr=mean,slope`` has two summaries."""
    parts = [text.rpartition("=") for text in options.summarise]
    refuse(
        f"--summarise takes a column and its summaries, as egfr=mean,slope, not {text[:40]!r}"
        for text, (name, _, summaries) in zip(options.summarise, parts, strict=True)
        if not name.strip() or not summaries.strip()
    )
    pairs = [(name.strip(), tuple(word.strip() for word in words.split(","))) for name, _, words in parts]
    shared = {item.name: getattr(options, item.name) for item in fields(RowChoice) if hasattr(options, item.name)}
    return RowChoice(**shared | {"time": options.visit_time, "summarise": tuple(pairs) or None})


def read_table(
    options: TableOptions, rows: RowChoice | None = None, *, taken: str = "", repair: str = ""
) -> pd.DataFrame:
    """Return the table as text, indexed by spreadsheet rows.

    For `rows` that the options do not state, a warning says how they are `taken`, and an error in their choice also
    says the `repair`.
    """
    stated, shown = read_choice(options), shown_name(options.table)
    rows = stated if rows is None else rows
    try:
        with options.progress.stage(f"reading {shown}"):
            frame = read_cohort(
                options.table,
                sheet=options.sheet,
                encoding=options.encoding,
                header_row=options.header_row,
                decimal=options.decimal,
                only=list(options.only) or None,
                drop=list(options.drop) or None,
                **rows.as_dict(),
            )
    except ChoiceError as error:
        if rows == stated:
            raise
        raise ChoiceError(limited(f"{error.at_command_line} ({repair})")) from error
    if not pd.api.types.is_integer_dtype(frame.index):  # a parquet file may store labels as the index
        frame = frame.reset_index(drop=True)
    frame.index = frame.index + 2
    if rows and any(getattr(stated, name) != getattr(rows, name) for name in rows.as_dict()):
        warn(f"{shown}: rows are taken {taken}: {rows.in_words()}")
    return frame


def warn(message: str) -> None:
    """Issue a CohortWarning, which the command prints as a note."""
    warnings.warn(limited(message), CohortWarning, stacklevel=3)


def name_files(error: CohortError, path: Path, parts: Sequence[Part] = ()) -> CohortError:
    """Return an error about a table with its name, and with those of its files in the place of the partitions."""
    failures = error.failures
    if "partition" in failures:
        files = failures["partition"].map(lambda number: parts[number].file.name if number >= 0 else number)
        failures = failures.assign(partition=files)
    return CohortError(failures, shown_name(path))


@contextmanager
def about_table(path: Path, parts: Sequence[Part] = ()) -> Iterator[None]:
    """Make an error about the content of a table name its file, or those of its partitions."""
    try:
        yield
    except CohortError as error:
        raise name_files(error, path, parts) from error
    except InputError as error:
        raise InputError(f"{shown_name(path)}: {error.at_command_line}") from error


@contextmanager
def table_in_partitions(path: Path) -> Iterator[tuple[Any, list[Part]]]:
    """Yield a table larger than memory as a Dask DataFrame, and its partitions; errors about it name its files."""
    parts: list[Part] = []
    with about_table(path, parts):
        table, read = table_of_parts(path)
        parts += read
        yield table, parts


def read_table_of_schema(options: TableOptions, schema: FeatureSchema, path: Path) -> pd.DataFrame:
    """Return the table with the rows of the schema or of the options; InputError if they contradict each other."""
    name, rows = shown_name(path), read_choice(options)
    if schema.rows:
        rows = rows.completed_by(schema.rows)
        if not rows.follows(schema.rows):
            raise InputError(
                limited(
                    f"{name} takes {schema.rows.in_words()}; the command takes {rows.in_words()}. Leave out the "
                    f"options that choose rows, or correct the line `rows:` of {name}"
                )
            )
    repair = f"these rows are taken by the line `rows:` of {name}; correct it there if this table needs another"
    return read_table(options, rows, taken=f"as {name} says", repair=repair)


def read_model(options: ModelOptions) -> MAPDP:
    """Return the fitted model in the folder ``--model``."""
    folder, takes = options.model, "--model takes the folder that `clinclust fit` wrote"
    if folder.is_file():
        takes = "--model takes the folder that holds it" if folder.name in ("model.json", "model.npz") else takes
        raise InputError(f"{folder} is a file; {takes}")
    if not folder.exists():
        near = folder.parent.iterdir() if folder.parent.is_dir() else ()
        hint = did_you_mean(folder.name, sorted(path.name for path in near if path.is_dir()))
        raise InputError(f"there is no folder {folder}; {takes}" + (f".{hint}" if hint else ""))
    return MAPDP.load(folder)


def read_table_of_model(options: ModelOptions, model: MAPDP, *, of_sheet: bool = True) -> pd.DataFrame:
    """Return the table with the rows of the options, or of the fit; with spreadsheet rows only if `of_sheet`."""
    rows, fitted = read_choice(options), model.schema_.rows
    if options.all_rows:
        if set(rows.as_dict()) - {"rows"}:
            raise InputError(f"--all-rows takes all rows, and other options take {rows.in_words()}: give one of them")
        rows = RowChoice(rows=rows.rows)
    else:
        rows = rows.completed_by(fitted if of_sheet else fitted.by_values or RowChoice())
    repair = (
        "the model was fitted on these rows; if this table holds only rows to take, say --all-rows, and if its columns "
        "have other names, choose the rows with --where or --one-row-per"
    )
    return read_table(options, rows, taken="as for the fit (--all-rows takes all)", repair=repair)


def read_cohort_of_model(options: ModelOptions, model: MAPDP) -> tuple[pd.DataFrame, FittedCohort]:
    """Return the table that a model was fitted on, and the model with its validated columns in the order of the fit."""
    table = read_table_of_model(options, model)
    with about_table(options.table):
        return table, cohort_of(model, table)


def read_second_table(options: ModelOptions, path: Path, model: MAPDP) -> pd.DataFrame:
    """Return another table, read with the same options but with the rows of the fit."""
    options = replace(options.without(RowOptions), table=path, only=(), drop=(), all_rows=False)
    return read_table_of_model(options, model)


def read_new_table(options: ModelOptions, model: MAPDP) -> pd.DataFrame:
    """Return a table of new subjects, with the rows of the options, or those that meet the conditions of the fit."""
    fitted = model.schema_.rows.rows
    if fitted is None or options.rows is not None or options.all_rows or _is_table_of_fit(options, model):
        return read_table_of_model(options, model)
    frame = read_table_of_model(options, model, of_sheet=False)
    warn(
        f"{options.table}: the model was fitted on rows {fitted} of the sheet of its own table, which say nothing of "
        "this table (--rows says which rows are subjects)"
    )
    return frame


def _is_table_of_fit(options: ModelOptions, model: MAPDP) -> bool:
    """Return whether the spreadsheet rows of the fit hold its subjects in this table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the caller warns when it reads the table again
        try:
            return rows_of_the_fit(model.fit_, read_table_of_model(options, model)) is not None
        except InputError:
            return False


# A data dictionary.


def check_dictionary(options: commands.DictionaryOptions) -> None:
    """Raise InputError for a sheet without a file."""
    if options.dictionary_sheet is not None and options.dictionary is None:
        raise InputError("--dictionary-sheet names a sheet of the file that --dictionary gives; give both")


def note_dictionary(options: commands.DictionaryOptions, frame: pd.DataFrame) -> None:
    """Note the entries of the dictionary, if there is one, in the attributes of the table."""
    if options.dictionary is not None:
        try:
            note_columns(frame, options.dictionary, sheet=options.dictionary_sheet)
        except InputError as error:
            raise InputError(in_options(error.at_command_line, sheet="dictionary_sheet")) from error


# `clinclust check`, and the roles of columns and tables in partitions, which `draft`, `fit` and `start` have too.


def run_check(options: commands.CheckOptions) -> int:
    """Check a table against a schema, or whether the model of a fit describes its table."""
    if options.model is not None:
        if flags := [flag_of(role) for role in commands.ROLES if getattr(options, role)]:
            raise InputError(f"{', '.join(flags)} can be used only together with --schema: fit again to change roles")
        return _check_model(options)
    stated = {"--out": options.out is not None, "--overwrite": options.overwrite, "--all-rows": options.all_rows}
    if flags := [flag for flag in stated if stated[flag]]:
        raise InputError(f"{', '.join(flags)} can be used only together with --model")
    schema, n_rows = read_schema(options.schema), None
    if is_in_partitions(options.table):
        refuse_in_partitions(options)
        with table_in_partitions(options.table) as (partitions, _):
            table, n_rows = validated_sample(partitions, schema, progress=options.progress.shown)
    else:
        table = read_table_of_schema(options, schema, options.schema)
        schema = apply_roles(options, schema, table)
    check_cohort(options, schema, table, options.schema, n_rows=n_rows)
    say_next_fit(options, options.schema)
    return 0


def build_model(options: commands.CheckedOptions | SearchOptions, schema: FeatureSchema) -> MAPDP:
    """Return the estimator that the options state, not fitted."""
    if not isinstance(options, SearchOptions):
        return MAPDP(schema, progress=options.progress.shown)
    estimator = PublishedMAPDP if options.as_published else MAPDP
    return estimator(schema, **options.parameters(), progress=options.progress.shown)


def prepare_cohort(options: TableOptions, table: pd.DataFrame, model: MAPDP) -> Prepared:
    """Check a table as a fit does, and return the prepared cohort; InputError if there is nothing to cluster."""
    with about_table(options.table), options.progress.stage("checking values"):
        return prepared(Settings.of(model), table, stacklevel=1)


def check_cohort(
    options: commands.CheckedOptions,
    schema: FeatureSchema,
    table: pd.DataFrame,
    path: Path,
    looks: Sequence[Look] | None = None,
    n_rows: int | None = None,
) -> Prepared:
    """Return the cohort of `prepare_cohort`, and print what it holds.

    `looks` are the remarks of a draft, if any. The table may be a sample of `n_rows` validated rows.
    """
    model = build_model(options, schema)
    cohort = prepare_cohort(options, table, model)
    if looks is None:
        with options.progress.stage("comparing columns"):
            looks = look_at_table(cohort, table)
    say_unused(schema)
    record(**facts_of_check(cohort, table, looks))
    is_sample = n_rows is not None and n_rows > len(table)
    if is_sample:
        record(rows=n_rows)
        say(f"A sample of {len(table):,} of {n_rows:,} rows, all of which were validated:")
    say(*render_check(cohort, table, names=(str(options.table), str(path)), looks=looks, is_all=options.all))
    if not is_sample:
        work: dict[str, Any] = {"options": "default options"}
        if isinstance(options, commands.FitReportOptions):
            work = {"associations": options.associations, "stability": options.stability}
        say(f"{duration_sentence(cohort.problem, Settings.of(model), **work)}.")
    return cohort


def say_next_fit(options: commands.CheckedOptions, schema: Path) -> None:
    """Print the command that finds the subtypes of the table."""
    folder, repeated = Path(results_folder(options.table).name), (TableOptions, RoleOptions)
    say(f"next: {next_command('fit', options, '--schema', schema, '--out', folder, repeated=repeated)}")


def results_folder(table: Path) -> Path:
    """Return the default folder for the results of a table, next to it and named after it."""
    return table.with_name(f"{stem(table)}-subtypes")


def stem(table: Path) -> str:
    """Return the name of a table without its suffix, and without that of a compression."""
    return (table.with_suffix("") if table.suffix.lower() in (".gz", ".zip") else table).stem


# What columns are for.


def read_roles(options: RoleOptions) -> dict[str, str]:
    """Return the role of each column that the options name; a column has one role."""
    roles: dict[str, str] = {}
    problems = []
    for role in commands.ROLES:
        for name in getattr(options, role):
            if roles.setdefault(name, role) != role:
                problems.append(f"{name} is named after {flag_of(roles[name])} and {flag_of(role)}: give one of them")
    refuse(problems)
    return roles


def apply_roles(options: RoleOptions, schema: FeatureSchema, table: pd.DataFrame) -> FeatureSchema:
    """Return the schema with the roles of the options; note what was drafted from the values of the table."""
    roles = read_roles(options)
    if not roles:
        return schema
    changed = with_wanted_roles(schema, table, roles)
    for before, after in zip(schema, changed, strict=True):
        if before.likelihood is None and after.likelihood is not None:
            name, likelihood, levels = yaml_line(after).partition(f"likelihood: {after.likelihood}")
            note(f"drafted by its values: {name}{likelihood}{show_cells(levels)}")  # levels are texts of cells
    return changed


def say_unused(schema: FeatureSchema) -> None:
    """Print which columns form no subtypes, and why."""
    text, width = on_unused(schema, repair="Use one with --cluster NAME."), shutil.get_terminal_size().columns
    say(*textwrap.wrap(text, min(max(width, 40), 120), break_long_words=False, break_on_hyphens=False))


def refuse_in_partitions(options: TableOptions, *, roles: bool = True) -> None:
    """Raise InputError for options that choose rows, columns, or (with `roles`) roles of a table in memory."""
    names = {item.name for kind in (TableOptions, *[RoleOptions] * roles) for _, item in declared_options(kind)}
    items = [item for _, item in declared_options(type(options)) if item.name in names - {"table"}]
    stated = [item for item in items if getattr(options, item.name) != item.default]
    if flags := [flag_of(item.metadata.get("name", item.name)) for item in stated]:
        raise InputError(
            f"{', '.join(flags)} cannot be used with a table in partitions: choose rows and columns when its files are "
            "written, and roles in the schema"
        )


# Whether a model fits its table.


def _check_model(options: commands.CheckOptions) -> int:
    check_output(options, *SCHEMA_SUFFIXES, called="a schema", holds="your edits")
    model = read_model(options)
    _, cohort = read_cohort_of_model(options, model)
    with options.progress.stage("checking the model"):
        check = check_model(model, cohort.table)
    advice, n_lines, out = check.advice.to_dict("records"), len(check.mended), options.out
    mended = str(out) if out is not None and n_lines else None
    record(subjects=len(cohort.table), fits=not advice, advice=advice, mended=mended)
    say(*_render_advice(check, len(model.schema_.clustered)))
    if out is not None and n_lines:
        write_schema(check.applied_to(model.schema_), out)
        say(f"Wrote {out}: a copy of the schema of the model, with {n_lines} line{'s' * (n_lines > 1)} changed.")
        say("Read them: follow the advice only where a line says what the column is.")
        fit = ("--schema", out, "--out", results_folder(out))
        say(f"next: {next_command('fit', options, *fit, repeated=(TableOptions,))}")
    elif out is not None:
        note(f"there is no line to mend, so that {out} was not written")
    elif n_lines:
        again = ("--model", options.model, "--out", "mended.yaml")
        say(f"To write a copy of the schema with {'this line' if n_lines == 1 else 'these lines'}:")
        say(f"next: {next_command('check', options, *again, repeated=(TableOptions,))}")
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
