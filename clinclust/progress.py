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
_REPORTED_AGAIN = (10.0, 30.0)  # seconds; then after each minute


@dataclass(frozen=True)
class Progress:
    """Reports the stages of long work."""

    shown: bool = True  # False for a part of a larger stage
    about: str = ""  # before the names of the stages

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

        title, ended = f"{self.about}: {name}" if self.about else name, Event()
        began, n_done, n_lines = time.monotonic(), 0, 0

        def announce() -> None:
            nonlocal n_lines
            for after in chain((_REPORTED_AFTER, *_REPORTED_AGAIN), count(60.0, 60.0)):
                if ended.wait(max(0.0, began + after - time.monotonic())):
                    return
                seconds = time.monotonic() - began if n_lines else 0.0
                logger.info("%s: %s", title, _describe(n_done, total, seconds))
                n_lines += 1

        with suppress(RuntimeError):  # the system allows no more threads: the work matters, not the line
            Thread(target=announce, name="clinclust-stage", daemon=True).start()
        try:
            with tqdm(total=total, desc=title, delay=_REPORTED_AFTER, disable=None) as bar:

                def advance() -> None:
                    nonlocal n_done
                    n_done += 1
                    bar.update()

                yield advance
        finally:
            ended.set()
        if n_lines:
            logger.info("%s: done in %s", title, _duration(time.monotonic() - began))


SILENT = Progress(shown=False)


def _describe(n_done: int, total: int | None, seconds: float) -> str:
    """Return how far a stage is after some seconds; 0: in its first line."""
    if not seconds:
        return "running" if total is None else f"running, at most {total:,}"
    if total is None or not 0 < n_done <= total:
        return f"running for {_duration(seconds)}"
    rest = _duration(seconds * (total - n_done) / n_done)
    return f"{n_done:,} of at most {total:,} in {_duration(seconds)}; up to about {rest} left"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 99.5 else f"{seconds / 60.0:.0f} min"


@contextmanager
def reporting_stages(tell: Callable[[str], object]) -> Iterator[None]:
    """Call `tell` with each line about a stage, on any thread, while the block runs."""
    handler, level = logging.Handler(logging.INFO), logger.level
    handler.emit = lambda record: tell(record.getMessage())  # type: ignore[method-assign, assignment]
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
