"""`clinclust fit`: find subtypes and write model, assignments and reports."""

from __future__ import annotations

import argparse

from clinclust.cli.options import (
    Commands,
    about_table,
    add_schema,
    add_table,
    path_given,
    read_schema,
    read_table_of_schema,
)
from clinclust.cli.outputs import FILES_OF_A_FIT, add_overwrite, spare_folder, spare_the_inputs, tell_of_other_files
from clinclust.cli.report_options import add_report
from clinclust.cli.results import check_options, write_results
from clinclust.cli.role_options import add_roles, with_roles_asked
from clinclust.cli.search_options import add_search
from clinclust.cli.streams import add_quiet

__all__ = ["add_parser", "run"]


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("fit", help="find subtypes and write the report", description=run.__doc__)
    add_table(parser)
    add_schema(parser)
    add_roles(parser)
    parser.add_argument(
        "--out", type=path_given, required=True, metavar="DIR", help="folder for model, assignments and report"
    )
    add_overwrite(parser, "an earlier fit in this folder")
    add_quiet(parser)
    add_search(parser)
    add_report(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Find the subtypes and write the model, the assignments, two reports, and a manifest of these files."""
    check_options(options)
    spare_the_inputs(options, *(options.out / name for name in FILES_OF_A_FIT))
    spare_folder(options.out, allowed=options.overwrite)
    schema = read_schema(options)
    table = read_table_of_schema(options, schema)
    schema = with_roles_asked(options, schema, table)
    with about_table(options):
        frame = schema.validate(table, warn=False)  # `MAPDP.fit` gives the warnings
    tell_of_other_files(options.out, FILES_OF_A_FIT)
    return write_results(options, schema, frame, table)
