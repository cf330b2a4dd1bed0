"""Read what a data dictionary says of the columns of a table, and note it on the table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.errors import CohortWarning, InputError
from clinclust.files.column_notes import ColumnNotes, add_notes
from clinclust.files.dictionaries.codebook import codebook_entries, codebook_meanings
from clinclust.files.dictionaries.matching import matched, of_another_table, said_of_the_unmatched
from clinclust.files.dictionaries.plain_text import folded
from clinclust.files.dictionaries.redcap import is_redcap, redcap_entries, redcap_meanings
from clinclust.files.dictionaries.redcap_export import added_by_redcap, several_rows
from clinclust.files.dictionaries.sheet import Row, Sheet
from clinclust.files.listed import Places, limited, listed, quoted
from clinclust.files.opening import shown_name

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dictionary", "note_columns", "read_dictionary"]


@dataclass(frozen=True)
class Dictionary:
    """What a data dictionary says of a table: notes by column, and remarks, each a sentence.

    `record_id` is the column that names the record, if it is the dictionary of a REDCap project.
    """

    notes: dict[str, ColumnNotes]
    remarks: tuple[str, ...] = ()
    record_id: str | None = None


def read_dictionary(path: str | os.PathLike[str], columns: Sequence[str], *, sheet: str | None = None) -> Dictionary:
    r"""Read a REDCap data dictionary, or a codebook: a table with a row for each variable, or for each of its levels.

    Parameters
    ----------
    path : str or path
        A file that `read_cohort` reads. A REDCap data dictionary is recognised by its headers. A codebook has a column
        of the names of variables, and columns whose headers say in English, German, French or Spanish what they hold:
        label, unit, values, type, range, ....
    columns : sequence of str
        The columns of the table.
    sheet : str, optional
        The sheet of a workbook.

    Raises
    ------
    InputError
        If the file holds no table, or one without the names of variables; if it describes a variable twice or has a row
        without a name; if it describes no column of the table. The message says which rows.

    Examples
    --------
    >>> from pathlib import Path
    >>> from clinclust.files.dictionaries import read_dictionary
    >>> _ = Path("codebook.csv").write_text("variable,values,unit\nsex,1=male; 2=female,\ncrp,,mg/L\n")
    >>> dictionary = read_dictionary("codebook.csv", ["sex", "crp"])
    >>> dictionary.notes["sex"].levels, dictionary.notes["crp"].unit
    ((('1', 'male'), ('2', 'female')), 'mg/L')
    """
    from clinclust.files.tables import read_codebook

    table = Sheet(read_codebook(path, sheet))
    try:
        return _read(table, [str(column) for column in columns])
    except InputError as error:
        raise InputError(limited(f"the dictionary {shown_name(Path(path))} cannot be used: {error}")) from error


def note_columns(
    frame: pd.DataFrame, path: str | os.PathLike[str], *, sheet: str | None = None, table: str = "the table"
) -> Dictionary:
    """Read a dictionary (see `read_dictionary`) and add its notes to those of a table.

    Each remark is a CohortWarning, and so it is if the table, which is called `table` there, has several rows a record.
    """
    dictionary = read_dictionary(path, list(frame.columns), sheet=sheet)
    remarks = [f"{shown_name(Path(path))}: {remark}" for remark in dictionary.remarks]
    for remark in [*remarks, *(f"{table}: {remark}" for remark in several_rows(frame, dictionary.record_id))]:
        warnings.warn(limited(remark), CohortWarning, stacklevel=2)
    add_notes(frame, dictionary.notes)
    return dictionary


def _read(sheet: Sheet, columns: list[str]) -> Dictionary:
    places = Places()
    remarks: list[str] = []
    _refuse_the_table(sheet, columns)
    if is_redcap(sheet):
        rows = list(sheet.rows(redcap_meanings(sheet)))
        forms = [row["form"] for row in rows]
        _refuse_names(rows)
        entries = list(redcap_entries(rows))
        first = entries[0].name if entries else None
    else:
        meanings, remarks = codebook_meanings(sheet, columns)
        rows = list(sheet.rows(meanings))
        _refuse_strangers(rows, columns)
        entries = list(codebook_entries(rows, places))
        forms, first = [], None
    if not entries:
        raise InputError("it describes no variable")
    found, more = matched(entries, columns)
    notes = {column: entry.notes for column, entry in found.items()}
    if first is not None:
        notes = {**added_by_redcap([column for column in columns if column not in notes], forms), **notes}
    used = {entry.field for entry in found.values()}
    remarks = [*remarks, *places.sentences(), *more, *said_of_the_unmatched(entries, columns, notes, used)]
    record_id = next((column for column, entry in found.items() if entry.name == first), None)
    return Dictionary({column: notes[column] for column in columns if column in notes}, tuple(remarks), record_id)


def _refuse_the_table(sheet: Sheet, columns: list[str]) -> None:
    """Raise InputError if the headers of a dictionary are those of the table: its cells are then those of patients."""
    shared = set(sheet.headers) & set(columns)
    if len(shared) == len(set(sheet.headers)) or (len(shared) > 2 and 2 * len(shared) > len(sheet.headers)):
        raise InputError(
            f"its headers are columns of the table ({listed(map(quoted, sorted(shared)))}), so it seems "
            "to be a table of subjects; give the file that has a row for each column of the table"
        )


def _refuse_strangers(rows: list[Row], columns: list[str]) -> None:
    """Raise InputError if no row of a codebook has the name or the label of a column, before a message shows any."""
    known = {folded(column) for column in columns}
    named = {folded(row[what]) for row in rows for what in ("name", "label", "description")}
    if rows and not known & named:
        raise of_another_table(len({row["name"] for row in rows if row["name"]}), columns)


def _refuse_names(rows: list[Row]) -> None:
    """Raise InputError if rows have no name, or one that another row has."""
    numbers: dict[str, list[int]] = {}
    for row in rows:
        numbers.setdefault(row["name"], []).append(row.number)
    unnamed = numbers.pop("", [])
    twice = [f"{quoted(name)} (rows {', '.join(map(str, at[:5]))})" for name, at in numbers.items() if len(at) > 1]
    problems = []
    if unnamed:
        problems.append(
            f"no variable is named in row {listed(unnamed, len(unnamed))}; write its name, or delete the row"
        )
    if twice:
        problems.append(f"described more than once: {listed(twice, len(twice))}; keep one row of each")
    if problems:
        raise InputError("; ".join(problems))
