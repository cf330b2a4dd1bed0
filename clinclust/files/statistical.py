"""Read files of SPSS, Stata and SAS by pyreadstat, with all that they say of their columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.errors import InputError, MissingPackageError
from clinclust.files.cell_text import canonical_text
from clinclust.files.column_notes import ColumnKind, ColumnNotes
from clinclust.files.listed import listed, quoted
from clinclust.files.source import Source
from clinclust.files.text_table import TableRead

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["STATISTICAL", "read_statistical"]

_READERS = {"sav": "read_sav", "por": "read_por", "dta": "read_dta", "sas7bdat": "read_sas7bdat", "xpt": "read_xport"}
STATISTICAL = tuple(_READERS)
"""The kinds of files that this module reads."""
_PROGRAM = {"sav": "SPSS", "por": "SPSS", "dta": "Stata", "sas7bdat": "SAS", "xpt": "SAS"}
_KEEPS_USER_MISSING = ("sav", "dta", "sas7bdat")
_MOST_CELLS_IN_A_BYTE = 2000  # of the best compression
_NOT_SAID = (
    "a portable file of SPSS does not say which values stand for a missing one as it is read here: look for codes such "
    "as 9 or 99, or save it as .sav"
)
_KINDS: dict[str, ColumnKind] = {"nominal": "nominal", "ordinal": "ordinal", "scale": "number"}
_DATES = ("DATE", "ADATE", "EDATE", "SDATE", "JDATE", "DATETIME", "YMDHMS", "MMDDYY", "DDMMYY", "YYMMDD", "%td", "%tc")


def read_statistical(source: Source, kind: str, encoding: str | None) -> TableRead:
    """Read a file of SPSS, Stata or SAS; see `clinclust.read_cohort`.

    Values with labels are read as their labels if every value that occurs has one, and no two have the same; otherwise
    they stay codes. Notes hold both.
    """
    try:
        import pyreadstat
    except ImportError:
        raise MissingPackageError(
            f"reading a file of {_PROGRAM[kind]} needs pyreadstat: pip install 'clinclust[formats]'"
        ) from None
    options: dict[str, Any] = {} if encoding is None else {"encoding": encoding}
    if kind in _KEEPS_USER_MISSING:
        options["user_missing"] = True
    read: Callable[..., Any] = getattr(pyreadstat, _READERS[kind])
    try:
        with source.open() as file:
            _refuse_impossible_size(read(file, metadataonly=True, **options)[1], source)
        with source.open() as file:
            frame, about = read(file, **options)
    except InputError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # pyreadstat raises errors of its own, of pandas and of the codecs
        said = quoted(next(iter(str(error).splitlines()), ""))
        raise InputError(
            f"this file of {_PROGRAM[kind]} cannot be read ({type(error).__name__}: {said}): it is damaged, or in "
            f"another encoding, which --encoding says, such as cp1252; or open it in {_PROGRAM[kind]}, and "
            "export it as .csv"
        ) from None
    return _table(frame, about, kind)


def _refuse_impossible_size(about: Any, source: Source) -> None:
    """Raise InputError if a file says that it has far more cells than its bytes can hold, before memory is taken."""
    n_cells = (about.number_rows or 0) * (about.number_columns or 0)
    if n_cells > _MOST_CELLS_IN_A_BYTE * source.size():
        raise InputError(f"the file says that it has {n_cells:,} cells, which it cannot hold: it is damaged")


def _table(frame: pd.DataFrame, about: Any, kind: str) -> TableRead:
    import pandas as pd

    columns, notes, coded, doubled = {}, [], [], []
    for at, name in enumerate(frame.columns):
        column = _Column(frame.iloc[:, at], str(name), about, kind)
        columns[at] = column.texts()
        notes.append(column.notes())
        if column.is_partly_labelled:
            coded.append(str(name))
        if column.has_equal_labels:
            doubled.append(str(name))
    text = pd.StringDtype(na_value=np.nan)
    table = pd.DataFrame(columns, index=frame.index, dtype=text)
    table.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
    remarks = [_NOT_SAID] if kind == "por" else []
    if coded:
        remarks.append(f"only some values have labels in {listed(coded)}: read as codes")
    if doubled:
        remarks.append(f"two values have the same label in {listed(doubled)}: read as codes")
    missing = [name for name, note in zip(table.columns, notes, strict=True) if note.missing_codes]
    if missing:
        remarks.append(
            f"the file declares values that stand for a missing one in {listed(missing)}: they are kept as they are, "
            "and a drafted schema declares them"
        )
    return TableRead(table, remarks, notes)


class _Column:
    """One column of a file with labels.

    Parameters
    ----------
    values : pandas.Series
    name : str
    about : object
        The metadata of pyreadstat.
    kind : str
    """

    def __init__(self, values: pd.Series, name: str, about: Any, kind: str) -> None:
        self._name, self._about, self._kind = name, about, kind
        self._format = str(about.original_variable_types.get(name) or "")
        self._is_single = about.readstat_variable_types.get(name) == "float"
        labels: Mapping[Any, str] = about.variable_value_labels.get(name, {})
        self._codes = [self._text(value) for value in values.tolist()]
        self._tagged = {self._text(value) for value in about.missing_user_values.get(name, [])}
        self._levels = {self._text(value): str(label).strip() for value, label in labels.items()}
        self._levels = {code: label for code, label in self._levels.items() if code}
        self._observed = {code for code in self._codes if code}
        self._missing = self._missing_codes()
        valid = self._observed - self._missing
        unlabelled = [code for code in valid if not self._levels.get(code)]
        used = [label for code, label in self._levels.items() if code in self._observed]
        self.has_equal_labels = len(set(used)) < len(used)
        self.is_partly_labelled = bool(unlabelled) and any(code in self._levels for code in valid)
        self._reads_labels = bool(valid) and not unlabelled and not self.has_equal_labels

    def _text(self, value: Any) -> str:
        """Return the canonical text of a value; an empty one if it is missing; ``.a`` for a tagged missing value."""
        if value is None or value != value or str(value) == "NaT":
            return ""
        if isinstance(value, str):
            if self._is_numeric and len(value) == 1:
                return f".{value}"
            return value.strip()
        if isinstance(value, float) and self._is_single and not value.is_integer():
            return str(np.float32(value))
        text = canonical_text(value)
        return text.removesuffix(" 00:00:00").removesuffix("T00:00:00")

    @property
    def _is_numeric(self) -> bool:
        return bool(self._about.readstat_variable_types.get(self._name) != "string")

    def _missing_codes(self) -> set[str]:
        """Return the values that the file declares missing: single ones, and those that occur in ranges."""
        missing = set(self._tagged)
        missing |= {
            code
            for code in self._observed
            if self._is_numeric and len(code) == 2 and code[0] == "." and code[1].isalpha()
        }
        for bounds in self._about.missing_ranges.get(self._name, []):
            low, high = bounds["lo"], bounds["hi"]
            if low == high:
                missing.add(self._text(low))
            elif not isinstance(low, str):
                missing |= {code for code in self._observed if _within(code, low, high)}
        return missing

    def _shown(self, code: str) -> str:
        return (self._levels.get(code) or code) if self._reads_labels else code

    def texts(self) -> list[str]:
        """Return the cells: labels if all values have one, otherwise codes."""
        return [self._shown(code) if code else "" for code in self._codes]

    def notes(self) -> ColumnNotes:
        """Return what the file says of the column."""
        label = str(self._about.column_names_to_labels.get(self._name) or "").strip() or None
        return ColumnNotes(
            label=label,
            levels=tuple((code, label) for code, label in self._levels.items() if code not in self._missing),
            kind=self._measured(),
            missing_codes=tuple(dict.fromkeys(self._shown(code) for code in sorted(self._missing))),
        )

    def _measured(self) -> ColumnKind | None:
        shown_as = self._format.upper()
        if self._is_numeric and any(shown_as.startswith(mark.upper()) for mark in _DATES):
            return "date"
        return _KINDS.get(str(self._about.variable_measure.get(self._name)))


def _within(code: str, low: float, high: float) -> bool:
    try:
        return low <= float(code) <= high
    except ValueError:
        return False
