"""`clinclust draft`: propose a feature schema for a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from clinclust.cli.options import Commands, about_table, add_table, read_table, spare_the_table

__all__ = ["add_parser", "run"]


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("draft", help="propose a feature schema for a table", description=run.__doc__)
    add_table(parser)
    parser.add_argument("--out", type=Path, metavar="SCHEMA", help="file to write (default: standard output)")
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Propose a likelihood for every column, with the reason; read the result through and edit it."""
    from clinclust.schema.draft import draft_schema

    spare_the_table(options)
    if options.out is not None and options.out.exists() and not options.force:
        raise FileExistsError(f"{options.out} exists and may hold your edits; give --force to overwrite it")
    frame = read_table(options)
    with about_table(options):
        schema = draft_schema(frame)
    if options.out is None:
        sys.stdout.write(schema.to_yaml())
    else:
        schema.to_yaml(options.out)
        print(f"Wrote {options.out}: {len(schema)} columns. Read it through; it is a proposal.")
    return 0
