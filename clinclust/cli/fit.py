"""From a table to its subtypes: a schema is drafted, the table checked, the model fitted, and the reports written.

`clinclust draft` and `clinclust fit` do a step each; `clinclust start` does them all.
"""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from clinclust.check.check import look_at_draft
from clinclust.cli import check, commands, outputs
from clinclust.cli.commands import FitReportOptions, RoleOptions, RowOptions, TableOptions
from clinclust.cli.fitted import report_options, report_problems, say_what_to_share, size_problems
from clinclust.cli.options import flag_of, in_options, join_names, next_command, option_words
from clinclust.cli.outputs import PARTLY, REPORTS, note, record, say, sentence_of, tell, tell_failure
from clinclust.comparisons.dominance import find_dominant
from clinclust.drafting import draft_schema
from clinclust.drafting.column import Look
from clinclust.drafting.draft import Draft, draft_of_partitions
from clinclust.errors import InputError, refuse
from clinclust.estimators.fitting import Prepared
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.subtype_model import FittedCohort
from clinclust.files.cell_text import limited, quoted
from clinclust.files.opening import shown_name
from clinclust.files.row_choice import noted_several_rows, rows_taken
from clinclust.files.typed_files import is_in_partitions
from clinclust.files.writing import MANIFEST, naming, write_manifest, write_together
from clinclust.reporting.assignments import tabulate_assignments, write_inert_csv
from clinclust.reporting.options import comparisons_of_all, unknown_names, write_assignments
from clinclust.reporting.report import gather_findings, write_findings
from clinclust.reporting.results import facts_of_fit, summarise_fit
from clinclust.reporting.sheets.overview import SHOWN, fit_without, in_words
from clinclust.schema import FeatureSchema
from clinclust.schema.feature_schema import SCHEMA_SUFFIXES, read_schema, write_schema
from clinclust.schema.validation import Sampled


def run_draft(options: commands.DraftOptions) -> int:
    """Propose a likelihood for every column, with the reason."""
    outputs.check_output(options, *SCHEMA_SUFFIXES, called="a schema", holds="your edits", is_printed=True)
    check.check_dictionary(options)
    check.read_roles(options)  # raises what is wrong with them before anything is read
    schema, (frame, n_rows), refused = _draft_table(options)
    if refused is not None:
        note(f"the proposal refuses some rows, so edit it or them: {sentence_of(refused)}")
    if options.out is None:
        outputs.write_data(schema.to_yaml())
        return 0
    write_schema(schema, options.out, frame)
    path, options = options.out, options.without(RowOptions, RoleOptions)  # the schema has rows and roles now
    columns = [
        {"column": column.name, "role": column.role, "likelihood": column.likelihood, "comment": comment}
        for column in schema
        for comment in [schema.comments.get(column.name)]
    ]
    record(schema=str(path), columns=columns)
    say(f"Wrote {path}: {len(schema)} columns. Read it through; it is a proposal.")
    if refused is None:
        try:
            check.check_cohort(options, schema, frame, path, look_at_draft(schema), n_rows)
        except InputError as error:  # that there is nothing to find under a proposal is no failure of drafting
            note(f"the proposal finds nothing: {sentence_of(error)}")
        else:
            check.say_next_fit(options, path)
            return 0
    check.say_unused(schema)
    again = next_command("check", options, "--schema", str(path), repeated=(TableOptions,))
    say(f"next, after editing {path}: {again}")
    return 0


def _draft_table(options: commands.DraftOptions) -> Draft:
    if not is_in_partitions(options.table):
        frame = check.read_table(options)
        with check.about_table(options.table):
            return Draft(_draft_schema(options, frame), Sampled(frame, len(frame)), None)
    check.refuse_in_partitions(options, roles=False)
    with check.table_in_partitions(options.table) as (table, parts):
        draft = draft_of_partitions(table, partial(_draft_schema, options), progress=options.progress.shown)
    error = draft.refused
    return draft if error is None else draft._replace(refused=check.name_files(error, options.table, parts))


def _draft_schema(options: commands.DictionaryOptions, table: pd.DataFrame) -> FeatureSchema:
    check.note_dictionary(options, table)
    schema = draft_schema(table, roles=check.read_roles(options), progress=options.progress.shown)
    schema.comments.update({name: in_options(comment) for name, comment in schema.comments.items()})
    return schema


