"""A cohort of every kind of feature, with three groups that are easy to tell apart, for the tests of all methods."""

import numpy as np
import pandas as pd

from schemas import stored_schema

SIZES = (40, 30, 20)
SCHEMA = stored_schema("clear_groups")
CLUSTERED = ("gait", "crp", "falls", "tremor", "fatigue", "gene")


def cohort(seed, missing):
    """Return a table of the schema and the group of each row; a share of the clustered values is missing."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(3), SIZES))
    n = group.size
    frame = pd.DataFrame(
        {
            "hospital": np.where(rng.random(n) < 0.5, "north", "south"),
            "gait": rng.normal(8.0 * group, 1.0),
            "crp": np.exp(rng.normal(4.0 * (group == 1), 0.5)),
            "falls": rng.poisson(2 + 40 * (group == 2)).astype(float),
            "tremor": rng.binomial(4, np.array([0.05, 0.5, 0.95])[group]).astype(float),
            "fatigue": np.where(rng.random(n) < np.array([0.1, 0.9, 0.5])[group], "yes", "no"),
            "gene": np.array(["a", "b", "c"])[np.where(rng.random(n) < 0.9, group, rng.integers(3, size=n))],
            "died": np.where(rng.random(n) < 0.2 + 0.2 * group, "yes", "no"),
        },
        index=[f"patient {number}" for number in range(n)],
    )
    columns = list(CLUSTERED)
    frame[columns] = frame[columns].mask(rng.random((n, len(columns))) < missing)
    return frame, group
