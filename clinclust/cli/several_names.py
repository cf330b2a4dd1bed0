"""Options that name several columns, with commas between them, and may be given several times."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence

__all__ = ["all_names", "names_between_commas"]


def names_between_commas(text: str) -> list[str]:
    """Return names between commas; a name with a comma stands in double quotes."""
    names = [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("no column is named; give names with commas between them")
    return names


def all_names(lists: Sequence[Sequence[str]] | None) -> list[str] | None:
    """Return the names of an option that was given several times, or None if it was not given."""
    return None if lists is None else [name for names in lists for name in names]
