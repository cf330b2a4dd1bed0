"""Stages of long work: progress bars on a terminal, and lines in the log ``clinclust.progress`` after one second."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, count
from threading import Event, Thread

__all__ = ["SILENT", "Progress", "reporting_stages"]

logger = logging.getLogger("clinclust.progress")

_REPORTED_AFTER = 1.0  # seconds
_REPORTED_AGAIN = (10.0, 30.0, 60.0)
"""Seconds after which a stage is reported again; the last is repeated."""


@dataclass(frozen=True)
class Progress:
    """Reports the stages of long work.

    `shown` is False for a part of a larger stage; `about` precedes the names of stages.
    """

    shown: bool = True
    about: str = ""

    def within(self, about: str) -> Progress:
        """Return a Progress for the stages of a part of the work."""
        return replace(self, about=f"{self.about}, {about}" if self.about else about)

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Callable[[], object]]:
        """Report a stage of at most `total` steps while the block runs; the block calls what is yielded after each."""
        if not self.shown:
            yield lambda: None
            return
        from tqdm import tqdm

        called = f"{self.about}: {name}" if self.about else name
        shown = tqdm(total=total, desc=called, delay=_REPORTED_AFTER, disable=None)
        with _logged(called, total) as count, shown as bar:

            def advance() -> None:
                count()
                bar.update()

            yield advance


SILENT = Progress(shown=False)


@contextmanager
def _logged(name: str, total: int | None) -> Iterator[Callable[[], None]]:
    stage = _Stage(name, total)
    ended = Event()
    reporter = Thread(target=stage.report_until, args=(ended,), name="clinclust-stage", daemon=True)
    with suppress(RuntimeError):  # the system allows no more threads: the work matters, not the line
        reporter.start()
    try:
        yield stage.count
    finally:
        ended.set()
    if stage.was_reported:
        logger.info("%s: done in %s", name, _duration(stage.seconds))


class _Stage:
    def __init__(self, name: str, total: int | None) -> None:
        self._name, self._total = name, total
        self._began, self._done = time.monotonic(), 0
        self.was_reported = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def count(self) -> None:
        self._done += 1

    def report_until(self, ended: Event) -> None:
        for after in chain((_REPORTED_AFTER,), _REPORTED_AGAIN, count(2 * _REPORTED_AGAIN[-1], _REPORTED_AGAIN[-1])):
            if ended.wait(max(0.0, after - self.seconds)):
                return
            logger.info("%s: %s", self._name, self._state())
            self.was_reported = True

    def _state(self) -> str:
        if not self.was_reported:
            return "running" if self._total is None else f"running, at most {self._total:,}"
        if self._total is None or not 0 < self._done <= self._total:
            return f"running for {_duration(self.seconds)}"
        so_far, left = self.seconds, self.seconds * (self._total - self._done) / self._done
        return f"{self._done:,} of at most {self._total:,} in {_duration(so_far)}; up to about {_duration(left)} left"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 99.5 else f"{seconds / 60.0:.0f} min"


@contextmanager
def reporting_stages(tell: Callable[[str], object]) -> Iterator[None]:
    """Call `tell` with each line about a stage, on any thread, while the block runs."""
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
    def __init__(self, tell: Callable[[str], object]) -> None:
        super().__init__(logging.INFO)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Pass the line on."""
        self._tell(record.getMessage())
