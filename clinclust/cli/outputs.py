"""What commands print and write: lines for people, a summary for programs, files that replace nothing unasked."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO, TypeVar, cast

import clinclust.cli.commands as commands
from clinclust import __version__
from clinclust.cli.commands import flag_of, in_options
from clinclust.errors import CohortError, InputError, MissingPackageError, describe_bug, on_one_line, visible_to_people
from clinclust.files.writing import MANIFEST, SHARING, TERMS, check_place, plain_error, read_terms

_OUTPUT = "standard output"
_LONGEST_LINE = 1000  # a name may have any length


class VisibleStream:
    """A text stream for people: control characters become visible signs, and what cannot be encoded an escape.

    A closed stream is nothing. With `must_arrive`, a failure to write is an OSError.
    """

    def __init__(self, stream: TextIO | None, *, must_arrive: bool) -> None:
        self._stream, self._must_arrive = stream, must_arrive
        self._failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write text, which may begin with a carriage return (progress bars)."""
        bar, encoding = "\r" if text.startswith("\r") else "", getattr(self._stream, "encoding", None) or "utf-8"
        shown = visible_to_people(text.removeprefix(bar)).encode(encoding, "backslashreplace").decode(encoding)
        self._use(lambda stream: stream.write(bar + shown))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        self.write("".join(lines))

    def write_exactly(self, text: str) -> None:
        """Write text unchanged, in UTF-8; on a terminal as `write` does."""
        if self._stream is None:
            raise OSError(f"{_OUTPUT} is closed, and the result was to go there; give --out")
        if self._stream.isatty():
            self.write(text)
        elif hasattr(self._stream, "buffer"):
            self.flush()
            self._use(lambda stream: stream.buffer.write(text.encode("utf-8", "surrogateescape")))
        else:
            self._use(lambda stream: stream.write(text))

    def flush(self) -> None:
        """Flush the stream, and raise the first error of a write again."""
        if self._failure is not None:
            raise self._failure
        self._use(lambda stream: stream.flush())

    def isatty(self) -> bool:
        """Return whether a terminal shows the text."""
        return self._stream is not None and self._stream.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _use(self, action: Callable[[TextIO], object]) -> None:
        try:
            if self._stream is not None:
                action(self._stream)
        except OSError as error:
            # What is still buffered is discarded, so that Python reports no second error at exit.
            with suppress(OSError, ValueError), Path(os.devnull).open("wb") as null:  # a text in memory has no number
                os.dup2(null.fileno(), self.fileno())
            if self._must_arrive:
                is_unread = isinstance(error, BrokenPipeError)
                self._failure = error if is_unread else plain_error(error, _OUTPUT, "written")
                raise self._failure from (None if is_unread else error)


@contextmanager
def streams_for_people() -> Iterator[None]:
    """Replace standard output and standard error by a `VisibleStream` while the block runs."""
    for descriptor in (0, 1, 2):  # a closed one is opened on the null device, so that no file gets its number
        try:
            os.fstat(descriptor)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)
    before = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, VisibleStream(sys.stdout, must_arrive=True))
    sys.stderr = cast(TextIO, VisibleStream(sys.stderr, must_arrive=False))
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


_IS_QUIET: ContextVar[bool] = ContextVar("clinclust_quiet", default=False)
_FACTS: ContextVar[dict[str, Any]] = ContextVar("clinclust_facts")


def collect_facts(command: str, *, is_quiet: bool) -> dict[str, Any]:
    """Return the summary of a command for a program, which fills in this context; `is_quiet` silences `say`."""
    facts = {"clinclust": __version__, "command": command, "exit_code": 0, "warnings": [], "problems": []}
    _IS_QUIET.set(is_quiet)
    _FACTS.set(facts)
    return facts


def say(*lines: str) -> None:
    """Print lines on standard output, unless quiet."""
    for line in () if _IS_QUIET.get() else lines:
        print(on_one_line(line))


def tell(message: str) -> None:
    """Print a message on standard error, its further lines indented, and the midst of endless ones left out."""
    first, *more = message.split("\n")
    lines = [first, *(line if line.startswith("  ") else f"  {line}" for line in more)]
    half = _LONGEST_LINE // 2
    lines = [line if len(line) <= _LONGEST_LINE else f"{line[:half]} ... {line[-half:]}" for line in lines]
    print("\n".join([*lines, ""]), end="", file=sys.stderr)  # in one piece, because threads tell of their stages


