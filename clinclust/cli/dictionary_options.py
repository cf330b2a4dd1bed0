"""The options of a data dictionary, and reading it for a table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from clinclust.cli.options import path_given
from clinclust.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["add_dictionary", "check_dictionary", "note_dictionary"]


def add_dictionary(parser: argparse.ArgumentParser) -> None:
    """Add the options of a data dictionary."""
    parser.add_argument(
        "--dictionary",
        type=path_given,
        metavar="FILE",
        help="REDCap data dictionary, or a codebook (csv, xlsx): labels, levels, units, missing codes of the columns",
    )
    parser.add_argument("--dictionary-sheet", metavar="SHEET", help="sheet of an xlsx dictionary (default: the first)")


def check_dictionary(options: argparse.Namespace) -> None:
    """Raise InputError if a sheet is named of no file."""
    if options.dictionary_sheet is not None and options.dictionary is None:
        raise InputError("--dictionary-sheet names a sheet of the file that --dictionary gives; give both")


def note_dictionary(options: argparse.Namespace, frame: pd.DataFrame) -> None:
    """Note on the table what the dictionary says of its columns, if there is one."""
    if options.dictionary is None:
        return
    from clinclust.files.dictionaries import note_columns

    note_columns(frame, options.dictionary, sheet=options.dictionary_sheet)
