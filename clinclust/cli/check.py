"""What a table holds, and whether it, or a model, fits: roles, tables in partitions, and what a check prints."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clinclust.cli.inputs import (
    ModelOptions,
    SchemaOptions,
    TableOptions,
    read_cohort_of_model,
    read_model,
    read_schema,
    read_table_of_schema,
)
from clinclust.cli.options import (
    Command,
    Options,
    SearchOptions,
    build_model,
    declared_options,
    flag_of,
    next_command,
    option,
    read_names,
    read_path,
)
from clinclust.cli.outputs import OutputOptions, SummaryOptions, note, record, say, spare_file
from clinclust.cli.report import FitReportOptions
from clinclust.control_characters import on_one_line
from clinclust.errors import CohortError, InputError, refuse
from clinclust.files.parquet_partitions import Part, is_in_partitions, table_of_parts

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.check import ModelCheck
    from clinclust.drafting.column import Look
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.preparation import Prepared
    from clinclust.schema import FeatureSchema


# What columns are for.


def _columns(description: str) -> Any:
    return option(description, (), action="extend", type=read_names, metavar="NAME")


@dataclass(kw_only=True)
class RoleOptions(Options):
    """The options that change roles; their names are those of the roles."""

    TITLE = "what columns are for"
    cluster: tuple[str, ...] = _columns("form subtypes from these columns, whatever the schema or the draft says")
    describe: tuple[str, ...] = _columns("report and test these columns, and form no subtypes from them")
    ignore: tuple[str, ...] = _columns("leave these columns out of subtypes and reports")


_ROLES = ("cluster", "describe", "ignore")
WithRoles = TypeVar("WithRoles", bound=RoleOptions)


def read_roles(options: RoleOptions) -> dict[str, str]:
    """Return the role of each column that the options name; a column has one role."""
    roles: dict[str, str] = {}
    problems = []
    for role in _ROLES:
        for name in getattr(options, role):
            if roles.setdefault(name, role) != role:
                problems.append(f"{name} is named after {flag_of(roles[name])} and {flag_of(role)}: give one of them")
    refuse(problems)
    return roles


def without_roles_of(options: WithRoles, names: Collection[object]) -> WithRoles:
    """Return the options without the roles of these columns."""
    remaining = {role: tuple(name for name in getattr(options, role) if name not in names) for role in _ROLES}
    return replace(options, **remaining)


def apply_roles(options: RoleOptions, schema: FeatureSchema, table: pd.DataFrame) -> FeatureSchema:
    """Return the schema with the roles of the options; note what was drafted from the values of the table."""
    roles = read_roles(options)
    if not roles:
        return schema
    from clinclust.drafting.draft import with_wanted_roles
    from clinclust.schema.yaml_writer import yaml_line

    changed = with_wanted_roles(schema, table, roles)
    for before, after in zip(schema, changed, strict=True):
        if before.likelihood is None and after.likelihood is not None:
            note(f"drafted by its values: {yaml_line(after)}")
    return changed


def say_unused(schema: FeatureSchema) -> None:
    """Print which columns form no subtypes, and why."""
    from clinclust.schema.changed_roles import on_unused

    text = on_unused(schema, repair="Use one with --cluster NAME.")
    for line in textwrap.wrap(text, _width(), break_long_words=False, break_on_hyphens=False):
        say(line)


# Tables larger than memory: a folder of parquet files, or a parquet file of many rows.


@contextmanager
def table_in_partitions(path: Path) -> Iterator[tuple[Any, list[Part]]]:
    """Yield a table as a Dask DataFrame, and its partitions; errors about its content name its files."""
    from clinclust.files.opening import shown_name

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
    from clinclust.files.opening import shown_name

    failures = error.failures
    if "partition" in failures:
        files = failures["partition"].map(lambda number: parts[number].file.name if number >= 0 else number)
        failures = failures.assign(partition=files)
    return CohortError(failures, shown_name(path))


def refuse_in_partitions(options: TableOptions, *, roles: bool = True) -> None:
    """Raise InputError for options that choose rows, columns, or (with `roles`) roles of a table in memory."""
    names = {item.name for kind in (TableOptions, *[RoleOptions] * roles) for _, item in declared_options(kind)}
    items = {item.name: item for _, item in declared_options(type(options)) if item.name in names - {"table"}}
    if flags := [flag_of(name) for name, item in items.items() if getattr(options, name) != item.default]:
        raise InputError(
            f"{', '.join(flags)} cannot be used with a table in partitions: choose rows and columns when its files are "
            "written, and roles in the schema"
        )


# The command.


@dataclass(kw_only=True)
class CheckedOptions(RoleOptions, TableOptions, Command):
    """The options of a command that checks a table."""

    all: bool = option("tell all that could be decided, and not one screen of it", False)


@dataclass(kw_only=True)
class CheckOptions(CheckedOptions, SchemaOptions, ModelOptions, OutputOptions, SummaryOptions):
    """The options of `clinclust check`."""

    schema: Path = option("feature schema (YAML)", type=read_path, either=True)
    model: Path = option("folder that `clinclust fit` wrote", type=read_path, metavar="DIR", either=True)
    out: Path | None = option(
        "with --model: file for a copy of the schema that follows the advice", type=read_path, metavar="SCHEMA"
    )


def run_check(options: CheckOptions) -> int:
    """Check a table against a schema before a fit, or afterwards whether the model fits its table.

    With --schema: list everything that prevents a fit; otherwise print the use of each column, how much is missing, and
    the next command. With --model: print where the model does not describe its table, and which lines of the schema
    correct it.
    """
    if options.model is not None:
        if flags := [flag_of(role) for role in _ROLES if getattr(options, role)]:
            raise InputError(f"{', '.join(flags)} can be used only together with --schema: fit again to change roles")
        return _check_model(options)
    is_stated = {"--out": options.out is not None, "--overwrite": options.overwrite, "--all-rows": options.all_rows}
    if any(is_stated.values()):
        flags = [flag for flag in is_stated if is_stated[flag]]
        raise InputError(f"{', '.join(flags)} can be used only together with --model")
    schema, n_rows = read_schema(options.schema), None
    if is_in_partitions(options.table):
        from clinclust.schema.partitions import validated_sample

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
    """Return the cohort of `prepare_cohort`, and print what it holds.

    `looks` are the remarks of a draft, if any. The table may be a sample of `n_rows` validated rows.
    """
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.progress import Progress

    if isinstance(options, SearchOptions):
        model = build_model(options, schema)
    else:
        model = MAPDP(schema, progress=not options.quiet)
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
    for line in render_check(cohort, table, names=(str(options.table), str(path)), looks=looks, is_all=options.all):
        say(line)
    if not is_sample:
        say(f"{_estimate_duration(options, cohort, model)}.")
    return cohort


def _estimate_duration(options: CheckedOptions, cohort: Prepared, model: MAPDP) -> str:
    from clinclust.estimators.cost import duration_sentence
    from clinclust.estimators.settings import Settings

    settings = Settings.of(model)
    if not isinstance(options, FitReportOptions):
        return duration_sentence(cohort.problem, settings, options="default options")
    return duration_sentence(cohort.problem, settings, associations=options.associations, stability=options.stability)


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


# What is printed about a table that fits its schema.

_MUCH_MISSING = 0.2
_MUCH_DEPENDENCE = 0.6
"""Share of independent features below which the effect of dependence is explained."""
_NARROWEST, _WIDEST = 40, 120
_MOST_LOOKS, _MOST_LINES = 10, 3
"""Number of remarks, and of lines of names per use, that fit on one screen."""


def look_at_draft(schema: FeatureSchema) -> list[Look]:
    """Return what `draft_schema` left to be decided, largest effect on the result first; one `Look` per remark."""
    from clinclust.drafting.column import LOOK, Look

    columns: dict[str, list[str]] = {}
    weights: dict[str, float] = {}
    for feature in schema:
        first, *lines = schema.comments.get(feature.name, "").splitlines() or [""]
        probability = first.rpartition("probability ")[2]
        for line in lines:
            if not line.startswith(LOOK):
                continue
            remark = line.removeprefix(LOOK)
            if remark.startswith("otherwise "):
                remark = f"{first}; {remark}"
            columns.setdefault(remark, []).append(feature.name)
            weight = 0.0 if feature.is_ignored else float(probability) if "; otherwise " in remark else 1.0
            weights[remark] = weight + (2.0 if feature.is_described else 0.0)
    return [Look(tuple(columns[remark]), remark, "") for remark in sorted(columns, key=lambda remark: weights[remark])]


def look_at_table(cohort: Prepared, table: pd.DataFrame) -> list[Look]:
    """Return properties of the table that may make spurious subtypes: ties, odd numbers, repetitions."""
    from clinclust.drafting.propose import looks_of
    from clinclust.drafting.redundancy import looks, redundancies

    pairs = redundancies(cohort.frame, cohort.schema) if len(cohort.schema.clustered) > 1 else []
    return [*looks_of(table, cohort.schema), *looks(pairs, cohort.schema)]


def facts_of_check(cohort: Prepared, table: pd.DataFrame, looks: Sequence[Look]) -> dict[str, Any]:
    """Return the facts about a table that fits its schema, for a program."""
    missing = cohort.frame.isna().mean()
    return {
        "subjects": len(cohort.frame),
        **_uses(cohort, table),
        "described": [feature.name for feature in cohort.schema.described],
        "cannot_be_clustered": dict(cohort.problem.kept_out),
        "missing": {str(name): float(share) for name, share in missing.items() if share > 0.0},
        "to_decide": [asdict(look) for look in looks],
    }


def _uses(cohort: Prepared, table: pd.DataFrame) -> dict[str, list[str]]:
    """Return the columns of each use, by the name of the use in a summary."""
    schema, uninformative = cohort.schema, cohort.problem.kept_out
    return {
        "clustered": [feature.name for feature in schema.clustered if feature.name not in uninformative],
        "cannot_be_clustered": list(uninformative),
        "identifiers": [feature.name for feature in schema.ids],
        "not_in_schema": [str(name) for name in table.columns if name not in schema],
    }


_HEADINGS = {
    "clustered": "to cluster on",
    "cannot_be_clustered": "cannot be clustered on",
    "identifiers": "identifiers",
    "not_in_schema": "not in the schema, so ignored",
}


def render_check(
    cohort: Prepared,
    table: pd.DataFrame,
    *,
    names: tuple[str, str],
    looks: Sequence[Look],
    is_all: bool = False,
    width: int | None = None,
) -> list[str]:
    """Return the lines to print about a table that fits its schema; `is_all` prints more than one screen of `looks`."""
    from clinclust.files.selection.repeated_subjects import noted_several_rows

    width = width or _width()
    frame, schema, uses = cohort.frame, cohort.schema, _uses(cohort, table)
    visits = noted_several_rows(frame)
    n_subjects = f"{len(frame)} subjects" if visits is None else f"{len(frame)} rows of {visits.n_subjects} subjects"
    # The same features as in the report: those that the fit clusters on.
    missing = frame[uses["clustered"]].isna().to_numpy().mean() if uses["clustered"] else 0.0
    lines = [
        f"{names[0]} fits {names[1]}: {n_subjects}, {len(schema.clustered)} features to cluster on "
        f"({missing:.1%} of their values missing), {len(schema.described)} to describe.",
        *textwrap.wrap(_describe_dependence(cohort), width),
    ]
    shares = frame.isna().mean().sort_values(ascending=False, kind="stable")
    sections = {_HEADINGS[use]: [_show_name(name) for name in columns] for use, columns in uses.items()}
    sections[f"more than {_MUCH_MISSING:.0%} missing"] = [
        f"{_show_name(name)} {share:.0%}" for name, share in shares[shares > _MUCH_MISSING].items()
    ]
    for heading, items in sections.items():
        section = _wrap_names(f"{heading} ({len(items)}):", items, width)
        lines += section if is_all or len(section) <= _MOST_LINES else [*section[: _MOST_LINES - 1], "  ..."]
    if looks:
        shown = looks if is_all else looks[:_MOST_LOOKS]
        to_do = "; what follows `to do` is not in it yet" if any(look.repair for look in looks) else ""
        lines.append(f"to decide ({len(looks)}); read each, and edit {names[1]} where that is wrong{to_do}:")
        lines += [line for look in shown for line in _wrap_look(look, width)]
        if len(shown) < len(looks):
            lines.append(f"  and {len(looks) - len(shown)} more, which change less: --all")
    return lines


def _width() -> int:
    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


def _wrap_item(text: str, width: int) -> list[str]:
    """Return an item of a list in lines; options stay in one piece."""
    return textwrap.wrap(
        on_one_line(text), width, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False
    )


def _wrap_look(look: Look, width: int) -> list[str]:
    names = ", ".join(map(_show_name, look.columns))
    about = "" if not names or look.what.startswith(names) else f"{names}: "
    return _wrap_item(f"{about}{look.what}" + (f"; to do: {look.repair}" if look.repair else ""), width)


def _describe_dependence(cohort: Prepared) -> str:
    """Return how many independent features the clustered ones are worth, in words; empty for a single one."""
    from clinclust.engine.joint_estimates.dependence import independent_features

    n_features = len(cohort.problem.cohort.encoding.features)
    if n_features < 2:
        return ""
    n_worth = independent_features(cohort.problem)
    both = " (both parts of one with a spike or a limit count)" if len(cohort.schema.parts) > len(cohort.schema) else ""
    sentence = f"The {n_features} features{both} are worth about {n_worth:.0f} that do not depend on each other"
    if n_worth > _MUCH_DEPENDENCE * n_features:
        return f"{sentence}."
    return (
        f"{sentence}: subtypes explain some of that, and what measures the same thing, and is in no block, makes more "
        "subtypes than there are."
    )


def _wrap_names(heading: str, items: Sequence[str], width: int) -> list[str]:
    """Return names between commas below a heading, which no line break divides."""
    lines, line = [], heading
    for place, name in enumerate(items):
        item = name if place == len(items) - 1 else f"{name},"
        if len(line) + 1 + len(item) > width:
            lines.append(line)
            line = " " * 3
        line += f" {item}"
    return [*lines, line] if items else []


def _show_name(name: object) -> str:
    from clinclust.files.cell_text import shortened

    text = shortened(on_one_line(str(name)))
    return repr(text) if "," in text or text != text.strip() or not text else text


# Whether a model fits its table.


def _check_model(options: CheckOptions) -> int:
    from clinclust.check import check_model
    from clinclust.progress import Progress

    spare_file(options, (".yaml", ".yml"), called="a schema", holds="your edits")
    model = read_model(options)
    _, cohort = read_cohort_of_model(options, model)
    with Progress(not options.quiet).stage("checking the model"):
        check = check_model(model, cohort.table)
    advice = check.advice.to_dict("records")
    mended = None if options.out is None or not check.mended else str(options.out)
    record(subjects=len(cohort.table), fits=not advice, advice=advice, mended=mended)
    for line in _render_advice(check, len(model.schema_.clustered)):
        say(line)
    _write_mended_schema(options, check, model.schema_)
    return 0


def _render_advice(check: ModelCheck, n_features: int) -> list[str]:
    n = check.advice["feature"].nunique()
    if not n:
        return [check.summary]
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    lines = [f"{n} of {n_features} features {'is' if n == 1 else 'are'} not as the model says; what would mend it:"]
    for row in check.advice.to_dict("records"):
        lines += _wrap_item(f"{row['feature']}: {row['problem']} ({row['evidence']})", width)
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
