"""`clinclust start`: from a table to the report, with one line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.check import add_all, check_cohort
from clinclust.cli.dictionary_options import add_dictionary, check_dictionary, note_dictionary
from clinclust.cli.next_command import next_command, results_folder, stem
from clinclust.cli.options import (
    Commands,
    about_table,
    add_table,
    path_given,
    read_schema,
    read_table,
    read_table_of_schema,
)
from clinclust.cli.outputs import FILES_OF_A_FIT, spare_folder, spare_the_inputs, tell_of_other_files
from clinclust.cli.report_options import add_report
from clinclust.cli.results import check_options, write_results
from clinclust.cli.role_options import add_roles, forget_roles, roles_asked_for, with_roles_asked
from clinclust.cli.row_options import forget_rows
from clinclust.cli.search_options import add_search
from clinclust.cli.streams import add_quiet, say, tell
from clinclust.cli.visits import add_every_row, refuse_visits
from clinclust.errors import InputError
from clinclust.files.writing import MANIFEST

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.drafting.column import Look
    from clinclust.schema import FeatureSchema

__all__ = ["add_parser", "run"]


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("start", help="the whole way, from a table to the report", description=run.__doc__)
    for add in _ADDERS:
        add(parser)
    parser.set_defaults(run=run)


def _add_own(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        type=path_given,
        metavar="DIR",
        help="folder for the results (default: beside the table, TABLE-subtypes)",
    )
    parser.add_argument("--yes", action="store_true", help="do not wait until the schema was read")
    parser.add_argument("--no-open", action="store_true", help="do not open the report in the browser")
    add_quiet(parser)


_ADDERS = (add_table, add_every_row, add_dictionary, add_roles, add_all, _add_own, add_search, add_report)


def run(options: argparse.Namespace) -> int:
    """Draft a schema beside the table, check the table, find the subtypes, write the report, and open it.

    A schema of the table's name that stands beside it is used as it is. Nothing that exists is replaced. Where subjects
    have several rows, somebody must say which rows are taken.
    """
    check_options(options)
    check_dictionary(options)
    given = argparse.Namespace(**vars(options))
    options.out = options.out or results_folder(options.table)
    options.schema = options.table.with_name(f"{stem(options.table)}.yaml")
    options.wrote_schema = False
    spare_the_inputs(options, *(options.out / name for name in FILES_OF_A_FIT))
    spare_folder(options.out, allowed=False, instead="start replaces nothing; give another folder after --out")
    try:
        return _carried_out(options, given)
    except KeyboardInterrupt:
        _tell_what_is_there(options, _again(options, given))
        raise


def _again(options: argparse.Namespace, given: argparse.Namespace) -> str:
    """Return the command that goes on after a stop; a schema that this run wrote says the rows and the roles."""
    left = forget_roles(forget_rows(given)) if options.wrote_schema else given
    return next_command("start", left, adders=_ADDERS)


def _carried_out(options: argparse.Namespace, given: argparse.Namespace) -> int:
    """Go the whole way, and return the exit code."""
    schema, table, looks = _schema_and_table(options, given)
    frame = check_cohort(options, schema, table, options.schema, looks).frame
    if _asks(options):
        if not _goes_on(options):
            say(f"Stopped. {options.schema} is there; go on with: {_again(options, given)}")
            return 0
        rows, schema = schema.rows, read_schema(options)  # it may have been edited
        if schema.rows != rows:
            table = read_table_of_schema(forget_rows(options) if options.wrote_schema else options, schema)
        if not options.wrote_schema:
            schema = with_roles_asked(options, schema, table)
        frame = check_cohort(options, schema, table, options.schema).frame
    tell_of_other_files(options.out, FILES_OF_A_FIT)
    code = write_results(options, schema, frame, table)
    _show(options)
    return code


def _schema_and_table(
    options: argparse.Namespace, given: argparse.Namespace
) -> tuple[FeatureSchema, pd.DataFrame, list[Look] | None]:
    """Return the schema beside the table, or else one that is drafted there; the table; and what to look at in it.

    ``options.wrote_schema`` says afterwards which it was.
    """
    from clinclust.cli.check_report import looks_at_draft
    from clinclust.drafting import draft_schema

    path = options.schema
    if (path.exists() or path.is_symlink()) and path != options.table:
        if options.dictionary is not None:
            raise InputError(
                f"{path} stands beside the table and is used as it is, so --dictionary would not be read: leave it "
                f"out, or rename {path} to have a schema drafted by the dictionary"
            )
        say(f"Using {path}, which stands beside the table")
        schema = read_schema(options)
        table = read_table_of_schema(options, schema)
        refuse_visits(given, table, adders=_ADDERS)
        return with_roles_asked(options, schema, table), table, []
    roles = roles_asked_for(options)
    table = read_table(options)
    note_dictionary(options, table)
    refuse_visits(given, table, adders=_ADDERS)
    with about_table(options):
        schema = draft_schema(table, roles=roles, progress=not options.quiet)
    schema.to_yaml(path)
    options.wrote_schema = True
    say(f"Wrote {path}: what each of the {len(schema)} columns seems to be, and why")
    return schema, table, looks_at_draft(schema)


def _asks(options: argparse.Namespace) -> bool:
    """Return whether somebody sits there who can read the schema and answer."""
    return (
        not options.yes and not options.quiet and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    )


def _goes_on(options: argparse.Namespace) -> bool:
    """Ask once; the end of the input means no."""
    say(f"Read {options.schema}, and correct it where it is wrong.")
    try:
        answer = input("Press Enter to go on, q and Enter to stop: ")
    except EOFError:
        answer = "q"
    return not answer.strip().casefold().startswith(("q", "n"))


def _show(options: argparse.Namespace) -> None:
    """Say what to do with the results, and open the page if a person sits at a terminal."""
    say(f"next: {next_command('table', forget_rows(options), '--model', options.out, '--out', 'table.xlsx')}")
    page: Path = options.out / "subtypes.html"
    if not page.exists():
        return
    say(f"The report is {page}; open it in a browser.")
    if not options.no_open and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(page.absolute().as_uri())


def _tell_what_is_there(options: argparse.Namespace, again: str) -> None:
    """Say after an interruption what is there, and how to go on; if the search had ended, this was said already."""
    if (options.out / MANIFEST).exists():
        return
    done = f"{options.schema} is there, and whole" if options.schema.exists() else "nothing was written"
    tell(f"clinclust: {done}; go on with: {again}")