# clinclust fit


def run_fit(options: commands.FitOptions) -> int:
    """Find the subtypes, and write the model, the assignments, the reports and a manifest of these files."""
    refuse(options.problems() + report_problems(options))
    outputs.refuse_replaced_inputs(options, *(options.out / name for name in outputs.FILES_OF_A_FIT))
    outputs.check_folder(options.out, allowed=options.overwrite)
    schema = read_schema(options.schema)
    if is_in_partitions(options.table):
        return _fit_in_partitions(options, schema)
    table = check.read_table_of_schema(options, schema, options.schema)
    schema = check.apply_roles(options, schema, table)
    return _write_results(options, check.prepare_cohort(options, table, check.build_model(options, schema)), table)


def _write_results(options: commands.ResultOptions, prepared: Prepared, table: pd.DataFrame) -> int:
    """Find the subtypes of a checked cohort, write the folder ``options.out``, and return the exit code."""
    outputs.note_other_files(options.out)
    refuse(size_problems(options, len(prepared.frame)))
    is_saved = False
    try:
        with outputs.interrupts_held() as hold_interrupts:
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
    _say_results(options, model, reports, outputs.FILES_OF_A_MODEL, dominant)
    return max(code, code_of_number)


def _say_results(
    options: commands.ResultOptions,
    model: MAPDP,
    reports: Sequence[str],
    others: Sequence[str],
    dominant: pd.DataFrame | None = None,
) -> None:
    """Print what a fit found and wrote, and how to fit without its `dominant` columns."""
    files = [*reports, *others, *([] if not options.suppress else [outputs.SHARING]), MANIFEST]
    check.say_unused(model.schema_)
    say(*summarise_fit(model, options.n_stated))
    if dominant is not None:
        _say_dominant(options, bool(model.schema_.rows) or options.where is not None, dominant)
    say(f"Wrote {options.out}: {', '.join(files)}")
    record(out=str(options.out), files=files, **facts_of_fit(model, options.n_stated))
    if reports:
        say_what_to_share(options, options.out)


def _write_model(
    options: commands.ResultOptions, cohort: Prepared, hold_interrupts: Callable[[], None]
) -> tuple[MAPDP, int]:
    """Fit the model, and write it and its assignments; the exit code is not 0 for fewer subtypes than stated."""
    with write_together(options.out, replacing=outputs.FILES_OF_A_FIT, last=MANIFEST) as folder:
        model, code = check.build_model(options, cohort.schema), 0
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
        write_manifest(folder, [*outputs.FILES_OF_A_MODEL, *outputs.write_terms(options, folder)])
    return model, code


def _write_reports(
    options: commands.ResultOptions,
    cohort: FittedCohort,
    dominant: pd.DataFrame,
    compare_all: Callable[[], pd.DataFrame | None] = lambda: None,
) -> tuple[list[str], int]:
    """Write the reports, and return their names and the exit code.

    What fails is reported, and the other reports are written. `compare_all` compares all of a table in partitions. A
    name of a subtype that does not exist is left out.
    """
    report, subtypes, codes = report_options(options), range(1, cohort.model.cluster_sizes_.size + 1), [0]
    for problem in unknown_names(report.names, subtypes, called="--name"):
        tell(f"clinclust: {problem}; the reports leave this name out")
        outputs.record_failure(InputError(problem), problem, "its name in the reports")
        codes.append(PARTLY)
    report = replace(report, names={subtype: name for subtype, name in report.names.items() if subtype in subtypes})
    with (
        outputs.failures_told(options, f"{outputs.REPORTS_IN_WORDS} were not written", codes),
        outputs.reports_placed(options.out) as folder,
    ):
        findings = gather_findings(cohort, cohort.table, report, dominant=dominant, of_all=compare_all())
        findings = replace(findings, n_asked=options.n_stated)
        for name in REPORTS:
            with outputs.failures_told(options, f"{name} was not written", codes):
                write_findings(findings, folder / name, progress=options.progress)
    return [name for name in REPORTS if (options.out / name).exists()], max(codes)


