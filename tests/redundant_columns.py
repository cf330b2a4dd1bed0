"""Schemas that are declared by what columns hold, for tests that should not depend on a draft."""

import numpy as np
import pandas as pd

from clinclust.drafting.redundancy import redundancies
from clinclust.schema import Feature, FeatureSchema

N = 300


def declared(frame):
    """Return a schema of texts as levels, 0/1 as yes/no and other numbers as measurements."""
    features = []
    for name, column in frame.items():
        values = pd.unique(column.dropna())
        if values.size and isinstance(values[0], str):
            levels = sorted(values)
            fields = {"likelihood": "bernoulli" if len(levels) == 2 else "categorical", "levels": levels}
        else:
            fields = {"likelihood": "bernoulli" if set(values) == {0, 1} else "gaussian"}
        features.append(Feature(name=name, **fields))
    return FeatureSchema(features)


def found_in(columns, roles=()):
    """Return the schema of a table, in which some columns have other roles, and what is found of it."""
    frame = pd.DataFrame(columns)
    schema = declared(frame)
    frame, roles = schema.validate(frame, warn=False), dict(roles)
    schema = FeatureSchema([one.model_copy(update={"role": roles.get(one.name, one.role)}) for one in schema])
    return schema, redundancies(frame, schema)


def numbers(seed=0, scale=10.0, n=N):
    """Return measurements with one decimal."""
    return np.random.default_rng(seed).normal(100.0, scale, n).round(1)
