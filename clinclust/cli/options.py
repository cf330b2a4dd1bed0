"""Options of the command line: fields of dataclasses that commands inherit, and argparse reads and fills.

A command states its options as a dataclass. Options that several commands share are a dataclass of their own, which
these inherit. An option of the search is the parameter of `MAPDP` of its name (`of_parameter`): its default, its help
and the values that it accepts are declared in `clinclust.estimators.parameters`.

    @dataclass(kw_only=True)
    class ImputeOptions(ModelOptions):
        tables: int = option("number of completed tables (default: 1)", 1, type=whole_number, metavar="M")
"""

from __future__ import annotations

import argparse
import ast
import csv
import io
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from clinclust.estimators.parameters import (
    DISTINCT,
    MAPDPParameters,
    PublishedParameters,
    combined_searches,
    declarations,
    published_searches,
    rules_of,
)
from clinclust.files.listed import quoted

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.schema import FeatureSchema

Commands: TypeAlias = "argparse._SubParsersAction[Any]"


# How options are declared, and become arguments of argparse.


def option(description: str, default: Any = None, **details: Any) -> Any:
    """Declare an option (False: a flag) as a field; `details` are arguments of ``add_argument``.

    Also: ``positional``; ``either`` (exactly one of these is required); ``name`` and ``parameter``, if not that of the
    field.
    """
    return field(default=default, metadata={"help": description, **details})


@dataclass(kw_only=True)
class Options:
    """Options that belong together; fields not declared by `option` are no arguments."""

    TITLE: ClassVar[str] = ""
    """The heading of the options in the help."""


@dataclass(kw_only=True)
class Command(Options):
    """The options of every command."""

    command: str = ""
    debug: bool = False
    quiet: bool = option("print nothing but notes and problems", False, parameter=None)


Stated = TypeVar("Stated", bound=Options)


def declared_options(options: type[Options]) -> Iterator[tuple[str, Field[Any]]]:
    """Yield the heading and the field of each option of a dataclass: its own first, then those of its bases."""
    lineage = [base for base in options.__mro__ if issubclass(base, Options)]
    # The last one to be set is the first to declare the option.
    owner = {name: base for base in lineage for name in base.__dataclass_fields__}
    by_name = {item.name: item for item in fields(options) if "help" in item.metadata}
    for name in sorted(by_name, key=lambda name: lineage.index(owner[name])):
        yield vars(owner[name]).get("TITLE", ""), by_name[name]


def flag_of(name: str) -> str:
    """Return the option that a field declares, such as ``--n-jobs``."""
    return f"--{name.replace('_', '-')}"


def add_options(parser: argparse.ArgumentParser, options: type[Options]) -> None:
    """Add all options of a dataclass to a parser."""
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    exclusive = None
    for title, item in declared_options(options):
        details = {key: value for key, value in item.metadata.items() if key != "parameter"}
        details["help"] = _IN_PYTHON.sub("", in_options(details["help"]))
        group = groups.get(title) or groups.setdefault(title, parser.add_argument_group(title))
        if details.pop("either", False):
            group = exclusive = exclusive or parser.add_mutually_exclusive_group(required=True)
        if details.pop("positional", False):
            group.add_argument(item.name, **details)
            continue
        if item.default is False:
            details["action"] = "store_true"
        default = None if item.default == () else item.default  # argparse begins its own list
        group.add_argument(flag_of(details.pop("name", item.name)), dest=item.name, default=default, **details)


def read_options(options: type[Stated], parsed: argparse.Namespace) -> Stated:
    """Return the parsed options of a dataclass."""
    values: dict[str, Any] = {item.name: getattr(parsed, item.name, item.default) for item in fields(options)}
    lists = {item.name for item in fields(options) if item.default == ()}
    return options(**{name: tuple(value or ()) if name in lists else value for name, value in values.items()})


# Commands and options in messages: a further command with the same options, and parameters as options.


def without(options: Stated, *left_out: type[Options]) -> Stated:
    """Return the options with the defaults of some dataclasses."""
    defaults = {item.name: item.default for declaring in left_out for _, item in declared_options(declaring)}
    return replace(options, **defaults)


def next_command(command: str, options: Options, *more: str | Path, repeated: tuple[type[Options], ...]) -> str:
    """Return a command that repeats the options of dataclasses and adds `more` arguments, quoted for this shell."""
    items = [item for declaring in repeated for _, item in declared_options(declaring)]
    words = [word for item in items for word in _words(item, options)]
    table = [word for word in words if isinstance(word, Path)]
    others = [word for word in words if not isinstance(word, Path)]
    # A path that begins as an option does is one of this folder.
    arguments = [
        f".{os.sep}{word}" if isinstance(word, Path) and str(word).startswith("-") else str(word)
        for word in [*table, *others, *more]
    ]
    return in_shell("clinclust", command, *arguments)


