"""`clinclust draft`: propose a feature schema for a table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.check import add_all, check_cohort, say_next
from clinclust.cli.dictionary_options import add_dictionary, check_dictionary, note_dictionary
from clinclust.cli.next_command import next_command
from clinclust.cli.options import Commands, about_table, add_table, path_given, read_table
from clinclust.cli.outputs import add_overwrite, spare_file, spare_the_inputs
from clinclust.cli.role_options import add_roles, forget_roles, roles_asked_for, say_unused
from clinclust.cli.row_options import forget_rows
from clinclust.cli.streams import add_quiet, say, tell, write_data
from clinclust.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import FeatureSchema

__all__ = ["add_parser", "run"]


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("draft", help="propose a feature schema for a table", description=run.__doc__)
    add_table(parser)
    add_dictionary(parser)
    add_roles(parser)
    add_all(parser)
    parser.add_argument("--out", type=path_given, metavar="SCHEMA", help="file to write (default: standard output)")
    add_overwrite(parser)
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Propose a likelihood for every column, with the reason; read the result through and edit it.

    The schema says which rows were chosen, and later commands take the same. With --out, the table is then checked
    against the proposal, as `clinclust check` does.
    """
    from clinclust.drafting import draft_schema

    spare_the_inputs(options, options.out, suffixes=(".yaml", ".yml"), called="a schema")
    spare_file(options, options.out, "your edits")
    check_dictionary(options)
    roles = roles_asked_for(options)
    frame = read_table(options)
    note_dictionary(options, frame)
    with about_table(options):
        schema = draft_schema(frame, roles=roles, progress=not options.quiet)
    if options.out is None:
        write_data(schema.to_yaml())
        return 0
    schema.to_yaml(options.out)
    options = forget_roles(forget_rows(options))  # the schema says them now
    say(f"Wrote {options.out}: {len(schema)} columns. Read it through; it is a proposal.")
    check_draft(options, schema, frame, options.out)
    return 0


def check_draft(options: argparse.Namespace, schema: FeatureSchema, frame: pd.DataFrame, path: Path) -> None:
    """Check the table against a schema that was drafted for it, and say what to look at, and which command is next.

    A proposal under which there is nothing to find is no failure of drafting: it is told, with the command that checks
    the schema after it was edited.
    """
    from clinclust.cli.check_report import looks_at_draft

    try:
        check_cohort(options, schema, frame, path, looks_at_draft(schema))
    except InputError as error:
        tell(f"clinclust: note: as it stands, the proposal finds nothing: {error.at_command_line}")
        say_unused(schema)
        say(f"next, after editing {path}: {next_command('check', options, '--schema', path)}")
        return
    say_next(options, path)
