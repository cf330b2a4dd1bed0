"""What an attack is: a function that tries many hostile inputs and says which of them broke the package."""

import contextlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from command_line import exit_code
from numpy.random import Generator


def ran(*arguments, stream=io.StringIO):
    """Run the command; return its exit code, its output and its errors."""
    out, err = stream(), stream()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = exit_code("", *arguments)
    return code, out.getvalue(), err.getvalue()


Tries = Callable[[int, Generator, Path], Iterator[str | None]]


class ImpossibleHereError(Exception):
    """The machine lacks what an attack needs; the message says what. No try was made."""


@dataclass(frozen=True)
class Attack:
    """An attack and its sizes.

    Attributes
    ----------
    name : str
        What is attacked, as the table of results calls it.
    tries : callable
        Takes how many inputs to try, a generator of random numbers, and an empty folder to work in. It yields once
        for each try: None if the package stood, else one line that says what broke and how to see it again. The same
        generator gives the same tries.
    smoke : int
        Tries in the tests: all attacks together take less than a minute.
    full : int
        Tries for the table of results.
    """

    name: str
    tries: Tries
    smoke: int
    full: int


def carried_out(attack: Attack, count: int, rng: Generator, folder: Path) -> tuple[int, list[str]]:
    """Return how many tries an attack of this size made, and the line of each that broke the package.

    Fewer tries than asked for are an error of the attack itself.
    """
    outcomes = list(attack.tries(count, rng, folder))
    assert len(outcomes) >= count, f"{attack.name} tried {len(outcomes)} of {count}"
    return len(outcomes), [outcome for outcome in outcomes if outcome is not None]
