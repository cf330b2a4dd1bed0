"""Where the shards of a table in partitions lie: on the workers of Dask, or in files of this machine.

Dask is imported by the user: nothing here imports it before a Dask DataFrame is given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryFile
from threading import Event
from typing import Any, Protocol

from clinclust.engine.search.partitioned import Handle, Place
from clinclust.engine.search.stored import Store
from clinclust.engine.search.threads import Threads, blas_on_one_thread, is_of_a_worker
from clinclust.errors import InputError


class TablePlace(Place, Protocol):
    """A place that can also read the partitions of a table."""

    @property
    def store(self) -> Store | None:
        """Where shards are written to; None if they stay in the memory of the workers."""

    def submit_each(self, functions: Sequence[Callable[[Any], Any]], partitions: Sequence[Any]) -> list[Handle]:
        """Run one function of each partition of a table (`to_delayed`); the results stay."""

    def for_dask(self, handles: Sequence[Handle]) -> list[Any]:
        """Return results in the form in which Dask takes them; they stay where they lie."""


class Here:
    """The threads of this process; shards lie in a file."""

    def __init__(self, pool: Threads, store: Store) -> None:
        self._pool, self.store = pool, store

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run a function on a thread."""
        return self._pool.submit(_run, function, arguments)

    def submit_each(self, functions: Sequence[Callable[[Any], Any]], partitions: Sequence[Any]) -> list[Future[Any]]:
        """Read each partition on a thread, and run a function of it."""
        return [self.submit(_of_delayed, *both) for both in zip(functions, partitions, strict=True)]

    def results(self, handles: Sequence[Handle]) -> list[Any]:
        """Wait for results."""
        return [handle.result() for handle in handles]

    def for_dask(self, handles: Sequence[Handle]) -> list[Any]:
        """Return results as delayed objects."""
        from dask.delayed import delayed

        return [delayed(result, traverse=False) for result in self.results(handles)]


def _run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    # A thread waits only for what was submitted before, so that the earliest work always runs.
    return function(*(it.result() if isinstance(it, Future) else it for it in arguments))


def _of_delayed(function: Callable[[Any], Any], partition: Any) -> Any:
    return function(partition.compute(scheduler="synchronous"))


class OnWorkers:
    """The workers of the current `distributed.Client`; shards lie in their memory, and Dask spills them to disk."""

    store: Store | None = None

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Run a function on a worker."""
        return self._client.submit(_on_one_thread, function, *arguments, pure=False)

    def submit_each(self, functions: Sequence[Callable[[Any], Any]], partitions: Sequence[Any]) -> list[Handle]:
        """Run a function of each partition on a worker, which forgets the partition."""
        from dask.delayed import delayed

        of_each = [
            delayed(partial(_on_one_thread, function), pure=False)(partition)
            for function, partition in zip(functions, partitions, strict=True)
        ]
        return list(self._client.compute(of_each))

    def results(self, handles: Sequence[Handle]) -> list[Any]:
        """Gather results."""
        return list(self._client.gather(list(handles)))

    def for_dask(self, handles: Sequence[Handle]) -> list[Any]:
        """Return the futures themselves."""
        return list(handles)


def _on_one_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    with blas_on_one_thread():
        return function(*arguments)


@contextmanager
def place_of_shards(n_threads: int, cancelled: Event) -> Iterator[tuple[TablePlace, Threads]]:
    """Yield the place of the shards, and threads of this process.

    Raises InputError if the workers are lost.
    """
    client = _current_client()
    if client is None:
        with (
            TemporaryFile(prefix="clinclust-") as file,
            Threads(n_threads, cancelled) as pool,
        ):  # the threads end before their file is closed
            yield Here(pool, Store(file)), pool
        return
    try:
        with Threads(n_threads, cancelled) as pool:
            yield OnWorkers(client), pool
    except Exception as error:
        if is_of_workers(error) or client.status != "running":
            raise InputError(
                f"the Dask client or its workers were lost ({type(error).__name__}); keep the client open, give "
                "the workers more memory or the table smaller partitions (repartition), and fit again"
            ) from error
        raise


def is_of_workers(error: Exception) -> bool:
    """Return whether an error is of Dask's workers and not of what ran there."""
    return type(error).__module__.partition(".")[0] == "distributed"


def _current_client() -> Any:
    distributed = sys.modules.get("distributed")
    if distributed is None or is_of_a_worker():  # a task that waits for others may hold the thread that they need
        return None
    try:
        client = distributed.get_client()
    except ValueError:
        return None
    return client if client.status == "running" else None  # one that could not be started stays the current one
