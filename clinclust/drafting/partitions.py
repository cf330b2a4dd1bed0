"""Draft a schema for a table in partitions: from a sample of its rows, and from all rows that the draft refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clinclust.errors import CohortError
from clinclust.progress import Progress
from clinclust.schema.feature_schema import FeatureSchema
from clinclust.schema.partitions import Parts, Sampled, numbered, refuse_failures
from clinclust.schema.reading import text_cells
from clinclust.schema.validation import read_columns, validate

_ROUNDS = 4
_MOST_ROWS = 100
"""Number of different values at fault, by column and partition, whose rows are added to the sample at once."""


class Draft(NamedTuple):
    """A drafted schema."""

    schema: FeatureSchema
    sample: Sampled
    """The rows that it was drafted from."""
    refused: CohortError | None
    """What it does not allow all the same."""


class _Refused(NamedTuple):
    rows: pd.DataFrame
    failures: pd.DataFrame


def draft_of_partitions(table: Any, draft: Callable[[pd.DataFrame], FeatureSchema], *, progress: bool = True) -> Draft:
    """Return the schema that `draft` makes of a sample of a Dask DataFrame.

    All partitions are validated against it. Rows with a value that it does not allow, such as a level outside the
    sample, are added to the sample, and it is drafted again.
    """
    stages = Progress(progress)
    with stages.stage("drawing a sample"):
        parts = Parts(table)
        rows = parts.sample()
    for n_left in reversed(range(_ROUNDS)):
        schema = draft(rows)
        with stages.stage("checking partitions"):
            found = parts.each(_refused, schema=schema)
        more = pd.concat([rows, *(own.rows for own in found if own is not None)])
        more = more[~more.index.duplicated()].sort_index()
        if not n_left or len(more) == len(rows):
            break
        rows = more
    failures = {
        number: None if own is None else own.failures
        for number, own in enumerate(found)
        if parts.first[number] < parts.first[number + 1]
    }
    try:
        refuse_failures(failures)
    except CohortError as error:
        return Draft(schema, Sampled(rows, parts.n_rows), error)
    return Draft(schema, Sampled(rows, parts.n_rows), None)


def _refused(frame: pd.DataFrame, first: int, schema: FeatureSchema) -> _Refused | None:
    """Return what a schema does not allow in a partition, with a row for each value at fault; None if nothing."""
    if not len(frame):
        return None
    try:
        validate(schema, frame, warn=False)
    except CohortError as error:
        at_fault = np.zeros(len(frame), dtype=np.bool_)
        for reading in read_columns(schema, frame)[1].values():
            for faulty in reading.faults.values():
                rows = np.flatnonzero(faulty)
                codes = text_cells(reading.cells.iloc[rows]).codes
                at_fault[rows[np.unique(codes, return_index=True)[1]][:_MOST_ROWS]] = True
        ids = [feature.name for feature in schema.ids if feature.name in frame]
        if ids:
            at_fault[np.flatnonzero(frame.duplicated(ids, keep=False))[:_MOST_ROWS]] = True
        return _Refused(numbered(frame, first)[at_fault], error.failures)
    return None
