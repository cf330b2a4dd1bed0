"""What a command may write: never over what it reads, and over other files only with ``--overwrite``."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from clinclust.cli.streams import tell
from clinclust.errors import InputError
from clinclust.files.writing import MANIFEST

__all__ = [
    "FILES_OF_A_FIT",
    "FILES_OF_A_MODEL",
    "REPORTS",
    "SHARING",
    "add_overwrite",
    "spare_file",
    "spare_folder",
    "spare_the_inputs",
    "tell_of_other_files",
]

REPORTS = ("subtypes.xlsx", "subtypes.html")
"""Names of the reports of a fit."""
FILES_OF_A_MODEL = ("assignments.csv", "model.json", "model.npz")
"""Names of the files of a fit that hold what the search found, from which the reports can be made."""
SHARING = "sharing.json"
"""Name of the file that says what a fit was asked to withhold; there is none if nothing was."""
FILES_OF_A_FIT = (*REPORTS, *FILES_OF_A_MODEL, SHARING, MANIFEST)
"""Names of the files that `clinclust fit` writes to its folder."""

ANOTHER_FOLDER = "give --overwrite to replace it, or another folder after --out"


def add_overwrite(parser: argparse._ActionsContainer, what: str = "the file") -> None:
    """Add the option that allows a command to replace `what` it wrote before."""
    parser.add_argument("--overwrite", action="store_true", help=f"replace {what} if it exists")


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


def spare_file(options: argparse.Namespace, path: Path | None, holds: str = "an earlier result") -> None:
    """Check that a file can be written, and that none is replaced without ``--overwrite``; None is standard output.

    Raises
    ------
    InputError
        If the file exists; `holds` says what it may hold.
    OSError
        If no file can be written there, as far as this can be known before.
    """
    from clinclust.files.writing import check_place

    if path is None:
        return
    if (path.is_file() or path.is_symlink()) and not options.overwrite:
        raise InputError(
            f"{path} exists and may hold {holds}; give --overwrite to replace it, or another name after --out"
        )
    check_place(path)


def spare_folder(
    folder: Path, names: Collection[str] = FILES_OF_A_FIT, *, allowed: bool, instead: str = ANOTHER_FOLDER
) -> None:
    """Check that no result of an earlier run in a folder is replaced unless it is `allowed`.

    Parameters
    ----------
    folder : Path
    names : collection of str
        Names of the files that the command writes there, or removes from there.
    allowed : bool
    instead : str
        What to do, if it is not allowed.

    Raises
    ------
    InputError
        If the folder holds such files. The message names them.
    OSError
        If one of them is allowed to be replaced, and cannot be.
    """
    from clinclust.files.writing import check_place

    held = [name for name in names if (folder / name).is_file() or (folder / name).is_symlink()]
    if held and not allowed:
        raise InputError(f"{folder} holds what an earlier run wrote ({', '.join(held)}); {instead}")
    for name in held:
        check_place(folder / name)


def tell_of_other_files(folder: Path, names: Collection[str]) -> None:
    """Say which files of a folder are none of those that a command writes there; they stay as they are."""
    from clinclust.files.listed import listed

    if not folder.is_dir():
        return
    others = sorted(path.name for path in folder.iterdir() if path.name not in names and path.name[0] != ".")
    if others:
        tell(f"clinclust: note: {folder} holds other files too, which stay as they are: {listed(others)}")


def _inputs(options: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    """Yield each file that the command reads, and what it is."""
    yield "the table itself", options.table
    if getattr(options, "cohort", None) is not None:
        yield "the cohort itself", options.cohort
    if getattr(options, "schema", None) is not None:
        yield "the schema itself", options.schema
    if getattr(options, "model", None) is not None:
        for name in FILES_OF_A_FIT:
            yield f"a file of the model {options.model}", options.model / name
