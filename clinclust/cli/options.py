"""Options that several commands have, and what is read from them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import FeatureSchema

__all__ = [
    "Commands",
    "add_model",
    "add_names",
    "add_schema",
    "add_table",
    "name_problems",
    "names_of",
    "number_or",
    "read_schema",
    "read_table",
    "spare_the_table",
]

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Commands = object


def number_or(words: tuple[str, ...]) -> Callable[[str], float | str]:
    """Return what reads an option that is a number or one of these words."""

    def read(text: str) -> float | str:
        return text if text in words else float(text)

    read.__name__ = f"number or {' or '.join(words)}"  # argparse: "invalid number or auto value"
    return read


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the table, and how to read it."""
    parser.add_argument("table", type=Path, metavar="TABLE", help="cohort table: csv, tsv, xlsx or parquet")
    parser.add_argument("--sheet", help="sheet of an xlsx file (default: the first)")
    parser.add_argument("--encoding", help="encoding of a text file (default: UTF-8, else Windows-1252)")


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Add the schema."""
    parser.add_argument("--schema", type=Path, required=True, help="feature schema (YAML)")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the folder of a fitted model."""
    parser.add_argument("--model", type=Path, required=True, metavar="DIR", help="folder that `clinclust fit` wrote")


def add_names(parser: argparse.ArgumentParser) -> None:
    """Add the names of subtypes."""
    parser.add_argument(
        "--name", action="append", default=[], metavar="K=NAME", help="name of subtype K; may be given for each"
    )


def name_problems(texts: Sequence[str]) -> list[str]:
    """Return which names of subtypes cannot be read."""
    return [
        f"--name takes the number of a subtype and its name, as 1=Tremor, not {text!r}"
        for text in texts
        if not text.partition("=")[0].strip().isdecimal() or not text.partition("=")[2].strip()
    ]


def names_of(options: argparse.Namespace) -> dict[int, str]:
    """Return the names of subtypes by number; they can be read."""
    parts = (text.partition("=") for text in options.name)
    return {int(subtype): name.strip() for subtype, _, name in parts}


def read_schema(options: argparse.Namespace) -> FeatureSchema:
    """Read the schema."""
    from clinclust.schema import FeatureSchema

    return FeatureSchema.from_yaml(options.schema)


def read_table(options: argparse.Namespace) -> pd.DataFrame:
    """Read the table as text; messages name its rows as a spreadsheet shows them, the header being row 1."""
    import pandas as pd

    from clinclust.files.tables import read_cohort

    frame = read_cohort(options.table, sheet=options.sheet, encoding=options.encoding)
    if not pd.api.types.is_integer_dtype(frame.index):  # labels of a parquet file
        frame = frame.reset_index(drop=True)
    frame.index = frame.index + 2
    return frame


def spare_the_table(options: argparse.Namespace) -> None:
    """Raise ValueError if the output would replace the table that is read."""
    there = options.out is not None and options.out.exists() and options.table.exists()
    if there and options.out.samefile(options.table):
        raise InputError(f"--out {options.out} is the table itself; give another name")
