"""Tables of one row a subject: assignments, and completed tables."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Code
from clinclust.errors import CohortError, InputError
from clinclust.estimators.explanation import CONTINUUM_SCORE, find_continuum, name_reasons
from clinclust.estimators.mapdp import MAPDP, NONE_OF_THESE, notes_on_new_subjects, rows_at_fault, without_unseen
from clinclust.estimators.subtype_model import NONE_COLUMN, FittedCohort, subtype_columns
from clinclust.files.writing import atomic_write
from clinclust.reporting.divisions import n_parted
from clinclust.schema import FeatureSchema

# Write the subtype of each subject as a csv file for other programs.

# The rule: an apostrophe is put before each character that could begin a formula. It could where the text begins, and
# after a comma, semicolon, bar, tab or line break inside, where a program may divide the field that takes another
# separator or ignores the quotes. White space, quotes and characters that are not seen may come between. `=`, `@`, `+`
# and `-` begin formulas, and so do their wide and small forms; a signed number stays unchanged.
_UNSEEN = "\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
_PLACE = rf"(?:^|[,;|\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029])[\s\"'{_UNSEEN}]*+"
_SIGNED_NUMBER = r"[+-](?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?=$|[,;|\t\n\r])"
_START = rf"(?!{_SIGNED_NUMBER})[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋]"
_LIVE = re.compile(rf"({_PLACE})(?={_START})")
SPEAKS_FOR_IT = "speaks_for_it"
"""Name of the column that says which features speak for the subtype of a subject."""
_NEEDS_QUOTES = re.compile('[",\r\n]|^\ufeff')  # a byte-order mark without a quote before it is read as none


def inert_text(text: str) -> str:
    """Return the text with an apostrophe before each character that could begin a formula."""
    return _LIVE.sub(r"\1'", text)


def assignment_table(
    frame: pd.DataFrame,
    schema: FeatureSchema,
    labels: NDArray[np.int64],
    membership: NDArray[np.float64],
    none_of_these: NDArray[np.float64] | None = None,
    assigned: NDArray[np.bool_] | None = None,
    continuum_score: NDArray[np.float64] | None = None,
    described_only: NDArray[np.bool_] | None = None,
    reasons: Sequence[str] | None = None,
    codes: Sequence[Code] | None = None,
) -> pd.DataFrame:
    """Return one row for each subject: its identifiers, its subtype (0: none of these) and the probabilities.

    `labels` (N,) are from 0, -1 = none of these; `codes` (K,) are what the subtypes are called, by default 1 .. K;
    `membership` is (N, K). `assigned`, bool (rows of `frame`,), says which subjects these are of; `described_only`,
    bool (K,), marks subtypes with too few subjects to be tested. The columns are the same whatever is given, so that a
    program can read any such table.
    """
    n, n_subtypes = membership.shape
    codes = range(1, n_subtypes + 1) if codes is None else codes
    of_each = dict(zip(subtype_columns(codes), membership.T, strict=True))
    of_each[NONE_COLUMN] = np.zeros(n) if none_of_these is None else none_of_these
    every = np.column_stack(list(of_each.values()))
    few = np.zeros(n_subtypes + 1, dtype=np.bool_) if described_only is None else np.append(described_only, False)
    has_grades = isinstance(codes[0], str)
    table = pd.DataFrame(
        {
            "subtype": pd.array(np.array([*codes, 0])[labels], dtype="string" if has_grades else "Int64"),
            "probability": every[np.arange(n), labels],  # the label -1 indexes the last column, none of these
            "assigned": "yes",
            "few_subjects": np.where(few[labels], "yes", "no"),
            **of_each,
            CONTINUUM_SCORE: np.full(n, np.nan) if continuum_score is None else continuum_score,
            SPEAKS_FOR_IT: [""] * n if reasons is None else list(reasons),
        }
    )
    if assigned is not None:
        table = table.set_axis(np.flatnonzero(assigned), axis="index").reindex(np.arange(assigned.size))
        table["assigned"] = np.where(assigned, "yes", "no")
    # A name that two columns of the table share does not identify a column, so it is left out.
    names = [feature.name for feature in schema.ids if list(frame.columns).count(feature.name) == 1]
    identifiers = {f"{name}_id" if name in table else name: frame[name].to_numpy() for name in names}
    return pd.concat([pd.DataFrame(identifiers or {"row": frame.index.to_numpy()}), table], axis="columns")


def tabulate_assignments(cohort: FittedCohort, *, explained: bool = False) -> pd.DataFrame:
    """Return the assignment table of a fit; with `explained`, also the features that speak for the subtype of each."""
    fit = cohort.fit
    return assignment_table(
        cohort.table,
        cohort.schema,
        cohort.labels,
        fit.membership_,
        continuum_score=find_continuum(cohort).score if n_parted(fit) == 1 else None,
        described_only=fit.untested_,
        reasons=name_reasons(cohort.fit, cohort.table, cohort) if explained else None,
        codes=fit.codes_,
    )


def tabulate_new_subjects(
    model: MAPDP, frame: pd.DataFrame, *, take_for_missing: bool = False, explained: bool = False
) -> tuple[pd.DataFrame, CohortError | None, list[str]]:
    """Return the assignment table of new subjects, the error of those not assigned, and notes on their table.

    Subjects with values that the model does not know are not assigned, unless these are to `take_for_missing`;
    CohortError if no subject can be assigned.
    """
    schema, notes = model.schema_needed, []
    assignable = frame
    if take_for_missing:
        assignable, _, note = without_unseen(schema, frame)
        notes = [note] * bool(note)
    at_fault, error = rows_at_fault(schema, assignable)
    is_part = bool(at_fault.any() and not at_fault.all())
    assignable = assignable[~at_fault] if is_part else assignable
    probabilities = model.predict_proba(assignable)
    labels = probabilities.argmax(axis=1)
    table = assignment_table(
        frame,
        model.schema_,
        np.where(labels == model.n_clusters_, NONE_OF_THESE, labels),
        probabilities[:, :-1],
        probabilities[:, -1],
        ~at_fault if is_part else None,
        described_only=model.untested_,
        reasons=name_reasons(model.fit_, schema.validate(assignable, warn=False)) if explained else None,
        codes=model.codes_,
    )
    return table, error if is_part else None, [*notes, *notes_on_new_subjects(model.schema_, assignable)]


def write_inert_csv(table: pd.DataFrame, target: str | os.PathLike[str] | TextIO) -> None:
    """Write a table as csv to a file or stream, so that no text is read as a formula (see `inert_text`)."""
    columns = [_fields(table.iloc[:, place]) for place in range(table.shape[1])]
    lines = (",".join(fields) + "\n" for fields in zip(*columns, strict=True))
    header = ",".join(_field(str(name)) for name in table.columns) + "\n"
    if isinstance(target, str | os.PathLike):
        with atomic_write(target) as path, path.open("w", encoding="utf-8", newline="\n") as file:
            file.write(header)
            file.writelines(lines)
    else:
        target.write(header)
        target.writelines(lines)


def _fields(column: pd.Series) -> list[str]:
    missing = column.isna().to_numpy()
    is_number = pd.api.types.is_numeric_dtype(column)
    texts = (str(value) if is_number else _field(str(value)) for value in column.tolist())
    return ["" if absent else text for absent, text in zip(missing, texts, strict=True)]


def _field(text: str) -> str:
    text = inert_text(text)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


# Tables with missing values filled in, as files: with what was filled in each row.

IMPUTATION, FILLED = "imputation", "filled_columns"
"""Columns that are added: the number of the table, from 1, and the names of the columns filled in this row."""
SUFFIXES = (".csv", ".xlsx", ".parquet")
_DIGITS = 6
_MOST_ROWS = 1_048_576


def problems_of_file(path: Path, n_rows: int) -> list[str]:
    """Return why a file of this name cannot hold so many rows."""
    suffix = path.suffix.lower()
    if suffix == ".xlsx" and n_rows >= _MOST_ROWS:
        return [f"{path} would have {n_rows:,} rows, and a sheet holds {_MOST_ROWS - 1:,}; write .csv or .parquet"]
    if suffix == ".parquet" and find_spec("pyarrow") is None:
        return [f"{path} needs the package pyarrow: pip install pyarrow; or write .csv"]
    return []


def completed_table(
    frame: pd.DataFrame, schema: FeatureSchema, tables: Sequence[pd.DataFrame]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the table as it was read with its missing cells filled, once for each imputation, one below the other.

    Columns that the schema does not model stay as they were read; the cells of others are those that it validates. The
    second table says how many cells of each column are filled in each, of how many rows.
    """
    names = [repr(name) for name in (IMPUTATION, FILLED) if name in frame]
    if names:
        raise InputError(f"the table has a column {' and a column '.join(names)}, which is added; rename it")
    seen = schema.validate(frame, warn=False)
    missing = {
        feature.name: np.flatnonzero(seen[feature.name].isna() & tables[0][feature.name].notna())
        for feature in schema.reported
    }
    fills = np.array([""] * len(frame), dtype=object)
    for name, rows in missing.items():
        fills[rows] = [f"{before}; {name}" if before else name for before in fills[rows]]
    sources = []
    for number, table in enumerate(tables, start=1):
        filled = frame.copy()
        for name, rows in missing.items():
            column = table[name].copy()
            if pd.api.types.is_float_dtype(column):  # drawn numbers have six digits
                texts = [f"{cell:.{_DIGITS}g}" for cell in column.iloc[rows]]
                if np.isinf(column).any():  # those beyond a limit of detection are written as an observed one is
                    limits = {f"{end:g}": frame.loc[(seen[name] == end).to_numpy(), name] for end in (-np.inf, np.inf)}
                    texts = [str(limits[text].iloc[0]) if text in limits else text for text in texts]
                    column = frame[name].map(str)
                column.iloc[rows] = np.array(texts, dtype=np.float64) if column.dtype == np.float64 else texts
            filled[name] = column
        filled.insert(0, IMPUTATION, number)
        filled[FILLED] = fills
        sources.append(filled)
    counts = [(name, rows.size, len(frame)) for name, rows in missing.items() if rows.size]
    return pd.concat(sources), pd.DataFrame(counts, columns=["column", "filled", "rows"])


def write_completed(table: pd.DataFrame, counts: pd.DataFrame, path: Path) -> None:
    """Write the table of `completed_table` as csv or parquet, or with the counts as a workbook."""
    if path.suffix.lower() == ".csv":
        write_inert_csv(table, path)
    elif path.suffix.lower() == ".parquet":
        with atomic_write(path) as target:
            table.to_parquet(target, index=False)
    else:
        with atomic_write(path) as target, pd.ExcelWriter(target, engine="openpyxl") as book:
            for name, sheet in {"Completed": table, "Filled": counts}.items():
                sheet.to_excel(book, sheet_name=name, index=False, freeze_panes=(1, 0))
                for cell in (cell for row in book.sheets[name].iter_rows() for cell in row if cell.data_type == "f"):
                    cell.data_type = "s"  # no text is a formula