def write_data(text: str) -> None:
    """Write the result of a command on standard output, for a program, or visibly on a terminal."""
    cast(VisibleStream, sys.stdout).write_exactly(text)


def record(**facts: object) -> None:
    """Add facts to the summary."""
    _FACTS.get().update(facts)


def note(message: str, kind: str = "note") -> None:
    """Print a note on standard error, and add it to the summary."""
    tell(f"clinclust: note: {message}")
    _FACTS.get()["warnings"].append({"kind": kind, "message": message})


def record_failure(error: Exception, message: str, lost: str) -> None:
    """Add a failure to the summary; `lost` is the part that was not done, empty for all.

    That of a table has its failures by column, without the values that it holds.
    """
    problem: dict[str, Any] = {"kind": type(error).__name__, "message": message, "not_done": lost}
    if isinstance(error, CohortError):
        problem["message"] = "the table does not fit the schema"
        failures = error.failures.drop(columns="examples")
        problem["failures"] = failures.assign(repair=failures["repair"].map(in_options)).to_dict("records")
    _FACTS.get()["problems"].append(problem)


# Failures.

BAD_INPUT, PARTLY, BUG = 2, 3, 70
"""Exit codes: nothing was written, because the input is at fault; some of the results were written; a bug."""


def tell_failure(error: Exception, options: commands.Command, lost: str = "") -> int:
    """Print a failure on standard error, and return the exit code; `lost` is the part of the work that was not done."""
    if options.debug:
        tell("".join(traceback.format_exception(error)).rstrip())
    about = f"{lost}: " if lost else ""
    # Errors of the operating system and of memory, and those that this package raises on purpose.
    if isinstance(error, OSError | MemoryError | InputError | MissingPackageError):
        tell(f"clinclust: {about}{sentence_of(error)}")
        record_failure(error, sentence_of(error), lost)
        return PARTLY if lost else BAD_INPUT
    tell(f"clinclust: {about}this is a bug in clinclust; your input is not at fault.")
    record_failure(error, "a bug in clinclust: standard error has what to send to the maintainers", lost)
    from clinclust.estimators.saving import software_versions

    for line in describe_bug(error, options.command, software_versions()):
        tell(line)
    return BUG


@contextmanager
def failures_told(options: commands.Command, lost: str, codes: list[int]) -> Iterator[None]:
    """Report a failure of the block, whose work is then `lost`, add its exit code, and go on."""
    try:
        yield
    except Exception as error:
        codes.append(tell_failure(error, options, lost))


