"""Stages of long work: progress bars on a terminal, and lines in the log ``clinclust.progress`` after one second."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, count
from threading import Event, Thread

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

        stage, ended = _Stage(f"{self.about}: {name}" if self.about else name, total), Event()
        reporter = Thread(target=stage.report_until, args=(ended,), name="clinclust-stage", daemon=True)
        with suppress(RuntimeError):  # the system allows no more threads: the work matters, not the line
            reporter.start()
        try:
            with tqdm(total=total, desc=stage.name, delay=_REPORTED_AFTER, disable=None) as bar:

                def advance() -> None:
                    stage.n_done += 1
                    bar.update()

                yield advance
        finally:
            ended.set()
        if stage.was_reported:
            logger.info("%s: done in %s", stage.name, _duration(stage.seconds))


SILENT = Progress(shown=False)


class _Stage:
    def __init__(self, name: str, total: int | None) -> None:
        self.name, self.total, self.n_done, self.was_reported = name, total, 0, False
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def report_until(self, ended: Event) -> None:
        for after in chain((_REPORTED_AFTER,), _REPORTED_AGAIN, count(2 * _REPORTED_AGAIN[-1], _REPORTED_AGAIN[-1])):
            if ended.wait(max(0.0, after - self.seconds)):
                return
            logger.info("%s: %s", self.name, self._state())
            self.was_reported = True

    def _state(self) -> str:
        seconds = self.seconds
        if not self.was_reported:
            return "running" if self.total is None else f"running, at most {self.total:,}"
        if self.total is None or not 0 < self.n_done <= self.total:
            return f"running for {_duration(seconds)}"
        rest = _duration(seconds * (self.total - self.n_done) / self.n_done)
        return f"{self.n_done:,} of at most {self.total:,} in {_duration(seconds)}; up to about {rest} left"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 99.5 else f"{seconds / 60.0:.0f} min"


class _Calling(logging.Handler):
    def __init__(self, tell: Callable[[str], object]) -> None:
        super().__init__(logging.INFO)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Pass the line on."""
        self._tell(record.getMessage())


@contextmanager
def reporting_stages(tell: Callable[[str], object]) -> Iterator[None]:
    """Call `tell` with each line about a stage, on any thread, while the block runs."""
    handler, level = _Calling(tell), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
