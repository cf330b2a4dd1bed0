"""Results for sharing: counts withheld by a fit, and by later commands on its model."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from clinclust.cli.options import Options, option, whole_number
from clinclust.cli.outputs import SHARING
from clinclust.cli.streams import say
from clinclust.errors import InputError
from clinclust.files.writing import MANIFEST, changed_files, read_manifest

_TERMS = ("suppress", "round_to", "missing_is_harmless", "min_n")
_MOST_BYTES = 10_000
NOT_SHARED = "a shared report has nothing of it"


@dataclass(kw_only=True)
class SuppressOptions(Options):
    """Whether small counts are withheld."""

    TITLE = "results that can be shared"

    suppress: int | None = option(
        "withhold counts below N (10), and all about single subjects, so that the result can be shared; commands on "
        "the model of a fit do as the fit was asked (0: nothing is withheld)",
        type=whole_number,
        nargs="?",
        const=10,
        metavar="N",
    )
    is_off: bool = False
    """Whether the options exclude suppression."""
    is_as_fitted: bool = False
    """Whether counts are withheld as in the fit."""


@dataclass(kw_only=True)
class SharingOptions(SuppressOptions):
    """How counts are withheld or rounded."""

    TITLE = SuppressOptions.TITLE

    round_to: int | None = option(
        "with --suppress: round every count to a multiple of N, such as 5, and leave out tests",
        type=whole_number,
        metavar="N",
    )
    missing_is_harmless: bool = option(
        "with --suppress: numbers of missing values are shown unless they give small counts away", False
    )
    min_n: int | None = option(
        "with --suppress: means and quartiles of fewer than N values withheld (default: of fewer than --suppress)",
        type=whole_number,
        metavar="N",
    )


Given = TypeVar("Given", bound=SuppressOptions)


def sharing_in_words(options: SharingOptions) -> str:
    """Return the options of a report for sharing as they were given, with ``--suppress`` first."""
    further = {"--round-to": options.round_to, "--min-n": options.min_n}
    words = [f"--suppress {options.suppress}", *(f"{name} {number}" for name, number in further.items() if number)]
    return " ".join([*words, *(["--missing-is-harmless"] if options.missing_is_harmless else [])])


def record_sharing(options: SharingOptions, folder: Path) -> list[str]:
    """Write what a fit withholds, if anything; return the names of files written."""
    if options.suppress is None:
        return []
    text = json.dumps({name: getattr(options, name) for name in _TERMS}, indent=1)
    (folder / SHARING).write_text(f"{text}\n", encoding="utf-8", newline="\n")
    return [SHARING]


def follow_the_fit(options: Given, model: Path) -> Given:
    """Return the options that withhold what the fit did, unless they say otherwise."""
    given = options.suppress
    if given is None:
        recorded = {name: value for name, value in _recorded(model).items() if hasattr(options, name)}
        options = replace(options, **{name: getattr(options, name) or value for name, value in recorded.items()})
    suppress = None if given == 0 else options.suppress
    return replace(options, suppress=suppress, is_off=given == 0, is_as_fitted=given is None and suppress is not None)


def as_the_fit_was_asked(options: SuppressOptions) -> str:
    """Return the sentence that counts are withheld as in the fit; empty if they are not."""
    if not options.is_as_fitted:
        return ""
    return f" (the fit was asked for --suppress {options.suppress}; --suppress 0 withholds nothing)"


def refuse_to_share(options: Given, model: Path, what: str) -> Given:
    """Return the options of `follow_the_fit`; raise InputError if `what` would have to withhold counts."""
    followed = follow_the_fit(options, model)
    if followed.suppress is not None:
        why = as_the_fit_was_asked(followed)
        raise InputError(f"{what} cannot be used with --suppress: {NOT_SHARED}{why}")
    return followed


def say_what_is_withheld(options: SuppressOptions) -> None:
    """Print what was withheld, or that nothing was."""
    if isinstance(options, SharingOptions) and options.suppress is not None:
        say(f"Small counts withheld: {sharing_in_words(options)}{as_the_fit_was_asked(options)}")
    elif options.is_off:
        say("Nothing withheld (--suppress 0): not for sharing.")


def _recorded(folder: Path) -> dict[str, Any]:
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
