"""What is withheld so that results can be shared: asked of a fit, kept with its model, followed by later commands."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from clinclust.cli.options import whole_number
from clinclust.cli.outputs import SHARING
from clinclust.cli.streams import say
from clinclust.errors import InputError
from clinclust.files.writing import MANIFEST, changed_files, read_manifest

__all__ = [
    "AS_THE_FIT",
    "add_sharing",
    "add_suppress",
    "as_the_fit_was_asked",
    "follow_the_fit",
    "record_sharing",
    "refuse_to_share",
    "say_what_is_withheld",
    "sharing_in_words",
]

_TERMS = ("suppress", "round_to", "missing_is_harmless", "min_n")
_MOST_BYTES = 10_000
AS_THE_FIT = "default: as the fit was asked; 0: nothing withheld"
"""What a command on a model withholds; it completes the help of its option."""


def add_suppress(parser: argparse._ActionsContainer, what: str) -> None:
    """Add the option that withholds small counts; `what` is its help."""
    parser.add_argument("--suppress", type=whole_number, nargs="?", const=10, metavar="N", help=what)


def add_sharing(parser: argparse._ActionsContainer, what: str) -> None:
    """Add all options that say how counts are withheld or rounded; `what` is the help of ``--suppress``."""
    add_suppress(parser, what)
    parser.add_argument(
        "--round-to",
        type=whole_number,
        metavar="N",
        help="with --suppress: round every count to a multiple of N, such as 5, and leave out tests",
    )
    parser.add_argument(
        "--missing-is-harmless",
        action="store_true",
        help="with --suppress: numbers of missing values are shown unless they give small counts away",
    )
    parser.add_argument(
        "--min-n",
        type=whole_number,
        metavar="N",
        help="with --suppress: means and quartiles of fewer than N values withheld (default: of fewer than --suppress)",
    )


def sharing_in_words(options: argparse.Namespace) -> str:
    """Return the options of a report for sharing as they were given, with ``--suppress`` first."""
    further = {"--round-to": options.round_to, "--min-n": options.min_n}
    words = [f"--suppress {options.suppress}", *(f"{name} {number}" for name, number in further.items() if number)]
    return " ".join([*words, *(["--missing-is-harmless"] if options.missing_is_harmless else [])])


def record_sharing(options: argparse.Namespace, folder: Path) -> list[str]:
    """Write what a fit withholds beside its model, if it withholds anything; return the names of files written."""
    if options.suppress is None:
        return []
    text = json.dumps({name: getattr(options, name) for name in _TERMS}, indent=1)
    (folder / SHARING).write_text(f"{text}\n", encoding="utf-8", newline="\n")
    return [SHARING]


def follow_the_fit(options: argparse.Namespace) -> None:
    """Withhold what the fit of ``--model`` was asked to, unless the options say something else, in place.

    Raises
    ------
    InputError
        If the record of the fit is not as it was written.
    """
    given = options.suppress
    if given is None:
        for name, value in _recorded(options.model).items():
            setattr(options, name, getattr(options, name, None) or value)
    options.is_off = given == 0
    options.suppress = None if options.is_off else options.suppress
    options.is_as_fitted = given is None and options.suppress is not None


def as_the_fit_was_asked(options: argparse.Namespace) -> str:
    """Return that counts are withheld because the fit was asked to, and how to do without; empty if they are not."""
    if not options.is_as_fitted:
        return ""
    return f" (the fit was asked for --suppress {options.suppress}; --suppress 0 withholds nothing)"


def refuse_to_share(options: argparse.Namespace, what: str) -> None:
    """Raise InputError if counts are withheld: `what`, which is made of all values, has nothing that can be shared."""
    follow_the_fit(options)
    if options.suppress is not None:
        why = as_the_fit_was_asked(options)
        raise InputError(f"{what} cannot be used with --suppress: a shared report has nothing of it{why}")


def say_what_is_withheld(options: argparse.Namespace) -> None:
    """Say what was withheld in what was written, or that nothing was although it could have been."""
    if options.suppress is not None:
        say(f"Small counts withheld: {sharing_in_words(options)}{as_the_fit_was_asked(options)}")
    elif options.is_off:
        say("Nothing withheld (--suppress 0): not for sharing.")


def _recorded(folder: Path) -> dict[str, Any]:
    """Return what a fit was asked to withhold; empty if nothing was, or there is no model."""
    from clinclust.reporting.options import ReportOptions

    if not (folder / MANIFEST).is_file():
        return {}
    path, listed = folder / SHARING, read_manifest(folder)
    if SHARING not in listed and not path.exists():
        return {}
    if SHARING in listed and not changed_files(folder, {SHARING: listed[SHARING]}):
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES)
        try:
            asked = json.loads(content)
        except (ValueError, RecursionError):
            asked = None
        if isinstance(asked, dict) and asked.keys() == set(_TERMS) and not ReportOptions(**asked).problems():
            return asked
    raise InputError(
        f"{path} says what is withheld of this model, and is not as the fit wrote it; say it with --suppress N, or "
        "--suppress 0 to withhold nothing"
    )
