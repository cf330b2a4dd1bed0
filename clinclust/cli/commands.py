"""The commands, their options in the order of the help, and options in messages.

The help of commands and options is in `clinclust/data/command_line.toml`. A command states its options as a subclass of
`Options`, which makes it a dataclass; options that several commands share are a class that these inherit. The type of a
field says how its text is read. An option of the search is the parameter of `MAPDP` of its name (`of_parameter`): its
default, help and values are declared in `clinclust.estimators.parameters`.

    class ImputeOptions(ModelOptions, OutputOptions, runs="fitted.run_impute"):
        tables: int = option(1, "M")

`runs` is the function that runs the command, in a module of this folder: what it imports is loaded only then.
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
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, Literal, Self, dataclass_transform, get_args, get_origin, get_type_hints

from clinclust.data import Language, Style, data
from clinclust.estimators.parameters import (
    MAPDPParameters,
    PublishedParameters,
    combination_problems,
    declarations,
    rules_of,
)
from clinclust.progress import Progress

# How options are declared, and become arguments of argparse.

TEXTS = data("command_line")
"""What the help says of commands and options."""
_FLAGS: dict[str | None, str] = {}
"""The flag of each parameter, or of a field without one, over all options that are declared."""


def option(default: Any = None, metavar: Any = None, **details: Any) -> Any:
    """Declare an option as a field; `details` are arguments of ``add_argument``.

    Also: ``positional``; ``either`` (exactly one of these is required); ``name`` and ``parameter``, if not that of the
    field. The help of options without one is in ``clinclust/data/command_line.toml``.
    """
    shown = {} if metavar is None else {"metavar": metavar}
    return field(default=default, metadata={"help": "", **shown, **details})


@dataclass_transform(kw_only_default=True)
class Options:
    """Options that belong together: a dataclass, whose fields not declared by `option` are no arguments.

    `title` is their heading in the help.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls, title: str = "", **more: Any) -> None:
        """Make each subclass a dataclass."""
        super().__init_subclass__(**more)
        cls.heading = title
        dataclass(kw_only=True)(cls)
        for name in cls.__annotations__:
            details = cls.__dataclass_fields__[name].metadata
            if "help" in details and "positional" not in details:
                _FLAGS[details.get("parameter", name)] = flag_of(details.get("name", name))

    heading: ClassVar[str]

    @property
    def progress(self) -> Progress:
        """Reports the stages of the work, unless the command is quiet."""
        return Progress(not getattr(self, "quiet", False))

    @classmethod
    def read(cls, parsed: argparse.Namespace) -> Self:
        """Return the options that argparse parsed."""
        values: dict[str, Any] = {item.name: getattr(parsed, item.name, item.default) for item in fields(cls)}
        lists = {item.name for item in fields(cls) if item.default == ()}
        for name in lists:  # `age sex` and `age,sex` are both two names
            parts = [part if isinstance(part, list) else [part] for part in values[name] or ()]
            values[name] = tuple(chain.from_iterable(parts))
        return cls(**values)

    def without(self, *left_out: type[Options]) -> Self:
        """Return the options with the defaults of some dataclasses."""
        items = [item for declaring in left_out for _, item in declared_options(declaring)]
        return replace(self, **{item.name: item.default for item in items})


def declared_options(options: type[Options]) -> Iterator[tuple[type[Options], Field[Any]]]:
    """Yield each option of a dataclass with the class that declares it: its own first, then those of its bases."""
    lineage = [base for base in options.__mro__ if issubclass(base, Options) and base is not Options]
    # The last one to be set is the first to declare the option.
    owner = {name: base for base in lineage for name in base.__dataclass_fields__}
    by_name = {item.name: item for item in fields(options) if "help" in item.metadata}
    for name in sorted(by_name, key=lambda name: lineage.index(owner[name])):
        yield owner[name], by_name[name]


def flag_of(name: str) -> str:
    """Return the option that a field declares, such as ``--n-jobs``."""
    return f"--{name.replace('_', '-')}"


