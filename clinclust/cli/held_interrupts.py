"""Hold Ctrl-C back while something short is done that must not be lost, such as writing what a long search found."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["interrupts_held"]


@contextmanager
def interrupts_held() -> Iterator[Callable[[], None]]:
    """Yield a function that holds Ctrl-C back, from its call to the end of the block.

    Raises
    ------
    KeyboardInterrupt
        At the end of the block, if Ctrl-C was pressed while it was held back.
    """
    pressed: list[int] = []
    before: list[Any] = []

    def hold() -> None:
        # Signals are handled on the main thread, and only there can it be said how.
        if not before and threading.current_thread() is threading.main_thread():
            before.append(signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number)))

    try:
        yield hold
    finally:
        if before:
            signal.signal(signal.SIGINT, before[0])
    if pressed:
        raise KeyboardInterrupt
