"""Announcement that the kernels are being compiled, which delays the first fit on a machine."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["announcing_compilation"]

_MESSAGE = "clinclust: compiling its numerical kernels; this happens once on a machine and takes about ten seconds"

logger = logging.getLogger("clinclust")


@contextmanager
def announcing_compilation() -> Iterator[None]:
    """Log one line, and print it on a terminal, when the block first compiles a kernel that is not in the cache."""
    from numba.core import event

    class Announcer(event.Listener):
        announced = False

        def on_start(self, compilation: Any) -> None:
            ours = compilation.data["dispatcher"].py_func.__module__.startswith("clinclust.")
            if ours and not self.announced:
                self.announced = True
                logger.info(_MESSAGE)
                if sys.stderr is not None and sys.stderr.isatty():
                    print(_MESSAGE, file=sys.stderr)

        def on_end(self, compilation: Any) -> None:
            pass

    with event.install_listener("numba:compile", Announcer()):
        yield
