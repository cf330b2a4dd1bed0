"""From a table to its subtypes: a schema is drafted, the table checked, the model fitted, and the reports written.

`clinclust draft`, `clinclust check` and `clinclust fit` do a step each; `clinclust start` does them all. First
comes what these commands and those on a fitted model read: a table and its rows, a schema, a model.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
import warnings
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from clinclust.check import check_model
from clinclust.check.check import facts_of_check, look_at_draft, look_at_table, render_advice, render_check
from clinclust.cli import commands, outputs
from clinclust.cli.commands import declared_options, flag_of, in_options, join_names, next_command, option_words
from clinclust.cli.outputs import PARTLY, REPORTS, check_output, note, record, say, sentence_of, tell, tell_failure
from clinclust.drafting import draft_schema
from clinclust.drafting.column import Look
from clinclust.drafting.draft import draft_of_partitions, with_wanted_roles
from clinclust.errors import CohortError, CohortWarning, InputError, SchemaError, refuse, show_cells
from clinclust.estimators.fitting import Prepared, prepared
from clinclust.estimators.mapdp import MAPDP, PublishedMAPDP
from clinclust.estimators.settings import Settings, duration_sentence
from clinclust.estimators.subtype_model import FittedCohort, cohort_of, rows_of_the_fit
from clinclust.files.cell_text import limited, quoted
from clinclust.files.dictionaries import note_columns
from clinclust.files.row_choice import ChoiceError, RowChoice, noted_several_rows, rows_taken
from clinclust.files.tables import Part, is_in_partitions, read_cohort, shown_name, table_of_parts
from clinclust.files.text_table import join_parts
from clinclust.files.writing import (
    MANIFEST,
    SHARING,
    interrupts_held,
    naming,
    rewrite_files,
    write_manifest,
    write_terms,
    write_together,
)
from clinclust.reporting.assignments import tabulate_assignments, write_inert_csv
from clinclust.reporting.findings import Findings
from clinclust.reporting.report import (
    ReportOptions,
    comparisons_of_all,
    facts_of_fit,
    gather_findings,
    summarise_fit,
    unknown_names,
    write_assignments,
    write_findings,
)
from clinclust.reporting.sheets.overview import find_near_columns, next_step, say_differing
from clinclust.schema import FeatureSchema
from clinclust.schema.feature_schema import SCHEMA_SUFFIXES, read_schema, write_schema
from clinclust.schema.validation import validated_sample
from clinclust.schema.yaml_files import on_unused, yaml_line

_MESSAGES: dict[str, str] = commands.TEXTS["messages"]

# What commands read: a table with its choice of rows, its schema or model, and a data dictionary.


def read_choice(options: commands.RowOptions) -> RowChoice:
    """Return the choice of rows that the options state; ``--summarise egfr=mean,slope`` has two summaries."""
    parts = [text.rpartition("=") for text in options.summarise]
    refuse(
        f"--summarise takes a column and its summaries, as egfr=mean,slope, not {text[:40]!r}"
        for text, (name, _, summaries) in zip(options.summarise, parts, strict=True)
        if not name.strip() or not summaries.strip()
    )
    summaries = {name.strip(): [word.strip() for word in words.split(",")] for name, _, words in parts}
    shared = {item.name: getattr(options, item.name) for item in fields(RowChoice) if hasattr(options, item.name)}
    return RowChoice(**shared | {"time": options.visit_time, "summarise": summaries or None})


def read_table(
    options: commands.TableOptions, rows: RowChoice | None = None, *, why: str = "", repair: str = ""
) -> pd.DataFrame:
    """Return the table as text, indexed by spreadsheet rows.

    For `rows` that the options do not state, a warning says `why` they are taken, and an error in their choice also
    says the `repair`.
    """
    stated, shown = read_choice(options), shown_name(options.table)
    rows = stated if rows is None else rows
    try:
        with options.progress.stage(f"reading {shown}"):
            how: dict[str, Any] = {"only": list(options.only) or None, "drop": list(options.drop) or None}
            how |= {name: getattr(options, name) for name in ("sheet", "encoding", "header_row", "decimal")}
            frame = read_cohort(options.table, **how, **rows.as_dict())
    except ChoiceError as error:
        if rows == stated:
            raise
        raise ChoiceError(limited(f"{error.at_command_line} ({repair})")) from error
    if not pd.api.types.is_integer_dtype(frame.index):  # a parquet file may store labels as the index
        frame = frame.reset_index(drop=True)
    frame.index = frame.index + 2
    if rows and any(getattr(stated, name) != getattr(rows, name) for name in rows.as_dict()):
        warn(f"{shown}: rows are taken {why}: {rows.in_words()}")
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


def read_table_of_schema(options: commands.TableOptions, schema: FeatureSchema, path: Path) -> pd.DataFrame:
    """Return the table with the rows of the schema or of the options; InputError if they contradict each other."""
    name, rows = shown_name(path), read_choice(options)
    if schema.rows:
        rows = rows.completed_by(schema.rows)
        if not rows.follows(schema.rows):
            words = {"of_schema": schema.rows.in_words(), "of_command": rows.in_words()}
            raise InputError(limited(_MESSAGES["rows_contradict"].format(schema=name, **words)))
    repair = f"these rows are taken by the line `rows:` of {name}; correct it there if this table needs another"
    return read_table(options, rows, why=f"as {name} says", repair=repair)


def read_table_of_model(options: commands.ModelOptions, model: MAPDP, fitted: RowChoice | None = None) -> pd.DataFrame:
    """Return the table with the rows of the options, or of the fit, or what of these is `fitted` to this table."""
    rows, fitted = read_choice(options), model.schema_.rows if fitted is None else fitted
    if options.all_rows:
        if set(rows.as_dict()) - {"rows"}:
            raise InputError(f"--all-rows takes all rows, and other options take {rows.in_words()}: give one of them")
        rows = RowChoice(rows=rows.rows)
    else:
        rows = rows.completed_by(fitted)
    return read_table(options, rows, why="as for the fit (--all-rows takes all)", repair=_MESSAGES["rows_of_fit"])


def read_cohort_of_model(options: commands.ModelOptions, model: MAPDP) -> tuple[pd.DataFrame, FittedCohort]:
    """Return the table that a model was fitted on, and the model with its validated columns in the order of the fit."""
    table = read_table_of_model(options, model)
    with about_table(options.table):
        return table, cohort_of(model, table)


def read_second_cohort(options: commands.ModelOptions, path: Path, model: MAPDP) -> FittedCohort:
    """Return the cohort of the fit from another table, read with the same options but with the rows of the fit."""
    options = replace(options.without(commands.RowOptions), table=path, only=(), drop=(), all_rows=False)
    return read_cohort_of_model(options, model)[1]


def read_new_table(options: commands.ModelOptions, model: MAPDP, fitted: RowChoice) -> pd.DataFrame:
    """Return a table of new subjects, with the rows of the options, or those that the choice of the fit takes there.

    Spreadsheet rows of the fit apply only if they hold its subjects in this table too.
    """
    rows_apply = fitted.rows is None or options.rows is not None or options.all_rows
    with warnings.catch_warnings(), suppress(InputError):
        warnings.simplefilter("ignore")  # the table is read again below, with its warnings
        rows_apply = rows_apply or rows_of_the_fit(model.fit_, read_table_of_model(options, model)) is not None
    frame = read_table_of_model(options, model, fitted if rows_apply else fitted.by_values or RowChoice())
    if not rows_apply:
        warn(_MESSAGES["other_rows"].format(table=options.table, fitted=fitted.rows))
    return frame


# `clinclust check`, and the roles of columns and tables in partitions, which `draft`, `fit` and `start` have too.


def run_check(options: commands.CheckOptions) -> int:
    """Check a table against a schema, or whether the model of a fit describes its table."""
    of_model: tuple[Sequence[str], str] = commands.ROLES, "--schema: fit again to change roles"
    others, needs = (("out", "overwrite", "all_rows"), "--model") if options.model is None else of_model
    if flags := [flag_of(name) for name in others if getattr(options, name)]:
        raise InputError(f"{', '.join(flags)} can be used only together with {needs}")
    if options.model is not None:
        return _check_model(options)
    schema, n_rows = read_schema(options.schema), None
    if is_in_partitions(options.table):
        refuse_in_partitions(options)
        with table_in_partitions(options.table) as (partitions, _):
            table, n_rows = validated_sample(partitions, schema, progress=options.progress.shown)
    else:
        table = read_table_of_schema(options, schema, options.schema)
        schema = apply_roles(options, schema, table)
    check_cohort(options, schema, table, options.schema, n_rows=n_rows)
    _say_next(options, "fit", "--schema", options.schema, "--out", Path(f"{options.table.stem}-subtypes"))
    return 0


def build_model(options: commands.CheckedOptions | commands.SearchOptions, schema: FeatureSchema) -> MAPDP:
    """Return the estimator that the options state, not fitted."""
    if not isinstance(options, commands.SearchOptions):
        return MAPDP(schema, progress=options.progress.shown)
    estimator = PublishedMAPDP if options.as_published else MAPDP
    return estimator(schema, **options.parameters(), progress=options.progress.shown)


def _prepare_cohort(options: commands.TableOptions, table: pd.DataFrame, model: MAPDP) -> Prepared:
    """Check a table as a fit does, and return the prepared cohort; InputError if there is nothing to cluster."""
    with about_table(options.table), options.progress.stage("checking values"):
        return prepared(Settings.of(model), table)


def check_cohort(
    options: commands.CheckedOptions,
    schema: FeatureSchema,
    table: pd.DataFrame,
    path: Path,
    looks: Sequence[Look] | None = None,
    n_rows: int | None = None,
) -> Prepared:
    """Return the cohort of `_prepare_cohort`, and print what it holds.

    `looks` are the remarks of a draft, if any. The table may be a sample of `n_rows` validated rows.
    """
    model = build_model(options, schema)
    cohort = _prepare_cohort(options, table, model)
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


def _say_next(options: commands.TableOptions, command: str, *more: str | Path, when: str = "next") -> None:
    say(f"{when}: {next_command(command, options, *more, repeated=(commands.TableOptions, commands.RoleOptions))}")


def list_next(options: commands.TableOptions, model: Path, findings: Findings | None = None) -> dict[str, str]:
    """Return the commands that go on from the model in a folder, by the step that its report proposes."""
    if isinstance(options, commands.StartOptions):  # the schema next to the table says them
        options = options.without(*commands.OF_A_SCHEMA)
    of_model, of_table = ("--model", model), (commands.TableOptions,)
    table = next_command("table", options, *of_model, "--out", f"{model.resolve().name}-table.xlsx", repeated=of_table)
    steps = {"table": table, "check": next_command("check", options, *of_model, repeated=of_table)}
    near = [] if findings is None else [column for column in find_near_columns(findings) if column.role]
    if near and isinstance(options, commands.ResultOptions):
        others: dict[str, Any] = {role: getattr(options, role) for role in commands.ROLES}
        others = {role: tuple(name for name in names if name != near[0].name) for role, names in others.items()}
        described = (commands.TableOptions, commands.SchemaOptions, commands.RoleOptions)
        repeated = (*described, commands.SearchOptions, commands.FitReportOptions)
        more = (*option_words(flag_of(near[0].role), join_names(near[0].name)), "--out")
        steps["beyond"] = next_command("fit", replace(options, **others), *more, Path(f"{model}-2"), repeated=repeated)
    return steps


def say_next_step(findings: Findings | None, steps: Mapping[str, str]) -> None:
    """Print how many features differ, and the next command as the last line, both as the report says them."""
    say(*say_differing(findings))
    step = "table" if findings is None else next_step(findings)[1]
    record(next=steps[step])
    if step != "beyond" and "beyond" in steps:
        say(f"to see what else there is: {steps['beyond']}")
    say(f"next: {steps[step]}")


def path_of_results(table: Path, ending: str) -> Path:
    """Return a path next to a table, named after it without its suffix."""
    return table.with_name(table.stem + ending)


# What columns are for.


def read_roles(options: commands.RoleOptions, names: Iterable[object] = ()) -> dict[str, str]:
    """Return the role of each column that the options name, of a table with these names; a column has one role."""
    roles, problems = dict[str, str](), list[str]()
    for role in commands.ROLES:
        for name in join_parts(getattr(options, role), names):
            if roles.setdefault(name, role) != role:
                problems.append(f"{name} is named after {flag_of(roles[name])} and {flag_of(role)}: give one of them")
    refuse(problems)
    return roles


def _check_draft_options(options: commands.DictionaryOptions) -> None:
    """Raise InputError for options of a draft that cannot be combined, before anything is read."""
    if options.dictionary_sheet is not None and options.dictionary is None:
        raise InputError("--dictionary-sheet names a sheet of the file that --dictionary gives; give both")
    read_roles(options)


def apply_roles(options: commands.RoleOptions, schema: FeatureSchema, table: pd.DataFrame) -> FeatureSchema:
    """Return the schema with the roles of the options; note what was drafted from the values of the table."""
    if not (roles := read_roles(options, table)):
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


def refuse_in_partitions(options: commands.TableOptions, *, roles: bool = True) -> None:
    """Raise InputError for options that choose rows, columns, or (with `roles`) roles of a table in memory."""
    kinds = (commands.TableOptions, *[commands.RoleOptions] * roles)
    items = [item for kind in kinds for _, item in declared_options(kind) if item.name != "table"]
    stated = [item for item in items if getattr(options, item.name) != item.default]
    if flags := [flag_of(item.metadata.get("name", item.name)) for item in stated]:
        raise InputError(_MESSAGES["partitions"].format(flags=", ".join(flags)))


# Whether a model fits its table.


def _check_model(options: commands.CheckOptions) -> int:
    check_output(options, *SCHEMA_SUFFIXES, called="a schema", holds="your edits")
    model = MAPDP.load(options.model)
    _, cohort = read_cohort_of_model(options, model)
    with options.progress.stage("checking the model"):
        check = check_model(model, cohort.table)
    advice, n_lines, out = check.advice.to_dict("records"), len(check.mended), options.out
    mended = str(out) if out is not None and n_lines else None
    record(subjects=len(cohort.table), fits=not advice, advice=advice, mended=mended)
    say(*render_advice(check, len(model.schema_.clustered)))
    if out is not None and n_lines:
        write_schema(check.applied_to(model.schema_), out)
        say(f"Wrote {out}: a copy of the schema of the model, with {n_lines} line{'s' * (n_lines > 1)} changed.")
        say("Read them: follow the advice only where a line says what the column is.")
        _say_next(options, "fit", "--schema", out, "--out", path_of_results(out, "-subtypes"))
    elif out is not None:
        note(f"there is no line to mend, so that {out} was not written")
    elif n_lines:
        say(f"To write a copy of the schema with {'this line' if n_lines == 1 else 'these lines'}:")
        _say_next(options, "check", "--model", options.model, "--out", "mended.yaml")
    return 0


# The options of a report, as Python knows them.


def report_options(options: commands.ComparisonOptions) -> ReportOptions:
    """Return the options of the report; `report_problems` must be empty."""
    of_search = {"min_size"} if isinstance(options, commands.SearchOptions) else set()
    shared = {item.name for item in fields(ReportOptions) if hasattr(options, item.name)} - of_search
    values: dict[str, Any] = {name: getattr(options, name) for name in shared} | {"suppress": options.suppress or None}
    values |= {"progress": options.progress.shown, "decimal": options.report_decimal}
    if values.get("associations") == "none":
        values["associations"] = None
    parts = [text.partition("=") for text in options.name]
    return ReportOptions(**values, names={commands.read_code(code): name.strip() for code, _, name in parts})


def report_problems(options: commands.ComparisonOptions) -> list[str]:
    """Return one sentence for each option of the report that cannot be used, whatever the model."""
    codes = [text.partition("=")[0].strip() for text in options.name]
    repeated = sorted({code for code in codes if codes.count(code) > 1})
    problems = [f"--name: subtype {code} has more than one name" for code in repeated]
    problems += [
        f"--name takes the number of a subtype and its name, as 1=Tremor, not {text!r}"
        for text, code in zip(options.name, codes, strict=True)
        if not commands.CODE.fullmatch(code) or not text.partition("=")[2].strip()
    ]
    report = report_options(replace(options, name=()) if problems else options)
    private = ("stability", "posterior", "other_methods") if options.suppress else ()
    flags = [flag_of(name) for name in private if getattr(report, name)]
    shared = [f"{flag} cannot be used with --suppress: {outputs.NOT_SHARED}" for flag in flags]
    return [*report.problems(flag_of), *shared, *problems]


def say_what_to_share(options: commands.FitReportOptions, folder: Path) -> None:
    """Print which files of a folder may be shared, if counts are withheld, and which may not."""
    if not options.suppress:
        return
    say(f"For sharing: {outputs.REPORTS_IN_WORDS} only.")
    if private := [name for name in outputs.FILES_OF_A_MODEL if (folder / name).exists()]:
        how = outputs.describe_sharing(options)
        say(_MESSAGES["private"].format(files=", ".join(private), manifest=MANIFEST, folder=folder, how=how))


# clinclust draft


def run_draft(options: commands.DraftOptions) -> int:
    """Propose a likelihood for every column, with the reason."""
    check_output(options, *SCHEMA_SUFFIXES, called="a schema", holds="your edits", is_printed=True)
    _check_draft_options(options)
    if is_in_partitions(options.table):
        refuse_in_partitions(options, roles=False)
        with table_in_partitions(options.table) as (table, parts):
            drafted = draft_of_partitions(table, partial(_draft_schema, options), progress=options.progress.shown)
        schema, (frame, n_rows), refused = drafted
        refused = None if refused is None else name_files(refused, options.table, parts)
    else:
        frame, n_rows, refused = read_table(options), None, None
        with about_table(options.table):
            schema = _draft_schema(options, frame)
    if refused is not None:
        note(f"the proposal refuses some rows, so edit it or them: {sentence_of(refused)}")
    if options.out is None:
        outputs.write_data(schema.to_yaml())
        return 0
    write_schema(schema, options.out, frame)
    path, options = options.out, options.without(*commands.OF_A_SCHEMA)
    about = ((column, schema.comments.get(column.name)) for column in schema)
    columns = [
        {"column": column.name, "role": column.role, "likelihood": column.likelihood, "comment": comment}
        for column, comment in about
    ]
    record(schema=str(path), columns=columns)
    say(f"Wrote {path}: {len(schema)} columns. Read it through; it is a proposal.")
    if refused is None:
        try:
            check_cohort(options, schema, frame, path, look_at_draft(schema), n_rows)
        except InputError as error:  # that there is nothing to find under a proposal is no failure of drafting
            note(f"the proposal finds nothing: {sentence_of(error)}")
        else:
            _say_next(options, "fit", "--schema", path, "--out", Path(f"{options.table.stem}-subtypes"))
            return 0
    say_unused(schema)
    _say_next(options, "check", "--schema", str(path), when=f"next, after editing {path}")
    return 0


def _draft_schema(options: commands.DictionaryOptions, table: pd.DataFrame) -> FeatureSchema:
    if options.dictionary is not None:
        try:
            note_columns(table, options.dictionary, sheet=options.dictionary_sheet)
        except InputError as error:
            raise InputError(in_options(error.at_command_line, sheet="dictionary_sheet")) from error
    schema = draft_schema(table, roles=read_roles(options, table), progress=options.progress.shown)
    schema.comments.update({name: in_options(comment) for name, comment in schema.comments.items()})
    return schema


# clinclust fit


def run_fit(options: commands.FitOptions) -> int:
    """Find the subtypes, and write the model, the assignments, the reports and a manifest of these files."""
    refuse(options.problems() + report_problems(options))
    outputs.check_folder(options, options.out, allowed=options.overwrite)
    schema = read_schema(options.schema)
    if is_in_partitions(options.table):
        return _fit_in_partitions(options, schema)
    table = read_table_of_schema(options, schema, options.schema)
    schema = apply_roles(options, schema, table)
    return _write_results(options, _prepare_cohort(options, table, build_model(options, schema)), table)


def _write_results(options: commands.ResultOptions, prepared: Prepared, table: pd.DataFrame) -> int:
    """Find the subtypes of a checked cohort, write the folder ``options.out``, and return the exit code.

    That is not 0 for fewer subtypes than stated.
    """
    outputs.note_other_files(options.out)
    refuse(report_options(options).problems_of_size(len(prepared.frame), flag_of))
    model, is_saved, codes = build_model(options, prepared.schema), False, [0]
    files = [*outputs.FILES_OF_A_MODEL, *([outputs.SCHEMA] if isinstance(options, commands.StartOptions) else [])]
    try:
        with (
            interrupts_held() as hold_interrupts,
            write_together(options.out, replacing=outputs.FILES_OF_A_FIT) as folder,
        ):
            n_clusters = model.n_clusters
            if not isinstance(n_clusters, int):
                model.fit_prepared(prepared)
            else:
                model.set_params(n_clusters=None).fit_prepared(prepared)
                try:
                    model = model.cut(n_clusters, min_size=model.min_size)
                except InputError as error:
                    shown = _MESSAGES["merged" if model.n_clusters_ < model.subtype_of_.size else "unchanged"]
                    codes.append(tell_failure(error, options, shown.format(K=model.n_clusters_)))
            hold_interrupts()
            cohort = FittedCohort.of(model, prepared.frame)
            model.save(folder)
            write_inert_csv(tabulate_assignments(cohort), folder / "assignments.csv")
            if outputs.SCHEMA in files:
                try:
                    write_schema(prepared.schema, folder / outputs.SCHEMA, None if options.suppress else table)
                except SchemaError as error:  # the results stay
                    files.remove(outputs.SCHEMA)
                    tell(str(error))
            write_manifest(folder, [*files, *write_terms(vars(options), folder)])
            is_saved = True  # at the end of the block, and Ctrl-C waits for it
        reports, findings = _write_reports(options, cohort, table, codes)
    except KeyboardInterrupt:
        if is_saved:
            repeated = (commands.TableOptions, commands.FitReportOptions)
            again = next_command("report", options, "--model", options.out, repeated=repeated)
            tell(_MESSAGES["search_ended"].format(out=options.out, again=again))
        raise
    _say_results(options, model, [*reports, *files], findings)
    page, schema = options.out / "subtypes.html", options.out / outputs.SCHEMA
    if isinstance(options, commands.StartOptions) and page.exists():
        say(f"The report is {page}; open it in a browser.")
        if outputs.SCHEMA in files:
            stated, more = replace(options.stated, schema=None, out=None), (schema, "--out", Path(f"{options.out}-2"))
            say(f"after editing {schema} in Excel: {next_command('start', stated, '--schema', *more)}")
        if not options.no_open and sys.stdout.isatty():
            webbrowser.open(page.absolute().as_uri())
    say_next_step(findings, list_next(options, options.out, findings))
    return max(codes)


def _say_results(
    options: commands.ResultOptions, model: MAPDP, files: Sequence[str], findings: Findings | None = None
) -> None:
    """Print what a fit found and wrote, and which columns are nearly its subtypes."""
    files = [*files, *([SHARING] if options.suppress else []), MANIFEST]
    say_unused(model.schema_)
    say(*summarise_fit(model, options.n_stated))
    say(*([] if findings is None else [column.sentence for column in find_near_columns(findings)]))
    say(f"Wrote {options.out}: {', '.join(files)}")
    record(out=str(options.out), files=files, **facts_of_fit(model, options.n_stated))
    if not set(REPORTS).isdisjoint(files):
        say_what_to_share(options, options.out)


def _write_reports(
    options: commands.ResultOptions,
    cohort: FittedCohort,
    table: pd.DataFrame,
    codes: list[int],
    compare_all: Callable[[], pd.DataFrame | None] = lambda: None,
) -> tuple[list[str], Findings | None]:
    """Write the reports, and return their names, and their findings if these could be made.

    What fails is reported, and adds its exit code to `codes`; the other reports are written. `compare_all` compares all
    of a table in partitions. A name of a subtype that does not exist is left out.
    """
    report, subtypes, findings = report_options(options), cohort.model.codes_, None
    for problem in unknown_names(report.names, subtypes, called="--name"):
        tell(f"clinclust: {problem}; the reports leave this name out")
        outputs.record_failure(InputError(problem), problem, "its name in the reports")
        codes.append(PARTLY)
    report = replace(report, names={subtype: name for subtype, name in report.names.items() if subtype in subtypes})
    with (
        outputs.failures_told(options, f"{outputs.REPORTS_IN_WORDS} were not written", codes),
        rewrite_files(options.out, REPORTS) as folder,
    ):
        findings = replace(gather_findings(cohort, table, report, of_all=compare_all()), n_asked=options.n_stated)
        if not is_in_partitions(options.table):
            findings = replace(findings, commands=list_next(options, options.out, findings))
        for name in REPORTS:
            with outputs.failures_told(options, f"{name} was not written", codes):
                write_findings(findings, folder / name, progress=options.progress)
    return [name for name in REPORTS if (options.out / name).exists()], findings


# A fit of a table in partitions.

ASSIGNMENTS = "assignments.parquet"


def _fit_in_partitions(options: commands.FitOptions, schema: FeatureSchema) -> int:
    files = (*outputs.FILES_OF_A_FIT, ASSIGNMENTS)
    refuse_in_partitions(options)
    if options.out.resolve().is_relative_to(options.table.resolve()):
        raise InputError(_MESSAGES["in_the_table"].format(out=options.out, name=ASSIGNMENTS))
    outputs.check_folder(options, options.out, (ASSIGNMENTS,), allowed=options.overwrite)
    outputs.note_other_files(options.out, files)
    model = build_model(options, schema)
    with table_in_partitions(options.table) as (table, parts), write_together(options.out, replacing=files) as folder:
        model.fit(table)
        with naming(options.out):
            model.save(folder)
            write_assignments(model, parts, folder / ASSIGNMENTS)
        write_manifest(folder, ["model.json", "model.npz", ASSIGNMENTS, *write_terms(vars(options), folder)])
    in_sample, sample = model.in_sample()
    n_sampled, n_subjects = in_sample.labels_.size, int(model.cluster_sizes_.sum())
    if n_sampled < n_subjects:
        say(_MESSAGES["of_a_sample"].format(n=n_subjects, name=ASSIGNMENTS, n_sampled=n_sampled))
    cohort = FittedCohort.of(in_sample, schema.validate(sample, warn=False))
    compare_all = partial(comparisons_of_all, model, table, report_options(options))
    codes = [0]
    reports, _ = _write_reports(options, cohort, sample, codes, compare_all)
    _say_results(options, model, [*reports, ASSIGNMENTS, "model.json", "model.npz"])
    return max(codes)


# clinclust start


def run_start(stated: commands.StartOptions) -> int:
    """Draft a schema next to the table, check the table, find the subtypes, write the report, and open it."""
    refuse(stated.problems() + report_problems(stated))
    _check_draft_options(stated)
    schema = stated.schema or path_of_results(stated.table, ".yaml")
    if stated.schema is not None and schema.suffix.lower() not in SCHEMA_SUFFIXES:
        raise InputError(f"--schema {schema}: a schema ends in {' or '.join(SCHEMA_SUFFIXES)}; give such a name")
    if schema.exists() and stated.table.exists() and schema.samefile(stated.table):
        raise InputError(f"{schema} is the table itself; give another name after --schema")
    out = stated.out or path_of_results(stated.table, "-subtypes")
    outputs.check_folder(stated, out, allowed=False, instead="start replaces nothing; give another folder after --out")
    options = replace(stated, out=out, schema=schema, stated=stated)
    try:
        return _draft_check_and_fit(options)
    except KeyboardInterrupt:
        if not (out / MANIFEST).exists():
            done = f"{schema} is there, and whole" if schema.exists() else "nothing was written"
            tell(f"clinclust: {done}; go on with: {next_command('start', options.stated)}")
        raise


def _draft_check_and_fit(options: commands.StartOptions) -> int:
    path = options.schema
    if path.exists() or path.is_symlink():
        if options.dictionary is not None:
            raise InputError(_MESSAGES["dictionary_unread"].format(path=path))
        say(f"Using {path}{'' if options.stated.schema else ', which is next to the table'}")
        schema = read_schema(path)
        table = read_table_of_schema(options, schema, path)
        _refuse_visits(options.stated, table, schema)
        schema, looks = apply_roles(options, schema, table), []
    else:
        table = read_table(options)
        _refuse_visits(options.stated, table)
        with about_table(options.table):
            schema = _draft_schema(options, table)
        write_schema(schema, path, table)
        stated = options.stated.without(*commands.OF_A_SCHEMA)
        options.stated = replace(stated, dictionary=None, dictionary_sheet=None)  # which is for a draft only
        say(f"Wrote {path}: what each of the {len(schema)} columns seems to be, and why")
        looks = look_at_draft(schema)
    cohort = check_cohort(options, schema, table, path, looks)
    is_watched = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    if is_watched and not options.yes and not options.quiet:
        before = path.read_bytes()
        say(f"Read {path}, and correct it where it is wrong.")
        answer = "q"
        with suppress(EOFError):
            answer = input("Press Enter to go on, q and Enter to stop: ")
        if answer.strip().casefold().startswith(("q", "n")):
            say(f"Stopped. {path} is there; go on with: {next_command('start', options.stated)}")
            return 0
        if path.read_bytes() != before:
            rows, schema = schema.rows, read_schema(path)
            if schema.rows != rows:
                table = read_table_of_schema(options.stated, schema, path)
            schema = apply_roles(options.stated, schema, table)
            cohort = check_cohort(options, schema, table, path)
    return _write_results(options, cohort, table)


_MOST_SLIPS = 0.05  # of the subjects, up to which repeated identifiers are no visits


def _refuse_visits(stated: commands.StartOptions, table: pd.DataFrame, schema: FeatureSchema | None = None) -> None:
    """Raise InputError if subjects have several rows and the options do not choose among them.

    The message also has the faults of the table under its schema, if there is one.
    """
    visits, rows = noted_several_rows(table), rows_taken(table)
    if visits is None or stated.every_row or (rows is not None and rows.choice.by_values is not None):
        return
    last = "" if visits.are_copies else " (with --keep last the last; by the order of a column: --by COLUMN)"
    first: tuple[str, ...] = ("--one-row-per", visits.column)
    ways = {f"the first row of each{last}": first, "every row, as if it were a subject": ("--every-row",)}
    if not visits.are_copies:
        with_trend = (*first, "--time", "COLUMN", "--summarise", "COLUMN=mean,slope")
        ways["the first row of each, and the level and trend of a measurement over all rows"] = with_trend
    is_slip = visits.n_repeated < _MOST_SLIPS * visits.n_subjects
    kind = "identifiers are repeated, or a subject was seen twice" if is_slip else "rows are visits, not patients"
    kind = "rows are copies of others" if visits.are_copies else kind
    lines = [f"  {what}:\n    {next_command('start', stated, *more)}" for what, more in ways.items()]
    fields = {"table": shown_name(stated.table), "kind": kind, "column": quoted(visits.column), "visits": visits}
    try:
        if schema is not None:
            schema.validate(table, warn=False)
    except CohortError as error:
        lines.append(error.at_command_line)
    raise InputError(limited("\n".join([_MESSAGES["visits"].format(**fields), *lines])))
