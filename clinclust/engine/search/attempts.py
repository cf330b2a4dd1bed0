"""Outcomes of attempts that searches on several threads share, so that each attempt is made once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock

import numpy as np
from numpy.typing import NDArray

__all__ = ["Attempts"]

Labels = NDArray[np.int64]


class Attempts:
    """Outcomes of attempts, by a key of everything that the outcome depends on."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._outcomes: dict[bytes, Future[Labels | None]] = {}

    def outcome(self, key: bytes, make: Callable[[], Labels | None], *, wait: bool) -> Labels | None:
        """Return the outcome of an attempt; make the attempt if no thread has begun it.

        Parameters
        ----------
        key : bytes
        make : callable
            Returns the labels to keep, none of them (0,) if the attempt failed, or None if it was cancelled.
        wait : bool
            Whether to wait for another thread that is making it.

        Returns
        -------
        labels : int64, or None
            None if it was cancelled here, or if another thread is still making it and `wait` is False.
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
            if outcome is None:  # a thread that waits for it must make it again
                with self._lock:
                    del self._outcomes[key]
            mine.set_result(outcome)
        return outcome
