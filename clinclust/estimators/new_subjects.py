"""Notes on a table of new subjects: what its reader must know before using the subtypes that its rows get.

A cohort with repeated or missing identifiers is refused, because each of its rows must be one subject. New rows may be
several visits of one subject, and a row without identifier still has a subtype, so that these are told and not refused.
No note shows a value of the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.schema.reading import read_column

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.schema import FeatureSchema

__all__ = ["notes_on_new_subjects"]

_SHOWN_ROWS = 5


def notes_on_new_subjects(fit: Fit, frame: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence for each peculiarity of a table of new subjects, with the index labels of the first rows.

    Parameters
    ----------
    fit : Fit
    frame : DataFrame
        A table that `MAPDP.predict` accepts.
    """
    yield from _notes_on_identifiers(fit.schema_, frame)
    names = fit.selected_features_
    if names:
        observed = fit.schema_.restricted_to(names).validate(frame, warn=False).notna().any(axis="columns")
        rows = frame.index[~observed.to_numpy()]
        if len(rows):
            yield (
                f"{_rows(rows)} no observed value in any feature that tells the subtypes apart; their subtype is the "
                "most frequent one, by its size alone"
            )


def _notes_on_identifiers(schema: FeatureSchema, frame: pd.DataFrame) -> Iterator[str]:
    names = [feature.name for feature in schema.ids]
    if not names or any(list(frame.columns).count(name) != 1 for name in names):
        return  # new subjects need no identifier: their rows have numbers
    keys = pd.DataFrame(
        {
            feature.name: read_column(feature, schema.missing_codes_of(feature), frame[feature.name]).typed.to_numpy()
            for feature in schema.ids
        }
    )
    missing = keys.isna().any(axis="columns").to_numpy()
    repeated: NDArray[np.bool_] = keys.duplicated(keep=False).to_numpy() & ~missing
    if missing.any():
        yield f"{_rows(frame.index[missing])} no identifier ({', '.join(names)})"
    if repeated.any():
        yield (
            f"{_rows(frame.index[repeated])} an identifier ({', '.join(names)}) that other rows have too; each row is "
            "assigned by itself"
        )


def _rows(labels: pd.Index) -> str:
    """Return the subject and the verb of a sentence on the rows with these labels."""
    shown = ", ".join(map(str, labels[:_SHOWN_ROWS]))
    return f"1 row ({shown}) has" if len(labels) == 1 else f"{len(labels)} rows (first: {shown}) have"
