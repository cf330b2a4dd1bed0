"""Compare a single column named x, and pick rows of the result."""

import numpy as np
import pandas as pd

from clinclust.comparisons import compare_subtypes
from clinclust.schema import Feature, FeatureSchema


def compared(values, labels, *, likelihood="gaussian", min_size=1, significance_level=0.01, **fields):
    """Comparisons of one column; what is not said about it is the plainest."""
    fields = ({"trials": 10} if likelihood == "binomial" else {}) | fields
    schema = FeatureSchema([Feature(name="x", likelihood=likelihood, **fields)])
    frame = pd.DataFrame({"x": np.asarray(values)})
    return compare_subtypes(frame, np.asarray(labels), schema, min_size=min_size, significance_level=significance_level)


def only(frame, **where):
    """The one row with these values."""
    for column, value in where.items():
        frame = frame[(frame[column] == value).fillna(False)]
    assert len(frame) == 1, f"{len(frame)} rows with {where}"
    return frame.iloc[0]


def interval(frame, measure, subtype=1, versus=2):
    """Estimate, lower and upper end of one effect size."""
    row = only(frame, kind="effect", measure=measure, subtype=subtype, versus=versus)
    return row[["estimate", "lower", "upper"]].to_numpy(dtype=float)