def add_options(parser: argparse.ArgumentParser, options: type[Options]) -> None:
    """Add all options of a dataclass to a parser."""
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    exclusive, types = None, get_type_hints(options)
    for owner, item in declared_options(options):
        details = {key: value for key, value in item.metadata.items() if key != "parameter"}
        if not {"action", "nargs"} & details.keys():
            details = _reading_of(types[item.name]) | details
        helps = (TEXTS["options"].get(base.__name__, {}).get(item.name) for base in options.__mro__)
        text = details["help"] or next(filter(None, helps), "")  # that of the class which declares it last
        details["help"] = _IN_PYTHON.sub("", in_options(text))
        group = groups.get(owner.heading) or groups.setdefault(owner.heading, parser.add_argument_group(owner.heading))
        if details.pop("either", False):
            group = exclusive = exclusive or parser.add_mutually_exclusive_group(required=True)
        if details.pop("positional", False):
            parser.add_argument(item.name, **details)
            continue
        default = None if item.default == () else item.default  # argparse begins its own list
        group.add_argument(flag_of(details.pop("name", item.name)), dest=item.name, default=default, **details)


def _reading_of(hint: Any) -> dict[str, Any]:
    """Return the arguments of ``add_argument`` for the type of a field, such as ``int | None``."""
    kind = get_args(hint)[0] if NoneType in get_args(hint) else hint
    if kind is bool:
        return {"action": "store_true"}
    if get_origin(kind) is Literal:
        return {"choices": get_args(kind)}
    if kind == tuple[str, ...]:
        return {"action": "extend", "nargs": "+", "type": read_names}
    return {"type": _READ_BY_TYPE[kind]} if kind in _READ_BY_TYPE else {}


# How the text of an argument becomes a value.


CODE = re.compile(r"\s*[1-9][0-9]*[a-z]*\s*")


def read_code(text: str) -> int | str:
    """Return what a subtype is called: 2, or 1b."""
    if not CODE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text.strip()!r} is no subtype, such as 2 or 1b")
    return int(text) if text.strip().isdecimal() else text.strip()


