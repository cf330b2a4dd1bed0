"""The stages of long work, told in their order: as bars on a terminal, and as lines in logs.

Whoever does long work wraps each part of it in a stage. On a terminal a stage is a progress bar. Everywhere it is
logged to the logger ``clinclust.progress`` at the level INFO: that it runs; now and then how far it is, and how long it
will still take; and its seconds when it has ended. A stage that ends within a second is not told at all.

    with PROGRESS.stage("associations", total=len(features)) as advance:
        for feature in features:
            test(feature)
            advance()

`stages_told` passes these lines to a function; the command line uses it where no terminal shows bars. In a notebook or
a script, ``logging.basicConfig(level="INFO")`` shows them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, count
from threading import Event, Thread

__all__ = ["SILENT", "Progress", "stages_told"]

logger = logging.getLogger("clinclust.progress")

_TOLD_AFTER = 1.0
"""Seconds after which a stage is told."""


_TOLD_AGAIN = (10.0, 30.0, 60.0)
"""Seconds after which a stage that still runs is told again; from the last on, it is told every so many seconds."""


@dataclass(frozen=True)
class Progress:
    """Tells the stages of long work.

    Attributes
    ----------
    shown : bool
        Whether stages are told; a part of a larger stage tells nothing itself.
    about : str
        What the stages are done for, if that is a part of the work; it precedes their names.
    """

    shown: bool = True
    about: str = ""

    def within(self, about: str) -> Progress:
        """Return the same for stages that are done for a part of the work, such as "powers of blocks"."""
        return replace(self, about=f"{self.about}, {about}" if self.about else about)

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Callable[[], object]]:
        """Tell a stage while the block runs; the block calls what it gets after each step.

        Parameters
        ----------
        name : str
            What is done, in a word or a few, as "restarts".
        total : int, optional
            Number of steps, or the largest possible; None if it is unknown.
        """
        if not self.shown:
            yield _nothing
            return
        from tqdm import tqdm

        called = f"{self.about}: {name}" if self.about else name
        with _logged(called, total) as count, tqdm(total=total, desc=called, delay=_TOLD_AFTER, disable=None) as bar:

            def advance() -> None:
                count()
                bar.update()

            yield advance


SILENT = Progress(shown=False)
"""Tells nothing."""


def _nothing() -> None:
    """Take note of a step of a stage that is not told."""


@contextmanager
def _logged(name: str, total: int | None) -> Iterator[Callable[[], None]]:
    """Log a stage now and then from its first second on, and its seconds when it has ended; yield what counts steps."""
    stage = _Stage(name, total)
    ended = Event()
    teller = Thread(target=stage.tell_until, args=(ended,), name="clinclust-stage", daemon=True)
    with suppress(RuntimeError):  # the system allows no more threads: the work matters, not the line
        teller.start()
    try:
        yield stage.count
    finally:
        ended.set()
    if stage.is_told:
        logger.info("%s: done in %s", name, _duration(stage.seconds))


class _Stage:
    """A stage that runs: its steps so far, and the lines about it."""

    def __init__(self, name: str, total: int | None) -> None:
        self._name, self._total = name, total
        self._began, self._done = time.monotonic(), 0
        self.is_told = False

    @property
    def seconds(self) -> float:
        """Seconds since the stage began."""
        return time.monotonic() - self._began

    def count(self) -> None:
        """Take note of a step."""
        self._done += 1

    def tell_until(self, ended: Event) -> None:
        """Log the stage after the seconds at which it is told, until it has ended."""
        for after in chain((_TOLD_AFTER,), _TOLD_AGAIN, count(2 * _TOLD_AGAIN[-1], _TOLD_AGAIN[-1])):
            if ended.wait(max(0.0, after - self.seconds)):
                return
            logger.info("%s: %s", self._name, self._state())
            self.is_told = True

    def _state(self) -> str:
        if not self.is_told:
            return "running" if self._total is None else f"running, at most {self._total:,}"
        if self._total is None or not 0 < self._done <= self._total:
            return f"running for {_duration(self.seconds)}"
        so_far, left = self.seconds, self.seconds * (self._total - self._done) / self._done
        return f"{self._done:,} of at most {self._total:,} in {_duration(so_far)}; up to about {_duration(left)} left"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 99.5 else f"{seconds / 60.0:.0f} min"


@contextmanager
def stages_told(tell: Callable[[str], object]) -> Iterator[None]:
    """Call `tell` with each line about a stage while the block runs.

    Parameters
    ----------
    tell : callable
        Takes one line of text, on any thread.
    """
    handler = _Calling(tell)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class _Calling(logging.Handler):
    """A handler that passes each line to a function."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        super().__init__(logging.INFO)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Pass the line on."""
        self._tell(record.getMessage())