def _words(item: Field[Any], options: Options) -> Iterator[str | Path]:
    """Yield the words that state an option; a path is that of a positional argument."""
    value: Any = getattr(options, item.name, item.default)
    if value == item.default:
        return
    flag, action = flag_of(item.metadata.get("name", item.name)), item.metadata.get("action")
    if item.metadata.get("positional"):
        yield value
    elif item.default is False:
        yield flag
    elif action == "append":
        for name in value:
            yield from option_words(flag, name)
    else:
        yield from option_words(flag, join_names(*value) if action == "extend" else str(value))


_IN_PYTHON = re.compile(r" \(`\w+`\)")  # a function or an attribute, such as " (`stopped_early_`)"
_MENTIONED = re.compile(
    r"`(?P<alone>[a-z_]+)`|(?<![\w.])(?P<stated>[a-z_]+)="
    r"(?P<value>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\[[^\[\]]*\]|[A-Z0-9][\w-]*)"
)


def in_options(message: str, **others: str) -> str:
    """Return a message of the library with options for the parameters in it; `others` replace some parameters.

    >>> in_options("name one column with `one_row_per`, or state n_jobs=2")
    'name one column with --one-row-per, or state --n-jobs 2'
    """
    flags = {**_flags_by_parameter(Options), **{name: flag_of(other) for name, other in others.items()}}

    def replaced(match: re.Match[str]) -> str:
        flag, text = flags.get(match["alone"] or match["stated"]), match["value"]
        if flag is None or text is None:
            return flag or match[0]
        try:
            value = ast.literal_eval(text) if text[0] in "'\"[" else text
        except (ValueError, SyntaxError):  # a text that was shortened
            return match[0]
        return in_shell(*option_words(flag, join_names(*value) if isinstance(value, list) else value))

    return _MENTIONED.sub(replaced, message)


def _flags_by_parameter(options: type[Options]) -> dict[str, str]:
    flags = {
        item.metadata.get("parameter", item.name): flag_of(item.metadata.get("name", item.name))
        for _, item in declared_options(options)
        if not item.metadata.get("positional")
    }
    for more in options.__subclasses__():
        flags |= _flags_by_parameter(more)
    return flags


def in_shell(*words: str) -> str:
    """Return words as the shell of this system reads them."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def option_words(flag: str, value: str) -> tuple[str, ...]:
    """Return the words of an option with its value: one word, if the value begins as an option does."""
    return (f"{flag}={value}",) if value.startswith("-") else (flag, value)


def join_names(*names: str) -> str:
    """Return names between commas; those with a comma or a quote are in double quotes."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


# How the text of an argument becomes a value.


