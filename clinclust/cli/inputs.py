"""What commands read: a table with its choice of rows, its schema or model, and a data dictionary."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd

from clinclust.cli.commands import DictionaryOptions, ModelOptions, RowOptions, TableOptions
from clinclust.cli.options import in_options, without
from clinclust.errors import CohortError, CohortWarning, InputError
from clinclust.estimators.fitted_cohort import FittedCohort, cohort_of, rows_of_the_fit
from clinclust.estimators.mapdp import MAPDP
from clinclust.files.dictionaries import note_columns
from clinclust.files.listed import limited
from clinclust.files.opening import shown_name
from clinclust.files.selection.row_choice import ChoiceError, RowChoice
from clinclust.nearest import did_you_mean
from clinclust.progress import Progress
from clinclust.reading import read_cohort
from clinclust.schema import FeatureSchema

# The table, with the rows of the options, the schema or the model.


def read_table(options: TableOptions, rows: RowChoice | None = None, *, rows_of: str = "") -> pd.DataFrame:
    """Return the table as text, indexed by spreadsheet rows; `rows_of` is added to an error in the choice of rows."""
    try:
        with Progress(not getattr(options, "quiet", False)).stage(f"reading {options.shown_table}"):
            frame = read_cohort(
                options.table,
                sheet=options.sheet,
                encoding=options.encoding,
                header_row=options.header_row,
                decimal=options.decimal,
                only=list(options.only) or None,
                drop=list(options.drop) or None,
                **(options.choice if rows is None else rows).as_dict(),
            )
    except ChoiceError as error:
        if not rows_of or rows in (None, options.choice):
            raise
        raise ChoiceError(limited(f"{error.at_command_line} ({rows_of})")) from error
    if not pd.api.types.is_integer_dtype(frame.index):  # a parquet file may store labels as the index
        frame = frame.reset_index(drop=True)
    frame.index = frame.index + 2
    return frame


@contextmanager
def about_table(options: TableOptions, other: Path | None = None) -> Iterator[None]:
    """Make an error about the content of the table, or of another one, name its file."""
    name = shown_name(other or options.table)
    try:
        yield
    except CohortError as error:
        raise CohortError(error.failures, name) from error
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def read_schema(path: Path) -> FeatureSchema:
    """Return the schema in a file."""
    return FeatureSchema.from_yaml(path)


def read_table_of_schema(options: TableOptions, schema: FeatureSchema, path: Path) -> pd.DataFrame:
    """Return the table with the rows of the schema or of the options; InputError if they contradict each other."""
    name, rows = shown_name(path), options.choice
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
    _warn_of_rows(options, rows, f"as {name} says")
    return frame


def read_model(options: ModelOptions) -> MAPDP:
    """Return the fitted model in the folder ``--model``."""
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
    _warn_of_rows(options, rows, "as for the fit (--all-rows takes all)")
    return frame


def read_cohort_of_model(options: ModelOptions, model: MAPDP) -> tuple[pd.DataFrame, FittedCohort]:
    """Return the table that a model was fitted on, and the model with its validated columns in the order of the fit."""
    table = read_table_of_model(options, model)
    with about_table(options):
        return table, cohort_of(model, table)


def read_second_table(options: ModelOptions, path: Path, model: MAPDP) -> pd.DataFrame:
    """Return another table, read with the same options but with the rows of the fit."""
    return read_table_of_model(
        replace(without(options, RowOptions), table=path, only=(), drop=(), all_rows=False), model
    )


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the caller warns when it reads the table again
        try:
            return rows_of_the_fit(model.fit_, read_table(options, _rows_of_model(options, model))) is not None
        except InputError:
            return False


def _rows_of_model(options: ModelOptions, model: MAPDP, *, of_sheet: bool = True) -> RowChoice:

    rows, fitted = options.choice, model.schema_.rows
    if options.all_rows:
        if set(rows.as_dict()) - {"rows"}:
            raise InputError(f"--all-rows takes all rows, and other options take {rows.in_words()}: give one of them")
        return RowChoice(rows=rows.rows)
    return rows.completed_by(fitted if of_sheet else fitted.by_values or RowChoice())


def _warn_of_rows(options: TableOptions, rows: RowChoice, how: str) -> None:

    stated = options.choice
    if rows and any(getattr(stated, name) != getattr(rows, name) for name in rows.as_dict()):
        note = f"{options.shown_table}: rows are taken {how}: {rows.in_words()}"
        warnings.warn(limited(note), CohortWarning, stacklevel=3)


# A data dictionary.


def check_dictionary(options: DictionaryOptions) -> None:
    """Raise InputError for a sheet without a file."""
    if options.dictionary_sheet is not None and options.dictionary is None:
        raise InputError("--dictionary-sheet names a sheet of the file that --dictionary gives; give both")


def note_dictionary(options: DictionaryOptions, frame: pd.DataFrame) -> None:
    """Note the entries of the dictionary, if there is one, in the attributes of the table."""
    if options.dictionary is not None:
        try:
            note_columns(frame, options.dictionary, sheet=options.dictionary_sheet)
        except InputError as error:
            raise InputError(in_options(error.at_command_line, sheet="dictionary_sheet")) from error
