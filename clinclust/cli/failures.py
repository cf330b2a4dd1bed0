"""Report failures, bad input or bugs, and delay interrupts."""

from __future__ import annotations

import platform
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from clinclust.cli.options import Command, in_options
from clinclust.cli.streams import tell
from clinclust.cli.summary import record_failure
from clinclust.errors import InputError, MissingPackageError
from clinclust.files.writing import plain_sentence

BAD_INPUT, PARTLY, BUG = 2, 3, 70
"""Exit codes: nothing was written, because the input is at fault; some of the results were written; a bug."""


def tell_failure(error: Exception, options: Command, lost: str = "") -> int:
    """Print a failure on standard error, and return the exit code; `lost` is the part of the work that was not done."""
    if options.debug:
        tell("".join(traceback.format_exception(error)).rstrip())
    about = f"{lost}: " if lost else ""
    if is_bad_input(error):
        tell(f"clinclust: {about}{sentence_of(error)}")
        record_failure(error, sentence_of(error), lost)
        return PARTLY if lost else BAD_INPUT
    tell(f"clinclust: {about}this is a bug in clinclust; your input is not at fault.")
    record_failure(error, "a bug in clinclust: standard error has what to send to the maintainers", lost)
    for line in _report_of(error, options.command):
        tell(line)
    return BUG


def is_bad_input(error: BaseException) -> bool:
    """Return whether an exception is of the operating system, of memory, or raised by this package on purpose."""
    return isinstance(error, OSError | MemoryError | InputError | MissingPackageError)


def sentence_of(error: Exception) -> str:
    """Return the message of an error, with options in the place of parameters."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, InputError):
        return in_options(error.at_command_line)
    return plain_sentence(error) if isinstance(error, OSError) else str(error)


def _report_of(error: BaseException, command: str) -> Iterator[str]:
    """Yield the lines to send about a bug, without messages or variables, which may hold data of patients."""
    from clinclust.estimators.saving import software_versions

    yield "Please send the lines below to the maintainers of clinclust; they hold no value of your table."
    yield "-" * 40
    yield f"command: {command}"
    yield ", ".join(f"{name} {version}" for name, version in software_versions().items())
    yield f"{platform.system()} {platform.machine()}"
    cause: BaseException | None = error
    while cause is not None:
        yield type(cause).__name__
        for frame, line in traceback.walk_tb(cause.__traceback__):
            yield f"  {frame.f_globals.get('__name__', '?')}:{line} in {frame.f_code.co_name}"
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
        if cause is not None:
            yield "after"
    yield "-" * 40
    yield f"`clinclust --debug {command} ...` shows the whole message, which may hold values of your table."


@contextmanager
def interrupts_held() -> Iterator[Callable[[], None]]:
    """Yield a function that delays Ctrl-C from its call to the end of the block, where KeyboardInterrupt is raised."""
    pressed: list[int] = []
    before: list[Any] = []

    def hold() -> None:
        # Signal handlers can be set on the main thread only.
        if not before and threading.current_thread() is threading.main_thread():
            before.append(signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number)))

    try:
        yield hold
    finally:
        if before:
            signal.signal(signal.SIGINT, before[0])
    if pressed:
        raise KeyboardInterrupt