def read_path(text: str) -> Path:
    """Return the path of an argument; an empty text is refused."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty; give the name of a file or folder")
    return Path(text)


def read_names(text: str) -> list[str]:
    """Return the names in a list between commas; a name with a comma is in double quotes."""
    names = [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row if name.strip()]
    if not names and "," not in text:  # as in `--drop crp , sex`
        raise argparse.ArgumentTypeError("no column is named; give names with commas between them")
    return names


def _read_as(name: str, read: Callable[[str], Any], *words: str) -> Callable[[str], Any]:
    """Return a function that reads a value or one of these words; argparse shows its name: "invalid number value"."""

    def read_text(text: str) -> Any:
        """Return what a text says."""
        return text if text in words else read(text)

    read_text.__name__ = " or ".join([name, *words])
    return read_text


whole_number, number = _read_as("whole number", int), _read_as("number", float)


def number_or_share(text: str) -> float:
    """Parse a whole number or a share, as ``20``, ``0.02`` or ``2%``."""
    value = text.strip()
    try:
        if value.endswith("%"):
            return float(f"{value[:-1].strip()}e-2")  # as decimals: in binary, 0.7 / 100 is not 0.007
        return int(value) if value.lstrip("+-").isdecimal() else float(value)
    except ValueError:
        takes = "takes a number of subjects, as 20, or a share of the cohort, as 0.02 or 2%"
        raise argparse.ArgumentTypeError(f"{takes}, not {text[:40]!r}") from None


_READ_BY_TYPE: dict[type, Callable[[str], Any]] = {int: whole_number, float: number, Path: read_path}
_READ_PARAMETER = {"whole number": whole_number, "number": number, "share": number_or_share}


# The options of the search, from the declarations of the parameters.

DECLARED, PUBLISHED = declarations(MAPDPParameters), declarations(PublishedParameters)


def of_parameter(name: str, default: Any = None) -> Any:
    """Declare the option of a parameter of `MAPDP`; without one, the default of the parameter applies."""
    parameter, published = DECLARED[name], PUBLISHED[name].option
    read = parameter.option
    assert read is not None
    assert published is not None
    details: dict[str, Any] = {"type": _READ_PARAMETER[read.reads]} if read.reads else {"choices": published.words}
    if read.reads and published.words:
        details["type"] = _read_as(details["type"].__name__, details["type"], *published.words)
    usual = parameter.default if default is None else default
    about = parameter.help.replace("None", "none") + (f" (default: {usual})" if usual is not None else "")
    if further := ", ".join(word for word in published.words if word not in read.words):
        about += f" ({'also' if read.reads or read.words else 'only'} with --as-published: {further})"
    return option(default, read.metavar, help=about.replace("%", "%%"), **details)


# The commands share options.

COMMANDS: dict[str, type[Command]] = {}
"""The commands by name, in the order of the help."""


class Command(Options):
    """A command with its options; `run_start` of the module `fit` runs `start` for ``runs="fit.run_start"``."""

    RUN: ClassVar[str] = ""

    command: str = ""
    debug: bool = False
    quiet: bool = option(False, parameter=None)

    def __init_subclass__(cls, runs: str = "", **more: Any) -> None:
        """Add a command that runs to the list."""
        super().__init_subclass__(**more)
        if runs:
            cls.RUN = f"clinclust.cli.{runs}"
            COMMANDS[runs.rpartition("run_")[2]] = cls


# Reading the table, its schema and its model.


class RowOptions(Options, title="choosing rows and columns"):
    """The options that choose rows: the fields of `RowChoice`."""

    where: str | None = option(None, "CONDITION")
    one_row_per: str | None = option(None, "COLUMN")
    keep: Literal["first", "last"] = option("first")
    by: str | None = option(None, "COLUMN")
    dates: Literal["day-first", "month-first"] | None = option()
    visit_time: str | None = option(None, "COLUMN", name="time", parameter="time")
    summarise: tuple[str, ...] = option((), "COLUMN=mean,slope", action="append")
    draw_by: str | None = option(None, "COLUMN")
    draw: int = option(1, "N")
    count: str | None = option(None, "COLUMN")
    rows: str | None = option(None, "FIRST-LAST")


class _ColumnOptions(Options, title="choosing rows and columns"):
    only: tuple[str, ...] = option((), "NAME")
    drop: tuple[str, ...] = option((), "NAME")


class TableOptions(RowOptions, _ColumnOptions, title="reading the table"):
    """The table, how it is read, and its rows and columns."""

    table: Path = option(metavar="TABLE", positional=True)
    sheet: str | None = option()
    encoding: str | None = option()
    header_row: int | None = option(None, "N")
    decimal: Literal[",", "."] | None = option()


class SchemaOptions(Options):
    """The schema of the table."""

    schema: Path = option(required=True)


class ModelOptions(TableOptions, Command):
    """The model fitted on the table, and whether to include rows that the fit left out."""

    model: Path = option(metavar="DIR", required=True)
    all_rows: bool = option(False)


ROLES = ("cluster", "adjust", "describe", "ignore")
"""The roles that options give to columns."""


class RoleOptions(Options, title="what columns are for"):
    """The options that change roles; their names are those of the roles."""

    cluster: tuple[str, ...] = option((), "NAME")
    adjust: tuple[str, ...] = option((), "NAME")
    describe: tuple[str, ...] = option((), "NAME")
    ignore: tuple[str, ...] = option((), "NAME")


OF_A_SCHEMA = (RowOptions, RoleOptions)
"""What a drafted schema records, so that later commands need not repeat it."""

# What a command writes, and what it withholds.


class OutputOptions(TableOptions):
    """The file that a command writes."""

    out: Path | None = option(metavar="FILE")
    overwrite: bool = option(False)


class SummaryOptions(Options):
    """The option of a command that can summarise what it did for a program."""

    json: bool = option(False, parameter=None)


class SuppressOptions(Options, title="results that can be shared"):
    """Whether small counts are withheld."""

    suppress: int | None = option(None, "N", type=whole_number, nargs="?", const=10)
    is_as_fitted: bool = False
    """Whether counts are withheld as in the fit."""


class SharingOptions(SuppressOptions, title="results that can be shared"):
    """How counts are withheld or rounded."""

    round_to: int | None = option(None, "N")
    missing_is_harmless: bool = option(False)
    min_n: int | None = option(None, "N")


# The search, and the reports of its subtypes.


class JobOptions(Options):
    """The number of threads."""

    n_jobs: Any = of_parameter("n_jobs")


class SearchOptions(JobOptions, Command, title="the search"):
    """The options of the search: parameters of `MAPDP`."""

    n_clusters: Any = of_parameter("n_clusters")
    min_size: Any = of_parameter("min_size")
    as_published: bool = option(False, parameter=None)
    concentration: Any = of_parameter("concentration")
    hyperparameters: Any = of_parameter("hyperparameters")
    coarsening: Any = of_parameter("coarsening")
    block_weights: Any = of_parameter("block_weights")
    select_features: Any = of_parameter("select_features")
    n_restarts: Any = of_parameter("n_restarts")
    max_sweeps: Any = of_parameter("max_sweeps")
    max_seconds: Any = of_parameter("max_seconds")
    random_state: Any = of_parameter("random_state", 0)

    @property
    def n_stated(self) -> int | None:
        """The number of subtypes, if it is stated."""
        return self.n_clusters if isinstance(self.n_clusters, int) else None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults, by name."""
        names = [item.name for _, item in declared_options(SearchOptions) if item.name in DECLARED]
        values = {name: getattr(self, name) for name in names}
        stated = {name: value for name, value in values.items() if value is not None and value is not False}
        words = {"none": None, "yes": True, "no": False}
        return {name: words.get(value, value) for name, value in stated.items()}

    def problems(self) -> list[str]:
        """Return one sentence for each option that cannot be used or combined."""
        parameters = PublishedParameters if self.as_published else MAPDPParameters
        rules, stated, problems = rules_of(parameters), self.parameters(), []
        for name, value in stated.items():
            repair = ""
            if name == "min_size":
                repair = (
                    "; leave --min-size out to merge no small subtype; `clinclust report --min-size` says after the "
                    "fit how small a subtype may be that is tested"
                )
            elif not rules[name].accepts(value) and PUBLISHED[name].rule.accepts(value):
                repair = "; give --as-published as well"
            problems += [f"{problem}{repair}" for problem in rules[name].problems(flag_of(name), value, is_option=True)]
        defaults = {name: declared.default for name, declared in declarations(parameters).items()}
        return problems or [in_options(problem) for problem in combination_problems(defaults | stated)]