def sentence_of(error: Exception) -> str:
    """Return the message of an error, with options in the place of parameters."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, InputError):
        return in_options(error.at_command_line)
    return str(plain_error(error) if isinstance(error, OSError) else error)


# Files that replace nothing unasked.

REPORTS = ("subtypes.xlsx", "subtypes.html", "subtypes.json")
REPORTS_IN_WORDS = f"{', '.join(REPORTS[:-1])} and {REPORTS[-1]}"
FILES_OF_A_MODEL = ("assignments.csv", "model.json", "model.npz")
"""The results of a search, from which the reports can be made."""
SCHEMA = "schema.xlsx"  # of `start`
FILES_OF_A_FIT = (*REPORTS, *FILES_OF_A_MODEL, SCHEMA, SHARING, MANIFEST)


def check_output(
    options: commands.OutputOptions,
    *suffixes: str,
    called: str,
    holds: str = "an earlier result",
    is_printed: bool = False,
) -> None:
    """Check that ``--out`` can be written, has one of these suffixes as `called`, and replaces nothing unasked.

    Without ``--out``, what `is_printed` goes to standard output, where ``--json`` prints too: InputError.
    """
    out = options.out
    if out is None:
        if is_printed and getattr(options, "json", False):
            raise InputError("--json prints on standard output, where the result would go: give --out as well")
        return
    misnamed = suffixes and out.suffix.lower() not in suffixes and not out.is_dir()
    repair = f"--out {out}: {called} ends in {' or '.join(suffixes)}; give such a name"
    _refuse_replaced_inputs(options, out, more=[repair] if misnamed else [])
    if (out.is_file() or out.is_symlink()) and not options.overwrite:
        raise InputError(commands.TEXTS["messages"]["exists"].format(out=out, holds=holds))
    check_place(out)


def _refuse_replaced_inputs(
    options: commands.TableOptions, *outputs: Path, of_model: bool = True, more: Sequence[str] = ()
) -> None:
    """Raise InputError, with `more` problems, if an output would replace a file that the command reads."""
    read = [(name, getattr(options, name, None)) for name in ("table", "cohort", "schema")]
    inputs = [(f"the {name} itself", path) for name, path in read if path is not None]
    if of_model and (model := getattr(options, "model", None)) is not None:
        inputs += [(f"a file of the model {model}", model / name) for name in FILES_OF_A_FIT]
    problems = [
        f"--out would replace {output}, which is {what}; give another name"
        for output in outputs
        for what, path in inputs
        if output.exists() and path.exists() and output.samefile(path)
    ]
    if problems or more:
        raise InputError("\n  ".join([*problems, *more]))


def check_folder(
    options: commands.TableOptions,
    folder: Path,
    names: Sequence[str] = FILES_OF_A_FIT,
    *,
    allowed: bool,
    instead: str = "give --overwrite to replace it, or another folder after --out",
) -> None:
    """Check that no input, and no file of these names unless `allowed`, is replaced in a folder; else say `instead`."""
    _refuse_replaced_inputs(options, *(folder / name for name in names), of_model=False)
    present = [name for name in names if (folder / name).is_file() or (folder / name).is_symlink()]
    if present and not allowed:
        raise InputError(f"{folder} holds what an earlier run wrote ({', '.join(present)}); {instead}")
    for name in present:
        check_place(folder / name)


def note_other_files(folder: Path, names: Collection[str] = FILES_OF_A_FIT) -> None:
    """Print the other files of a folder, which are not changed."""
    from clinclust.files.cell_text import listed

    files = folder.iterdir() if folder.is_dir() else ()
    others = sorted(path.name for path in files if path.name not in names and path.name[0] != ".")
    if others:
        note(f"{folder} holds other files too, which stay as they are: {listed(others)}")


# Results for sharing: small counts are withheld, and what a fit withheld, later commands on its model withhold too.

NOT_SHARED = "a shared report has nothing of it"
Shared = TypeVar("Shared", bound=commands.SuppressOptions)


def describe_sharing(options: commands.SuppressOptions) -> str:
    """Return the options of a result for sharing as they were given, with ``--suppress`` first."""
    stated = {name: getattr(options, name, None) for name in TERMS}
    return " ".join(flag_of(name) + f" {value}" * (value is not True) for name, value in stated.items() if value)


def because_of_the_fit(options: commands.SuppressOptions) -> str:
    """Return the sentence that counts are withheld as in the fit; empty if they are not."""
    because = f" (the fit was asked for --suppress {options.suppress}; --suppress 0 withholds nothing)"
    return because if options.is_as_fitted else ""


def say_withheld(options: commands.SuppressOptions) -> None:
    """Print what was withheld, or that nothing was."""
    if isinstance(options, commands.SharingOptions) and options.suppress:
        say(f"Small counts withheld: {describe_sharing(options)}{because_of_the_fit(options)}")
    elif options.suppress == 0:
        say("Nothing withheld (--suppress 0): not for sharing.")


def follow_the_fit(options: Shared, model: Path, *, without: str = "") -> Shared:
    """Return the options that withhold what the fit did, unless they say otherwise.

    InputError if counts are to be withheld from what cannot be made `without` them.
    """
    if options.suppress is None:
        from clinclust.reporting.report import ReportOptions

        withheld = read_terms(model, lambda terms: not ReportOptions(**terms).problems())
        terms = {name: value for name, value in withheld.items() if hasattr(options, name)}
        options = replace(options, **{name: getattr(options, name) or value for name, value in terms.items()})
        options.is_as_fitted = options.suppress is not None
    if without and options.suppress:
        raise InputError(f"{without} cannot be used with --suppress: {NOT_SHARED}{because_of_the_fit(options)}")
    return options
