"""Standard output and standard error, with control characters of the data made visible."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TextIO, cast

from clinclust.control_characters import on_one_line, visible_to_people
from clinclust.files.writing import plain_error

_OUTPUT = "standard output"
_LONGEST_LINE = 1000  # a name may have any length
_IS_QUIET: ContextVar[bool] = ContextVar("clinclust_quiet", default=False)


class VisibleStream:
    """A text stream for people: control characters become visible signs, and what cannot be encoded an escape.

    The stream is None if it was closed. With `must_arrive`, a failure to write is an OSError.
    """

    def __init__(self, stream: TextIO | None, *, must_arrive: bool) -> None:
        self._stream = stream
        self._must_arrive = must_arrive
        self._failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write text, which may begin with a carriage return (progress bars)."""
        if self._stream is not None:
            bar = "\r" if text.startswith("\r") else ""
            encoding = self._stream.encoding or "utf-8"
            shown = visible_to_people(text.removeprefix(bar)).encode(encoding, "backslashreplace").decode(encoding)
            with self._may_fail(self._stream):
                self._stream.write(bar + shown)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def write_exactly(self, text: str) -> None:
        """Write text unchanged, in UTF-8; on a terminal as `write` does."""
        if self._stream is None:
            raise OSError(f"{_OUTPUT} is closed, and the result was to go there; give --out")
        if self._stream.isatty():
            self.write(text)
            return
        with self._may_fail(self._stream):
            self._stream.flush()
            binary = getattr(self._stream, "buffer", None)
            if binary is None:
                self._stream.write(text)
            else:
                binary.write(text.encode("utf-8", "surrogateescape"))

    def flush(self) -> None:
        """Flush the stream, and raise the first error of a write again."""
        if self._failure is not None:
            raise self._failure
        if self._stream is not None:
            with self._may_fail(self._stream):
                self._stream.flush()

    def isatty(self) -> bool:
        """Return whether a terminal shows the text."""
        return self._stream is not None and self._stream.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @contextmanager
    def _may_fail(self, stream: TextIO) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            _point_at_null(stream)
            if not self._must_arrive:
                return
            is_unread = isinstance(error, BrokenPipeError)
            self._failure = error if is_unread else plain_error(error, _OUTPUT, "written")
            raise self._failure from (None if is_unread else error)


@contextmanager
def streams_for_people() -> Iterator[None]:
    """Replace standard output and standard error by a `VisibleStream` while the block runs."""
    _occupy_closed_descriptors()
    before = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, VisibleStream(sys.stdout, must_arrive=True))
    sys.stderr = cast(TextIO, VisibleStream(sys.stderr, must_arrive=False))
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


@contextmanager
def quiet(is_quiet: bool) -> Iterator[None]:
    """Let `say` print nothing while the block runs, if `is_quiet`."""
    token = _IS_QUIET.set(is_quiet)
    try:
        yield
    finally:
        _IS_QUIET.reset(token)


def say(line: str = "") -> None:
    """Print one line on standard output, unless quiet."""
    if not _IS_QUIET.get():
        print(on_one_line(line))


def tell(message: str) -> None:
    """Print a message on standard error, its further lines indented."""
    first, *more = message.split("\n")
    lines = [first, *(line if line.startswith("  ") else f"  {line}" for line in more)]
    # In one piece, because lines on stages come from threads of their own.
    print("\n".join([*map(_cut, lines), ""]), end="", file=sys.stderr)


def write_data(text: str) -> None:
    """Write the result of a command on standard output, for a program, or visibly on a terminal."""
    if isinstance(sys.stdout, VisibleStream):
        sys.stdout.write_exactly(text)
    else:
        sys.stdout.write(text)


def _cut(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[: _LONGEST_LINE // 2]} ... {line[-_LONGEST_LINE // 2 :]}"


def _point_at_null(stream: TextIO) -> None:
    """Discard what is still buffered, so that Python reports no second error at exit."""
    with suppress(OSError, ValueError):  # a stream in memory has no descriptor
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def _occupy_closed_descriptors() -> None:
    """Open the null device for each closed standard descriptor, so that no file gets its number."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)