class ComparisonOptions(SharingOptions, title="the reports"):
    """The options of comparisons of subtypes: a report, and the table of a paper."""

    significance_level: float = option(0.01, "P")
    name: tuple[str, ...] = option((), "K=NAME", action="append", parameter="names")
    language: Language = option("en")
    style: Style | None = option()
    report_decimal: Literal[",", "."] | None = option()


class ModelComparisonOptions(ComparisonOptions, ModelOptions):
    """The options of a command on a model with its own smallest size of subtypes."""

    min_size: int = option(3, "N")


class FitReportOptions(ComparisonOptions, JobOptions, Command, title="the reports"):
    """The options of the reports of a fit."""

    associations: Literal["refit", "none"] = option("refit")
    stability: int | None = option(None, "N")
    whole_procedure: bool = option(False)
    posterior: bool = option(False)
    other_methods: bool = option(False)


class ResultOptions(RoleOptions, TableOptions, SearchOptions, FitReportOptions):
    """The options of a command that searches and writes a folder of results."""

    out: Path = option()


class CheckedOptions(RoleOptions, TableOptions, Command):
    """The options of a command that checks a table."""

    all: bool = option(False)


class DictionaryOptions(CheckedOptions):
    """The options of a command that drafts a schema: a data dictionary of the table."""

    dictionary: Path | None = option(metavar="FILE")
    dictionary_sheet: str | None = option(metavar="SHEET")


# The commands, in the order of the help.


class StartOptions(DictionaryOptions, ResultOptions, runs="fit.run_start"):
    every_row: bool = option(False)
    out: Path = option(metavar="DIR")
    yes: bool = option(False)
    no_open: bool = option(False)
    schema: Path = option(None, "FILE")
    stated: Any = None
    """The options without defaults, which the same command repeats to go on."""


class DraftOptions(DictionaryOptions, OutputOptions, SummaryOptions, runs="fit.run_draft"):
    out: Path | None = option(None, "SCHEMA")


class CheckOptions(CheckedOptions, SchemaOptions, ModelOptions, OutputOptions, SummaryOptions, runs="fit.run_check"):
    schema: Path = option(either=True)
    model: Path = option(None, "DIR", either=True)
    out: Path | None = option(None, "SCHEMA")


class FitOptions(SchemaOptions, ResultOptions, SummaryOptions, runs="fit.run_fit"):
    out: Path = option(None, "DIR", required=True)
    overwrite: bool = option(False)


class RepeatOptions(FitReportOptions, ModelComparisonOptions, runs="fitted.run_report"):
    out: Path | None = option(None, "DIR")
    overwrite: bool = option(False)


class SubtypeTableOptions(ModelComparisonOptions, OutputOptions, runs="fitted.run_table"):
    out: Path = option(None, "FILE", required=True)
    title: str | None = option()
    between: tuple[int | str, int | str] | None = option(None, ("A", "B"), type=read_code, nargs=2)
    columns: tuple[str, ...] = option(
        (), "COLUMN", nargs="+", choices=("missing", "all", "subtypes", "smd", "p", "validated")
    )
    decimals: int | None = option(None, "N")
    weights: str | None = option(None, "COLUMN")


