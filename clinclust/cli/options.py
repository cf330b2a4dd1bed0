"""Options that several commands share, and the functions that read their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.table_options import about_table, add_table, path_given, read_table
from clinclust.errors import InputError
from clinclust.files.manifest import MANIFEST

if TYPE_CHECKING:
    from clinclust.schema import FeatureSchema

__all__ = [
    "FILES_OF_A_FIT",
    "Commands",
    "about_table",
    "add_model",
    "add_names",
    "add_schema",
    "add_table",
    "name_problems",
    "names_of",
    "number_or",
    "path_given",
    "read_schema",
    "read_table",
    "spare_the_inputs",
]

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Commands = object


FILES_OF_A_FIT = ("subtypes.xlsx", "subtypes.html", "assignments.csv", "model.json", "model.npz", MANIFEST)
"""Names of the files that `clinclust fit` writes to its folder."""


def number_or(words: tuple[str, ...]) -> Callable[[str], float | str]:
    """Return a function that parses an option whose value is a number or one of these words."""

    def read(text: str) -> float | str:
        return text if text in words else float(text)

    read.__name__ = f"number or {' or '.join(words)}"  # argparse shows the name: "invalid number or auto value"
    return read


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Add the option of the schema file."""
    parser.add_argument("--schema", type=path_given, required=True, help="feature schema (YAML)")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the option of the folder of a fitted model."""
    parser.add_argument(
        "--model", type=path_given, required=True, metavar="DIR", help="folder that `clinclust fit` wrote"
    )


def add_names(parser: argparse.ArgumentParser) -> None:
    """Add the option of the names of subtypes."""
    parser.add_argument(
        "--name", action="append", default=[], metavar="K=NAME", help="name of subtype K; may be given for each"
    )


def name_problems(texts: Sequence[str]) -> list[str]:
    """Return one sentence for each ``--name`` that cannot be used, whatever the subtypes; empty if all can."""
    numbers = [text.partition("=")[0].strip() for text in texts]
    repeated = sorted({number for number in numbers if numbers.count(number) > 1})
    return [f"--name: subtype {number} has more than one name" for number in repeated] + [
        f"--name takes the number of a subtype and its name, as 1=Tremor, not {text!r}"
        for text in texts
        if not text.partition("=")[0].strip().isdecimal() or not text.partition("=")[2].strip()
    ]


def names_of(options: argparse.Namespace) -> dict[int, str]:
    """Return the names of subtypes by number. Call `name_problems` first: each name must be parsable."""
    parts = (text.partition("=") for text in options.name)
    return {int(subtype): name.strip() for subtype, _, name in parts}


def read_schema(options: argparse.Namespace) -> FeatureSchema:
    """Return the schema that ``--schema`` names."""
    from clinclust.schema import FeatureSchema

    return FeatureSchema.from_yaml(options.schema)


def spare_the_inputs(
    options: argparse.Namespace, *outputs: Path | None, suffixes: Sequence[str] = (), called: str = ""
) -> None:
    """Check that no output replaces a file that the command reads: the table, the schema, or a file of the model.

    Parameters
    ----------
    options : argparse.Namespace
    outputs : Path
    suffixes : sequence of str
        If given, what the names of outputs end in, so that no file of another kind is replaced.
    called : str
        What is written, if there are suffixes.

    Raises
    ------
    InputError
        If an output is an input, or has another suffix. The message names all.
    """
    problems = []
    for output in (output for output in outputs if output is not None):
        problems += [
            f"--out would replace {output}, which is {what}; give another name"
            for what, path in _inputs(options)
            if output.exists() and path.exists() and output.samefile(path)
        ]
        if suffixes and output.suffix.lower() not in suffixes and not output.is_dir():
            problems.append(f"--out {output}: {called} ends in {' or '.join(suffixes)}; give such a name")
    if problems:
        raise InputError("\n  ".join(problems))


def _inputs(options: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    """Yield each file that the command reads, and what it is."""
    yield "the table itself", options.table
    if getattr(options, "schema", None) is not None:
        yield "the schema itself", options.schema
    if getattr(options, "model", None) is not None:
        for name in FILES_OF_A_FIT:
            yield f"a file of the model {options.model}", options.model / name
