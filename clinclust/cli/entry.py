"""Parse the arguments, run the command, and return the exit code."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from clinclust.cli.assign import (
    AssignOptions,
    CompareOptions,
    ImputeOptions,
    OutcomesOptions,
    SchemasOptions,
    ValidateOptions,
    run_assign,
    run_compare,
    run_impute,
    run_outcomes,
    run_schemas,
    run_validate,
)
from clinclust.cli.check import CheckOptions, run_check
from clinclust.cli.fit import DraftOptions, FitOptions, StartOptions, run_draft, run_fit, run_start
from clinclust.cli.options import Command, add_command, in_options
from clinclust.cli.outputs import BAD_INPUT, note, quiet, streams_for_people, summarised, tell, tell_failure
from clinclust.cli.report import RepeatOptions, SubtypeTableOptions, run_report, run_table
from clinclust.control_characters import on_one_line
from clinclust.nearest import did_you_mean, nearest

_NUMBER = re.compile(r"-\d+|-\d*\.\d+")  # what argparse takes for a value
_LONGEST_SHOWN = 100
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
  clinclust outcomes cohort.csv --model subtypes --outcome died --time days --event yes   who dies? who responds?
  clinclust impute cohort.csv --model subtypes --out completed.csv --tables 20   the table without gaps, 20 times
  clinclust compare cohort.csv --model subtypes --out methods.csv          what K-means, latent classes and others find
  clinclust validate other.csv --cohort cohort.csv --model subtypes        are they found again in another cohort?

ready schemas of instruments, such as PHQ-9 or NIHSS:
  clinclust schemas

tables may be csv, tsv or xlsx; parquet, xls, xlsb, ods, SPSS, Stata and SAS need a further package
`clinclust fit --help` lists the options of a command

exit codes: 0 done, 2 the input is at fault and nothing was done, 3 done in part, 70 a bug in clinclust, 130 stopped
"""


COMMANDS: dict[str, tuple[str, Callable[[Any], int], type[Command]]] = {
    "start": ("the whole way, from a table to the report", run_start, StartOptions),
    "draft": ("propose a feature schema for a table", run_draft, DraftOptions),
    "check": ("check a table, or whether a model fits it", run_check, CheckOptions),
    "fit": ("find subtypes and write the report", run_fit, FitOptions),
    "report": ("make the reports of a fit again", run_report, RepeatOptions),
    "table": ("write the subtype table of a paper", run_table, SubtypeTableOptions),
    "outcomes": ("outcomes by subtype, and predictors of subtypes", run_outcomes, OutcomesOptions),
    "impute": ("the table with its missing values drawn", run_impute, ImputeOptions),
    "compare": ("other methods of clustering compared with a fit: why not K-means?", run_compare, CompareOptions),
    "assign": ("assign new subjects to subtypes", run_assign, AssignOptions),
    "validate": ("are the subtypes found again in another cohort?", run_validate, ValidateOptions),
    "schemas": ("list or print ready schemas of instruments", run_schemas, SchemasOptions),
}
"""What each command does in a line, its function, and its options, in the order of the help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: of the process), and return its exit code.

    0: done. 2: bad input. 3: done in part; standard error says what could not be done. 70: a bug; standard error has
    what to send to the maintainers, without values of the table. 130: interrupted. 141: the output was closed.
    ``--debug`` adds the traceback to the messages of 2, 3 and 70.
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
        return tell_failure(error, Command(command=options.command, debug=options.debug))
    return code


def _show_first_steps() -> int:
    for line in f"{_DESCRIPTION}\n\n{_FIRST_STEPS}\n`clinclust --help` says more.".split("\n"):
        tell(line)
    return BAD_INPUT


def _carried_out(options: argparse.Namespace) -> int:
    from clinclust.errors import CohortWarning

    is_quiet = getattr(options, "quiet", False) or getattr(options, "json", False)
    with warnings.catch_warnings(), quiet(is_quiet), _stages_in_lines():
        warnings.filterwarnings("always", category=CohortWarning)
        warnings.showwarning = _show_warning
        if getattr(options, "json", False):
            return summarised(options.command, partial(_code_of, options))
        return int(options.run(options))


def _code_of(options: argparse.Namespace) -> int:
    """Run the command, and return its exit code whatever fails."""
    try:
        return int(options.run(options))
    except Exception as error:
        return tell_failure(error, Command(command=options.command, debug=options.debug))


def _stages_in_lines() -> AbstractContextManager[None]:
    """Print the stages of long work as lines where no terminal shows their bars."""
    from clinclust.progress import reporting_stages

    return nullcontext() if sys.stderr.isatty() else reporting_stages(lambda line: tell(f"clinclust: {line}"))


def _show_warning(message: Warning | str, category: type[Warning], *details: object, **more: object) -> None:
    note(in_options(str(message)), category.__name__)


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
    for name, (summary, run, options) in COMMANDS.items():
        add_command(commands, name, summary, run, options)
    for command_parser in commands.choices.values():  # without a default, which would undo one before the command
        command_parser.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=debug)
    return parser


class Parser(argparse.ArgumentParser):
    """A parser without abbreviations that reports unknown options and commands before missing ones."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_abbrev": False})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse arguments as argparse does, after a check for unknown options and commands."""
        arguments = sys.argv[1:] if args is None else list(args)
        commands = self._commands()
        before, rest = _divided(arguments) if commands else (arguments, [])
        problems = [self._unknown(name, bool(commands)) for name in _names_of_options(before)]
        problems = [problem for problem in problems if problem]
        if rest and rest[0] not in commands and not problems:
            problems = [_unknown_command(rest[0], commands)]
        if problems:
            self.error("; ".join(problems))
        return super().parse_known_args(arguments, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the problem and where the options are listed, and exit with the code of bad input."""
        tell(f"clinclust: {on_one_line(message)}")
        tell(f"  `{self.prog} --help` shows how the command is used")
        raise SystemExit(BAD_INPUT)

    def _commands(self) -> list[str]:
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                return list(action.choices)
        return []

    def _unknown(self, name: str, is_before_command: bool) -> str:
        flags = [option for action in self._actions for option in action.option_strings]
        if name in flags:
            return ""
        close = nearest(name.lstrip("-"), (option.lstrip("-") for option in flags if option.startswith("--")))
        hint = f" Did you mean --{close}?" if close else ""
        if is_before_command and not close:
            hint = " The options of a command stand after it, as in: clinclust draft cohort.csv --out schema.yaml"
        return f"there is no option {_cut_short(name)}.{hint}"


def _names_of_options(arguments: Sequence[str]) -> list[str]:
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    names = [text.partition("=")[0] for text in before if text.startswith("-") and text != "-"]
    return list(dict.fromkeys(name for name in names if " " not in name and not _NUMBER.fullmatch(name)))


def _divided(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments before the command, and the command with its own."""
    place = next((place for place, text in enumerate(arguments) if not text.startswith("-")), len(arguments))
    return list(arguments[:place]), list(arguments[place:])


def _unknown_command(name: str, commands: Sequence[str]) -> str:
    hint = did_you_mean(name, commands)
    if not hint and (Path(name).suffix or Path(name).exists()):
        hint = f" To begin with this table: clinclust start {_cut_short(shlex.quote(name))}"
    return f"there is no command {_cut_short(name)}.{hint or ' The commands are ' + ', '.join(commands)}"


def _cut_short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
