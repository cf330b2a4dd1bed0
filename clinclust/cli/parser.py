"""A parser of arguments that says what is wrong in one sentence, and names the nearest option or command."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from clinclust.cli.failures import BAD_INPUT
from clinclust.cli.streams import tell
from clinclust.control_characters import on_one_line
from clinclust.nearest import did_you_mean, nearest

__all__ = ["Parser"]

_NUMBER = re.compile(r"-\d+|-\d*\.\d+")  # what argparse takes for a value
_LONGEST_SHOWN = 100


class Parser(argparse.ArgumentParser):
    """A parser that accepts no abbreviations, and whose errors are told like all others.

    argparse says what is missing before it says what it does not know, so that ``--shema`` would be answered by
    "--schema is required". Unknown options and commands are therefore looked for first.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_abbrev": False})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse arguments as argparse does, after a look for options and commands that do not exist."""
        given = sys.argv[1:] if args is None else list(args)
        commands = self._commands()
        own, rest = _divided(given) if commands else (given, [])
        problems = [self._unknown(name, bool(commands)) for name in _names_of_options(own)]
        problems = [problem for problem in problems if problem]
        if rest and rest[0] not in commands and not problems:
            problems = [_unknown_command(rest[0], commands)]
        if problems:
            self.error("; ".join(problems))
        return super().parse_known_args(given, namespace)

    def error(self, message: str) -> NoReturn:
        """Tell the problem and where the options are listed, and end the process with the code of bad input."""
        tell(f"clinclust: {on_one_line(message)}")
        tell(f"  `{self.prog} --help` shows how the command is used")
        raise SystemExit(BAD_INPUT)

    def _commands(self) -> list[str]:
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                return list(action.choices)
        return []

    def _unknown(self, name: str, is_before_command: bool) -> str:
        """Return the sentence about an option that does not exist; empty if it does."""
        known = [option for action in self._actions for option in action.option_strings]
        if name in known:
            return ""
        close = nearest(name.lstrip("-"), (option.lstrip("-") for option in known if option.startswith("--")))
        hint = f" Did you mean --{close}?" if close else ""
        if is_before_command and not close:
            hint = " The options of a command stand after it, as in: clinclust draft cohort.csv --out schema.yaml"
        return f"there is no option {_shown(name)}.{hint}"


def _names_of_options(arguments: Sequence[str]) -> list[str]:
    """Return the names of the options among arguments, each once, as argparse recognises them."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    names = [text.partition("=")[0] for text in before if text.startswith("-") and text != "-"]
    return list(dict.fromkeys(name for name in names if " " not in name and not _NUMBER.fullmatch(name)))


def _divided(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments before the command, and the command with all that follows."""
    place = next((place for place, text in enumerate(arguments) if not text.startswith("-")), len(arguments))
    return list(arguments[:place]), list(arguments[place:])


def _unknown_command(name: str, commands: Sequence[str]) -> str:
    hint = did_you_mean(name, commands)
    if not hint and (Path(name).suffix or Path(name).exists()):
        hint = f" To begin with this table: clinclust start {_shown(shlex.quote(name))}"
    return f"there is no command {_shown(name)}.{hint or ' The commands are ' + ', '.join(commands)}"


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
