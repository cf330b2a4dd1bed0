"""Say what went wrong: an input at fault with how to repair it, a bug with what to send about it."""

from __future__ import annotations

import argparse
import platform
import sys
import traceback
from collections.abc import Iterator

from clinclust.errors import InputError, MissingPackageError

__all__ = ["BAD_INPUT", "BUG", "is_bad_input", "tell_failure"]

BAD_INPUT, BUG = 2, 70


def tell_failure(error: Exception, options: argparse.Namespace, lost: str = "") -> int:
    """Print a failure on standard error and return its exit code.

    Parameters
    ----------
    error : Exception
    options : argparse.Namespace
        Of the command, with `command` and `debug`.
    lost : str
        What could not be done, where the rest could.
    """
    if options.debug:
        traceback.print_exception(error, file=sys.stderr)
    about = f"{lost}: " if lost else ""
    if is_bad_input(error):
        said = "there is not enough memory" if isinstance(error, MemoryError) else str(error)
        print(f"clinclust: {about}{said}", file=sys.stderr)
        return BAD_INPUT
    print(f"clinclust: {about}this is a bug in clinclust; your input is not at fault.", file=sys.stderr)
    print("\n".join(_report_of(error, options.command)), file=sys.stderr)
    return BUG


def is_bad_input(error: BaseException) -> bool:
    """Whether an exception says what is wrong with the input, or with the machine.

    Such are errors of the operating system, and what this package raises of its own. Everything else, a ValueError of
    NumPy or pandas included, comes from code that was not prepared for what it got.
    """
    return isinstance(error, OSError | MemoryError | InputError | MissingPackageError)


def _report_of(error: BaseException, command: str) -> Iterator[str]:
    """Yield what to send: types, places and versions, but no message and no variable, which may hold patient values."""
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
