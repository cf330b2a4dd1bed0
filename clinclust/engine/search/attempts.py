"""Attempts that several searches would make, on several threads: each is made once, by whoever wants it first."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock

import numpy as np
from numpy.typing import NDArray

__all__ = ["Attempts"]

Labels = NDArray[np.int64]


class Attempts:
    """What came of attempts, by a key that says all that the outcome depends on."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._outcomes: dict[bytes, Future[Labels | None]] = {}

    def outcome(self, key: bytes, make: Callable[[], Labels | None], *, wait: bool) -> Labels | None:
        """Return what came of an attempt; make it if nobody has begun.

        Parameters
        ----------
        key : bytes
        make : callable
            Returns the labels to keep, none of them (0,) if the attempt failed, or None if it was cancelled.
        wait : bool
            Whether to wait for somebody else who is making it.

        Returns
        -------
        labels : int64, or None
            None if cancelled here, or if somebody else is still at it and not to be waited for.
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
            if outcome is None:  # whoever waits must make it again
                with self._lock:
                    del self._outcomes[key]
            mine.set_result(outcome)
        return outcome
