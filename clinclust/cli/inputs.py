"""What commands read: a table with its choice of rows, its schema or model, and a data dictionary."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from clinclust.cli.options import Command, Options, in_options, option, read_names, read_path
from clinclust.errors import CohortError, CohortWarning, InputError

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.fitted_cohort import FittedCohort
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.files.selection.row_choice import RowChoice
    from clinclust.schema import FeatureSchema


@dataclass(kw_only=True)
class RowOptions(Options):
    """The options that choose rows: the fields of `RowChoice`."""

    TITLE = "choosing rows and columns"
    where: str | None = option(
        "keep rows that meet it, such as \"visit == 'baseline' and age >= 18\"", metavar="CONDITION"
    )
    one_row_per: str | None = option("keep one row for each subject, named by this column", metavar="COLUMN")
    keep: str = option("which one (default: first)", "first", choices=("first", "last"))
    by: str | None = option("numbers or dates that order its rows (default: the file)", metavar="COLUMN")
    dates: str | None = option(
        "how --where and --by read 03/04/2020, if no other date of the column tells it",
        choices=("day-first", "month-first"),
    )
    rows: str | None = option("rows of the subjects, such as 2-61 or 2-61,66- (default: found)", metavar="FIRST-LAST")


@dataclass(kw_only=True)
class _ColumnOptions(Options):
    TITLE = RowOptions.TITLE
    only: tuple[str, ...] = option(
        "keep these columns; names with commas in double quotes",
        (),
        action="extend",
        type=read_names,
        metavar="A,B",
    )
    drop: tuple[str, ...] = option(
        "leave these columns out; names with commas in double quotes",
        (),
        action="extend",
        type=read_names,
        metavar="A,B",
    )


def _row(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:9]) < 2**20):
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is no row of a table; give its number, from 1, or 0 if no row holds the names of columns"
        )
    return int(text)


@dataclass(kw_only=True)
class _ReadingOptions(Options):
    TITLE = "reading the table"
    sheet: str | None = option("sheet of a workbook, by name or number (default: the first)")
    encoding: str | None = option("encoding of a text file (default: UTF-8, else Windows-1252)")
    header_row: int | None = option(
        "row of the names of columns; 0 if there is none (default: found)", type=_row, metavar="N"
    )
    decimal: Literal[",", "."] | None = option("decimal mark of numbers such as 1,234", choices=(",", "."))


@dataclass(kw_only=True)
class TableOptions(_ReadingOptions, RowOptions, _ColumnOptions):
    """The table, how it is read, and its rows and columns."""

    table: Path = option(
        "cohort table: csv, tsv, xlsx; parquet, xls, xlsb, ods, SPSS, Stata or SAS with a further package (`draft`, "
        "`check --schema`, `fit`: or a folder of parquet files)",
        positional=True,
        type=read_path,
        metavar="TABLE",
    )


@dataclass(kw_only=True)
class SchemaOptions(Options):
    """The schema of the table."""

    schema: Path = option("feature schema (YAML)", type=read_path, required=True)


@dataclass(kw_only=True)
class ModelOptions(TableOptions, Command):
    """The model fitted on the table, and whether to include rows that the fit left out."""

    model: Path = option("folder that `clinclust fit` wrote", type=read_path, required=True, metavar="DIR")
    all_rows: bool = option("take all rows of the table, also if the model was fitted on some", False)


@dataclass(kw_only=True)
class DictionaryOptions(Options):
    """A data dictionary of the table."""

    dictionary: Path | None = option(
        "REDCap data dictionary, or a codebook (csv, xlsx): labels, levels, units, missing codes of the columns",
        type=read_path,
        metavar="FILE",
    )
    dictionary_sheet: str | None = option("sheet of an xlsx dictionary (default: the first)", metavar="SHEET")


def rows_asked_for(options: TableOptions) -> RowChoice:
    """Return the choice of rows of the options."""
    from clinclust.files.selection.row_choice import RowChoice

    return RowChoice(**{item.name: getattr(options, item.name) for item in fields(RowChoice)})


def read_table(options: TableOptions, rows: RowChoice | None = None, *, rows_of: str = "") -> pd.DataFrame:
    """Return the table as text, indexed by spreadsheet rows; `rows_of` is added to an error in the choice of rows."""
    from clinclust.files.listed import limited
    from clinclust.files.selection.row_choice import ChoiceError

    rows_of_options = rows_asked_for(options)
    try:
        return _read(options, rows_of_options if rows is None else rows)
    except ChoiceError as error:
        if not rows_of or rows in (None, rows_of_options):
            raise
        raise ChoiceError(limited(f"{error.at_command_line} ({rows_of})")) from error


def _read(options: TableOptions, rows: RowChoice) -> pd.DataFrame:
    import pandas as pd

    from clinclust.files.opening import shown_name
    from clinclust.progress import Progress
    from clinclust.reading import read_cohort

    with Progress(not getattr(options, "quiet", False)).stage(f"reading {shown_name(options.table)}"):
        frame = read_cohort(
            options.table,
            sheet=options.sheet,
            encoding=options.encoding,
            header_row=options.header_row,
            decimal=options.decimal,
            only=list(options.only) or None,
            drop=list(options.drop) or None,
            **rows.as_dict(),
        )
    if not pd.api.types.is_integer_dtype(frame.index):  # a parquet file may store labels as the index
        frame = frame.reset_index(drop=True)
    frame.index = frame.index + 2
    return frame


@contextmanager
def about_table(options: TableOptions) -> Iterator[None]:
    """Make an error about the content of the table name its file."""
    from clinclust.files.opening import shown_name

    try:
        yield
    except CohortError as error:
        raise CohortError(error.failures, shown_name(options.table)) from error
    except InputError as error:
        raise InputError(f"{shown_name(options.table)}: {error}") from error


def read_schema(path: Path) -> FeatureSchema:
    """Return the schema in a file."""
    from clinclust.schema import FeatureSchema

    return FeatureSchema.from_yaml(path)


def read_table_of_schema(options: TableOptions, schema: FeatureSchema, path: Path) -> pd.DataFrame:
    """Return the table with the rows of the schema or of the options; InputError if they contradict each other."""
    from clinclust.files.listed import limited
    from clinclust.files.opening import shown_name

    name, rows = shown_name(path), rows_asked_for(options)
    if schema.rows:
        rows = rows.completed_by(schema.rows)
        if not rows.follows(schema.rows):
            raise InputError(
                limited(
                    f"{name} takes {schema.rows.in_words()}; the command takes {rows.in_words()}. Leave out the "
                    f"options that choose rows, or correct the line `rows:` of {name}"
                )
            )
    rows_of = f"these rows are taken by the line `rows:` of {name}; correct it there if this table needs another"
    frame = read_table(options, rows, rows_of=rows_of)
    _tell_of_rows(options, rows, f"as {name} says")
    return frame


def read_model(options: ModelOptions) -> MAPDP:
    """Return the fitted model in the folder ``--model``."""
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


def read_table_of_model(options: ModelOptions, model: MAPDP, *, of_sheet: bool = True) -> pd.DataFrame:
    """Return the table with the rows of the options, or of the fit; with spreadsheet rows only if `of_sheet`."""
    rows_of = (
        "the model was fitted on these rows; if this table holds only rows to take, say --all-rows, and if its columns "
        "have other names, choose the rows with --where or --one-row-per"
    )
    rows = _rows_of_model(options, model, of_sheet=of_sheet)
    frame = read_table(options, rows, rows_of=rows_of)
    _tell_of_rows(options, rows, "as for the fit (--all-rows takes all)")
    return frame


def read_cohort_of_model(options: ModelOptions, model: MAPDP) -> tuple[pd.DataFrame, FittedCohort]:
    """Return the table that a model was fitted on, and the model with its validated columns in the order of the fit."""
    from clinclust.estimators.fitted_cohort import cohort_of

    table = read_table_of_model(options, model)
    with about_table(options):
        return table, cohort_of(model, table)


def _rows_of_model(options: ModelOptions, model: MAPDP, *, of_sheet: bool = True) -> RowChoice:
    from clinclust.files.selection.row_choice import RowChoice

    rows, fitted = rows_asked_for(options), model.schema_.rows
    if options.all_rows:
        if set(rows.as_dict()) - {"rows"}:
            raise InputError(f"--all-rows takes all rows, and other options take {rows.in_words()}: give one of them")
        return RowChoice(rows=rows.rows)
    return rows.completed_by(fitted if of_sheet else fitted.by_values or RowChoice())


def _tell_of_rows(options: TableOptions, rows: RowChoice, how: str) -> None:
    from clinclust.files.listed import limited
    from clinclust.files.opening import shown_name

    rows_of_options = rows_asked_for(options)
    if rows and any(getattr(rows_of_options, name) != getattr(rows, name) for name in rows.as_dict()):
        note = f"{shown_name(options.table)}: rows are taken {how}: {rows.in_words()}"
        warnings.warn(limited(note), CohortWarning, stacklevel=3)


def read_new_table(options: ModelOptions, model: MAPDP) -> pd.DataFrame:
    """Return a table of new subjects, with the rows of the options, or those that meet the conditions of the fit."""
    fitted = model.schema_.rows.rows
    if fitted is None or options.rows is not None or options.all_rows or _is_table_of_fit(options, model):
        return read_table_of_model(options, model)
    frame = read_table_of_model(options, model, of_sheet=False)
    note = f"the model was fitted on rows {fitted} of the sheet of its own table, which say nothing of this table"
    warnings.warn(f"{options.table}: {note} (--rows says which rows are subjects)", CohortWarning, stacklevel=2)
    return frame


def _is_table_of_fit(options: ModelOptions, model: MAPDP) -> bool:
    """Return whether the spreadsheet rows of the fit hold its subjects in this table."""
    from clinclust.estimators.fitted_cohort import rows_of_the_fit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the caller warns when it reads the table again
        try:
            return rows_of_the_fit(model.fit_, read_table(options, _rows_of_model(options, model))) is not None
        except InputError:
            return False


def check_dictionary(options: DictionaryOptions) -> None:
    """Raise InputError for a sheet without a file."""
    if options.dictionary_sheet is not None and options.dictionary is None:
        raise InputError("--dictionary-sheet names a sheet of the file that --dictionary gives; give both")


def note_dictionary(options: DictionaryOptions, frame: pd.DataFrame) -> None:
    """Note the entries of the dictionary, if there is one, in the attributes of the table."""
    if options.dictionary is not None:
        from clinclust.files.dictionaries import note_columns

        try:
            note_columns(frame, options.dictionary, sheet=options.dictionary_sheet)
        except InputError as error:
            raise InputError(in_options(error.at_command_line, sheet="dictionary_sheet")) from error
