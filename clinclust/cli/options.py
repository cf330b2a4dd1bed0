"""Options that several commands share, and the functions that read their values."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clinclust.cli.row_options import add_all_rows, rows_of_model, rows_of_schema, tell_of_rows
from clinclust.cli.table_options import about_table, add_table, path_given, read_table
from clinclust.errors import CohortWarning, InputError

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP
    from clinclust.schema import FeatureSchema

__all__ = [
    "Commands",
    "about_table",
    "add_jobs",
    "add_model",
    "add_model_folder",
    "add_names",
    "add_schema",
    "add_table",
    "name_problems",
    "names_of",
    "number",
    "number_or",
    "number_or_share",
    "path_given",
    "read_model",
    "read_new_table",
    "read_schema",
    "read_table",
    "read_table_of_model",
    "read_table_of_schema",
    "whole_number",
    "whole_number_or",
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


def whole_number_or(words: tuple[str, ...]) -> Callable[[str], int | str]:
    """Return a function that parses an option whose value is a whole number or one of these words."""

    def read(text: str) -> int | str:
        return text if text in words else int(text)

    read.__name__ = f"whole number or {' or '.join(words)}"
    return read


def number_or_share(text: str) -> float:
    """Parse an option whose value is a whole number or a share, as ``20``, ``0.02`` or ``2%``."""
    given = text.strip()
    try:
        if given.endswith("%"):
            return float(f"{given[:-1].strip()}e-2")  # as decimals: in binary, 0.7 / 100 is not 0.007
        return int(given) if given.lstrip("+-").isdecimal() else float(given)
    except ValueError:
        from clinclust.files.listed import quoted

        takes = "takes a number of subjects, as 20, or a share of the cohort, as 0.02 or 2%"
        raise argparse.ArgumentTypeError(f"{takes}, not {quoted(text)}") from None


def whole_number(text: str) -> int:
    """Parse an option whose value is a whole number."""
    return int(text)


def number(text: str) -> float:
    """Parse an option whose value is a number."""
    return float(text)


whole_number.__name__ = "whole number"  # as in `number_or`


def add_schema(parser: argparse._ActionsContainer, *, required: bool = True) -> None:
    """Add the option of the schema file."""
    parser.add_argument("--schema", type=path_given, required=required, help="feature schema (YAML)")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the option of the folder of a fitted model, and that of rows which its fit left out."""
    add_model_folder(parser)
    add_all_rows(parser)


def add_model_folder(parser: argparse._ActionsContainer, *, required: bool = True) -> None:
    """Add the option of the folder of a fitted model."""
    parser.add_argument(
        "--model", type=path_given, required=required, metavar="DIR", help="folder that `clinclust fit` wrote"
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


def add_jobs(parser: argparse._ActionsContainer) -> None:
    """Add the option of the number of threads."""
    parser.add_argument("--jobs", type=whole_number, metavar="J", help="threads (default: one for each processor)")


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


def read_table_of_schema(options: argparse.Namespace, schema: FeatureSchema) -> pd.DataFrame:
    """Return the table with the rows that the schema or the options choose; see `rows_of_schema`."""
    from clinclust.files.opening import shown_name

    name = shown_name(options.schema)
    rows_of = f"these rows are taken by the line `rows:` of {name}; correct it there if this table needs another"
    rows = rows_of_schema(options, schema)
    frame = read_table(options, rows, rows_of=rows_of)
    tell_of_rows(options, rows, f"as {name} says")
    return frame


def read_table_of_model(options: argparse.Namespace, model: MAPDP, *, of_sheet: bool = True) -> pd.DataFrame:
    """Return the table with the rows that the options choose, or those of the fit; see `rows_of_model`."""
    rows_of = (
        "the model was fitted on these rows; if this table holds only rows to take, say --all-rows, and if its columns "
        "have other names, choose the rows with --where or --one-row-per"
    )
    rows = rows_of_model(options, model, of_sheet=of_sheet)
    frame = read_table(options, rows, rows_of=rows_of)
    tell_of_rows(options, rows, "as for the fit (--all-rows takes all)")
    return frame


def read_new_table(options: argparse.Namespace, model: MAPDP) -> pd.DataFrame:
    """Return a table that may hold new subjects, with the rows that the options choose.

    If they choose none, rows are chosen by what they hold as for the fit. Those of the sheet that somebody named for
    the fit are taken of the table of the fit only: another table has others.
    """
    fitted = model.schema_.rows.rows
    if fitted is None or options.rows is not None or options.all_rows or _is_table_of_fit(options, model):
        return read_table_of_model(options, model)
    frame = read_table_of_model(options, model, of_sheet=False)
    note = f"the model was fitted on rows {fitted} of the sheet of its own table, which say nothing of this table"
    warnings.warn(f"{options.table}: {note} (--rows says which rows are subjects)", CohortWarning, stacklevel=2)
    return frame


def _is_table_of_fit(options: argparse.Namespace, model: MAPDP) -> bool:
    """Return whether the rows that were named for the fit hold its subjects in this table."""
    from clinclust.estimators.fitted_cohort import rows_of_the_fit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever reads the table again tells
        try:
            return rows_of_the_fit(model.fit_, read_table(options, rows_of_model(options, model))) is not None
        except InputError:
            return False
