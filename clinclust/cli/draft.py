"""`clinclust draft`: propose a feature schema for a table."""

from __future__ import annotations

import argparse

from clinclust.cli.options import Commands, about_table, add_table, path_given, read_table, spare_the_inputs
from clinclust.cli.streams import say, write_data
from clinclust.errors import InputError

__all__ = ["add_parser", "run"]


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("draft", help="propose a feature schema for a table", description=run.__doc__)
    add_table(parser)
    parser.add_argument(
        "--dictionary",
        type=path_given,
        metavar="FILE",
        help="REDCap data dictionary, or a codebook (csv, xlsx): labels, levels, units, missing codes of the columns",
    )
    parser.add_argument("--dictionary-sheet", metavar="SHEET", help="sheet of an xlsx dictionary (default: the first)")
    parser.add_argument("--out", type=path_given, metavar="SCHEMA", help="file to write (default: standard output)")
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Propose a likelihood for every column, with the reason; read the result through and edit it."""
    from clinclust.drafting import draft_schema

    spare_the_inputs(options, options.out, suffixes=(".yaml", ".yml"), called="a schema")
    if options.out is not None and options.out.exists() and not options.force:
        raise FileExistsError(f"{options.out} exists and may hold your edits; give --force to overwrite it")
    if options.dictionary_sheet is not None and options.dictionary is None:
        raise InputError("--dictionary-sheet names a sheet of the file that --dictionary gives; give both")
    frame = read_table(options)
    if options.dictionary is not None:
        from clinclust.files.dictionaries import note_columns

        note_columns(frame, options.dictionary, sheet=options.dictionary_sheet)
    with about_table(options):
        schema = draft_schema(frame)
    if options.out is None:
        write_data(schema.to_yaml())
    else:
        schema.to_yaml(options.out)
        say(f"Wrote {options.out}: {len(schema)} columns. Read it through; it is a proposal.")
    return 0
