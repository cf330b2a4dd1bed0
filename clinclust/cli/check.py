"""`clinclust check`: check a table against a schema."""

from __future__ import annotations

import argparse

from clinclust.cli.options import Commands, about_table, add_schema, add_table, read_schema, read_table
from clinclust.cli.streams import say

__all__ = ["add_parser", "run"]


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("check", help="check a table against a schema", description=run.__doc__)
    add_table(parser)
    add_schema(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List everything that keeps the table from being fitted: values that do not fit the schema, or nothing to find."""
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.preparation import prepared

    schema, table = read_schema(options), read_table(options)
    with about_table(options):
        table = schema.validate(table, warn=False)  # `prepared` gives the warnings
    # What `clinclust fit` does before it searches: the same verdict, in the same words.
    frame = prepared(MAPDP(schema), table, stacklevel=1).frame
    say(
        f"{options.table} fits {options.schema}: {len(frame)} subjects, {len(schema.clustered)} features to cluster "
        f"on, {len(schema.described)} to describe, {frame.isna().to_numpy().mean():.1%} of the values missing."
    )
    return 0
