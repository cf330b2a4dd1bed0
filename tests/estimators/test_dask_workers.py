"""A fit and a comparison in a task of a Dask worker: they wait for no other worker."""

import numpy as np
import pandas as pd
import pytest

import clinclust as cc

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")


def distinct(model, frame):
    return cc.distinct_subtypes(model, frame, n_draws=20, n_jobs=1).test.joins


@pytest.mark.simulation
def test_fits_on_workers_do_not_wait_for_workers():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 90)
    frame = pd.DataFrame({f"y{i}": rng.normal(2.5 * (groups == i % 3)) for i in range(4)})
    frame["age"] = rng.normal(60 + groups, 5)
    features = [cc.Feature(name=f"y{i}", likelihood="gaussian") for i in range(4)]
    schema = cc.FeatureSchema([*features, cc.Feature(name="age", likelihood="gaussian", role="describe")])
    model = cc.MAPDP(schema, random_state=0, n_jobs=1, n_restarts=2, calibrate=False, progress=False).fit(frame)
    alone = distinct(model, frame)
    given = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**given) as cluster, distributed.Client(cluster) as client:
        on_a_worker = client.submit(distinct, model, frame)
        pd.testing.assert_frame_equal(on_a_worker.result(timeout=600), alone)
        table = dd.from_pandas(frame, npartitions=2)
        labels = dd.from_pandas(pd.Series(model.labels_), npartitions=2)
        compared = client.submit(cc.compare_subtypes, table, labels, model.schema_).result(timeout=600)
    assert compared["subtype"].max() == model.n_clusters_
