"""Options of the command line: fields of dataclasses that commands inherit, and argparse reads and fills."""

from __future__ import annotations

import argparse
import ast
import csv
import io
import os
import re
import shlex
import subprocess
import warnings
from collections.abc import Callable, Iterator
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.schema import FeatureSchema


Commands: TypeAlias = "argparse._SubParsersAction[Any]"


def option(what: str, default: Any = None, **details: Any) -> Any:
    """Declare an option (False: a flag) as a field; `details` are arguments of ``add_argument``.

    Also: ``positional``; ``either`` (exactly one of these is required); ``name`` and ``parameter``, if not that of the
    field.
    """
    return field(default=default, metadata={"help": what, **details})


@dataclass(kw_only=True)
class Options:
    """Options that belong together; fields not declared by `option` are no arguments."""

    TITLE: ClassVar[str] = ""
    """The heading of the options in the help."""


@dataclass(kw_only=True)
class Command(Options):
    """What every command has."""

    command: str = ""
    debug: bool = False
    quiet: bool = option("print nothing but notes and problems", False, parameter=None)


Given = TypeVar("Given", bound=Options)
Declared = type[Options]


def declared(options: Declared) -> Iterator[tuple[str, Field[Any]]]:
    """Yield the heading and the field of each option of a dataclass: its own first, then those of its bases."""
    lineage = [one for one in options.__mro__ if issubclass(one, Options)]
    owner = {name: one for one in lineage for name in one.__dataclass_fields__}  # the last is the first to declare it
    own = {one.name: one for one in fields(options) if "help" in one.metadata}
    for name in sorted(own, key=lambda name: lineage.index(owner[name])):
        yield vars(owner[name]).get("TITLE", ""), own[name]


def called(name: str) -> str:
    """Return the option that a field declares."""
    return f"--{name.replace('_', '-')}"


def add_command(commands: Commands, name: str, what: str, run: Callable[[Any], int], options: Declared) -> None:
    """Add a command with the options of a dataclass; the docstring of `run` is its help."""
    parser = commands.add_parser(name, help=what, description=run.__doc__)
    add_options(parser, options)
    parser.set_defaults(run=lambda parsed: run(options_of(options, parsed)))


def add_options(parser: argparse.ArgumentParser, options: Declared) -> None:
    """Add all options of a dataclass to a parser."""
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    exclusive = None
    for title, one in declared(options):
        details = {key: value for key, value in one.metadata.items() if key != "parameter"}
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        group = groups[title]
        if details.pop("either", False):
            group = exclusive = exclusive or parser.add_mutually_exclusive_group(required=True)
        if details.pop("positional", False):
            group.add_argument(one.name, **details)
            continue
        if one.default is False:
            details["action"] = "store_true"
        default = None if one.default == () else one.default  # argparse begins its own list
        group.add_argument(called(details.pop("name", one.name)), dest=one.name, default=default, **details)


def options_of(options: type[Given], parsed: argparse.Namespace) -> Given:
    """Return the parsed options of a dataclass."""
    given: dict[str, Any] = {one.name: getattr(parsed, one.name, one.default) for one in fields(options)}
    lists = {one.name for one in fields(options) if one.default == ()}
    return options(**{name: tuple(value or ()) if name in lists else value for name, value in given.items()})


def without(options: Given, *left_out: Declared) -> Given:
    """Return the options with the defaults of some dataclasses."""
    defaults = {one.name: one.default for declaring in left_out for _, one in declared(declaring)}
    return replace(options, **defaults)


def next_command(command: str, options: Options, *more: str | Path, repeated: tuple[Declared, ...]) -> str:
    """Return a command that repeats the options of dataclasses and adds `more` arguments, quoted for this shell."""
    words = [word for declaring in repeated for _, one in declared(declaring) for word in _words(one, options)]
    table = [word for word in words if isinstance(word, Path)]
    others = [word for word in words if not isinstance(word, Path)]
    return in_shell("clinclust", command, *map(_not_an_option, [*table, *others, *more]))


def _words(one: Field[Any], options: Options) -> Iterator[str | Path]:
    value: Any = getattr(options, one.name, one.default)
    if value == one.default:
        return
    name, action = called(one.metadata.get("name", one.name)), one.metadata.get("action")
    if one.metadata.get("positional"):
        yield value
    elif one.default is False:
        yield name
    elif action == "append":
        for each in value:
            yield from option_words(name, each)
    else:
        yield from option_words(name, names_in_list(*value) if action == "extend" else str(value))


def _not_an_option(word: str | Path) -> str:
    is_like_one = isinstance(word, Path) and str(word).startswith("-")
    return f".{os.sep}{word}" if is_like_one else str(word)


_MENTIONED = re.compile(
    r"`(?P<alone>[a-z_]+)`|(?<![\w.])(?P<given>[a-z_]+)="
    r"(?P<value>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\[[^\[\]]*\]|[A-Z0-9][\w-]*)"
)


