"""Write the subtype of each subject as a csv file for other programs."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.estimators.explanation import reasons_of_cohort
from clinclust.estimators.fitted_cohort import FittedCohort
from clinclust.estimators.memberships import NONE_COLUMN, subtype_columns
from clinclust.files.writing import atomic_write
from clinclust.reporting.continuum_score import CONTINUUM_SCORE, find_continuum
from clinclust.reporting.divisions import n_parted
from clinclust.schema import FeatureSchema

# The rule: an apostrophe is put before each character that could begin a formula. It could where the text begins, and
# after a comma, semicolon, bar, tab or line break inside, where a program may divide the field that takes another
# separator or ignores the quotes. White space, quotes and characters that are not seen may come between. `=`, `@`, `+`
# and `-` begin formulas, and so do their wide and small forms; a signed number stays as it is.
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
) -> pd.DataFrame:
    """Return one row for each subject: its identifiers, its subtype (from 1; 0: none of these) and the probabilities.

    `labels` (N,) are from 0, -1 = none of these; `membership` is (N, K). `assigned`, bool (rows of `frame`,), says
    which subjects these are of; `described_only`, bool (K,), marks subtypes with too few subjects to be tested. The
    columns are the same whatever is given, so that a program can read any such table.
    """
    n, n_subtypes = membership.shape
    of_each = dict(zip(subtype_columns(n_subtypes), membership.T, strict=True))
    of_each[NONE_COLUMN] = np.zeros(n) if none_of_these is None else none_of_these
    every = np.column_stack(list(of_each.values()))
    few = np.zeros(n_subtypes + 1, dtype=np.bool_) if described_only is None else np.append(described_only, False)
    found = pd.DataFrame(
        {
            "subtype": pd.array(labels + 1, dtype="Int64"),
            "probability": every[np.arange(n), labels],  # the label -1 indexes the last column, none of these
            "assigned": "yes",
            "few_subjects": np.where(few[labels], "yes", "no"),
            **of_each,
            CONTINUUM_SCORE: np.full(n, np.nan) if continuum_score is None else continuum_score,
            SPEAKS_FOR_IT: [""] * n if reasons is None else list(reasons),
        }
    )
    if assigned is not None:
        found = found.set_axis(np.flatnonzero(assigned), axis="index").reindex(np.arange(assigned.size))
        found["assigned"] = np.where(assigned, "yes", "no")
    # A name that two columns of the table share does not identify a column, so it is left out.
    names = [feature.name for feature in schema.ids if list(frame.columns).count(feature.name) == 1]
    identifiers = {f"{name}_id" if name in found else name: frame[name].to_numpy() for name in names}
    return pd.concat([pd.DataFrame(identifiers or {"row": frame.index.to_numpy()}), found], axis="columns")


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
        reasons=reasons_of_cohort(fit, cohort.table) if explained else None,
    )


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
