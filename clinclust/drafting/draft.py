"""Propose a feature schema for a table, with a reason for each feature."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from clinclust.drafting.declaration import about
from clinclust.drafting.from_notes import declared
from clinclust.drafting.likelihood_choice import Draft, likelihood_of_numbers, likelihood_of_texts
from clinclust.drafting.missing_codes import suspected_codes
from clinclust.drafting.noted_columns import completed
from clinclust.drafting.noted_numbers import is_missing_code
from clinclust.errors import CohortError, SchemaError
from clinclust.files.cell_text import numbers_of, shortened
from clinclust.files.column_notes import ColumnNotes, notes_of
from clinclust.schema.failures import Failure, failures_frame
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema
from clinclust.schema.reading import read_column, text_cells
from clinclust.schema.validation import refuse_unusable

__all__ = ["draft_schema"]

_ID_NAME = re.compile(
    r"(?:.*[_ .-])?(?:id|ids|nr|no|number|mrn|key|uuid|pid|identifier)"
    r"|(?:.*[_ .-])?(?:patient|subject|participant|record|case|person|study)[_ .-]?(?:id|nr|no|number|code)?",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?:[T ].*)?|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}(?: .*)?"
)
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+(?:,[0-9]+)?")
_SHARE_OF_AN_ID = 0.9
_FEWEST_FOR_AN_ID = 20  # with fewer rows all values often differ by chance


def draft_schema(frame: pd.DataFrame) -> FeatureSchema:
    """Propose a schema for a table, as a starting point to read and correct. The table is valid under it.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (N, D)
        One row per subject, as text (from `read_cohort`) or typed. What its file or a dictionary says of its columns
        (`clinclust.files.column_notes`) decides, as far as the values agree with it.

    Returns
    -------
    FeatureSchema
        One feature per column. The attribute `comments` holds the reason for each, which `to_yaml` writes above the
        feature. Likelihoods are compared by the log marginal of all subjects in one cluster.

    Raises
    ------
    TypeError
        If `frame` is not a DataFrame.
    CohortError
        If the table has no rows or no columns, or if a column name is empty, repeated or not text.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> gait = np.random.default_rng(0).normal(1.1, 0.2, 100)
    >>> cohort = pd.DataFrame({"sex": ["f", "m"] * 50, "gait": gait})
    >>> schema = cc.draft_schema(cohort)
    >>> [(feature.name, feature.likelihood) for feature in schema.features]
    [('sex', 'bernoulli'), ('gait', 'gaussian')]
    >>> schema.comments["sex"]
    "two values, of which 'm' counts as yes (swap the levels to change that)"
    """
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame: draft_schema needs a pandas DataFrame, not {type(frame).__name__}")
    refuse_unusable(frame)
    _refuse_names(frame)
    notes = notes_of(frame)
    frame = frame.copy(deep=False)
    frame.attrs = {}  # pandas copies them whenever a column is taken
    features, comments = [], {}
    with np.errstate(all="ignore"):  # numbers may be of any size; a log marginal that is not finite is never chosen
        for name in frame.columns:
            feature, reason = _draft(str(name), frame[name], notes.get(str(name), ColumnNotes()))
            features.append(feature)
            comments[feature.name] = reason
    schema = FeatureSchema(features)
    schema.comments.update(comments)
    return schema


def _refuse_names(frame: pd.DataFrame) -> None:
    failures = []
    if frame.columns.empty:
        repair = "Check how the file was read."
        failures.append(Failure("the table", "at least one column; it has none", repair=repair))
    repeated = set(frame.columns[frame.columns.duplicated()])
    for name in dict.fromkeys(frame.columns):
        if not isinstance(name, str) or not name.strip():
            repair = "Rename it, for instance: frame.columns = [f'column_{i}' for i in range(frame.shape[1])]"
            failures.append(Failure(str(name), "a column name that is text", repair=repair))
        elif name in repeated:
            repair = "Rename or drop all but one of them."
            failures.append(Failure(name, "one column of this name", repair=repair))
    if failures:
        raise CohortError(failures_frame(failures))


def _draft(name: str, column: pd.Series, notes: ColumnNotes) -> tuple[Feature, str]:
    fields, reason = _propose(name, column, notes)
    try:
        feature = Feature(name=name, **fields)
        codes = ("", *feature.missing_codes)
        sound = feature.role == "ignore" or not read_column(feature, codes, column).faults
    except SchemaError as error:
        if "name" in [field for field, _ in getattr(error, "by_field", [])]:
            raise
        sound = False
    if sound:
        return feature, reason
    if fields.get("role") == "id":
        told = f"{reason}; rows without an identifier: fill them in, and give role: id"
        return Feature(name=name, role="ignore"), told
    return Feature(name=name, role="ignore"), f"no likelihood can read this column as it is ({reason})"


def _propose(name: str, column: pd.Series, notes: ColumnNotes) -> Draft:
    """Return the fields of a feature for the column, and the reason for them."""
    counted = _counted(column)
    said = declared(notes, list(counted), np.array(list(counted.values()), dtype=np.int64))
    if said is None:
        return _propose_by_values(name, column, counted)
    if said.kind == "number" and _ID_NAME.fullmatch(name) and _is_identifier(name, column, list(counted)):
        told = f"{said.reason}; but every row has its own number, so it names the subject"
        return {**about(notes), "role": "id"}, told
    if said.kind != "open":
        return completed(said, counted)
    codes = tuple(said.fields.get("missing_codes", ()))
    observed = {text: count for text, count in counted.items() if not is_missing_code(text, codes)}
    return completed(said, counted, _propose_by_values(name, column, observed))


def _counted(column: pd.Series) -> dict[str, int]:
    """Return the texts of a column that are not empty, with the number of cells that hold each."""
    cells = text_cells(column)
    counted: dict[str, int] = {}
    per_text = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.texts))
    for text, count in zip(cells.texts, per_text, strict=True):
        if text and count:  # cells that differ only in outer white space are one text
            counted[text] = counted.get(text, 0) + int(count)
    return counted


def _propose_by_values(name: str, column: pd.Series, counted: dict[str, int]) -> Draft:
    codes, remark = suspected_codes(list(counted), np.array(list(counted.values()), dtype=np.int64))
    seen = {text: count for text, count in counted.items() if text not in codes}
    texts, counts = list(seen), np.array(list(seen.values()), dtype=np.int64)
    if not texts:
        return {"role": "ignore"}, _joined("no observed value", remark)
    if len(texts) == 1:
        same = f"the same value in every subject observed: {shortened(texts[0])!r}"
        return {"role": "ignore"}, _joined(same, remark)
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or all(map(_DATE.fullmatch, texts)):
        return {"role": "ignore"}, "dates: compute what matters from them, such as a duration in years"
    if _is_identifier(name, column, texts):
        return {"role": "id"}, "every row has its own value, so it names the subject"
    if _was_identifier(name, column, texts):
        return {"role": "ignore"}, (
            f"an identifier by its name, but {len(texts)} different values in {len(column)} rows: look for rows that "
            "are repeated, empty or no subject, and give role: id"
        )
    numbers = numbers_of(texts)
    if np.isfinite(numbers).all():
        fields, reason = likelihood_of_numbers(texts, numbers, counts)
    elif all(map(_DECIMAL_COMMA.fullmatch, texts)):
        return {"role": "ignore"}, "numbers with a decimal comma: replace it by a point and draft again"
    else:
        fields, reason = likelihood_of_texts(texts, counts)
    return ({**fields, "missing_codes": codes} if codes else fields), _joined(reason, remark)


def _is_identifier(name: str, column: pd.Series, texts: list[str]) -> bool:
    """Return whether the column identifies subjects.

    All values must differ. Numbers must also be whole, and consecutive or in a column with the name of an identifier.
    Texts must be in such a column, or all be short and without spaces. Without such a name, the column needs at least
    20 rows.
    """
    if len(texts) != len(column):
        return False
    numbers = numbers_of(texts)
    if np.isfinite(numbers).all():
        whole = bool((np.floor(numbers) == numbers).all())
        consecutive = len(texts) >= _FEWEST_FOR_AN_ID and numbers.max() - numbers.min() == len(numbers) - 1
        return whole and (consecutive or _ID_NAME.fullmatch(name) is not None)
    if _ID_NAME.fullmatch(name):
        return True
    return len(texts) >= _FEWEST_FOR_AN_ID and not any(" " in text or len(text) > 40 for text in texts)


def _was_identifier(name: str, column: pd.Series, texts: list[str]) -> bool:
    """Return whether a column has the name of an identifier, and nearly every row has a value of its own."""
    if _ID_NAME.fullmatch(name) is None or len(texts) < _SHARE_OF_AN_ID * len(column):
        return False
    numbers = numbers_of(texts)
    return not np.isfinite(numbers).all() or bool((np.floor(numbers) == numbers).all())


def _joined(reason: str, remark: str) -> str:
    return f"{reason}; {remark}" if remark else reason
