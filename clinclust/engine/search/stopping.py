"""What ends a search early: a time budget, after which the best partition so far is the result, or a cancellation."""

from __future__ import annotations

import time
from threading import Event

__all__ = ["Budget", "Either"]


class Budget:
    """The time that a search may take.

    A search asks at every place at which it can end with a complete result whether the time is used up. `cut_short`
    remembers that the answer was yes once, so that the result depends on the clock.

    Parameters
    ----------
    seconds : float, optional
        Seconds from now; None = no limit.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._whole: Budget | None = None
        self.cut_short = False

    def used_up(self) -> bool:
        """Return whether the time is used up. The search is then expected to leave something out."""
        if self._ends is None or time.monotonic() < self._ends:
            return False
        self._note()
        return True

    def part(self, share: float) -> Budget:
        """Return a budget of this share of the time that is left. What cuts it short has cut the whole short."""
        part = Budget()
        part._whole = self
        if self._ends is not None:
            now = time.monotonic()
            part._ends = now + share * max(0.0, self._ends - now)
        return part

    def _note(self) -> None:
        self.cut_short = True
        if self._whole is not None:
            self._whole._note()


class Either(Event):
    """An event that also counts as set when another event is set, or when the time of a budget is used up."""

    def __init__(self, other: Event, budget: Budget | None = None) -> None:
        super().__init__()
        self._other, self._budget = other, budget

    def is_set(self) -> bool:
        """Return whether one of them is set."""
        return super().is_set() or self._other.is_set() or (self._budget is not None and self._budget.used_up())
