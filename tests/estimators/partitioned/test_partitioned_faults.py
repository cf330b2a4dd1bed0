"""Faults in a fit of a Dask DataFrame: workers killed, the scheduler lost, partitions that cannot be read."""

import os
import signal
from functools import partial
from threading import Event
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from partitioned_tables import a_table, an_estimator, cut, dask, in_partitions

from clinclust.engine.search.partitioned import Partitioned
from clinclust.errors import InputError
from clinclust.estimators import partitioned as fitting
from clinclust.estimators.partitioned import place_of_shards


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    monkeypatch.setattr(fitting, "N_SAMPLED", 600)


def test_a_client_that_could_not_be_started_is_not_waited_for(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "get_client", lambda: SimpleNamespace(status="connecting"))
    with place_of_shards(1, Event()) as (place, _):
        assert place.store is not None  # a file of this machine


def test_what_a_killed_fit_has_written_of_its_rows_has_no_name_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with place_of_shards(1, Event()) as (place, _):
        (rows,) = place.store.add([np.arange(1000)])
        assert rows.mapped()[999] == 999
        assert list(tmp_path.iterdir()) == []


def killed(client):
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def killed_once(function, marker, client, *arguments):
    """Kill the worker that calls this first, and not the client."""
    if os.getpid() != client and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*arguments)


def lost(client):
    client._timeout = 2  # seconds for which it looks for the scheduler that is gone
    client.cluster.sync(client.cluster.scheduler.close)


@pytest.mark.simulation
def test_workers_that_are_killed_change_no_bit_and_a_lost_client_is_one_error(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setitem(dask.config.config, "scheduler", None)  # a client that was lost does not put it back
    frame, schema = a_table()
    table, scan = in_partitions(*cut(frame, 4)), Partitioned.scan
    expected = an_estimator(schema).fit(table)
    labels = expected.labels_.compute()
    given = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}

    def happening(in_a_scan, client):
        n_scans = iter(range(10_000))

        def scanned(self, least):
            if next(n_scans) == 0:
                in_a_scan(client)
            return scan(self, least)

        return scanned

    with distributed.LocalCluster(**given) as cluster:
        for module, name in ((None, "nothing"), (Partitioned, "scan"), (fitting, "encode"), (fitting, "series_of")):
            marker = tmp_path / name
            with distributed.Client(cluster) as client, monkeypatch.context() as patch:
                if module is Partitioned:
                    patch.setattr(Partitioned, "scan", happening(killed, client))
                elif module is not None:
                    dying = partial(killed_once, getattr(module, name), marker, os.getpid())
                    patch.setattr(module, name, dying)
                fitted = an_estimator(schema).fit(table)
                assert fitted.log_joint_.hex() == expected.log_joint_.hex(), name
                fitted.labels_.to_frame().to_parquet(tmp_path / "labels")
                written = pd.read_parquet(tmp_path / "labels")["subtype"]
                np.testing.assert_array_equal(written, labels, err_msg=name)
                assert marker.exists() == (module is fitting), name
    for loss in (distributed.Client.close, lost):
        with distributed.LocalCluster(**given) as cluster, distributed.Client(cluster) as client:
            monkeypatch.setattr(Partitioned, "scan", happening(loss, client))
            with pytest.raises(InputError, match="the Dask client or its workers were lost"):
                an_estimator(schema).fit(table)
