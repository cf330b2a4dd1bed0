"""Parse the arguments, run the command, and return the exit code."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from clinclust.cli import assign, check, compare, draft, fit, report, start, table
from clinclust.cli.failures import BAD_INPUT, tell_failure
from clinclust.cli.parser import Parser
from clinclust.cli.streams import quiet, streams_for_people, tell

__all__ = ["main"]

_INTERRUPTED = 130
_OUTPUT_CLOSED = 141  # 128 + SIGPIPE, the exit code of a process that this signal ends

_DESCRIPTION = "clinclust finds disease subtypes in a clinical cohort table, and reports them."
_FIRST_STEPS = """\
the whole way, from a table to the report:
  clinclust start cohort.csv

the same step by step:
  clinclust draft cohort.csv --out schema.yaml                   propose what every column is; then edit schema.yaml
  clinclust check cohort.csv --schema schema.yaml                list every value that does not fit
  clinclust fit cohort.csv --schema schema.yaml --out subtypes   find the subtypes, and write the report
  clinclust assign new.csv --model subtypes                      subtypes of people who were not in the cohort
"""
_MORE = """
afterwards, without another search:
  clinclust report cohort.csv --model subtypes --overwrite --name 1=Mild   the report with other options
  clinclust table cohort.csv --model subtypes --out table.xlsx             the subtype table of a paper
  clinclust check cohort.csv --model subtypes --out mended.yaml            does the model fit? a schema that mends it
  clinclust compare cohort.csv --model subtypes --out methods.csv          what K-means, latent classes and others find

tables may be csv, tsv or xlsx; parquet, xls, xlsb, ods, SPSS, Stata and SAS need a further package
`clinclust fit --help` lists the options of a command

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
        return _run(sys.argv[1:] if arguments is None else list(arguments))


def _run(arguments: list[str]) -> int:
    options = argparse.Namespace(command="", debug=False)
    try:
        try:
            if not arguments:
                return _show_first_steps()
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


def _show_first_steps() -> int:
    """Show somebody who typed the name of the command alone how to begin."""
    for line in f"{_DESCRIPTION}\n\n{_FIRST_STEPS}\n`clinclust --help` says more.".split("\n"):
        tell(line)
    return BAD_INPUT


def _carried_out(options: argparse.Namespace) -> int:
    from clinclust.errors import CohortWarning

    with warnings.catch_warnings(), quiet(getattr(options, "quiet", False)), _stages_in_lines():
        warnings.filterwarnings("always", category=CohortWarning)
        warnings.showwarning = _show_warning
        code: int = options.run(options)
    return code


def _stages_in_lines() -> AbstractContextManager[None]:
    """Tell the stages of long work in lines where no terminal shows their bars."""
    from clinclust.progress import reporting_stages

    return nullcontext() if sys.stderr.isatty() else reporting_stages(lambda line: tell(f"clinclust: {line}"))


def _show_warning(message: Warning | str, *details: object, **more: object) -> None:
    tell(f"clinclust: note: {message}")


def _parser() -> Parser:
    from clinclust import __version__

    parser = Parser(
        prog="clinclust",
        description=_DESCRIPTION,
        epilog=_FIRST_STEPS + _MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"clinclust {__version__}")
    debug = "show the traceback of every failure; it may hold values of the table"
    parser.add_argument("--debug", action="store_true", help=debug)
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for command in (start, draft, check, fit, report, table, compare, assign):
        command.add_parser(commands)
    for command_parser in commands.choices.values():  # without a default, which would undo one before the command
        command_parser.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=debug)
    return parser
