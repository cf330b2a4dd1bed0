"""What a table holds, and whether it or a model fits: roles, tables in partitions, the lines and facts of a check."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clinclust.cli.inputs import (
    ModelOptions,
    RowOptions,
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
    called,
    columns_between_commas,
    declared,
    model_asked_for,
    next_command,
    option,
    path_given,
)
from clinclust.cli.outputs import OutputOptions, SummaryOptions, note, record, say, spare_file
from clinclust.control_characters import on_one_line
from clinclust.drafting.column import LOOK, Look
from clinclust.engine.joint_estimates.dependence import independent_features
from clinclust.errors import CohortError, InputError, refuse
from clinclust.files.cell_text import shortened
from clinclust.files.parquet_partitions import Part, is_in_partitions, rows_of, table_of_parts
from clinclust.files.selection.repeated_subjects import noted_several_rows
from clinclust.files.writing import MANIFEST, naming, write_manifest, write_together
from clinclust.schema.changed_roles import on_unused

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from clinclust.check import ModelCheck
    from clinclust.drafting.column import Look
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.preparation import Prepared
    from clinclust.schema import FeatureSchema
    from clinclust.schema.partitions import Sampled


def _columns(what: str) -> tuple[str, ...]:
    names: tuple[str, ...] = option(what, (), action="extend", type=columns_between_commas, metavar="NAME")
    return names


@dataclass(kw_only=True)
class RoleOptions(Options):
    """The options that change roles; their names are those of the roles."""

    TITLE = "what columns are for"
    cluster: tuple[str, ...] = _columns("form subtypes from these columns, whatever the schema or the draft says")
    describe: tuple[str, ...] = _columns("report and test these columns, and form no subtypes from them")
    ignore: tuple[str, ...] = _columns("leave these columns out of subtypes and reports")


_ROLES = ("cluster", "describe", "ignore")
WithRoles = TypeVar("WithRoles", bound=RoleOptions)


def roles_asked_for(options: RoleOptions) -> dict[str, str]:
    """Return the role of each column that the options name; a column has one role."""
    roles: dict[str, str] = {}
    problems = []
    for role in _ROLES:
        for name in getattr(options, role):
            if roles.setdefault(name, role) != role:
                problems.append(f"{name} is named after {called(roles[name])} and {called(role)}: give one of them")
    refuse(problems)
    return roles


def without_roles_of(options: WithRoles, names: Collection[object]) -> WithRoles:
    """Return the options without the roles of these columns."""
    left = {role: tuple(name for name in getattr(options, role) if name not in names) for role in _ROLES}
    return replace(options, **left)


def refuse_roles_of_model(options: RoleOptions) -> None:
    """Raise InputError if roles are given for a fitted model."""
    given = [called(role) for role in _ROLES if getattr(options, role)]
    if given:
        raise InputError(f"{', '.join(given)} can be used only together with --schema: fit again to change roles")


def with_roles_asked(options: RoleOptions, schema: FeatureSchema, table: pd.DataFrame) -> FeatureSchema:
    """Return the schema with the roles of the options; note what was drafted from the values of the table."""
    roles = roles_asked_for(options)
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
    for line in unused_lines(schema):
        say(line)


ASSIGNMENTS = "assignments.parquet"


def fit_in_partitions(
    model: MAPDP, path: Path, out: Path, files: tuple[str, ...], record: Callable[[Path], list[str]]
) -> Any:
    """Fit a table in partitions, write the model, and the subtype of each subject, to a folder; return the table.

    `files` are those of an earlier fit, which are replaced; `record` writes further files and returns their names.
    """
    with (
        table_in_partitions(path) as (table, parts),
        write_together(out, replacing=files, last=MANIFEST) as folder,
    ):
        model.fit(table)
        with naming(out):
            model.save(folder)
            _write_assignments(model, parts, folder / ASSIGNMENTS)
        write_manifest(folder, ["model.json", "model.npz", ASSIGNMENTS, *record(folder)])
    n_sampled, n_subjects = model.in_sample()[0].labels_.size, int(model.cluster_sizes_.sum())
    if n_sampled < n_subjects:
        say(
            f"Sizes, summaries and tests of features are of all {n_subjects} subjects, and so is {ASSIGNMENTS}; what "
            f"else the reports say is of a sample of {n_sampled}."
        )
    return table


@contextmanager
def table_in_partitions(path: Path) -> Iterator[tuple[Any, list[Part]]]:
    """Yield a table as a Dask DataFrame, and its partitions; errors about its content name its files."""
    from clinclust.files.opening import shown_name

    parts: list[Part] = []
    try:
        table, parts = table_of_parts(path)
        yield table, parts
    except CohortError as error:
        raise naming_files(error, path, parts) from error
    except InputError as error:
        raise InputError(f"{shown_name(path)}: {error}") from error


def naming_files(error: CohortError, path: Path, parts: Sequence[Part]) -> CohortError:
    """Return an error about a table with the names of the files in the place of the numbers of partitions."""
    from clinclust.files.opening import shown_name

    failures = error.failures
    if "partition" in failures:
        named = failures["partition"].map(lambda number: parts[number].file.name if number >= 0 else number)
        failures = failures.assign(partition=named)
    return CohortError(failures, shown_name(path))


def refuse_options(options: TableOptions, *, roles: bool = True) -> None:
    """Raise InputError for options that choose rows, columns, or (with `roles`) roles of a table in memory."""
    kinds = (*TableOptions.__mro__, RowOptions, *((RoleOptions,) if roles else ()))
    names = {name for kind in kinds for name in vars(kind).get("__annotations__", {})} - {"table"}
    given = []
    for _, one in declared(type(options)):
        default = one.default if one.default_factory is MISSING else one.default_factory()
        if one.name in names and getattr(options, one.name) != default:
            given.append(called(one.name))
    if given:
        raise InputError(
            f"{', '.join(given)} cannot be used with a table in partitions: choose rows and columns when its files are "
            "written, and roles in the schema"
        )


def _write_assignments(model: MAPDP, parts: Sequence[Part], file: Path) -> None:
    """Write identifiers and subtypes, one partition after the other."""
    import pyarrow as pa
    from pyarrow import parquet

    ids = [feature.name for feature in model.schema_.ids]
    of_all: Any = model.labels_
    schema = pa.schema([*((name, pa.string()) for name in ids), ("subtype", pa.int64())])
    with parquet.ParquetWriter(file, schema) as writer:
        for part, labels in zip(parts, of_all.to_delayed(), strict=True):
            rows = rows_of(part, ids).astype(str)
            rows["subtype"] = labels.compute(scheduler="synchronous").to_numpy() + 1
            writer.write_table(pa.Table.from_pandas(rows, schema, preserve_index=False))


_MUCH_MISSING = 0.2
_MUCH_DEPENDENCE = 0.6
"""Share of independent features below which the effect of dependence is explained."""
_NARROWEST, _WIDEST = 40, 120
_USE_ONE = "Use one with --cluster NAME."
_MOST_LOOKS, _MOST_LINES = 10, 3
"""Number of remarks, and of lines of names per use, that fit on one screen."""


def looks_at_draft(schema: FeatureSchema) -> list[Look]:
    """Return what `draft_schema` left to be decided, largest effect on the result first; one `Look` per remark."""
    by_remark: dict[str, list[str]] = {}
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
            by_remark.setdefault(remark, []).append(feature.name)
            weight = 0.0 if feature.is_ignored else float(probability) if "; otherwise " in remark else 1.0
            weights[remark] = weight + (2.0 if feature.is_described else 0.0)
    in_order = sorted(by_remark, key=lambda remark: weights[remark])
    return [Look(tuple(by_remark[remark]), remark, "") for remark in in_order]


def looks_at_table(cohort: Prepared, table: pd.DataFrame) -> list[Look]:
    """Return properties of the table that may make spurious subtypes: ties, odd numbers, repetitions."""
    from clinclust.drafting.propose import looks_of
    from clinclust.drafting.redundancy import looks, redundancies

    found = redundancies(cohort.frame, cohort.schema) if len(cohort.schema.clustered) > 1 else []
    return [*looks_of(table, cohort.schema), *looks(found, cohort.schema)]


def facts_of_check(cohort: Prepared, table: pd.DataFrame, looks: Sequence[Look]) -> dict[str, Any]:
    """Return the facts about a table that fits its schema, for a program."""
    schema, kept_out = cohort.schema, cohort.problem.kept_out
    missing = cohort.frame.isna().mean()
    return {
        "subjects": len(cohort.frame),
        "clustered": [feature.name for feature in schema.clustered if feature.name not in kept_out],
        "cannot_be_clustered": dict(kept_out),
        "described": [feature.name for feature in schema.described],
        "identifiers": [feature.name for feature in schema.ids],
        "not_in_schema": [str(name) for name in table.columns if name not in schema],
        "missing": {str(name): float(share) for name, share in missing.items() if share > 0.0},
        "to_decide": [asdict(look) for look in looks],
    }


def unused_lines(schema: FeatureSchema, width: int | None = None) -> list[str]:
    """Return the lines on columns that form no subtypes, with the reasons."""
    return textwrap.wrap(
        on_unused(schema, repair=_USE_ONE), width or _width(), break_long_words=False, break_on_hyphens=False
    )


def check_lines(
    cohort: Prepared,
    table: pd.DataFrame,
    *,
    names: tuple[str, str],
    looks: Sequence[Look],
    is_all: bool = False,
    width: int | None = None,
) -> list[str]:
    """Return the lines to print about a table that fits its schema; `is_all` prints more than one screen of `looks`."""
    width = width or _width()
    lines = [_verdict(cohort, names), *textwrap.wrap(_worth(cohort), width)]
    missing = _much_missing(cohort.frame)
    uses = [*_uses(cohort, table), (f"more than {_MUCH_MISSING:.0%} missing", missing)]
    for heading, columns in uses:
        told = _wrapped(f"{heading} ({len(columns)})", columns, width)
        lines += told if is_all or len(told) <= _MOST_LINES else [*told[: _MOST_LINES - 1], "  ..."]
    if looks:
        shown = looks if is_all else looks[:_MOST_LOOKS]
        lines.append(f"to decide ({len(looks)}); {_who_acts(looks, names[1])}:")
        lines += [line for look in shown for line in _item(look, width)]
        if len(shown) < len(looks):
            lines.append(f"  and {len(looks) - len(shown)} more, which change less: --all")
    return lines


def _width() -> int:
    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


def _who_acts(looks: Sequence[Look], schema: str) -> str:
    left = "; what follows `to do` is not in it yet" if any(look.repair for look in looks) else ""
    return f"read each, and edit {schema} where that is wrong{left}"


def _item(look: Look, width: int) -> list[str]:
    names = ", ".join(map(_name, look.columns))
    about = "" if not names or look.what.startswith(names) else f"{names}: "
    said = on_one_line(f"{about}{look.what}" + (f"; to do: {look.repair}" if look.repair else ""))
    return textwrap.wrap(  # options stay in one piece
        said, width, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False
    )


def _verdict(cohort: Prepared, names: tuple[str, str]) -> str:
    frame, schema = cohort.frame, cohort.schema
    visits = noted_several_rows(frame)
    n_subjects = f"{len(frame)} subjects" if visits is None else f"{len(frame)} rows of {visits.n_subjects} subjects"
    # The same features as in the report: those that the fit clusters on.
    used = [feature.name for feature in schema.clustered if feature.name not in cohort.problem.kept_out]
    missing = frame[used].isna().to_numpy().mean() if used else 0.0
    return (
        f"{names[0]} fits {names[1]}: {n_subjects}, {len(schema.clustered)} features to cluster on "
        f"({missing:.1%} of their values missing), {len(schema.described)} to describe."
    )


def _worth(cohort: Prepared) -> str:
    """Return the number of independent features that the clustered ones are worth; empty for one."""
    n_features = len(cohort.problem.cohort.encoding.features)
    if n_features < 2:
        return ""
    n_worth = independent_features(cohort.problem)
    both = " (both parts of one with a spike or a limit count)" if len(cohort.schema.parts) > len(cohort.schema) else ""
    said = f"The {n_features} features{both} are worth about {n_worth:.0f} that do not depend on each other"
    if n_worth > _MUCH_DEPENDENCE * n_features:
        return f"{said}."
    return (
        f"{said}: subtypes explain some of that, and what measures the same thing, and is in no block, makes more "
        "subtypes than there are."
    )


def _uses(cohort: Prepared, table: pd.DataFrame) -> Iterator[tuple[str, list[str]]]:
    schema, kept_out = cohort.schema, cohort.problem.kept_out
    yield "to cluster on", [feature.name for feature in schema.clustered if feature.name not in kept_out]
    yield "cannot be clustered on", list(kept_out)
    yield "identifiers", [feature.name for feature in schema.ids]
    yield "not in the schema, so ignored", [str(name) for name in table.columns if name not in schema]


def _much_missing(frame: pd.DataFrame) -> list[str]:
    shares = frame.isna().mean().sort_values(ascending=False, kind="stable")
    return [f"{_name(name)} {share:.0%}" for name, share in shares[shares > _MUCH_MISSING].items()]


def _wrapped(heading: str, names: Iterable[str], width: int) -> list[str]:
    lines: list[str] = []
    line = f"{heading}:"
    items = [_name(name) for name in names]
    for place, item in enumerate(items):
        item += "," if place < len(items) - 1 else ""
        if len(line) + 1 + len(item) > width:
            lines.append(line)
            line = " " * 3
        line += f" {item}"
    return [*lines, line] if items else []


def _name(name: object) -> str:
    shown = shortened(on_one_line(str(name)))
    return repr(shown) if "," in shown or shown != shown.strip() or not shown else shown


_WIDEST = 120


@dataclass(kw_only=True)
class AllOptions(Options):
    """How much is printed about a table."""

    all: bool = option("tell all that could be decided, and not one screen of it", False)


@dataclass(kw_only=True)
class CheckedOptions(RoleOptions, TableOptions, AllOptions, Command):
    """The options of a command that checks a table."""


@dataclass(kw_only=True)
class CheckOptions(CheckedOptions, SchemaOptions, ModelOptions, OutputOptions, SummaryOptions):
    """The options of `clinclust check`."""

    schema: Path = option("feature schema (YAML)", type=path_given, either=True)
    model: Path = option("folder that `clinclust fit` wrote", type=path_given, metavar="DIR", either=True)
    out: Path | None = option(
        "with --model: file for a copy of the schema that follows the advice", type=path_given, metavar="SCHEMA"
    )


def run_check(options: CheckOptions) -> int:
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


def _sample(options: CheckOptions, schema: FeatureSchema) -> Sampled:
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


def _check_model(options: CheckOptions) -> int:
    from clinclust.check import check_model
    from clinclust.progress import Progress

    spare_file(options, (".yaml", ".yml"), called="a schema", holds="your edits")
    model = read_model(options)
    _, cohort = read_cohort_of_model(options, model)
    with Progress(not options.quiet).stage("checking the model"):
        found = check_model(model, cohort.table)
    advice = found.advice.to_dict("records")
    mended = None if options.out is None or not found.mended else str(options.out)
    record(subjects=len(cohort.table), fits=not advice, advice=advice, mended=mended)
    for line in _lines_of_advice(found, len(model.schema_.clustered)):
        say(line)
    _mend(options, found, model.schema_)
    return 0


def _lines_of_advice(found: ModelCheck, n_features: int) -> list[str]:
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


def _mend(options: CheckOptions, found: ModelCheck, schema: FeatureSchema) -> None:
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
