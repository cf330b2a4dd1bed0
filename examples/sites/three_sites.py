"""Three simulated hospitals, and the wire between them and a coordinator, which keeps what was sent."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

import clinclust as cc

N_SUBJECTS = (1_200, 800, 400)
SHARES = ((0.55, 0.35, 0.10, 0.0), (0.40, 0.30, 0.28, 0.02), (0.25, 0.25, 0.30, 0.20))
"""Share of the four groups at each site. The first site, which gives the model, has nobody of the last group."""
YES_OR_NO, MEASURED, COUNTED = 8, 5, 2
SCHEMA = cc.FeatureSchema(
    [
        cc.Feature(name="patient", role="id"),
        *(cc.Feature(name=f"sign{i}", likelihood="bernoulli", levels=("no", "yes")) for i in range(YES_OR_NO)),
        *(cc.Feature(name=f"lab{i}", likelihood="gaussian") for i in range(MEASURED)),
        *(cc.Feature(name=f"count{i}", likelihood="poisson") for i in range(COUNTED)),
    ]
)


def three_tables(seed=0, apart=2.5, scale=1.0):
    """Return the table of each site. Groups are `apart` standard deviations apart in each measurement that differs."""
    rng = np.random.default_rng(seed)
    yes = rng.random((4, YES_OR_NO))
    means = apart * rng.integers(0, 2, (4, MEASURED)) + np.eye(4, MEASURED) * apart
    rates = rng.uniform(0.5, 3.0, (4, COUNTED))
    tables = []
    for number, (n, shares) in enumerate(zip(N_SUBJECTS, SHARES, strict=True)):
        group = rng.choice(4, size=int(scale * n), p=shares)
        columns = {"patient": [f"{'abc'[number]}{row:04d}" for row in range(group.size)]}
        signs = rng.random((group.size, YES_OR_NO)) < yes[group]
        columns |= {f"sign{i}": np.where(signs[:, i], "yes", "no") for i in range(YES_OR_NO)}
        columns |= {f"lab{i}": rng.normal(means[group, i]).round(2) for i in range(MEASURED)}
        columns |= {f"count{i}": rng.poisson(rates[group, i]) for i in range(COUNTED)}
        table = pd.DataFrame(columns)
        features = table.columns[1:]
        table[features] = table[features].mask(rng.random((group.size, len(features))) < 0.05)
        tables.append(table)
    return tables


class Wire:
    """A site that is reached by text: what crosses is JSON, and is kept."""

    def __init__(self, site):
        self.site, self.crossed = site, []

    def ask(self, question, **sent):
        """Send a question as text, and return the answer of the site, which came as text."""
        there = json.dumps(sent, default=_written)
        back = json.dumps(self.site.ask(question, **json.loads(there, object_hook=_read)), default=_written)
        self.crossed.append((question, there, back))
        return json.loads(back, object_hook=_read)


def _written(value):
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "type": value.dtype.str}
    return value.item()


def _read(found):
    return np.array(found["array"], dtype=found["type"]) if found.keys() == {"array", "type"} else found
