"""Say so when the first fit on a machine takes its time because the kernels are being compiled."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

__all__ = ["announcing_compilation"]

_MESSAGE = "clinclust: compiling its numerical kernels; this happens once on a machine and takes about half a minute"
# Loading compiled kernels from the cache takes less than this; only compiling takes longer.
_PATIENCE = 1.5

logger = logging.getLogger("clinclust")


@contextmanager
def announcing_compilation() -> Iterator[None]:
    """Log a line, and show it on a terminal, if the block (a first call of the kernels) takes longer than loading."""

    def announce() -> None:
        logger.info(_MESSAGE)
        if sys.stderr is not None and sys.stderr.isatty():
            print(_MESSAGE, file=sys.stderr)

    timer = Timer(_PATIENCE, announce)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
