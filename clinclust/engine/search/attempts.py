"""Outcomes of attempts to divide clusters. Searches on several threads share them, so that none is made twice."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock

import numpy as np
from numpy.typing import NDArray

__all__ = ["Attempts"]

Labels = NDArray[np.int64]


class Attempts:
    """Outcomes of attempts. The key of an attempt contains everything that its outcome depends on."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._outcomes: dict[bytes, Future[Labels | None]] = {}

    def outcome(self, key: bytes, make: Callable[[], Labels | None], *, wait: bool) -> Labels | None:
        """Return the outcome of an attempt; make the attempt if no thread has begun it.

        Parameters
        ----------
        key : bytes
        make : callable
            Makes the attempt. Returns the new labels, an empty array (0,) if the attempt failed, or None if it was
            cancelled.
        wait : bool
            Whether to wait if another thread is making the attempt.

        Returns
        -------
        labels : int64, or None
            What `make` returned. None if the attempt was cancelled in this thread, or if another thread is still making
            it and `wait` is False.
        """
        while True:
            with self._lock:
                begun = self._outcomes.get(key)
                if begun is None:
                    mine = self._outcomes[key] = Future()
            if begun is None:
                return self._make(key, make, mine)
            if not wait and not begun.done():
                return None
            outcome = begun.result()
            if outcome is not None:
                return outcome

    def _make(self, key: bytes, make: Callable[[], Labels | None], mine: Future[Labels | None]) -> Labels | None:
        outcome = None
        try:
            outcome = make()
        finally:
            if outcome is None:  # the key is removed, so that a waiting thread makes the attempt again
                with self._lock:
                    del self._outcomes[key]
            mine.set_result(outcome)
        return outcome
