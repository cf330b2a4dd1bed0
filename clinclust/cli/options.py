"""Options that several commands share, and the functions that read their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.errors import CohortError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP
    from clinclust.schema import FeatureSchema

__all__ = [
    "Commands",
    "about_table",
    "add_model",
    "add_names",
    "add_schema",
    "add_table",
    "name_problems",
    "names_of",
    "number",
    "number_or",
    "path_given",
    "read_model",
    "read_schema",
    "read_table",
    "whole_number",
]

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Commands = object


def number_or(words: tuple[str, ...]) -> Callable[[str], float | str]:
    """Return a function that parses an option whose value is a number or one of these words."""

    def read(text: str) -> float | str:
        return text if text in words else float(text)

    read.__name__ = f"number or {' or '.join(words)}"  # argparse shows the name: "invalid number or auto value"
    return read


def whole_number(text: str) -> int:
    """Parse an option whose value is a whole number."""
    return int(text)


def number(text: str) -> float:
    """Parse an option whose value is a number."""
    return float(text)


whole_number.__name__ = "whole number"  # as in `number_or`


def path_given(text: str) -> Path:
    """Return the path that an argument gives. An empty text, as an unset variable leaves it, would mean this folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty; give the name of a file or folder")
    return Path(text)


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the argument of the table and the options for reading it."""
    parser.add_argument("table", type=path_given, metavar="TABLE", help="cohort table: csv, tsv, xlsx or parquet")
    parser.add_argument("--sheet", help="sheet of an xlsx file (default: the first)")
    parser.add_argument("--encoding", help="encoding of a text file (default: UTF-8, else Windows-1252)")


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Add the option of the schema file."""
    parser.add_argument("--schema", type=path_given, required=True, help="feature schema (YAML)")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the option of the folder of a fitted model."""
    parser.add_argument(
        "--model", type=path_given, required=True, metavar="DIR", help="folder that `clinclust fit` wrote"
    )


def read_model(options: argparse.Namespace) -> MAPDP:
    """Return the fitted model in the folder that ``--model`` names.

    Raises
    ------
    InputError
        If there is no such folder, or it holds no model that can be read.
    """
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.nearest import did_you_mean

    folder, takes = options.model, "--model takes the folder that `clinclust fit` wrote"
    if folder.is_file():
        takes = "--model takes the folder that holds it" if folder.name in ("model.json", "model.npz") else takes
        raise InputError(f"{folder} is a file; {takes}")
    if not folder.exists():
        near = folder.parent.iterdir() if folder.parent.is_dir() else ()
        hint = did_you_mean(folder.name, sorted(path.name for path in near if path.is_dir()))
        raise InputError(f"there is no folder {folder}; {takes}" + (f".{hint}" if hint else ""))
    return MAPDP.load(folder)


def add_names(parser: argparse._ActionsContainer) -> None:
    """Add the option of the names of subtypes."""
    parser.add_argument(
        "--name", action="append", default=[], metavar="K=NAME", help="name of subtype K; may be given for each"
    )


def name_problems(texts: Sequence[str]) -> list[str]:
    """Return one sentence for each ``--name`` that cannot be used, whatever the subtypes; empty if all can."""
    numbers = [text.partition("=")[0].strip() for text in texts]
    repeated = sorted({number for number in numbers if numbers.count(number) > 1})
    return [f"--name: subtype {number} has more than one name" for number in repeated] + [
        f"--name takes the number of a subtype and its name, as 1=Tremor, not {text!r}"
        for text in texts
        if not text.partition("=")[0].strip().isdecimal() or not text.partition("=")[2].strip()
    ]


def names_of(options: argparse.Namespace) -> dict[int, str]:
    """Return the names of subtypes by number. Call `name_problems` first: each name must be parsable."""
    parts = (text.partition("=") for text in options.name)
    return {int(subtype): name.strip() for subtype, _, name in parts}


def read_schema(options: argparse.Namespace) -> FeatureSchema:
    """Return the schema that ``--schema`` names."""
    from clinclust.schema import FeatureSchema

    return FeatureSchema.from_yaml(options.schema)


def read_table(options: argparse.Namespace) -> pd.DataFrame:
    """Return the table as text, indexed by the row numbers of a spreadsheet.

    The header is row 1, so the first subject is row 2. Messages about rows then agree with a spreadsheet program.
    """
    import pandas as pd

    from clinclust.files.tables import read_cohort

    frame = read_cohort(options.table, sheet=options.sheet, encoding=options.encoding)
    if not pd.api.types.is_integer_dtype(frame.index):  # a parquet file may store labels as the index
        frame = frame.reset_index(drop=True)
    frame.index = frame.index + 2
    return frame


@contextmanager
def about_table(options: argparse.Namespace) -> Iterator[None]:
    """Make an error about the content of the table name its file."""
    from clinclust.files.opening import shown_name

    try:
        yield
    except CohortError as error:
        raise CohortError(error.failures, shown_name(options.table)) from error
    except InputError as error:
        raise InputError(f"{shown_name(options.table)}: {error}") from error
