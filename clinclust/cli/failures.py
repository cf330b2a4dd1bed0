"""Report failures: for bad input the repair, for a bug the lines to send to the maintainers."""

from __future__ import annotations

import argparse
import platform
import traceback
from collections.abc import Iterator

from clinclust.cli.streams import tell
from clinclust.errors import InputError, MissingPackageError
from clinclust.files.writing import plain_sentence

__all__ = ["BAD_INPUT", "BUG", "is_bad_input", "tell_failure"]

BAD_INPUT, BUG = 2, 70


def tell_failure(error: Exception, options: argparse.Namespace, lost: str = "") -> int:
    """Print a failure on standard error and return its exit code, `BAD_INPUT` or `BUG`.

    Parameters
    ----------
    error : Exception
    options : argparse.Namespace
        Options of the command; `command` and `debug` are read.
    lost : str
        The part that was not done, if the command did the rest; it begins the message.
    """
    if options.debug:
        tell("".join(traceback.format_exception(error)).rstrip())
    about = f"{lost}: " if lost else ""
    if is_bad_input(error):
        tell(f"clinclust: {about}{_sentence_of(error)}")
        return BAD_INPUT
    tell(f"clinclust: {about}this is a bug in clinclust; your input is not at fault.")
    for line in _report_of(error, options.command):
        tell(line)
    return BUG


def is_bad_input(error: BaseException) -> bool:
    """Return whether an exception reports a problem of the input or of the machine, rather than a bug.

    These are the errors of the operating system, lack of memory, and the errors that this package raises on purpose.
    Every other exception, such as a ValueError of NumPy or pandas, is a bug: the package should have checked the input.
    """
    return isinstance(error, OSError | MemoryError | InputError | MissingPackageError)


def _sentence_of(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, InputError):
        return error.at_command_line
    return plain_sentence(error) if isinstance(error, OSError) else str(error)


def _report_of(error: BaseException, command: str) -> Iterator[str]:
    """Yield the lines to send about a bug: types of exceptions, places in the code, and versions.

    They hold neither messages nor variables, which may hold values of patients.
    """
    from clinclust.estimators.versions import software_versions

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
