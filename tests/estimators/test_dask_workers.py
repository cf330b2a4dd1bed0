"""Many fits on the workers of a Dask client: the same bits as on threads."""

import os
import pickle
import signal
from concurrent.futures import Future

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.engine.search import plan
from clinclust.stability import assess_stability

distributed = pytest.importorskip("distributed")
joblib = pytest.importorskip("joblib")
cloudpickle = pytest.importorskip("cloudpickle")
dd = pytest.importorskip("dask.dataframe")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 90)
    frame = pd.DataFrame({f"y{i}": rng.normal(2.5 * (groups == i % 3)) for i in range(4)})
    frame["age"] = rng.normal(60 + groups, 5)
    features = [cc.Feature(name=f"y{i}", likelihood="gaussian") for i in range(4)]
    schema = cc.FeatureSchema([*features, cc.Feature(name="age", likelihood="gaussian", role="describe")])
    return cc.MAPDP(schema, random_state=0, n_jobs=1, n_restarts=2, calibrate=False, progress=False).fit(frame), frame


def distinct(model, frame):
    return cc.distinct_subtypes(model, frame, n_draws=20, n_jobs=1).test.joins


def stability(model, frame):
    return assess_stability(model, frame, 3, n_jobs=1, progress=False).subtypes


def associations(model, frame):
    return cc.validated_associations(model, frame, n_jobs=1, progress=False)


def draws(model, frame):
    sampler = cc.GibbsDP.of(model, random_state=0, n_jobs=1, progress=False, max_sweeps=100)
    return pd.DataFrame(sampler.fit(frame).draws_)


MANY_FITS = (distinct, stability, associations, draws)


def count_submissions(monkeypatch, then=lambda number: None):
    submitted, submit = [], plan.Workers.submit

    def counted(self, function, /, *args, **kwargs):
        submitted.append(function)
        future = submit(self, function, *args, **kwargs)
        then(len(submitted))
        return future

    monkeypatch.setattr(plan.Workers, "submit", counted)
    return submitted


class Elsewhere:
    """A client whose worker gets everything as bytes."""

    def get_executor(self, **_):
        return self

    def submit(self, function, *args):
        future, (function, args) = Future(), pickle.loads(cloudpickle.dumps((function, args)))
        future.set_result(function(*args))
        return future

    def shutdown(self, wait=True):
        """End; there is nothing to wait for."""


def test_work_that_is_sent_elsewhere_comes_back_with_the_same_bits(fitted, monkeypatch):
    alone = distinct(*fitted)
    monkeypatch.setattr(plan, "_client_of_joblib", Elsewhere)
    submitted = count_submissions(monkeypatch)
    pd.testing.assert_frame_equal(distinct(*fitted), alone)
    assert submitted


@pytest.mark.simulation
def test_workers_are_used_where_joblib_is_told_to_use_dask(fitted, monkeypatch):
    submitted = count_submissions(monkeypatch)
    alone = distinct(*fitted)
    given = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**given) as cluster, distributed.Client(cluster):
        pd.testing.assert_frame_equal(distinct(*fitted), alone)
        assert not submitted
        with joblib.parallel_config("dask"):
            pd.testing.assert_frame_equal(distinct(*fitted), alone)
        assert submitted


@pytest.mark.simulation
def test_fits_on_workers_do_not_wait_for_workers(fitted):
    given = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**given) as cluster, distributed.Client(cluster) as client:
        on_a_worker = client.submit(_nested, *fitted)
        pd.testing.assert_frame_equal(on_a_worker.result(timeout=600), distinct(*fitted))
        table = dd.from_pandas(fitted[1], npartitions=2)
        labels = dd.from_pandas(pd.Series(fitted[0].labels_), npartitions=2)
        compared = client.submit(cc.compare_subtypes, table, labels, fitted[0].schema_).result(timeout=600)
    assert compared["subtype"].max() == fitted[0].n_clusters_


def _nested(model, frame):
    with joblib.parallel_config("dask"):
        return distinct(model, frame)


@pytest.mark.simulation
@pytest.mark.filterwarnings("ignore:.*chains.*")
@pytest.mark.parametrize("many_fits", MANY_FITS, ids=lambda one: one.__name__)
def test_a_worker_that_is_killed_does_not_change_a_bit(fitted, monkeypatch, many_fits):
    alone = many_fits(*fitted)
    given = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**given) as cluster, distributed.Client(cluster) as client:

        def killed(number):
            if number == 2:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        submitted = count_submissions(monkeypatch, killed)
        with joblib.parallel_config("dask"):
            pd.testing.assert_frame_equal(many_fits(*fitted), alone)
        assert len(submitted) >= 2
