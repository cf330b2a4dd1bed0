"""The summary of a command as JSON on standard output, for programs (``--json``)."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clinclust.cli.options import Options, called, in_options, option
from clinclust.cli.streams import tell, write_data
from clinclust.errors import CohortError, InputError

if TYPE_CHECKING:
    from pathlib import Path

_FACTS: ContextVar[dict[str, Any] | None] = ContextVar("clinclust_summary", default=None)


@dataclass(kw_only=True)
class SummaryOptions(Options):
    """The option of a command that can summarise what it did for a program."""

    json: bool = option("print a summary as JSON on standard output, in the place of sentences", False, parameter=None)


def record(**facts: object) -> None:
    """Add facts to the summary, if one was asked for."""
    found = _FACTS.get()
    if found is not None:
        found.update(facts)


def note(message: str, kind: str = "note") -> None:
    """Print a note on standard error, and add it to the summary."""
    tell(f"clinclust: note: {message}")
    _listed("warnings", {"kind": kind, "message": message})


def record_failure(error: Exception, message: str, lost: str) -> None:
    """Add a failure to the summary; `lost` is the part that was not done, empty for all.

    That of a table has its failures by column, without the values that it holds.
    """
    said: dict[str, Any] = {"kind": type(error).__name__, "message": message, "not_done": lost}
    if isinstance(error, CohortError):
        said["message"] = "the table does not fit the schema"
        failures = error.failures.drop(columns="examples")
        said["failures"] = failures.assign(repair=failures["repair"].map(in_options)).to_dict("records")
    _listed("problems", said)


def _listed(name: str, fact: dict[str, Any]) -> None:
    found = _FACTS.get()
    if found is not None:
        found[name].append(fact)


def refuse_output(options: SummaryOptions, out: Path | None) -> None:
    """Raise InputError if the result itself would go to standard output."""
    if options.json and out is None:
        raise InputError(f"{called('json')} prints on standard output, where the result would go: give --out as well")


def summarised(command: str, run: Callable[[], int]) -> int:
    """Run a command, print its summary, and return its exit code."""
    from clinclust import __version__

    found: dict[str, Any] = {"clinclust": __version__, "command": command}
    found |= {"exit_code": 0, "warnings": [], "problems": []}
    token = _FACTS.set(found)
    try:
        found["exit_code"] = run()
    finally:
        _FACTS.reset(token)
    from clinclust.reporting.results import json_text

    write_data(json_text(found))
    return int(found["exit_code"])
