"""The command to run next, to be copied into a shell."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from clinclust.cli.options import add_table
from clinclust.files.listed import in_shell, names_in_list, option_words

Adder = Callable[[argparse.ArgumentParser], None]

__all__ = ["next_command", "results_folder", "stem"]


def next_command(
    command: str, options: argparse.Namespace, *more: str | Path, adders: Sequence[Adder] = (add_table,)
) -> str:
    """Return a command on the same table, read with the same options, quoted for the shell of this system.

    Parameters
    ----------
    command : str
        Its name, such as ``fit``.
    options : argparse.Namespace
        The options of the present command.
    more : str or Path
        Further arguments. A path is no option, even if it begins as one.
    adders : sequence of callable
        Functions that add arguments to a parser: those whose values are repeated, if they are not the default.
    """
    words = ["clinclust", command, *_given(options, adders), *map(_word, more)]
    return in_shell(*words)


def results_folder(table: Path) -> Path:
    """Return the folder that is proposed for the results of a table: it lies beside it and is named after it."""
    return table.with_name(f"{stem(table)}-subtypes")


def stem(table: Path) -> str:
    """Return the name of a table without its suffix, and without that of a compression."""
    shown = table.with_suffix("") if table.suffix.lower() in (".gz", ".zip") else table
    return shown.stem


def _given(options: argparse.Namespace, adders: Sequence[Adder]) -> Iterator[str]:
    """Yield the arguments that somebody gave, among those that the functions add to a parser."""
    parser = argparse.ArgumentParser(add_help=False)
    for add in adders:
        add(parser)
    for action in parser._actions:
        value = getattr(options, action.dest, action.default)
        if value == action.default:
            continue
        if not action.option_strings:
            yield _not_an_option(str(value))
            continue
        name = action.option_strings[-1]
        if action.nargs == 0:
            yield name
            continue
        for one in value if isinstance(action, argparse._AppendAction) else [value]:
            yield from _with_value(name, one)


def _with_value(name: str, value: object) -> tuple[str, ...]:
    """Return an option with its value; of several names in one value, those with a comma stand in quotes."""
    return option_words(name, names_in_list(*value) if isinstance(value, list | tuple) else str(value))


def _word(argument: str | Path) -> str:
    return _not_an_option(str(argument)) if isinstance(argument, Path) else argument


def _not_an_option(path: str) -> str:
    return f".{os.sep}{path}" if path.startswith("-") else path
