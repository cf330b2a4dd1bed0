"""The stages of long work, told in their order: as bars on a terminal, and as lines in logs.

Whoever does long work wraps each part of it in a stage. On a terminal a stage is a progress bar. Everywhere it is
logged to the logger ``clinclust.progress`` at the level INFO, in two lines: one that it runs, and one with its seconds
when it has ended. A stage that ends within a second is not told at all.

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
from dataclasses import dataclass
from threading import Timer

__all__ = ["SILENT", "Progress", "stages_told"]

logger = logging.getLogger("clinclust.progress")

_TOLD_AFTER = 1.0
"""Seconds after which a stage is told."""


@dataclass(frozen=True)
class Progress:
    """Tells the stages of long work.

    Attributes
    ----------
    shown : bool
        Whether stages are told; a part of a larger stage tells nothing itself.
    """

    shown: bool = True

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

        with _logged(name, total), tqdm(total=total, desc=name, delay=_TOLD_AFTER, disable=None) as bar:
            yield bar.update


SILENT = Progress(shown=False)
"""Tells nothing."""


def _nothing() -> None:
    """Take note of a step of a stage that is not told."""


@contextmanager
def _logged(name: str, total: int | None) -> Iterator[None]:
    """Log that a stage runs once it has run for a second, and then its seconds when it has ended."""
    began, told = time.monotonic(), [False]

    def tell() -> None:
        told[0] = True
        logger.info("%s: running%s", name, "" if total is None else f", at most {total:,}")

    timer = Timer(_TOLD_AFTER, tell)
    timer.daemon = True
    with suppress(RuntimeError):  # the system allows no more threads: the work matters, not the line
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if told[0]:
        logger.info("%s: done in %.0f s", name, time.monotonic() - began)


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
