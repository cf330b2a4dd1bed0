"""Tables of visits: `clinclust start` asks which rows of each subject are taken before it goes on."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clinclust.cli.next_command import next_command
from clinclust.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["add_every_row", "refuse_visits"]


def add_every_row(parser: argparse.ArgumentParser) -> None:
    """Add the option that goes on although subjects have several rows."""
    parser.add_argument(
        "--every-row", action="store_true", help="go on where subjects have several rows: each row counts as a subject"
    )


def refuse_visits(
    options: argparse.Namespace, table: pd.DataFrame, *, adders: Sequence[Callable[[argparse.ArgumentParser], None]]
) -> None:
    """Raise InputError if the subjects of a table have several rows, and nobody said which of them are taken.

    Parameters
    ----------
    options : argparse.Namespace
        The options as they were given.
    table : pandas.DataFrame
    adders : sequence of callable
        As in `next_command`.
    """
    from clinclust.files.listed import limited, quoted
    from clinclust.files.opening import shown_name
    from clinclust.files.selection.repeated_subjects import noted_several_rows
    from clinclust.files.selection.row_choice import rows_taken

    found, taken = noted_several_rows(table), rows_taken(table)
    if found is None or options.every_row or (taken is not None and taken.choice.by_values is not None):
        return
    last = "" if found.are_copies else " (with --keep last the last; by the order of a column: --by COLUMN)"
    ways = {
        f"the first row of each{last}": ("--one-row-per", found.column),
        "every row, as if it were a subject": ("--every-row",),
    }
    kind = "rows are copies of others" if found.are_copies else "rows are visits, not patients"
    lines = [f"  {what}:\n    {next_command('start', options, *more, adders=adders)}" for what, more in ways.items()]
    raise InputError(
        limited(
            f"{shown_name(options.table)}: {kind}: {found.n_repeated:,} of {found.n_subjects:,} "
            f"subjects have several rows (up to {found.most_rows:,} with the same {quoted(found.column)}). Nothing was "
            "written. Choose the rows by one of these lines:\n" + "\n".join(lines)
        )
    )
