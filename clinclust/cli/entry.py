"""Parse the arguments, run the command, and return the exit code."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from contextvars import copy_context
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from clinclust import __version__
from clinclust.cli.commands import COMMANDS, TEXTS, Command, add_options, in_options, read_names
from clinclust.cli.outputs import BAD_INPUT, collect_facts, note, streams_for_people, tell, tell_failure, write_data
from clinclust.errors import CohortWarning, collect_cells, did_you_mean, mask_cells, nearest, on_one_line, shortened
from clinclust.progress import reporting_stages

_NUMBER = re.compile(r"-\d+|-\d*\.\d+")  # what argparse takes for a value
_INTERRUPTED = 130
_LONGEST = 100  # characters of a wrong argument that an error shows
_OUTPUT_CLOSED = 141  # 128 + SIGPIPE, the exit code of a process that this signal ends


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: of the process), and return its exit code.

    0: done. 2: bad input. 3: done in part; standard error says what could not be done. 70: a bug; standard error has
    what to send to the maintainers, without values of the table. 130: interrupted. 141: the output was closed.
    ``--debug`` adds the traceback to the messages of 2, 3 and 70.
    """
    with streams_for_people():
        return copy_context().run(_run, sys.argv[1:] if arguments is None else list(arguments))


def _run(arguments: list[str]) -> int:
    options = Command()
    collect_facts("", is_quiet=False)
    try:
        if not arguments:
            for line in (TEXTS["description"], "", *TEXTS["first_steps"].split("\n"), TEXTS["says_more"]):
                tell(line)
            return BAD_INPUT
        try:
            parsed = _parser().parse_args(arguments)
        except SystemExit:  # of --help, --version, and arguments at fault
            sys.stdout.flush()
            raise
        options = parsed.options.read(parsed)
        code = _run_command(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the output
        return _OUTPUT_CLOSED
    except KeyboardInterrupt:
        tell("clinclust: stopped")
        return _INTERRUPTED
    except Exception as error:
        return tell_failure(error, options)
    return code


def _run_command(options: Command) -> int:
    is_summarised = getattr(options, "json", False)
    # Where no terminal shows bars, the stages of long work are lines.
    stages = nullcontext() if sys.stderr.isatty() else reporting_stages(lambda line: tell(f"clinclust: {line}"))
    cells, facts = collect_cells(), collect_facts(options.command, is_quiet=options.quiet or is_summarised)
    with warnings.catch_warnings(), stages:
        warnings.filterwarnings("always", category=CohortWarning)
        warnings.showwarning = lambda message, kind, *more, **others: note(in_options(str(message)), kind.__name__)
        module, _, name = options.RUN.rpartition(".")
        try:
            facts["exit_code"] = code = int(getattr(import_module(module), name)(options))
        except BrokenPipeError:  # the reader closed the output, which is no failure
            raise
        except Exception as error:
            facts["exit_code"] = code = tell_failure(error, options)
        if is_summarised:
            from clinclust.reporting.report import json_text

            write_data(json_text(mask_cells(facts, {*cells, *map(in_options, cells)})))
    return code


@cache
def _parser() -> Parser:
    parser = Parser(
        prog="clinclust",
        description=TEXTS["description"],
        epilog=TEXTS["first_steps"] + TEXTS["more"],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"clinclust {__version__}")
    debug = "show the traceback of every failure; it may hold values of the table"
    parser.add_argument("--debug", action="store_true", help=debug)
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, options in COMMANDS.items():
        texts = TEXTS["commands"][name]
        command = commands.add_parser(name, help=texts["summary"], description=texts["help"], allow_abbrev=False)
        add_options(command, options)
        # Without a default, which would undo a --debug before the command.
        command.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=debug)
        command.set_defaults(options=options)
    return parser


class Parser(argparse.ArgumentParser):
    """A parser that reports unknown options and commands before missing ones."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse arguments as argparse does, after a check for unknown options and commands."""
        arguments = sys.argv[1:] if args is None else list(args)
        commands = [name for action in self._actions if action.dest == "command" for name in action.choices or ()]
        is_option = [text.startswith("-") for text in arguments]
        place = is_option.index(False) if commands and False in is_option else len(arguments)
        before = arguments[: min(place, arguments.index("--"))] if "--" in arguments else arguments[:place]
        names = dict.fromkeys(text.partition("=")[0] for text in before if text.startswith("-") and text != "-")
        flags = [flag for action in self._actions for flag in action.option_strings]
        problems = []
        for name in names:
            if name not in flags and " " not in name and not _NUMBER.fullmatch(name):
                close = nearest(name.lstrip("-"), (flag.lstrip("-") for flag in flags if flag.startswith("--")))
                hint = f" Did you mean --{close}?" if close else ""
                if commands and not close:
                    example = "clinclust draft cohort.csv --out schema.yaml"
                    hint = f" The options of a command stand after it, as in: {example}"
                problems.append(f"there is no option {shortened(name, _LONGEST)}.{hint}")
        if place < len(arguments) and arguments[place] not in commands and not problems:
            name, hint = arguments[place], did_you_mean(arguments[place], commands)
            if not hint and (Path(name).suffix or Path(name).exists()):
                hint = f" To begin with this table: clinclust start {shortened(shlex.quote(name), _LONGEST)}"
            hint = hint or f" The commands are {', '.join(commands)}"
            problems = [f"there is no command {shortened(name, _LONGEST)}.{hint}"]
        if problems:
            self.error("; ".join(problems))
        return super().parse_known_args(self._put_table_first(arguments), namespace)

    def _put_table_first(self, arguments: list[str]) -> list[str]:
        """Return arguments with the table first, where a list of names would take it: `--drop crp sex cohort.csv`."""
        lists = {flag for action in self._actions if action.type is read_names for flag in action.option_strings}
        flag, last = "", 0
        for place, (before, text) in enumerate(pairwise(["-", *arguments])):
            flag = text if text.startswith("-") else flag
            last = place if flag in lists and not before.startswith("-") and Path(text).exists() else last
        is_taken = last > 0 and arguments[0].startswith("-")
        return [arguments[last], *arguments[:last], *arguments[last + 1 :]] if is_taken else arguments

    def error(self, message: str) -> NoReturn:
        """Print the problem and where the options are listed, and exit with the code of bad input."""
        tell(f"clinclust: {on_one_line(message)}")
        tell(f"  `{self.prog} --help` shows how the command is used")
        raise SystemExit(BAD_INPUT)
