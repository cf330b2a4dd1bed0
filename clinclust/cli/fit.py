"""From a table to its subtypes: a schema is drafted, the table checked, the model fitted, and the report written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clinclust.cli.check import (
    ASSIGNMENTS,
    CheckedOptions,
    RoleOptions,
    check_cohort,
    fit_in_partitions,
    naming_files,
    prepared_cohort,
    refuse_options,
    results_folder,
    roles_asked_for,
    say_next,
    say_unused,
    stem,
    table_in_partitions,
    with_roles_asked,
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
    called,
    in_options,
    model_asked_for,
    names_in_list,
    next_command,
    number_asked_for,
    option,
    option_words,
    path_given,
    search_problems,
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
from clinclust.files.parquet_partitions import is_in_partitions
from clinclust.files.writing import MANIFEST

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.drafting.column import Look
    from clinclust.drafting.partitions import Draft
    from clinclust.estimators.fitted_cohort import FittedCohort
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.preparation import Prepared
    from clinclust.reporting.findings import Findings
    from clinclust.schema import Feature, FeatureSchema


@dataclass(kw_only=True)
class DraftedOptions(CheckedOptions, DictionaryOptions):
    """The options of a command that drafts a schema."""


@dataclass(kw_only=True)
class DraftOptions(DraftedOptions, OutputOptions, SummaryOptions):
    """The options of the command."""


Drafted = TypeVar("Drafted", bound=DraftedOptions)


def run_draft(options: DraftOptions) -> int:
    """Propose a likelihood for every column, with the reason; read and edit the result.

    The schema records the choice of rows for later commands. With --out, the table is then checked against it.
    """
    from clinclust.cli.check import looks_at_draft

    refuse_output(options, options.out)
    spare_file(options, (".yaml", ".yml"), called="a schema", holds="your edits")
    check_dictionary(options)
    roles_asked_for(options)  # raises what is wrong with them before anything is read
    schema, (frame, n_rows), refused = _draft_table(options)
    if refused is not None:
        note(f"the proposal refuses some rows, so edit it or them: {sentence_of(refused)}")
    if options.out is None:
        write_data(schema.to_yaml())
        return 0
    schema.to_yaml(options.out)
    path, options = options.out, said_by_schema(options)
    record(schema=str(path), columns=[_facts_of_column(feature, schema.comments) for feature in schema])
    say(f"Wrote {path}: {len(schema)} columns. Read it through; it is a proposal.")
    if refused is not None:
        _say_next_check(options, schema)
        return 0
    try:
        check_cohort(options, schema, frame, path, looks_at_draft(schema), n_rows)
    except InputError as error:  # that there is nothing to find under a proposal is no failure of drafting
        note(f"the proposal finds nothing: {sentence_of(error)}")
        _say_next_check(options, schema)
    else:
        say_next(options, path)
    return 0


def _draft_table(options: DraftOptions) -> Draft:
    from clinclust.drafting.partitions import Draft, draft_of_partitions
    from clinclust.schema.partitions import Sampled

    if not is_in_partitions(options.table):
        frame = read_table(options)
        return Draft(drafted_schema(options, frame), Sampled(frame, len(frame)), None)
    refuse_options(options, roles=False)
    with table_in_partitions(options.table) as (table, parts):
        found = draft_of_partitions(table, partial(_schema_of, options), progress=not options.quiet)
    return found if found.refused is None else found._replace(refused=naming_files(found.refused, options.table, parts))


def _say_next_check(options: DraftOptions, schema: FeatureSchema) -> None:
    say_unused(schema)
    command = next_command("check", options, "--schema", str(options.out), repeated=(TableOptions,))
    say(f"next, after editing {options.out}: {command}")


def _facts_of_column(feature: Feature, comments: Mapping[str, str]) -> dict[str, str | None]:
    about = {"column": feature.name, "role": feature.role, "likelihood": feature.likelihood}
    return {**about, "comment": comments.get(feature.name)}


def drafted_schema(options: DraftedOptions, table: pd.DataFrame) -> FeatureSchema:
    """Return the schema drafted for a table, with the dictionary and the roles of the options."""
    with about_table(options):
        return _schema_of(options, table)


def _schema_of(options: DraftedOptions, table: pd.DataFrame) -> FeatureSchema:
    from clinclust.drafting import draft_schema

    note_dictionary(options, table)
    schema = draft_schema(table, roles=roles_asked_for(options), progress=not options.quiet)
    schema.comments.update({name: in_options(comment) for name, comment in schema.comments.items()})
    return schema


def said_by_schema(options: Drafted) -> Drafted:
    """Return the options without rows and roles, which the drafted schema has."""
    return without(options, RowOptions, RoleOptions)


_REPEATED = (TableOptions, SchemaOptions, RoleOptions, SearchOptions, FitReportOptions)
_NOT_WRITTEN = f"{REPORTS_IN_WORDS} were not written"


@dataclass(kw_only=True)
class ResultOptions(RoleOptions, TableOptions, SearchOptions, FitReportOptions):
    """The options of a command that searches and writes a folder of results."""

    out: Path = option("folder for the results", type=path_given)


@dataclass(kw_only=True)
class FitOptions(SchemaOptions, ResultOptions, SummaryOptions):
    """The options of the command."""

    out: Path = option("folder for model, assignments and report", type=path_given, required=True, metavar="DIR")
    overwrite: bool = overwrite("an earlier fit in this folder")


def run_fit(options: FitOptions) -> int:
    """Find the subtypes and write the model, the assignments, two reports, and a manifest of these files."""
    check_options(options)
    spare_the_inputs(inputs_of(options), *(options.out / name for name in FILES_OF_A_FIT))
    spare_folder(options.out, allowed=options.overwrite)
    schema = read_schema(options.schema)
    if is_in_partitions(options.table):
        return _fit_in_partitions(options, schema)
    table = read_table_of_schema(options, schema, options.schema)
    schema = with_roles_asked(options, schema, table)
    cohort = prepared_cohort(options, table, model_asked_for(options, schema))
    return write_results(options, cohort, table)


def _fit_in_partitions(options: FitOptions, schema: FeatureSchema) -> int:
    from clinclust.comparisons.dominance import find_dominant
    from clinclust.estimators.fitted_cohort import FittedCohort
    from clinclust.reporting.in_partitions import comparisons_of_all

    files = (*FILES_OF_A_FIT, ASSIGNMENTS)
    refuse_options(options)
    if options.out.resolve().is_relative_to(options.table.resolve()):
        raise InputError(
            f"--out {options.out} is in the folder of the table, where {ASSIGNMENTS} would be read as a part of it; "
            "give another folder"
        )
    spare_the_inputs(inputs_of(options), options.out / ASSIGNMENTS)
    spare_folder(options.out, (ASSIGNMENTS,), allowed=options.overwrite)
    tell_of_other_files(options.out, files)
    model = model_asked_for(options, schema)
    table = fit_in_partitions(model, options.table, options.out, files, partial(record_sharing, options))
    in_sample, sample = model.in_sample()
    cohort = FittedCohort(in_sample, schema.validate(sample, warn=False))
    dominant = find_dominant(cohort, sample)
    of_all = partial(comparisons_of_all, model, table, report_asked_for(options))
    reports, code = _reports_beside_model(options, cohort, dominant, of_all)
    say_unused(schema)
    say_found(model, number_asked_for(options))
    written = [*reports, ASSIGNMENTS, "model.json", "model.npz", MANIFEST]
    say(f"Wrote {options.out}: {', '.join(written)}")
    record(out=str(options.out), files=written, **facts_of_fit(model, number_asked_for(options)))
    return code


def check_options(options: ResultOptions) -> None:
    """Check the options of the search and of the reports; an InputError lists all problems."""
    refuse(search_problems(options) + report_problems(options))


def write_results(options: ResultOptions, prepared: Prepared, table: pd.DataFrame) -> int:
    """Find the subtypes of a checked cohort, write the folder ``options.out``, and return the exit code."""
    from clinclust.comparisons.dominance import find_dominant
    from clinclust.estimators.fitted_cohort import FittedCohort

    tell_of_other_files(options.out, FILES_OF_A_FIT)
    schema = prepared.schema
    refuse(size_problems(options, len(prepared.frame)))
    is_saved = False
    try:
        with interrupts_held() as hold_interrupts:
            model, code_of_number = _written_model(options, prepared, hold_interrupts)
            is_saved = True
        cohort = FittedCohort(model, prepared.frame)
        dominant = find_dominant(cohort, table)
        reports, code = _reports_beside_model(options, cohort, dominant)
    except KeyboardInterrupt:
        if is_saved:
            _tell_how_to_go_on(options)
        raise
    say_unused(schema)
    say_found(model, number_asked_for(options))
    _say_dominant(options, rows_are_chosen=bool(schema.rows) or options.where is not None, dominant=dominant)
    files = [*reports, *FILES_OF_A_MODEL, *([] if options.suppress is None else [SHARING]), MANIFEST]
    say(f"Wrote {options.out}: {', '.join(files)}")
    record(out=str(options.out), files=files, **facts_of_fit(model, number_asked_for(options)))
    if reports:
        say_what_to_share(options, options.out)
    return max(code, code_of_number)


def _written_model(options: ResultOptions, cohort: Prepared, hold_interrupts: Callable[[], None]) -> tuple[MAPDP, int]:
    """Fit the model, and write it and its assignments; the exit code is not 0 for fewer subtypes than asked for."""
    from clinclust.estimators.fitted_cohort import FittedCohort
    from clinclust.files.writing import write_manifest, write_together
    from clinclust.reporting.assignments import tabulate_assignments, write_inert_csv

    with write_together(options.out, replacing=FILES_OF_A_FIT, last=MANIFEST) as folder:
        fitted, code = _fitted(options, cohort)
        hold_interrupts()
        fitted.save(folder)
        write_inert_csv(tabulate_assignments(FittedCohort(fitted, cohort.frame)), folder / "assignments.csv")
        write_manifest(folder, [*FILES_OF_A_MODEL, *record_sharing(options, folder)])
    return fitted, code


def _fitted(options: ResultOptions, cohort: Prepared) -> tuple[MAPDP, int]:
    model = model_asked_for(options, cohort.schema)
    asked = model.n_clusters
    if not isinstance(asked, int):
        return model.fit_prepared(cohort), 0
    found = model.set_params(n_clusters=None).fit_prepared(cohort)
    try:
        return found.cut(asked, min_size=found.min_size), 0
    except InputError as error:
        return found, tell_failure(error, options, f"the results show {_the_search(found)} (K = {found.n_clusters_})")


def _the_search(found: MAPDP) -> str:
    merged = found.n_clusters_ < found.subtype_of_.size
    return "the search with its small groups merged" if merged else "the search as it is"


def _tell_how_to_go_on(options: ResultOptions) -> None:
    repeated = (TableOptions, FitReportOptions)
    command = next_command("report", options, "--model", options.out, repeated=repeated)
    tell(
        f"clinclust: the search had ended: {options.out} is whole, with the model in it; "
        f"make the reports with: {command}"
    )


def _reports_beside_model(
    options: ResultOptions,
    cohort: FittedCohort,
    dominant: pd.DataFrame,
    of_all: Callable[[], pd.DataFrame | None] = lambda: None,
) -> tuple[list[str], int]:
    """Write the reports, and return their names and the exit code; `of_all` compares all of a table in partitions."""
    try:
        with reports_placed(options.out) as folder:
            code = _write_reports(options, cohort, dominant, folder, of_all)
            written = [name for name in REPORTS if (folder / name).exists()]
    except Exception as error:
        return [], tell_failure(error, options, _NOT_WRITTEN)
    return written, code


def _write_reports(
    options: ResultOptions,
    cohort: FittedCohort,
    dominant: pd.DataFrame,
    folder: Path,
    of_all: Callable[[], pd.DataFrame | None],
) -> int:
    from clinclust.progress import Progress
    from clinclust.reporting.writing import write_findings

    codes = [0]
    try:
        findings = _findings(cohort, options, dominant, codes, of_all())
    except Exception as error:
        return max(*codes, tell_failure(error, options, _NOT_WRITTEN))
    for name in REPORTS:
        try:
            write_findings(findings, folder / name, progress=Progress(not options.quiet))
        except Exception as error:
            codes.append(tell_failure(error, options, f"{name} was not written"))
    return max(codes)


def _findings(
    cohort: FittedCohort,
    options: ResultOptions,
    dominant: pd.DataFrame,
    codes: list[int],
    of_all: pd.DataFrame | None,
) -> Findings:
    from clinclust.reporting.options import unknown_names
    from clinclust.reporting.writing import gather_findings

    asked, subtypes = report_asked_for(options), range(1, cohort.model.cluster_sizes_.size + 1)
    for problem in unknown_names(asked.names, subtypes, called="--name"):
        tell(f"clinclust: {problem}; the reports leave this name out")
        record_failure(InputError(problem), problem, "its name in the reports")
        codes.append(PARTLY)
    known = {subtype: name for subtype, name in asked.names.items() if subtype in subtypes}
    asked = replace(asked, names=known)
    findings = gather_findings(cohort, cohort.table, asked, dominant=dominant, of_all=of_all)
    return replace(findings, n_asked=number_asked_for(options))


def say_found(model: MAPDP, n_asked: int | None = None) -> None:
    """Print the subtypes of a fitted model, their sizes, and the test of its tree; `n_asked` were asked for."""
    from clinclust.estimators.few_subjects import MEANING_OF_MARKS, n_standing
    from clinclust.reporting.divisions import distinct_in_words, n_parted
    from clinclust.reporting.layout import percent

    n_subjects, n_subtypes, n_groups = model.cluster_sizes_.sum(), model.n_clusters_, model.subtype_of_.size
    marks = model.fit_.remarks_
    sizes = ", ".join(
        f"{size} ({'; '.join([f'{percent(int(size), n_subjects):.1f}%', *of_one])})"
        for size, of_one in zip(model.cluster_sizes_, marks, strict=True)
    )
    found = f"{n_subtypes} subtype{'' if n_subtypes == 1 else 's'}"
    asked = f" ({n_asked} were asked for)" if n_asked is not None and n_asked > n_subtypes else ""
    say(f"{found}{asked} among {n_subjects} subjects: {sizes}{_few(model)}")
    if any(marks):
        say(f"{MEANING_OF_MARKS} Such subtypes may be noise; without them: {n_standing(model.subtypes_)}.")
    n_before = _n_before_the_floor(model)
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
        finer = f"; the {n_groups} clusters of the search were not shown to be" if n_groups > n_subtypes else ""
        grades = f": {distinct_in_words(model.fit_)}" if n_subtypes == n_parted(model.fit_) else ""
        say(f"Tested: these are more than one continuum{grades}{finer}.")


def facts_of_fit(model: MAPDP, n_asked: int | None) -> dict[str, Any]:
    """Return the facts about a fitted model, for a program: subtypes, sizes, and p of every tested division."""
    from clinclust.reporting.divisions import divisions_of
    from clinclust.reporting.results import division_facts

    titles = {subtype: f"Subtype {subtype}" for subtype in range(1, model.n_clusters_ + 1)}
    summary = model.summary().reset_index()
    marks = [" ".join(of_one) for of_one in model.fit_.remarks_]
    subtypes = summary.assign(untested=model.untested_, remarks=marks).to_dict("records")
    return {
        "subjects": int(model.cluster_sizes_.sum()),
        "n_subtypes": model.n_clusters_,
        "n_asked": n_asked,
        "n_clusters": int(model.subtype_of_.size),
        "subtypes": subtypes,
        "divisions": [division_facts(division) for division in divisions_of(model.fit_, titles)],
        "uninformative": dict(model.uninformative_),
        "seed": model.random_seed_,
        "stopped_early": model.stopped_early_,
    }


def _say_dominant(options: ResultOptions, *, rows_are_chosen: bool, dominant: pd.DataFrame) -> None:
    from clinclust.reporting.sheets.trust import SHOWN, fit_without, in_words

    for row in dominant.head(SHOWN).to_dict("records"):
        say(in_words(row, lambda name: name, "subtype {}".format))
        how, values = fit_without(row)
        if values and not (rows_are_chosen and how == "where"):
            given_in = names_in_list if how == "describe" else str
            more = [word for value in values for word in option_words(called(how), given_in(value))]
            given = without_roles_of(options, {row["column"], row["second"]})
            again = options.out.with_name(f"{options.out.name}-2")
            say(f"to see what else there is: {next_command('fit', given, *more, '--out', again, repeated=_REPEATED)}")


def _few(model: MAPDP) -> str:
    from clinclust.files.listed import listed

    few = [subtype for subtype, is_small in enumerate(model.untested_, start=1) if is_small]
    if not few:
        return ""
    return f"; few subjects, untested: subtype{'' if len(few) == 1 else 's'} {listed(few)}"


def _n_before_the_floor(model: MAPDP) -> int:
    """Return the number of subtypes before small ones were merged."""
    if isinstance(model.n_clusters, Integral):
        return int(model.n_clusters)
    return model.subtype_of_.size if model.n_clusters is None else model.n_clusters_


@dataclass(kw_only=True)
class StartOptions(DraftedOptions, ResultOptions):
    """The options of `clinclust start`."""

    every_row: bool = option("go on where subjects have several rows: each row counts as a subject", False)
    out: Path = option(
        "folder for the results (default: next to the table, TABLE-subtypes)", type=path_given, metavar="DIR"
    )
    yes: bool = option("do not wait until the schema was read", False)
    no_open: bool = option("do not open the report in the browser", False)
    schema: Path = Path()
    wrote_schema: bool = False
    """Whether this run drafted the schema."""


def run_start(given: StartOptions) -> int:
    """Draft a schema next to the table, check the table, find the subtypes, write the report, and open it.

    An existing schema of the table's name is used as it is, and nothing is replaced. Where subjects have several rows,
    the options must choose among them.
    """
    check_options(given)
    check_dictionary(given)
    beside = given.table.with_name(f"{stem(given.table)}.yaml")
    options = replace(given, out=given.out or results_folder(given.table), schema=beside)
    spare_the_inputs(inputs_of(options), *(options.out / name for name in FILES_OF_A_FIT))
    spare_folder(options.out, allowed=False, instead="start replaces nothing; give another folder after --out")
    try:
        return _draft_check_and_fit(options, given)
    except KeyboardInterrupt:
        _tell_what_is_there(options, given)
        raise


def _again(options: StartOptions, given: StartOptions) -> str:
    left = said_by_schema(given) if options.wrote_schema else given
    return next_command("start", left, repeated=(StartOptions,))


def _draft_check_and_fit(options: StartOptions, given: StartOptions) -> int:
    schema, table, looks = _schema_and_table(options, given)
    cohort = check_cohort(options, schema, table, options.schema, looks)
    if _asks(options):
        written = options.schema.read_bytes()
        if not _goes_on(options):
            say(f"Stopped. {options.schema} is there; go on with: {_again(options, given)}")
            return 0
        if options.schema.read_bytes() != written:
            rows, schema = schema.rows, read_schema(options.schema)
            left = said_by_schema(options) if options.wrote_schema else options
            if schema.rows != rows:
                table = read_table_of_schema(left, schema, options.schema)
            schema = with_roles_asked(left, schema, table)
            cohort = check_cohort(options, schema, table, options.schema)
    code = write_results(options, cohort, table)
    _open_report(options)
    return code


def _schema_and_table(
    options: StartOptions, given: StartOptions
) -> tuple[FeatureSchema, pd.DataFrame, list[Look] | None]:
    """Return the schema next to the table or a drafted one, the table, and what to look at in it."""
    from clinclust.cli.check import looks_at_draft

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
        _refuse_visits(given, table)
        return with_roles_asked(options, schema, table), table, []
    roles_asked_for(options)  # raises what is wrong with them before anything is read
    table = read_table(options)
    _refuse_visits(given, table)
    schema = drafted_schema(options, table)
    schema.to_yaml(path)
    options.wrote_schema = True
    say(f"Wrote {path}: what each of the {len(schema)} columns seems to be, and why")
    return schema, table, looks_at_draft(schema)


def _refuse_visits(given: StartOptions, table: pd.DataFrame) -> None:
    from clinclust.files.listed import limited, quoted
    from clinclust.files.opening import shown_name
    from clinclust.files.selection.repeated_subjects import noted_several_rows
    from clinclust.files.selection.row_choice import rows_taken

    found, taken = noted_several_rows(table), rows_taken(table)
    if found is None or given.every_row or (taken is not None and taken.choice.by_values is not None):
        return
    last = "" if found.are_copies else " (with --keep last the last; by the order of a column: --by COLUMN)"
    ways: dict[str, tuple[str, ...]] = {
        f"the first row of each{last}": ("--one-row-per", found.column),
        "every row, as if it were a subject": ("--every-row",),
    }
    kind = "rows are copies of others" if found.are_copies else "rows are visits, not patients"
    lines = [
        f"  {what}:\n    {next_command('start', given, *more, repeated=(StartOptions,))}" for what, more in ways.items()
    ]
    raise InputError(
        limited(
            f"{shown_name(given.table)}: {kind}: {found.n_repeated:,} of {found.n_subjects:,} "
            f"subjects have several rows (up to {found.most_rows:,} with the same {quoted(found.column)}). Nothing was "
            "written. Choose the rows by one of these lines:\n" + "\n".join(lines)
        )
    )


def _asks(options: StartOptions) -> bool:
    return (
        not options.yes and not options.quiet and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    )


def _goes_on(options: StartOptions) -> bool:
    say(f"Read {options.schema}, and correct it where it is wrong.")
    try:
        answer = input("Press Enter to go on, q and Enter to stop: ")
    except EOFError:
        answer = "q"
    return not answer.strip().casefold().startswith(("q", "n"))


def _open_report(options: StartOptions) -> None:
    table = ("--model", options.out, "--out", "table.xlsx")
    say(f"next: {next_command('table', without(options, RowOptions), *table, repeated=(TableOptions,))}")
    page: Path = options.out / "subtypes.html"
    if not page.exists():
        return
    say(f"The report is {page}; open it in a browser.")
    if not options.no_open and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(page.absolute().as_uri())


def _tell_what_is_there(options: StartOptions, given: StartOptions) -> None:
    if (options.out / MANIFEST).exists():
        return
    done = f"{options.schema} is there, and whole" if options.schema.exists() else "nothing was written"
    tell(f"clinclust: {done}; go on with: {_again(options, given)}")
