"""Read files of SPSS, Stata and SAS by pyreadstat, with all that they say of their columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.errors import InputError
from clinclust.files.cell_text import canonical_text, number_of
from clinclust.files.column_notes import ColumnKind, ColumnNotes
from clinclust.files.listed import listed
from clinclust.files.packed import Source
from clinclust.files.reading_packages import guarded, package
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
_DATES = ("DATE", "ADATE", "EDATE", "SDATE", "JDATE", "DATETIME", "YMDHMS", "MMDDYY", "DDMMYY", "YYMMDD", "%TD", "%TC")


def read_statistical(source: Source, kind: str, encoding: str | None) -> TableRead:
    """Read a file of SPSS, Stata or SAS; see `clinclust.read_cohort`.

    Values with labels are read as their labels if every value that occurs has one, and no two have the same; otherwise
    they stay codes. Notes hold both.
    """
    pyreadstat = package("pyreadstat", f"a file of {_PROGRAM[kind]}")
    options: dict[str, Any] = {} if encoding is None else {"encoding": encoding}
    if kind in _KEEPS_USER_MISSING:
        options["user_missing"] = True
    read: Callable[..., Any] = getattr(pyreadstat, _READERS[kind])
    repair = (
        "it is damaged, or in another encoding, which --encoding says, such as cp1252; or open it in "
        f"{_PROGRAM[kind]}, and export it as .csv"
    )
    with guarded(f"file of {_PROGRAM[kind]}", repair):
        with source.open() as file:
            _refuse_impossible_size(read(file, metadataonly=True, **options)[1], source)
        with source.open() as file:
            frame, about = read(file, **options)
    return _table(frame, about, kind)


def _refuse_impossible_size(about: Any, source: Source) -> None:
    """Raise InputError if a file says that it has far more cells than its bytes can hold, before memory is taken."""
    n_cells = (about.number_rows or 0) * (about.number_columns or 0)
    if n_cells > _MOST_CELLS_IN_A_BYTE * source.size():
        raise InputError(f"the file says that it has {n_cells:,} cells, which it cannot hold: it is damaged")


def _table(frame: pd.DataFrame, about: Any, kind: str) -> TableRead:
    import pandas as pd

    names = [str(name) for name in frame.columns]
    columns = [_Column(frame.iloc[:, at], name, about) for at, name in enumerate(names)]
    texts = {at: column.texts() for at, column in enumerate(columns)}
    table = pd.DataFrame(texts, index=frame.index, dtype=pd.StringDtype(na_value=np.nan))
    table.columns = pd.Index(names, dtype=object)
    notes = [column.notes() for column in columns]
    remarks = [_NOT_SAID] if kind == "por" else []
    for told, which in (
        ("only some values have labels in {}: read as codes", [column.is_partly_labelled for column in columns]),
        ("two values have the same label in {}: read as codes", [column.has_equal_labels for column in columns]),
        (
            "the file declares values that stand for a missing one in {}: they are kept as they are, and a drafted "
            "schema declares them",
            [bool(note.missing_codes) for note in notes],
        ),
    ):
        if any(which):
            remarks.append(told.format(listed(compress(names, which))))
    return TableRead(table, remarks, notes)


class _Column:
    """One column of a file with labels, of which `about` is what pyreadstat says of the file."""

    def __init__(self, values: pd.Series, name: str, about: Any) -> None:
        stored = about.readstat_variable_types.get(name)
        self._is_numeric, self._is_single = stored != "string", stored == "float"
        self._label = str(about.column_names_to_labels.get(name) or "").strip() or None
        self._kind = _KINDS.get(str(about.variable_measure.get(name)))
        if self._is_numeric and str(about.original_variable_types.get(name) or "").upper().startswith(_DATES):
            self._kind = "date"
        self._codes = [self._text(value) for value in values.tolist()]
        observed = set(self._codes) - {""}
        labels: Mapping[Any, str] = about.variable_value_labels.get(name, {})
        levels = {self._text(value): str(label).strip() for value, label in labels.items()}
        self._levels = {code: label for code, label in levels.items() if code}
        self._missing = {self._text(value) for value in about.missing_user_values.get(name, [])}
        if self._is_numeric:  # .a, as Stata and SAS tag a missing value
            self._missing |= {code for code in observed if len(code) == 2 and code[0] == "." and code[1].isalpha()}
        for bounds in about.missing_ranges.get(name, []):
            low, high = bounds["lo"], bounds["hi"]
            if low == high:
                self._missing.add(self._text(low))
            elif not isinstance(low, str):
                self._missing |= {code for code in observed if low <= number_of(code) <= high}
        valid = observed - self._missing
        unlabelled = [code for code in valid if not self._levels.get(code)]
        used = [label for code, label in self._levels.items() if code in observed]
        self.has_equal_labels = len(set(used)) < len(used)
        self.is_partly_labelled = bool(unlabelled) and not valid.isdisjoint(self._levels)
        self._reads_labels = bool(valid) and not unlabelled and not self.has_equal_labels

    def _text(self, value: Any) -> str:
        """Return the canonical text of a value; an empty one if it is missing; ``.a`` for a tagged missing value."""
        if value is None or value != value or str(value) == "NaT":
            return ""
        if isinstance(value, str):
            return f".{value}" if self._is_numeric and len(value) == 1 else value.strip()
        if isinstance(value, float) and self._is_single and not value.is_integer():
            return str(np.float32(value))
        return canonical_text(value).removesuffix(" 00:00:00").removesuffix("T00:00:00")

    def _shown(self, code: str) -> str:
        return (self._levels.get(code) or code) if self._reads_labels else code

    def texts(self) -> list[str]:
        """Return the cells: labels if all values have one, otherwise codes."""
        return [self._shown(code) if code else "" for code in self._codes]

    def notes(self) -> ColumnNotes:
        """Return what the file says of the column."""
        return ColumnNotes(
            label=self._label,
            levels=tuple((code, label) for code, label in self._levels.items() if code not in self._missing),
            kind=self._kind,
            missing_codes=tuple(dict.fromkeys(self._shown(code) for code in sorted(self._missing))),
        )