def in_options(message: str, **others: str) -> str:
    """Return a message of the library with options for the parameters in it; `others` replace some parameters."""
    known = {**_options_by_parameter(Options), **{name: called(one) for name, one in others.items()}}

    def with_option(found: re.Match[str]) -> str:
        option = known.get(found["alone"] or found["given"])
        if option is None or found["value"] is None:
            return option or found[0]
        try:
            value = found["value"] if found["value"][0] not in "'\"[" else ast.literal_eval(found["value"])
        except (ValueError, SyntaxError):  # a text that was shortened
            return found[0]
        return in_shell(*option_words(option, names_in_list(*value) if isinstance(value, list) else value))

    return _MENTIONED.sub(with_option, message)


def _options_by_parameter(options: Declared) -> dict[str, str]:
    found = {
        one.metadata.get("parameter", one.name): called(one.metadata.get("name", one.name))
        for _, one in declared(options)
        if not one.metadata.get("positional")
    }
    for more in options.__subclasses__():
        found |= _options_by_parameter(more)
    return found


def in_shell(*words: str) -> str:
    """Return words as the shell of this system reads them."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def option_words(option: str, value: str) -> tuple[str, ...]:
    """Return the words of an option with its value: one, if the value begins as an option does."""
    return (f"{option}={value}",) if value.startswith("-") else (option, value)


def names_in_list(*names: str) -> str:
    """Return names between commas; those with a comma or a quote are in double quotes."""
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(names)
    return written.getvalue()


def path_given(text: str) -> Path:
    """Return the path of an argument; an empty text is refused."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty; give the name of a file or folder")
    return Path(text)


