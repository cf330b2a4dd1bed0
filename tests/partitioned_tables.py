"""A table in partitions, and a quick estimator, for the tests of both."""

import numpy as np
import pandas as pd
import pytest

import clinclust as cc

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

N, LEVELS, IDS = 1_200, ("a", "b", "c"), ("patient",)


def a_table(seed=3, n=N):
    rng = np.random.default_rng(seed)
    groups = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    yes = rng.random((3, 8))
    columns = {f"yes{i}": (rng.random(n) < yes[groups, i]).astype(float) for i in range(8)}
    columns |= {f"y{i}": rng.normal(2.5 * (groups == i)) for i in range(3)}
    columns["falls"] = rng.poisson(1 + 2 * groups).astype(float)
    frame = pd.DataFrame(columns).mask(rng.random((n, 12)) < 0.05)
    frame["named"] = np.array(LEVELS)[groups]
    frame.insert(0, "patient", [f"p{number:05d}" for number in range(n)])
    features = [cc.Feature(name=f"yes{i}", likelihood="bernoulli") for i in range(8)]
    features += [cc.Feature(name=f"y{i}", likelihood="gaussian") for i in range(3)]
    features += [cc.Feature(name="falls", likelihood="poisson")]
    features += [cc.Feature(name="named", likelihood="categorical", levels=LEVELS)]
    return frame, cc.FeatureSchema([cc.Feature(name="patient", role="id"), *features])


def in_partitions(*frames):
    return dd.from_delayed([dask.delayed(frame) for frame in frames], verify_meta=False)


def cut(frame, n):
    return [frame.iloc[rows] for rows in np.array_split(np.arange(len(frame)), n)]


def an_estimator(schema, **parameters):
    given = {"random_state": 0, "progress": False, "n_jobs": 1, "n_restarts": 4}
    return cc.methods.PublishedMAPDP(schema, **(given | parameters))
