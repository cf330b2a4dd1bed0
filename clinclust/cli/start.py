"""`clinclust start`: from a table to the report in one command."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.check import check_cohort, results_folder, stem
from clinclust.cli.draft import DraftedOptions, drafted_schema, said_by_schema
from clinclust.cli.fit import ResultOptions, check_options, write_results
from clinclust.cli.inputs import (
    RowOptions,
    TableOptions,
    check_dictionary,
    read_schema,
    read_table,
    read_table_of_schema,
)
from clinclust.cli.options import Commands, add_command, next_command, option, path_given, without
from clinclust.cli.outputs import FILES_OF_A_FIT, inputs_of, spare_folder, spare_the_inputs
from clinclust.cli.roles import roles_asked_for, with_roles_asked
from clinclust.cli.streams import say, tell
from clinclust.errors import InputError
from clinclust.files.writing import MANIFEST

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.drafting.column import Look
    from clinclust.schema import FeatureSchema


@dataclass(kw_only=True)
class _Options(DraftedOptions, ResultOptions):
    every_row: bool = option("go on where subjects have several rows: each row counts as a subject", False)
    out: Path = option(
        "folder for the results (default: next to the table, TABLE-subtypes)", type=path_given, metavar="DIR"
    )
    yes: bool = option("do not wait until the schema was read", False)
    no_open: bool = option("do not open the report in the browser", False)
    schema: Path = Path()
    wrote_schema: bool = False
    """Whether this run drafted the schema."""


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "start", "the whole way, from a table to the report", run, _Options)


def run(given: _Options) -> int:
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
        return _carried_out(options, given)
    except KeyboardInterrupt:
        _tell_what_is_there(options, given)
        raise


def _again(options: _Options, given: _Options) -> str:
    left = said_by_schema(given) if options.wrote_schema else given
    return next_command("start", left, repeated=(_Options,))


def _carried_out(options: _Options, given: _Options) -> int:
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
    _show(options)
    return code


def _schema_and_table(options: _Options, given: _Options) -> tuple[FeatureSchema, pd.DataFrame, list[Look] | None]:
    """Return the schema next to the table or a drafted one, the table, and what to look at in it."""
    from clinclust.cli.check_report import looks_at_draft

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


def _refuse_visits(given: _Options, table: pd.DataFrame) -> None:
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
        f"  {what}:\n    {next_command('start', given, *more, repeated=(_Options,))}" for what, more in ways.items()
    ]
    raise InputError(
        limited(
            f"{shown_name(given.table)}: {kind}: {found.n_repeated:,} of {found.n_subjects:,} "
            f"subjects have several rows (up to {found.most_rows:,} with the same {quoted(found.column)}). Nothing was "
            "written. Choose the rows by one of these lines:\n" + "\n".join(lines)
        )
    )


def _asks(options: _Options) -> bool:
    return (
        not options.yes and not options.quiet and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    )


def _goes_on(options: _Options) -> bool:
    say(f"Read {options.schema}, and correct it where it is wrong.")
    try:
        answer = input("Press Enter to go on, q and Enter to stop: ")
    except EOFError:
        answer = "q"
    return not answer.strip().casefold().startswith(("q", "n"))


def _show(options: _Options) -> None:
    table = ("--model", options.out, "--out", "table.xlsx")
    say(f"next: {next_command('table', without(options, RowOptions), *table, repeated=(TableOptions,))}")
    page: Path = options.out / "subtypes.html"
    if not page.exists():
        return
    say(f"The report is {page}; open it in a browser.")
    if not options.no_open and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(page.absolute().as_uri())


def _tell_what_is_there(options: _Options, given: _Options) -> None:
    if (options.out / MANIFEST).exists():
        return
    done = f"{options.schema} is there, and whole" if options.schema.exists() else "nothing was written"
    tell(f"clinclust: {done}; go on with: {_again(options, given)}")
