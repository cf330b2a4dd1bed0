"""Find out which rows of a table are of the same person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.estimators.fitted_cohort import rows_of_the_fit
from clinclust.files.cell_text import canonical_text
from clinclust.files.selection.repeated_subjects import noted_several_rows
from clinclust.nearest import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import FeatureSchema


def persons_of(model: SubtypeModel, frame: pd.DataFrame, given: str | ArrayLike | None) -> NDArray[np.int64] | None:
    """Return the person of each subject, int64 (N,), in the order of the model; None if each row is of another."""
    if given is None:
        given = _column_of_persons(frame, model.schema_)
        if given is None or given not in frame.columns:
            return None
    if isinstance(given, str):
        if given not in frame.columns:
            raise InputError(
                f"persons: the table has no column {given!r}.{did_you_mean(given, map(str, frame.columns))}"
            )
        column = frame[given]
    else:
        column = pd.Series(np.asarray(given).ravel())
        if len(column) != len(frame):
            raise InputError(f"persons must name one person for each row: {len(frame)}, not {len(column)}")
    codes = _numbered(column)
    if np.unique(codes).size == codes.size:
        return None
    if model.fit_ is None:
        return codes
    rows = rows_of_the_fit(model.fit_, frame)
    return codes if rows is None else codes[rows]


def _column_of_persons(frame: pd.DataFrame, schema: FeatureSchema) -> str | None:
    """Return the column that `read_cohort` noted, or, of several identifiers, the repeating one with most values."""
    noted = noted_several_rows(frame)
    if noted is not None:
        return noted.column
    ids = [feature.name for feature in schema.ids if feature.name in frame.columns]
    counts = {name: int(frame[name].nunique()) for name in ids}
    repeating = [name for name in ids if counts[name] < int(frame[name].notna().sum())]
    return max(repeating, key=lambda name: counts[name], default=None) if len(ids) > 1 else None


def _numbered(column: pd.Series) -> NDArray[np.int64]:
    """Return the number of the person of each row, int64 (N,); a row without one is a person of its own."""
    texts = column.map(canonical_text, na_action="ignore")
    texts = texts.mask(texts.astype("string").str.strip().fillna("") == "")
    codes = texts.factorize()[0].astype(np.int64)
    unknown = codes < 0
    codes[unknown] = codes.max(initial=-1) + 1 + np.arange(int(unknown.sum()))
    return codes