def columns_between_commas(text: str) -> list[str]:
    """Return the names in a list between commas; a name with a comma is in double quotes."""
    names = [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("no column is named; give names with commas between them")
    return names


def whole_number(text: str) -> int:
    """Parse an option whose value is a whole number."""
    return int(text)


def number(text: str) -> float:
    """Parse an option whose value is a number."""
    return float(text)


whole_number.__name__ = "whole number"  # argparse shows the name: "invalid whole number value"


def number_or(*words: str, parse: Callable[[str], float] = number) -> Callable[[str], float | str]:
    """Return a parser of a number or one of these words."""

    def read(text: str) -> float | str:
        return text if text in words else parse(text)

    read.__name__ = f"{parse.__name__} or {' or '.join(words)}"
    return read


def whole_number_or(*words: str) -> Callable[[str], float | str]:
    """Return a parser of a whole number or one of these words."""
    return number_or(*words, parse=whole_number)


def number_or_share(text: str) -> float:
    """Parse a whole number or a share, as ``20``, ``0.02`` or ``2%``."""
    given = text.strip()
    try:
        if given.endswith("%"):
            return float(f"{given[:-1].strip()}e-2")  # as decimals: in binary, 0.7 / 100 is not 0.007
        return int(given) if given.lstrip("+-").isdecimal() else float(given)
    except ValueError:
        from clinclust.files.listed import quoted

        takes = "takes a number of subjects, as 20, or a share of the cohort, as 0.02 or 2%"
        raise argparse.ArgumentTypeError(f"{takes}, not {quoted(text)}") from None


_DISTINCT, _FOUND, _NUMBER, _IN_FULL = "distinct", "found", "a whole number of at least 1", "none"
_NO_FLOOR = (
    "leave --min-size out to merge no small subtype; `clinclust report --min-size` says after the fit how small a "
    "subtype may be that is tested"
)


class _OldName(argparse.Action):
    """The old name of ``--block-weights``, which works for one version."""

    def __call__(self, parser: object, options: argparse.Namespace, values: object, given: str | None = None) -> None:
        told = f"{given} is called --block-weights now; the old name will be removed in the next version"
        warnings.warn(told, FutureWarning, stacklevel=2)
        options.block_weights = values


@dataclass(kw_only=True)
class JobOptions(Options):
    """The number of threads."""

    jobs: int | None = option(
        "threads (default: one for each processor)", type=whole_number, metavar="J", parameter="n_jobs"
    )


@dataclass(kw_only=True)
class SearchOptions(JobOptions, Command):
    """The search: all options but three set the parameter of `MAPDP` of their name."""

    TITLE = "the search"
    n_clusters: int | str | None = option(
        "number of subtypes: 'distinct' (those between which there is more than a continuum), 'found' (each "
        "cluster that the search found), or a number (clusters are merged until so many are left) (default: distinct)",
        type=whole_number_or(_DISTINCT, _FOUND),
        metavar="K",
    )
    min_size: float | None = option(
        "fewest subjects of a subtype that is tested, as a number (20) or a share of the cohort (0.02 or 2%%): a "
        "smaller one is merged with another where they are hardly distinct, and is else untested (default: no "
        "subtype is merged because it is small); reports test none of fewer than 3, unless `clinclust report "
        "--min-size` asks for it",
        type=number_or_share,
        metavar="N|SHARE",
    )
    as_published: bool = option(
        "search as Raykov et al. (2016) published: --n-clusters found --coarsening 1 --block-weights none",
        False,
        parameter=None,
    )
    concentration: float | str | None = option(
        "prior count of a new subtype, 'map' or 'cross-validation' (default: 3)",
        type=number_or("map", "cross-validation"),
        metavar="N0",
    )
    hyperparameters: str | None = option(
        "estimate the other hyperparameters (default: weak priors set from the data)", choices=("empirical", "greedy")
    )
    coarsening: float | str | None = option(
        "power of the likelihood; 'auto' finds it from how much features depend on each other inside subtypes, "
        "and sets outlying values aside (default: auto; --select-features, --hyperparameters and an estimated "
        "--concentration need a number)",
        type=number_or("auto"),
        metavar="POWER",
    )
    block_weights: str | None = option(
        "count the features of a block of the schema for what they hold together (auto), or each in full "
        "(none) (default: auto; none with --as-published)",
        choices=("auto", "none"),
    )
    block_powers: str | None = option(argparse.SUPPRESS, action=_OldName, choices=("auto", "none"), parameter=None)
    select_features: bool = option("leave out features that do not differ between subtypes", False)
    restarts: int | None = option(
        "starts of the search (default: 10)", type=whole_number, metavar="R", parameter="n_restarts"
    )
    max_sweeps: int | None = option("sweeps after which a restart ends (default: 200)", type=whole_number, metavar="S")
    max_seconds: float | None = option(
        "seconds after which the search ends with the best it has found (default: no limit)", type=number, metavar="S"
    )
    seed: int = option(
        "seed of the search, printed in the report (default: 0)", 0, type=whole_number, parameter="random_state"
    )


def _given(options: SearchOptions) -> dict[str, tuple[str, Any]]:
    given = {}
    for _, one in declared(SearchOptions):
        parameter, value = one.metadata.get("parameter", one.name), getattr(options, one.name)
        if parameter is not None and value is not None and value is not False:
            given[parameter] = called(one.name), None if value in (_FOUND, _IN_FULL) else value
    return given


def model_asked_for(options: SearchOptions, schema: FeatureSchema | None) -> MAPDP:
    """Return the estimator with these options, not fitted."""
    from clinclust.estimators.mapdp import MAPDP, PublishedMAPDP

    make = PublishedMAPDP if options.as_published else MAPDP
    parameters = {name: value for name, (_, value) in _given(options).items()}
    return make(schema, **parameters, progress=not options.quiet)


def number_asked_for(options: SearchOptions) -> int | None:
    """Return the number of subtypes asked for, or None."""
    asked = model_asked_for(options, None).n_clusters
    return asked if isinstance(asked, int) else None


def search_problems(options: SearchOptions) -> list[str]:
    """Return one sentence for each option of the search that cannot be used or combined."""
    from clinclust.estimators.parameters import MAPDPParameters, PublishedParameters, rules_of

    rules = rules_of(PublishedParameters if options.as_published else MAPDPParameters)
    rule = rules["n_clusters"]
    rules = {**rules, "n_clusters": replace(rule, allowed=f"'{_DISTINCT}', '{_FOUND}' or {_NUMBER}")}
    given = _given(options)
    problems = [
        f"{problem}{_repair(parameter, value)}"
        for parameter, (name, value) in given.items()
        for problem in rules[parameter].problems_of_option(name, value)
    ]
    if problems:
        return problems
    return _clashes(model_asked_for(options, None).get_params(), given)


def _clashes(asked: dict[str, Any], given: dict[str, tuple[str, Any]]) -> list[str]:
    from clinclust.estimators.parameters import combined_searches, published_searches

    if published_searches(asked) and asked["n_clusters"] == _DISTINCT:
        return [
            f"--hyperparameters {asked['hyperparameters']} reproduces a published search and cannot be combined with "
            f"--n-clusters {_DISTINCT} (the default); give --as-published as well"
        ]
    clash = combined_searches(asked)
    named = [
        called(one.name) + ("" if asked[at] is True else f" {asked[at]}") + ("" if at in given else " (the default)")
        for _, one in declared(SearchOptions)
        if (at := one.metadata.get("parameter", one.name)) in clash
    ]
    is_default = "coarsening" in clash and "coarsening" not in given
    repair = "give --coarsening 1 as well" if is_default else "leave out all but one of them"
    return [f"{' and '.join(named)} cannot be combined in one fit; {repair}"] if named else []


def _repair(parameter: str, value: object) -> str:
    return f"; {_NO_FLOOR}" if parameter == "min_size" and isinstance(value, int) else ""