def _say_dominant(options: commands.ResultOptions, rows_are_chosen: bool, dominant: pd.DataFrame) -> None:
    """Print which columns nearly make the subtypes, and the command that fits without each."""
    repeated = (TableOptions, RoleOptions, commands.SearchOptions, FitReportOptions)
    for row in dominant.head(SHOWN).to_dict("records"):
        say(in_words(row, lambda name: name, "subtype {}".format))
        how, values = fit_without(row)
        if values and not (rows_are_chosen and how == "where"):
            write = join_names if how == "describe" else str
            more = [word for value in values for word in option_words(flag_of(how), write(value))]
            names = {row["column"], row["second"]}
            roles: dict[str, Any] = {
                role: tuple(name for name in getattr(options, role) if name not in names) for role in commands.ROLES
            }
            places = ("--schema", options.schema, "--out", options.out.with_name(f"{options.out.name}-2"))
            command = next_command("fit", replace(options, **roles), *more, *places, repeated=repeated)
            say(f"to see what else there is: {command}")


# A fit of a table in partitions.

ASSIGNMENTS = "assignments.parquet"


def _fit_in_partitions(options: commands.FitOptions, schema: FeatureSchema) -> int:
    files = (*outputs.FILES_OF_A_FIT, ASSIGNMENTS)
    check.refuse_in_partitions(options)
    if options.out.resolve().is_relative_to(options.table.resolve()):
        raise InputError(
            f"--out {options.out} is in the folder of the table, where {ASSIGNMENTS} would be read as a part of it; "
            "give another folder"
        )
    outputs.refuse_replaced_inputs(options, options.out / ASSIGNMENTS)
    outputs.check_folder(options.out, (ASSIGNMENTS,), allowed=options.overwrite)
    outputs.note_other_files(options.out, files)
    model = check.build_model(options, schema)
    with (
        check.table_in_partitions(options.table) as (table, parts),
        write_together(options.out, replacing=files, last=MANIFEST) as folder,
    ):
        model.fit(table)
        with naming(options.out):
            model.save(folder)
            write_assignments(model, parts, folder / ASSIGNMENTS)
        write_manifest(folder, ["model.json", "model.npz", ASSIGNMENTS, *outputs.write_terms(options, folder)])
    in_sample, sample = model.in_sample()
    n_sampled, n_subjects = in_sample.labels_.size, int(model.cluster_sizes_.sum())
    if n_sampled < n_subjects:
        say(
            f"Sizes, summaries and tests of features are of all {n_subjects} subjects, and so is {ASSIGNMENTS}; what "
            f"else the reports say is of a sample of {n_sampled}."
        )
    cohort = FittedCohort(in_sample, schema.validate(sample, warn=False))
    compare_all = partial(comparisons_of_all, model, table, report_options(options))
    reports, code = _write_reports(options, cohort, find_dominant(cohort, sample), compare_all)
    _say_results(options, model, reports, [ASSIGNMENTS, "model.json", "model.npz"])
    return code


# clinclust start


def run_start(stated: commands.StartOptions) -> int:
    """Draft a schema next to the table, check the table, find the subtypes, write the report, and open it."""
    refuse(stated.problems() + report_problems(stated))
    check.check_dictionary(stated)
    schema = stated.schema or stated.table.with_name(f"{check.stem(stated.table)}.yaml")
    if stated.schema is not None and schema.suffix.lower() not in SCHEMA_SUFFIXES:
        raise InputError(f"--schema {schema}: a schema ends in {' or '.join(SCHEMA_SUFFIXES)}; give such a name")
    if schema.exists() and stated.table.exists() and schema.samefile(stated.table):
        raise InputError(f"{schema} is the table itself; give another name after --schema")
    options = replace(stated, out=stated.out or check.results_folder(stated.table), schema=schema)
    outputs.refuse_replaced_inputs(options, *(options.out / name for name in outputs.FILES_OF_A_FIT))
    outputs.check_folder(options.out, allowed=False, instead="start replaces nothing; give another folder after --out")
    try:
        return _draft_check_and_fit(options, stated)
    except KeyboardInterrupt:
        if not (options.out / MANIFEST).exists():
            done = f"{options.schema} is there, and whole" if options.schema.exists() else "nothing was written"
            tell(f"clinclust: {done}; go on with: {_start_again(options, stated)}")
        raise


def _start_again(options: commands.StartOptions, stated: commands.StartOptions) -> str:
    repeated = stated.without(RowOptions, RoleOptions) if options.wrote_schema else stated
    return next_command("start", repeated, repeated=(commands.StartOptions,))