def read_path(text: str) -> Path:
    """Return the path of an argument; an empty text is refused."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty; give the name of a file or folder")
    return Path(text)


def read_names(text: str) -> list[str]:
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


def number_or_share(text: str) -> float:
    """Parse a whole number or a share, as ``20``, ``0.02`` or ``2%``."""
    value = text.strip()
    try:
        if value.endswith("%"):
            return float(f"{value[:-1].strip()}e-2")  # as decimals: in binary, 0.7 / 100 is not 0.007
        return int(value) if value.lstrip("+-").isdecimal() else float(value)
    except ValueError:
        takes = "takes a number of subjects, as 20, or a share of the cohort, as 0.02 or 2%"
        raise argparse.ArgumentTypeError(f"{takes}, not {quoted(text)}") from None


whole_number.__name__ = "whole number"  # argparse shows the name: "invalid whole number value"
_READERS: dict[str, Callable[[str], float]] = {
    "whole number": whole_number,
    "number": number,
    "share": number_or_share,
}


def _number_or(words: tuple[str, ...], parse: Callable[[str], float]) -> Callable[[str], float | str]:
    """Return a parser of a number or one of these words."""

    def read(text: str) -> float | str:
        return text if text in words else parse(text)

    read.__name__ = " or ".join([parse.__name__, *words])
    return read


# The options of the search, from the declarations of the parameters.

_DECLARED, _PUBLISHED = declarations(MAPDPParameters), declarations(PublishedParameters)


def of_parameter(name: str, default: Any = None) -> Any:
    """Declare the option of a parameter of `MAPDP`; without one, the default of the parameter applies."""
    parameter, published = _DECLARED[name], _PUBLISHED[name].option
    read = parameter.option
    assert read is not None
    assert published is not None
    details: dict[str, Any] = {"metavar": read.metavar}
    if read.reads == "flag":
        return option(parameter.help, False)
    if not read.reads:
        details["choices"] = published.words
    elif published.words:
        details["type"] = _number_or(published.words, _READERS[read.reads])
    else:
        details["type"] = _READERS[read.reads]
    usual = parameter.default if default is None else default
    about = parameter.help.replace("None", "none") + (f" (default: {usual})" if usual is not None else "")
    if further := ", ".join(word for word in published.words if word not in read.words):
        about += f" (with --as-published also: {further})"
    return option(about.replace("%", "%%"), default, **details)


@dataclass(kw_only=True)
class JobOptions(Options):
    """The number of threads."""

    n_jobs: Any = of_parameter("n_jobs")


@dataclass(kw_only=True)
class SearchOptions(JobOptions, Command):
    """The options of the search: parameters of `MAPDP`."""

    TITLE = "the search"
    n_clusters: Any = of_parameter("n_clusters")
    min_size: Any = of_parameter("min_size")
    as_published: bool = option(
        "search as Raykov et al. (2016) published: --n-clusters none --coarsening 1 --block-weights none",
        False,
        parameter=None,
    )
    concentration: Any = of_parameter("concentration")
    hyperparameters: Any = of_parameter("hyperparameters")
    coarsening: Any = of_parameter("coarsening")
    block_weights: Any = of_parameter("block_weights")
    select_features: Any = of_parameter("select_features")
    n_restarts: Any = of_parameter("n_restarts")
    max_sweeps: Any = of_parameter("max_sweeps")
    max_seconds: Any = of_parameter("max_seconds")
    random_state: Any = of_parameter("random_state", 0)


def _stated_parameters(options: SearchOptions) -> dict[str, Any]:
    """Return the parameters of the search that differ from their defaults, by name."""
    names = [item.name for _, item in declared_options(SearchOptions) if item.name in _DECLARED]
    values = {name: getattr(options, name) for name in names}
    stated = {name: value for name, value in values.items() if value is not None and value is not False}
    return {name: None if value == "none" else value for name, value in stated.items()}


def build_model(options: SearchOptions, schema: FeatureSchema | None) -> MAPDP:
    """Return the estimator with these options, not fitted."""
    from clinclust.estimators.mapdp import MAPDP, PublishedMAPDP

    make = PublishedMAPDP if options.as_published else MAPDP
    return make(schema, **_stated_parameters(options), progress=not options.quiet)


def stated_number(options: SearchOptions) -> int | None:
    """Return the number of subtypes that the options state, or None."""
    return options.n_clusters if isinstance(options.n_clusters, int) else None


def check_search(options: SearchOptions) -> list[str]:
    """Return one sentence for each option of the search that cannot be used or combined."""
    parameters = PublishedParameters if options.as_published else MAPDPParameters
    rules, stated = rules_of(parameters), _stated_parameters(options)
    problems = []
    for name, value in stated.items():
        repair = ""
        if name == "min_size" and isinstance(value, int):
            repair = (
                "; leave --min-size out to merge no small subtype; `clinclust report --min-size` says after the fit "
                "how small a subtype may be that is tested"
            )
        elif not rules[name].accepts(value) and _PUBLISHED[name].rule.accepts(value):
            repair = "; give --as-published as well"
        problems += [f"{problem}{repair}" for problem in rules[name].problems_of_option(flag_of(name), value)]
    if problems:
        return problems
    values = {name: each.default for name, each in declarations(parameters).items()} | stated
    if published_searches(values) and values["n_clusters"] == DISTINCT:
        return [
            f"--hyperparameters {values['hyperparameters']} reproduces a published search and cannot be combined with "
            f"--n-clusters {DISTINCT}; leave --n-clusters out, or give none"
        ]
    clash = [name for name in values if name in combined_searches(values)]
    if not clash:
        return []
    options_in_words = [
        flag_of(name) + ("" if values[name] is True else f" {values[name]}") + " (the default)" * (name not in stated)
        for name in clash
    ]
    is_default = "coarsening" in clash and "coarsening" not in stated
    repair = "give --coarsening 1 as well" if is_default else "leave out all but one of them"
    return [f"{' and '.join(options_in_words)} cannot be combined in one fit; {repair}"]


def add_command(commands: Commands, name: str, summary: str, run: Callable[[Any], int], options: type[Options]) -> None:
    """Add a command with the options of a dataclass; the docstring of `run` is its help."""
    parser = commands.add_parser(name, help=summary, description=run.__doc__)
    add_options(parser, options)
    parser.set_defaults(run=lambda parsed: run(read_options(options, parsed)))