class OutcomesOptions(SuppressOptions, ModelOptions, OutputOptions, runs="fitted.run_outcomes"):
    visit_time: str | None = option(None, "COLUMN", name="visit-time", parameter=None)
    outcome: str | None = option(None, "COLUMN", either=True)
    predictors: tuple[str, ...] = option((), "NAME", either=True)
    every_feature: bool = option(False, either=True)
    time: str | None = option(None, "COLUMN")
    entry: str | None = option(None, "COLUMN")
    event: str | None = option(None, "VALUE")
    covariates: tuple[str, ...] = option((), "NAME")
    versus: int | str = option(1, "N", type=read_code)
    out: Path | None = option(None, "FILE")


class ImputeOptions(ModelOptions, OutputOptions, runs="fitted.run_impute"):
    out: Path = option(None, "FILE", required=True)
    tables: int = option(1, "M")
    random_state: int = option(0)


class CompareOptions(SuppressOptions, ModelOptions, OutputOptions, runs="fitted.run_compare"):
    out: Path | None = option(None, "FILE")
    method: tuple[str, ...] = option((), "NAME", action="append", parameter="methods")
    n_resamples: int = option(10)
    random_state: int = option(0)


class AssignOptions(SuppressOptions, ModelOptions, OutputOptions, SummaryOptions, runs="fitted.run_assign"):
    unseen: Literal["leave-out", "missing"] = option("leave-out")
    explain: bool = option(False)
    cohort: Path | None = option(None, "TABLE")


class ValidateOptions(SuppressOptions, ModelOptions, OutputOptions, runs="fitted.run_validate"):
    cohort: Path | None = option(None, "TABLE", either=True)
    groups: str | None = option(None, "COLUMN", either=True)
    out: Path | None = option(None, "FILE")


class SchemasOptions(Command, runs="fitted.run_schemas"):
    instrument: str | None = option(positional=True, nargs="?")


# Commands and options in messages: a further command with the same options, and parameters as options.


def next_command(command: str, options: Options, *more: str | Path, repeated: tuple[type[Options], ...] = ()) -> str:
    """Return a command that repeats options (default: all) and adds `more` arguments, quoted for this shell."""
    items = {item.name: item for declaring in repeated or (type(options),) for _, item in declared_options(declaring)}
    words = [word for item in items.values() for word in _words(item, options)]
    words.sort(key=lambda word: not isinstance(word, Path))  # the table comes first
    # A path that begins as an option does is one of this folder.
    arguments = [
        f".{os.sep}{word}" if isinstance(word, Path) and str(word).startswith("-") else str(word)
        for word in [*words, *more]
    ]
    return in_shell("clinclust", command, *arguments)


def _words(item: Field[Any], options: Options) -> Iterator[str | Path]:
    """Yield the words that state an option; a path is that of a positional argument."""
    value: Any = getattr(options, item.name, item.default)
    if value == item.default:
        return
    flag = flag_of(item.metadata.get("name", item.name))
    if item.metadata.get("positional"):
        yield value
    elif item.default is False:
        yield flag
    elif item.metadata.get("action") == "append":
        for name in value:
            yield from option_words(flag, name)
    else:
        yield from option_words(flag, join_names(*value) if isinstance(value, tuple) else str(value))


_IN_PYTHON = re.compile(r" \(`\w+`\)")  # a function or an attribute, such as " (`stopped_early_`)"
_MENTIONED = re.compile(
    r"`(?P<alone>[a-z_]+)`|(?<![\w.-])(?P<subject>[a-z_]+)(?= must be )|(?<![\w.])(?P<stated>[a-z_]+)="
    r"(?P<value>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\[[^\[\]]*\]|[A-Z0-9][\w-]*)"
)


def in_options(message: str, **others: str) -> str:
    """Return a message of the library with options for the parameters in it; `others` replace some parameters.

    "state `n_jobs`, or n_restarts=3" becomes "state --n-jobs, or --n-restarts 3"; "level must be" "--level must be".
    """
    if not _MENTIONED.search(message):
        return message
    flags = _FLAGS | {name: flag_of(other) for name, other in others.items()}

    def replaced(match: re.Match[str]) -> str:
        flag, text = flags.get(match["alone"] or match["subject"] or match["stated"]), match["value"]
        if flag is None or text is None or (text == "True" and match["stated"] not in DECLARED):
            return flag or match[0]
        try:
            value = ast.literal_eval(text) if text[0] in "'\"[" else {"None": "none", "True": "yes"}.get(text, text)
        except (ValueError, SyntaxError):  # a text that was shortened
            return match[0]
        return in_shell(*option_words(flag, join_names(*value) if isinstance(value, list) else value))

    return _MENTIONED.sub(replaced, message)


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