def _draft_check_and_fit(options: commands.StartOptions, stated: commands.StartOptions) -> int:
    schema, table, looks = _read_or_draft_schema(options, stated)
    cohort = check.check_cohort(options, schema, table, options.schema, looks)
    is_watched = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    if is_watched and not options.yes and not options.quiet:
        before = options.schema.read_bytes()
        say(f"Read {options.schema}, and correct it where it is wrong.")
        answer = "q"
        with suppress(EOFError):
            answer = input("Press Enter to go on, q and Enter to stop: ")
        if answer.strip().casefold().startswith(("q", "n")):
            say(f"Stopped. {options.schema} is there; go on with: {_start_again(options, stated)}")
            return 0
        if options.schema.read_bytes() != before:
            rows, schema = schema.rows, read_schema(options.schema)
            choices = options.without(RowOptions, RoleOptions) if options.wrote_schema else options
            if schema.rows != rows:
                table = check.read_table_of_schema(choices, schema, options.schema)
            schema = check.apply_roles(choices, schema, table)
            cohort = check.check_cohort(options, schema, table, options.schema)
    code = _write_results(options, cohort, table)
    paper = ("--model", options.out, "--out", "table.xlsx")
    say(f"next: {next_command('table', options.without(RowOptions), *paper, repeated=(TableOptions,))}")
    page = options.out / "subtypes.html"
    if page.exists():
        say(f"The report is {page}; open it in a browser.")
        if not options.no_open and sys.stdout.isatty():
            webbrowser.open(page.absolute().as_uri())
    return code


def _read_or_draft_schema(
    options: commands.StartOptions, stated: commands.StartOptions
) -> tuple[FeatureSchema, pd.DataFrame, list[Look] | None]:
    """Return the schema next to the table or a drafted one, the table, and what to look at in it."""
    path = options.schema
    if path.exists() or path.is_symlink():
        if options.dictionary is not None:
            raise InputError(
                f"{path} exists and is used unchanged, so --dictionary would not be read: leave it "
                f"out, or rename {path} to have a schema drafted by the dictionary"
            )
        say(f"Using {path}{'' if stated.schema else ', which is next to the table'}")
        schema = read_schema(path)
        table = check.read_table_of_schema(options, schema, path)
        _refuse_visits(stated, table)
        return check.apply_roles(options, schema, table), table, []
    check.read_roles(options)  # raises what is wrong with them before anything is read
    table = check.read_table(options)
    _refuse_visits(stated, table)
    with check.about_table(options.table):
        schema = _draft_schema(options, table)
    write_schema(schema, path, table)
    options.wrote_schema = True
    say(f"Wrote {path}: what each of the {len(schema)} columns seems to be, and why")
    return schema, table, look_at_draft(schema)


def _refuse_visits(stated: commands.StartOptions, table: pd.DataFrame) -> None:
    """Raise InputError if subjects have several rows and the options do not choose among them."""
    visits, rows = noted_several_rows(table), rows_taken(table)
    if visits is None or stated.every_row or (rows is not None and rows.choice.by_values is not None):
        return
    last = "" if visits.are_copies else " (with --keep last the last; by the order of a column: --by COLUMN)"
    first: tuple[str, ...] = ("--one-row-per", visits.column)
    ways = {f"the first row of each{last}": first, "every row, as if it were a subject": ("--every-row",)}
    if not visits.are_copies:
        with_trend = (*first, "--time", "COLUMN", "--summarise", "COLUMN=mean,slope")
        ways["the first row of each, and the level and trend of a measurement over all rows"] = with_trend
    kind = "rows are copies of others" if visits.are_copies else "rows are visits, not patients"
    lines = [
        f"  {what}:\n    {next_command('start', stated, *more, repeated=(commands.StartOptions,))}"
        for what, more in ways.items()
    ]
    raise InputError(
        limited(
            f"{shown_name(stated.table)}: {kind}: {visits.n_repeated:,} of {visits.n_subjects:,} "
            f"subjects have several rows (up to {visits.most_rows:,} with the same {quoted(visits.column)}). Nothing "
            "was written. Choose the rows by one of these lines:\n" + "\n".join(lines)
        )
    )
