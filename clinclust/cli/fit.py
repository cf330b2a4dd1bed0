"""From a table to its subtypes: a schema is drafted, the table checked, the model fitted, and the reports written.

`clinclust draft` and `clinclust fit` do a step each; `clinclust start` does them all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clinclust.cli.check import (
    CheckedOptions,
    RoleOptions,
    apply_roles,
    check_cohort,
    look_at_draft,
    name_files,
    prepare_cohort,
    read_roles,
    refuse_in_partitions,
    results_folder,
    say_next_fit,
    say_unused,
    stem,
    table_in_partitions,
    without_roles_of,
)
from clinclust.cli.inputs import (
    DictionaryOptions,
    RowOptions,
    SchemaOptions,
    TableOptions,
    about_table,
    check_dictionary,
    note_dictionary,
    read_schema,
    read_table,
    read_table_of_schema,
)
from clinclust.cli.options import (
    SearchOptions,
    build_model,
    check_search,
    flag_of,
    in_options,
    join_names,
    next_command,
    option,
    option_words,
    read_path,
    stated_number,
    without,
)
from clinclust.cli.outputs import (
    FILES_OF_A_FIT,
    FILES_OF_A_MODEL,
    PARTLY,
    REPORTS,
    REPORTS_IN_WORDS,
    SHARING,
    OutputOptions,
    SummaryOptions,
    inputs_of,
    interrupts_held,
    note,
    overwrite,
    record,
    record_failure,
    record_sharing,
    refuse_output,
    reports_placed,
    say,
    sentence_of,
    spare_file,
    spare_folder,
    spare_the_inputs,
    tell,
    tell_failure,
    tell_of_other_files,
    write_data,
)
from clinclust.cli.report import FitReportOptions, report_asked_for, report_problems, say_what_to_share, size_problems
from clinclust.errors import InputError, refuse
from clinclust.files.parquet_partitions import Part, is_in_partitions, rows_of
from clinclust.files.writing import MANIFEST, naming, write_manifest, write_together

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.drafting.column import Look
    from clinclust.drafting.partitions import Draft
    from clinclust.estimators.fitted_cohort import FittedCohort
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.preparation import Prepared
    from clinclust.reporting.findings import Findings
    from clinclust.schema import FeatureSchema


# clinclust draft


@dataclass(kw_only=True)
class DraftedOptions(CheckedOptions, DictionaryOptions):
    """The options of a command that drafts a schema."""


@dataclass(kw_only=True)
class DraftOptions(DraftedOptions, OutputOptions, SummaryOptions):
    """The options of `clinclust draft`."""


Drafted = TypeVar("Drafted", bound=DraftedOptions)


def run_draft(options: DraftOptions) -> int:
    """Propose a likelihood for every column, with the reason; read and edit the result.

    The schema records the choice of rows for later commands. With --out, the table is then checked against it.
    """
    refuse_output(options, options.out)
    spare_file(options, (".yaml", ".yml"), called="a schema", holds="your edits")
    check_dictionary(options)
    read_roles(options)  # raises what is wrong with them before anything is read
    schema, (frame, n_rows), refused = _draft_table(options)
    if refused is not None:
        note(f"the proposal refuses some rows, so edit it or them: {sentence_of(refused)}")
    if options.out is None:
        write_data(schema.to_yaml())
        return 0
    schema.to_yaml(options.out)
    path, options = options.out, _without_choices(options)
    columns = [
        {
            "column": each.name,
            "role": each.role,
            "likelihood": each.likelihood,
            "comment": schema.comments.get(each.name),
        }
        for each in schema
    ]
    record(schema=str(path), columns=columns)
    say(f"Wrote {path}: {len(schema)} columns. Read it through; it is a proposal.")
    if refused is None:
        try:
            check_cohort(options, schema, frame, path, look_at_draft(schema), n_rows)
        except InputError as error:  # that there is nothing to find under a proposal is no failure of drafting
            note(f"the proposal finds nothing: {sentence_of(error)}")
        else:
            say_next_fit(options, path)
            return 0
    say_unused(schema)
    say(
        f"next, after editing {path}: {next_command('check', options, '--schema', str(path), repeated=(TableOptions,))}"
    )
    return 0


def _draft_table(options: DraftOptions) -> Draft:
    from clinclust.drafting.partitions import Draft, draft_of_partitions
    from clinclust.schema.partitions import Sampled

    if not is_in_partitions(options.table):
        frame = read_table(options)
        with about_table(options):
            return Draft(_draft_schema(options, frame), Sampled(frame, len(frame)), None)
    refuse_in_partitions(options, roles=False)
    with table_in_partitions(options.table) as (table, parts):
        draft = draft_of_partitions(table, partial(_draft_schema, options), progress=not options.quiet)
    return draft if draft.refused is None else draft._replace(refused=name_files(draft.refused, options.table, parts))


def _draft_schema(options: DraftedOptions, table: pd.DataFrame) -> FeatureSchema:
    """Return the schema drafted for a table, with the dictionary and the roles of the options."""
    from clinclust.drafting import draft_schema

    note_dictionary(options, table)
    schema = draft_schema(table, roles=read_roles(options), progress=not options.quiet)
    schema.comments.update({name: in_options(comment) for name, comment in schema.comments.items()})
    return schema


def _without_choices(options: Drafted) -> Drafted:
    """Return the options without rows and roles, which the drafted schema has."""
    return without(options, RowOptions, RoleOptions)


# clinclust fit


@dataclass(kw_only=True)
class ResultOptions(RoleOptions, TableOptions, SearchOptions, FitReportOptions):
    """The options of a command that searches and writes a folder of results."""

    out: Path = option("folder for the results", type=read_path)


@dataclass(kw_only=True)
class FitOptions(SchemaOptions, ResultOptions, SummaryOptions):
    """The options of `clinclust fit`."""

    out: Path = option("folder for model, assignments and report", type=read_path, required=True, metavar="DIR")
    overwrite: bool = overwrite("an earlier fit in this folder")


def run_fit(options: FitOptions) -> int:
    """Find the subtypes and write the model, the assignments, two reports, and a manifest of these files."""
    _check_options(options)
    spare_the_inputs(inputs_of(options), *(options.out / name for name in FILES_OF_A_FIT))
    spare_folder(options.out, allowed=options.overwrite)
    schema = read_schema(options.schema)
    if is_in_partitions(options.table):
        return _fit_in_partitions(options, schema)
    table = read_table_of_schema(options, schema, options.schema)
    schema = apply_roles(options, schema, table)
    cohort = prepare_cohort(options, table, build_model(options, schema))
    return _write_results(options, cohort, table)


def _check_options(options: ResultOptions) -> None:
    refuse(check_search(options) + report_problems(options))


def _write_results(options: ResultOptions, prepared: Prepared, table: pd.DataFrame) -> int:
    """Find the subtypes of a checked cohort, write the folder ``options.out``, and return the exit code."""
    from clinclust.comparisons.dominance import find_dominant
    from clinclust.estimators.fitted_cohort import FittedCohort

    tell_of_other_files(options.out, FILES_OF_A_FIT)
    schema = prepared.schema
    refuse(size_problems(options, len(prepared.frame)))
    is_saved = False
    try:
        with interrupts_held() as hold_interrupts:
            model, code_of_number = _write_model(options, prepared, hold_interrupts)
            is_saved = True
        cohort = FittedCohort(model, prepared.frame)
        dominant = find_dominant(cohort, table)
        reports, code = _write_reports(options, cohort, dominant)
    except KeyboardInterrupt:
        if is_saved:
            command = next_command("report", options, "--model", options.out, repeated=(TableOptions, FitReportOptions))
            tell(
                f"clinclust: the search had ended: {options.out} is whole, with the model in it; "
                f"make the reports with: {command}"
            )
        raise
    files = [*reports, *FILES_OF_A_MODEL, *([] if options.suppress is None else [SHARING]), MANIFEST]
    say_unused(schema)
    say_subtypes(model, stated_number(options))
    _say_dominant(options, rows_are_chosen=bool(schema.rows) or options.where is not None, dominant=dominant)
    _say_files(options, model, files)
    if reports:
        say_what_to_share(options, options.out)
    return max(code, code_of_number)


def _say_files(options: ResultOptions, model: MAPDP, files: list[str]) -> None:
    say(f"Wrote {options.out}: {', '.join(files)}")
    record(out=str(options.out), files=files, **facts_of_fit(model, stated_number(options)))


def _write_model(options: ResultOptions, cohort: Prepared, hold_interrupts: Callable[[], None]) -> tuple[MAPDP, int]:
    """Fit the model, and write it and its assignments; the exit code is not 0 for fewer subtypes than stated."""
    from clinclust.estimators.fitted_cohort import FittedCohort
    from clinclust.reporting.assignments import tabulate_assignments, write_inert_csv

    with write_together(options.out, replacing=FILES_OF_A_FIT, last=MANIFEST) as folder:
        model, code = build_model(options, cohort.schema), 0
        n_clusters = model.n_clusters
        if not isinstance(n_clusters, int):
            model.fit_prepared(cohort)
        else:
            model.set_params(n_clusters=None).fit_prepared(cohort)
            try:
                model = model.cut(n_clusters, min_size=model.min_size)
            except InputError as error:
                is_merged = model.n_clusters_ < model.subtype_of_.size
                search = "the search with its small groups merged" if is_merged else "the search unchanged"
                code = tell_failure(error, options, f"the results show {search} (K = {model.n_clusters_})")
        hold_interrupts()
        model.save(folder)
        write_inert_csv(tabulate_assignments(FittedCohort(model, cohort.frame)), folder / "assignments.csv")
        write_manifest(folder, [*FILES_OF_A_MODEL, *record_sharing(options, folder)])
    return model, code


def _write_reports(
    options: ResultOptions,
    cohort: FittedCohort,
    dominant: pd.DataFrame,
    compare_all: Callable[[], pd.DataFrame | None] = lambda: None,
) -> tuple[list[str], int]:
    """Write the reports, and return their names and the exit code.

    What fails is reported, and the other reports are written. `compare_all` compares all of a table in partitions.
    """
    from clinclust.progress import Progress
    from clinclust.reporting.writing import write_findings

    codes, failed = [0], f"{REPORTS_IN_WORDS} were not written"
    try:
        with reports_placed(options.out) as folder:
            try:
                findings = _gather_findings(cohort, options, dominant, codes, compare_all())
            except Exception as error:
                codes.append(tell_failure(error, options, failed))
                return [], max(codes)
            for name in REPORTS:
                try:
                    write_findings(findings, folder / name, progress=Progress(not options.quiet))
                except Exception as error:
                    codes.append(tell_failure(error, options, f"{name} was not written"))
            written = [name for name in REPORTS if (folder / name).exists()]
    except Exception as error:
        return [], tell_failure(error, options, failed)
    return written, max(codes)


def _gather_findings(
    cohort: FittedCohort,
    options: ResultOptions,
    dominant: pd.DataFrame,
    codes: list[int],
    comparisons_of_all: pd.DataFrame | None,
) -> Findings:
    """Return the findings of the reports; a name of a subtype that there is not adds a code."""
    from clinclust.reporting.options import unknown_names
    from clinclust.reporting.writing import gather_findings

    report, subtypes = report_asked_for(options), range(1, cohort.model.cluster_sizes_.size + 1)
    for problem in unknown_names(report.names, subtypes, called="--name"):
        tell(f"clinclust: {problem}; the reports leave this name out")
        record_failure(InputError(problem), problem, "its name in the reports")
        codes.append(PARTLY)
    names = {subtype: name for subtype, name in report.names.items() if subtype in subtypes}
    report = replace(report, names=names)
    findings = gather_findings(cohort, cohort.table, report, dominant=dominant, of_all=comparisons_of_all)
    return replace(findings, n_asked=stated_number(options))


# What a fit prints.


def say_subtypes(model: MAPDP, n_stated: int | None = None) -> None:
    """Print the subtypes of a fitted model, their sizes, and the test of its tree; `n_stated` were to be found."""
    from clinclust.estimators.few_subjects import MEANING_OF_MARKS, n_standing
    from clinclust.files.listed import listed
    from clinclust.reporting.divisions import distinct_in_words, n_parted
    from clinclust.reporting.layout import percent

    n_subjects, n_subtypes, n_groups = model.cluster_sizes_.sum(), model.n_clusters_, model.subtype_of_.size
    marks = model.fit_.remarks_
    sizes = ", ".join(
        f"{size} ({'; '.join([f'{percent(int(size), n_subjects):.1f}%', *remarks])})"
        for size, remarks in zip(model.cluster_sizes_, marks, strict=True)
    )
    shortfall = f" ({n_stated} were asked for)" if n_stated is not None and n_stated > n_subtypes else ""
    few = [subtype for subtype, is_small in enumerate(model.untested_, start=1) if is_small]
    untested = f"; few subjects, untested: subtype{'' if len(few) == 1 else 's'} {listed(few)}" if few else ""
    subtypes = f"{n_subtypes} subtype{'' if n_subtypes == 1 else 's'}"
    say(f"{subtypes}{shortfall} among {n_subjects} subjects: {sizes}{untested}")
    if any(marks):
        say(f"{MEANING_OF_MARKS} Such subtypes may be noise; without them: {n_standing(model.subtypes_)}.")
    n_before = n_groups if model.n_clusters is None else n_subtypes
    if isinstance(model.n_clusters, Integral):
        n_before = int(model.n_clusters)
    if n_before > n_subtypes:
        say(
            f"{n_before - n_subtypes} fewer than without --min-size: groups of fewer than {model.min_size_} subjects "
            "were merged where they were hardly distinct from another."
        )
    test = model.fit_.tree_test_
    if test is None or test.joins.empty:
        return
    if n_subtypes == 1:
        say(
            f"Tested: the cohort looks like one continuum; the {n_groups} groups of the search were not "
            "shown to be more than slices of it."
        )
    else:
        clusters = f"; the {n_groups} clusters of the search were not shown to be" if n_groups > n_subtypes else ""
        grades = f": {distinct_in_words(model.fit_)}" if n_subtypes == n_parted(model.fit_) else ""
        say(f"Tested: these are more than one continuum{grades}{clusters}.")


def facts_of_fit(model: MAPDP, n_stated: int | None) -> dict[str, Any]:
    """Return the facts about a fitted model, for a program: subtypes, sizes, and p of every tested division."""
    from clinclust.reporting.divisions import divisions_of
    from clinclust.reporting.results import division_facts

    titles = {subtype: f"Subtype {subtype}" for subtype in range(1, model.n_clusters_ + 1)}
    summary = model.summary().reset_index()
    marks = [" ".join(remarks) for remarks in model.fit_.remarks_]
    subtypes = summary.assign(untested=model.untested_, remarks=marks).to_dict("records")
    return {
        "subjects": int(model.cluster_sizes_.sum()),
        "n_subtypes": model.n_clusters_,
        "n_asked": n_stated,
        "n_clusters": int(model.subtype_of_.size),
        "subtypes": subtypes,
        "divisions": [division_facts(division) for division in divisions_of(model.fit_, titles)],
        "uninformative": dict(model.uninformative_),
        "seed": model.random_seed_,
        "stopped_early": model.stopped_early_,
    }


def _say_dominant(options: ResultOptions, *, rows_are_chosen: bool, dominant: pd.DataFrame) -> None:
    """Print which columns nearly make the subtypes, and the command that fits without each."""
    from clinclust.reporting.sheets.trust import SHOWN, fit_without, in_words

    repeated = (TableOptions, SchemaOptions, RoleOptions, SearchOptions, FitReportOptions)
    for row in dominant.head(SHOWN).to_dict("records"):
        say(in_words(row, lambda name: name, "subtype {}".format))
        how, values = fit_without(row)
        if values and not (rows_are_chosen and how == "where"):
            write = join_names if how == "describe" else str
            more = [word for value in values for word in option_words(flag_of(how), write(value))]
            remaining = without_roles_of(options, {row["column"], row["second"]})
            again = options.out.with_name(f"{options.out.name}-2")
            command = next_command("fit", remaining, *more, "--out", again, repeated=repeated)
            say(f"to see what else there is: {command}")


# A fit of a table in partitions.

ASSIGNMENTS = "assignments.parquet"


def _fit_in_partitions(options: FitOptions, schema: FeatureSchema) -> int:
    from clinclust.comparisons.dominance import find_dominant
    from clinclust.estimators.fitted_cohort import FittedCohort
    from clinclust.reporting.in_partitions import comparisons_of_all

    files = (*FILES_OF_A_FIT, ASSIGNMENTS)
    refuse_in_partitions(options)
    if options.out.resolve().is_relative_to(options.table.resolve()):
        raise InputError(
            f"--out {options.out} is in the folder of the table, where {ASSIGNMENTS} would be read as a part of it; "
            "give another folder"
        )
    spare_the_inputs(inputs_of(options), options.out / ASSIGNMENTS)
    spare_folder(options.out, (ASSIGNMENTS,), allowed=options.overwrite)
    tell_of_other_files(options.out, files)
    model = build_model(options, schema)
    with (
        table_in_partitions(options.table) as (table, parts),
        write_together(options.out, replacing=files, last=MANIFEST) as folder,
    ):
        model.fit(table)
        with naming(options.out):
            model.save(folder)
            _write_assignments(model, parts, folder / ASSIGNMENTS)
        write_manifest(folder, ["model.json", "model.npz", ASSIGNMENTS, *record_sharing(options, folder)])
    in_sample, sample = model.in_sample()
    n_sampled, n_subjects = in_sample.labels_.size, int(model.cluster_sizes_.sum())
    if n_sampled < n_subjects:
        say(
            f"Sizes, summaries and tests of features are of all {n_subjects} subjects, and so is {ASSIGNMENTS}; what "
            f"else the reports say is of a sample of {n_sampled}."
        )
    cohort = FittedCohort(in_sample, schema.validate(sample, warn=False))
    dominant = find_dominant(cohort, sample)
    compare_all = partial(comparisons_of_all, model, table, report_asked_for(options))
    reports, code = _write_reports(options, cohort, dominant, compare_all)
    say_unused(schema)
    say_subtypes(model, stated_number(options))
    _say_files(options, model, [*reports, ASSIGNMENTS, "model.json", "model.npz", MANIFEST])
    return code


def _write_assignments(model: MAPDP, parts: list[Part], file: Path) -> None:
    """Write identifiers and subtypes, one partition after the other."""
    import pyarrow as pa
    from pyarrow import parquet

    ids = [feature.name for feature in model.schema_.ids]
    labels_of_all: Any = model.labels_
    schema = pa.schema([*((name, pa.string()) for name in ids), ("subtype", pa.int64())])
    with parquet.ParquetWriter(file, schema) as writer:
        for part, labels in zip(parts, labels_of_all.to_delayed(), strict=True):
            rows = rows_of(part, ids).astype(str)
            rows["subtype"] = labels.compute(scheduler="synchronous").to_numpy() + 1
            writer.write_table(pa.Table.from_pandas(rows, schema, preserve_index=False))


# clinclust start


@dataclass(kw_only=True)
class StartOptions(DraftedOptions, ResultOptions):
    """The options of `clinclust start`."""

    every_row: bool = option("go on where subjects have several rows: each row counts as a subject", False)
    out: Path = option(
        "folder for the results (default: next to the table, TABLE-subtypes)", type=read_path, metavar="DIR"
    )
    yes: bool = option("do not wait until the schema was read", False)
    no_open: bool = option("do not open the report in the browser", False)
    schema: Path = Path()
    wrote_schema: bool = False
    """Whether this run drafted the schema."""


def run_start(stated: StartOptions) -> int:
    """Draft a schema next to the table, check the table, find the subtypes, write the report, and open it.

    An existing schema of the table's name is used unchanged, and nothing is replaced. Where subjects have several rows,
    the options must choose among them.
    """
    _check_options(stated)
    check_dictionary(stated)
    schema = stated.table.with_name(f"{stem(stated.table)}.yaml")
    options = replace(stated, out=stated.out or results_folder(stated.table), schema=schema)
    spare_the_inputs(inputs_of(options), *(options.out / name for name in FILES_OF_A_FIT))
    spare_folder(options.out, allowed=False, instead="start replaces nothing; give another folder after --out")
    try:
        return _draft_check_and_fit(options, stated)
    except KeyboardInterrupt:
        if not (options.out / MANIFEST).exists():
            done = f"{options.schema} is there, and whole" if options.schema.exists() else "nothing was written"
            tell(f"clinclust: {done}; go on with: {_start_again(options, stated)}")
        raise


def _start_again(options: StartOptions, stated: StartOptions) -> str:
    repeated = _without_choices(stated) if options.wrote_schema else stated
    return next_command("start", repeated, repeated=(StartOptions,))


def _draft_check_and_fit(options: StartOptions, stated: StartOptions) -> int:
    schema, table, looks = _read_or_draft_schema(options, stated)
    cohort = check_cohort(options, schema, table, options.schema, looks)
    if _is_at_terminal(options):
        before = options.schema.read_bytes()
        if not _is_accepted(options):
            say(f"Stopped. {options.schema} is there; go on with: {_start_again(options, stated)}")
            return 0
        if options.schema.read_bytes() != before:
            rows, schema = schema.rows, read_schema(options.schema)
            choices = _without_choices(options) if options.wrote_schema else options
            if schema.rows != rows:
                table = read_table_of_schema(choices, schema, options.schema)
            schema = apply_roles(choices, schema, table)
            cohort = check_cohort(options, schema, table, options.schema)
    code = _write_results(options, cohort, table)
    _open_report(options)
    return code


def _read_or_draft_schema(
    options: StartOptions, stated: StartOptions
) -> tuple[FeatureSchema, pd.DataFrame, list[Look] | None]:
    """Return the schema next to the table or a drafted one, the table, and what to look at in it."""
    path = options.schema
    if (path.exists() or path.is_symlink()) and path != options.table:
        if options.dictionary is not None:
            raise InputError(
                f"{path} is next to the table and is used unchanged, so --dictionary would not be read: leave it "
                f"out, or rename {path} to have a schema drafted by the dictionary"
            )
        say(f"Using {path}, which is next to the table")
        schema = read_schema(path)
        table = read_table_of_schema(options, schema, path)
        _refuse_visits(stated, table)
        return apply_roles(options, schema, table), table, []
    read_roles(options)  # raises what is wrong with them before anything is read
    table = read_table(options)
    _refuse_visits(stated, table)
    with about_table(options):
        schema = _draft_schema(options, table)
    schema.to_yaml(path)
    options.wrote_schema = True
    say(f"Wrote {path}: what each of the {len(schema)} columns seems to be, and why")
    return schema, table, look_at_draft(schema)


def _refuse_visits(stated: StartOptions, table: pd.DataFrame) -> None:
    """Raise InputError if subjects have several rows and the options do not choose among them."""
    from clinclust.files.listed import limited, quoted
    from clinclust.files.opening import shown_name
    from clinclust.files.selection.repeated_subjects import noted_several_rows
    from clinclust.files.selection.row_choice import rows_taken

    visits, rows = noted_several_rows(table), rows_taken(table)
    if visits is None or stated.every_row or (rows is not None and rows.choice.by_values is not None):
        return
    last = "" if visits.are_copies else " (with --keep last the last; by the order of a column: --by COLUMN)"
    ways: dict[str, tuple[str, ...]] = {
        f"the first row of each{last}": ("--one-row-per", visits.column),
        "every row, as if it were a subject": ("--every-row",),
    }
    kind = "rows are copies of others" if visits.are_copies else "rows are visits, not patients"
    lines = [
        f"  {what}:\n    {next_command('start', stated, *more, repeated=(StartOptions,))}"
        for what, more in ways.items()
    ]
    raise InputError(
        limited(
            f"{shown_name(stated.table)}: {kind}: {visits.n_repeated:,} of {visits.n_subjects:,} "
            f"subjects have several rows (up to {visits.most_rows:,} with the same {quoted(visits.column)}). Nothing "
            "was written. Choose the rows by one of these lines:\n" + "\n".join(lines)
        )
    )


def _is_at_terminal(options: StartOptions) -> bool:
    is_watched = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    return is_watched and not options.yes and not options.quiet


def _is_accepted(options: StartOptions) -> bool:
    say(f"Read {options.schema}, and correct it where it is wrong.")
    try:
        answer = input("Press Enter to go on, q and Enter to stop: ")
    except EOFError:
        answer = "q"
    return not answer.strip().casefold().startswith(("q", "n"))


def _open_report(options: StartOptions) -> None:
    table = ("--model", options.out, "--out", "table.xlsx")
    say(f"next: {next_command('table', without(options, RowOptions), *table, repeated=(TableOptions,))}")
    page = options.out / "subtypes.html"
    if not page.exists():
        return
    say(f"The report is {page}; open it in a browser.")
    if not options.no_open and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(page.absolute().as_uri())
