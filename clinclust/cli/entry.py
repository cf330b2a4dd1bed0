"""Parse the arguments, run the command, and return the exit code."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

from clinclust.cli import assign, check, draft, fit, table
from clinclust.cli.failures import BAD_INPUT, tell_failure
from clinclust.cli.streams import streams_for_people, tell
from clinclust.control_characters import on_one_line

__all__ = ["main"]

_INTERRUPTED = 130
_OUTPUT_CLOSED = 141  # 128 + SIGPIPE, the exit code of a process that this signal ends

_DESCRIPTION = "Find and describe disease subtypes in a clinical cohort table."
_EXAMPLES = """\
a first analysis, step by step:
  clinclust draft cohort.csv --out schema.yaml      propose what every column is; then edit schema.yaml
  clinclust check cohort.csv --schema schema.yaml   list every value that does not fit
  clinclust fit cohort.csv --schema schema.yaml --out subtypes
  clinclust table cohort.csv --model subtypes --out table.docx   the subtype table of a paper
  clinclust assign new.csv --model subtypes         subtypes of people who were not in the cohort

tables may be csv, tsv, xlsx or parquet (the last with: pip install "clinclust[parquet]")

exit codes: 0 done, 2 the input is at fault, 70 a bug in clinclust, 130 stopped
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command-line arguments; by default those of the process.

    Returns
    -------
    int
        0: done. 2: the input is at fault; one message on standard error says why. 70: a bug; standard error holds what
        to send to the maintainers, without any value of the table. 130: interrupted. 141: the reader of the output
        closed it. ``--debug`` adds the traceback to the messages of 2 and 70.
    """
    with streams_for_people():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    options = argparse.Namespace(command="", debug=False)
    try:
        try:
            options = _parser().parse_args(arguments)
        except SystemExit:  # of --help, --version, and arguments at fault
            sys.stdout.flush()
            raise
        code = _carried_out(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the output
        return _OUTPUT_CLOSED
    except KeyboardInterrupt:
        tell("clinclust: stopped")
        return _INTERRUPTED
    except Exception as error:
        return tell_failure(error, options)
    return code


def _carried_out(options: argparse.Namespace) -> int:
    from clinclust.errors import CohortWarning
    from clinclust.files.leftovers import LeftoverWarning, settle_leftovers

    with warnings.catch_warnings():
        for category in (CohortWarning, LeftoverWarning):
            warnings.filterwarnings("always", category=category)
        warnings.showwarning = _show_warning
        if getattr(options, "model", None) is not None:
            settle_leftovers(options.model)  # a fit that died while it moved its files into place left a whole model
        code: int = options.run(options)
    return code


def _show_warning(message: Warning | str, *details: object, **more: object) -> None:
    tell(f"clinclust: note: {message}")


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are told like all others, so that no argument can forge a line."""

    def error(self, message: str) -> NoReturn:
        tell(self.format_usage().rstrip())
        tell(f"{self.prog}: error: {on_one_line(message)}")
        raise SystemExit(BAD_INPUT)


def _parser() -> argparse.ArgumentParser:
    from clinclust import __version__

    parser = _Parser(
        prog="clinclust",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"clinclust {__version__}")
    parser.add_argument(
        "--debug", action="store_true", help="show the traceback of every failure; it may hold values of the table"
    )
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for command in (draft, check, fit, assign, table):
        command.add_parser(commands)
    return parser
