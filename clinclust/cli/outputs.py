"""What a command may write: never over what it reads, and over other files only with ``--overwrite``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from clinclust.cli.inputs import TableOptions
from clinclust.cli.options import option
from clinclust.cli.streams import tell
from clinclust.errors import InputError
from clinclust.files.manifest import MANIFEST

__all__ = [
    "FILES_OF_A_FIT",
    "FILES_OF_A_MODEL",
    "REPORTS",
    "SHARING",
    "inputs_of",
    "overwrite",
    "reports_placed",
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


def overwrite(what: str = "the file") -> bool:
    """Declare the option that allows a command to replace `what` it wrote before."""
    allowed: bool = option(f"replace {what} if it exists", False)
    return allowed


def spare_the_inputs(
    inputs: Iterable[tuple[str, Path]], *outputs: Path | None, suffixes: Sequence[str] = (), called: str = ""
) -> None:
    """Check that no output replaces a file that the command reads: the table, the schema, or a file of the model.

    Parameters
    ----------
    inputs : iterable of (str, Path)
        The files that the command reads, each with what it is (`inputs_of`).
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
    problems, known = [], list(inputs)
    for output in (output for output in outputs if output is not None):
        problems += [
            f"--out would replace {output}, which is {what}; give another name"
            for what, path in known
            if output.exists() and path.exists() and output.samefile(path)
        ]
        if suffixes and output.suffix.lower() not in suffixes and not output.is_dir():
            problems.append(f"--out {output}: {called} ends in {' or '.join(suffixes)}; give such a name")
    if problems:
        raise InputError("\n  ".join(problems))


def spare_file(path: Path | None, holds: str = "an earlier result", *, allowed: bool) -> None:
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
    if (path.is_file() or path.is_symlink()) and not allowed:
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
    """
    from clinclust.files.moves import settle_leftovers

    settle_leftovers(folder)  # a run that died while it moved its files here left parts of two sets
    held = [name for name in names if (folder / name).is_file() or (folder / name).is_symlink()]
    if held and not allowed:
        raise InputError(f"{folder} holds what an earlier run wrote ({', '.join(held)}); {instead}")


def tell_of_other_files(folder: Path, names: Collection[str]) -> None:
    """Say which files of a folder are none of those that a command writes there; they stay as they are."""
    from clinclust.files.listed import listed

    if not folder.is_dir():
        return
    others = sorted(path.name for path in folder.iterdir() if path.name not in names and path.name[0] != ".")
    if others:
        tell(f"clinclust: note: {folder} holds other files too, which stay as they are: {listed(others)}")


def inputs_of(options: TableOptions) -> Iterator[tuple[str, Path]]:
    """Yield each file that the command reads, and what it is."""
    for name in ("table", "cohort", "schema"):
        if getattr(options, name, None) is not None:
            yield f"the {name} itself", getattr(options, name)
    model: Path | None = getattr(options, "model", None)
    if model is not None:
        for name in FILES_OF_A_FIT:
            yield f"a file of the model {model}", model / name


@contextmanager
def reports_placed(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to write reports to; they move to `folder` together if the block ends without an error.

    The files of a model in `folder` stay as they are.

    Raises
    ------
    InputError
        If the folder was written anew meanwhile: the reports would then belong to another model.
    """
    from clinclust.files.manifest import write_manifest
    from clinclust.files.writing import write_together

    kept = _listed_beside_reports(folder)
    with write_together(folder, last=MANIFEST) as new:
        yield new
        if _listed_beside_reports(folder) != kept:
            raise InputError(
                f"{folder} was written anew meanwhile, so nothing was changed there; make the report again"
            )
        write_manifest(new, [name for name in REPORTS if (new / name).exists()], kept=kept)


def _listed_beside_reports(folder: Path) -> dict[str, str]:
    """Return the checksums of the files of the model, if the folder holds one."""
    from clinclust.files.manifest import read_manifest

    listed = read_manifest(folder) if (folder / "model.json").is_file() else {}
    return {name: sha256 for name, sha256 in listed.items() if name not in REPORTS}
