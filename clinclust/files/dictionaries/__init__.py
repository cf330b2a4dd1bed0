"""Data dictionaries: what a REDCap project or a codebook says of the columns of a table."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.errors import CohortWarning, InputError
from clinclust.files.cell_text import canonical_text
from clinclust.files.column_notes import ColumnNotes, add_notes
from clinclust.files.dictionaries.codebook import codebook_notes
from clinclust.files.dictionaries.redcap import added_by_redcap, redcap_notes
from clinclust.files.dictionaries.words import CODEBOOK, REDCAP, folded, meanings, rows_of
from clinclust.files.listed import Places, limited, listed, quoted
from clinclust.files.opening import shown_name
from clinclust.nearest import nearest

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dictionary", "note_columns", "read_dictionary"]

_MOST_HINTS = 5  # as many as a message shows; a search among many names takes time


@dataclass(frozen=True)
class Dictionary:
    """What a data dictionary says of a table: notes by column, and remarks, each a sentence."""

    notes: dict[str, ColumnNotes]
    remarks: tuple[str, ...] = ()


def read_dictionary(path: str | os.PathLike[str], columns: Sequence[str], *, sheet: str | None = None) -> Dictionary:
    r"""Read a REDCap data dictionary, or a codebook: a table with a row for each variable, or for each of its levels.

    A REDCap data dictionary is recognised by its headers. A codebook has a column of the names of variables, and
    columns whose headers say in English, German, French or Spanish what they hold: label, unit, values, type, range,
    .... InputError says which rows describe a variable twice or have no name, or that none of the `columns` of the
    table is described.

    >>> from pathlib import Path
    >>> _ = Path("codebook.csv").write_text("variable,values,unit\nsex,1=male; 2=female,\ncrp,,mg/L\n")
    >>> dictionary = read_dictionary("codebook.csv", ["sex", "crp"])
    >>> dictionary.notes["sex"].levels, dictionary.notes["crp"].unit
    ((('1', 'male'), ('2', 'female')), 'mg/L')
    """
    from clinclust.files.tables import read_codebook

    table = read_codebook(path, sheet)
    try:
        return _read(table, [str(column) for column in columns])
    except InputError as error:
        raise InputError(limited(f"the dictionary {shown_name(Path(path))} cannot be used: {error}")) from error


def note_columns(frame: pd.DataFrame, path: str | os.PathLike[str], *, sheet: str | None = None) -> Dictionary:
    """Read a dictionary (see `read_dictionary`) and add its notes to those of a table; warn of each remark."""
    dictionary = read_dictionary(path, list(frame.columns), sheet=sheet)
    for remark in dictionary.remarks:
        warnings.warn(limited(f"{shown_name(Path(path))}: {remark}"), CohortWarning, stacklevel=2)
    add_notes(frame, dictionary.notes)
    return dictionary


def _read(table: pd.DataFrame, columns: list[str]) -> Dictionary:
    headers = [canonical_text(header) for header in table.columns]
    _refuse_the_table(headers, columns)
    places = Places()
    remarks: list[str] = []
    held = meanings(table, REDCAP)
    is_redcap = {"name", "type"} <= {*held} and not {"form", "choices", "validation"}.isdisjoint(held)
    if is_redcap:
        rows = rows_of(table, held)
        said = redcap_notes(rows)
    else:
        held = _columns_of_a_codebook(table, columns)
        unread = [header for header, meaning in zip(headers, held, strict=True) if meaning is None and header]
        remarks += [f"not read, because its headers are not known here: {listed(map(quoted, unread))}"] * bool(unread)
        rows = rows_of(table, held)
        if rows and not {folded(row["name"]) for row in rows} & {*map(folded, columns)}:
            raise _of_another_table(len({row["name"] for row in rows if row["name"]}), columns)
        said = codebook_notes(rows, places)
    if not said:
        raise InputError("it describes no variable")
    names = _matched(said, columns)
    differ = [f"{quoted(column)} ({quoted(name)})" for column, name in names.items() if column != name]
    remarks += places.sentences()
    remarks += [f"taken for the same, though written in another way: {listed(differ)}"] * bool(differ)
    notes = {column: said[name] for column, name in names.items()}
    if is_redcap:
        notes |= added_by_redcap([column for column in columns if column not in notes], [row["form"] for row in rows])
    remarks += _unmatched([name for name in said if name not in names.values()], columns, notes)
    return Dictionary({column: notes[column] for column in columns if column in notes}, tuple(remarks))


def _columns_of_a_codebook(table: pd.DataFrame, columns: list[str]) -> list[str | None]:
    """Return what each column holds; of several for names, the one with most names of columns of the table has them."""
    held = meanings(table, CODEBOOK)
    named = [place for place, meaning in enumerate(held) if meaning == "name"]
    if not named:
        raise InputError(
            f"no column holds the names of variables; its headers are {listed(map(quoted, table.columns))}. Call the "
            "column of the names 'variable', in the first row of the sheet; if the dictionary is on another sheet, "
            "give its `sheet`"
        )
    known = {*map(folded, columns)}
    best = max(named, key=lambda place: len(known & {folded(str(cell)) for cell in table.iloc[:, place].dropna()}))
    return [meaning if meaning != "name" or place == best else None for place, meaning in enumerate(held)]


def _refuse_the_table(headers: list[str], columns: list[str]) -> None:
    """Raise InputError if the headers are those of the table: the cells are then those of patients."""
    shared = set(headers) & set(columns)
    if len(shared) == len(set(headers)) or (len(shared) > 2 and 2 * len(shared) > len(headers)):
        raise InputError(
            f"its headers are columns of the table ({listed(map(quoted, sorted(shared)))}), so it seems "
            "to be a table of subjects; give the file that has a row for each column of the table"
        )


def _matched(said: Collection[str], columns: Sequence[str]) -> dict[str, str]:
    """Return the name in the dictionary of each column: the same, or else the only one but for case and signs."""
    free = [column for column in columns if column not in said]
    left = [name for name in said if name not in set(columns)]
    n_columns, n_names = Counter(map(folded, free)), Counter(map(folded, left))
    name_of = {folded(name): name for name in left if n_names[folded(name)] == 1}
    found = {column: column for column in columns if column in said}
    found |= {column: name_of[key] for column in free if (key := folded(column)) in name_of and n_columns[key] == 1}
    if not found:
        raise _of_another_table(len(said), columns)
    return found


def _of_another_table(count: int, columns: Sequence[str]) -> InputError:
    """Return the error of a dictionary that describes no column; what it holds is not shown: it may be of patients."""
    return InputError(
        f"none of the {count:,} variables that it names is a column of the table, whose columns are "
        f"{listed(map(quoted, columns))}. Give the dictionary of this table, or write the names of the columns into "
        "it; export a REDCap project as raw data, with the names of variables for headers"
    )


def _unmatched(absent: list[str], columns: Sequence[str], noted: Collection[str]) -> list[str]:
    """Return a sentence on the columns without notes, and one on the names that are no columns."""
    strangers = [column for column in columns if column not in noted]
    shown = [
        quoted(name) + (f" (nearest: {quoted(close)})" if (close := nearest(name, absent)) is not None else "")
        for name in strangers[:_MOST_HINTS]
    ]
    remarks = []
    if strangers:
        listing = listed(shown, len(strangers))
        remarks.append(f"columns of the table that are not in it, and are drafted by their values: {listing}")
    if absent:
        remarks.append(f"its variables that are no columns of the table: {listed(map(quoted, absent))}")
    return remarks
