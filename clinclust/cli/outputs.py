"""Outputs of commands: never over inputs, and over other files only with ``--overwrite``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clinclust.cli.inputs import TableOptions
from clinclust.cli.options import option, path_given
from clinclust.cli.summary import note
from clinclust.errors import InputError
from clinclust.files.writing import MANIFEST

REPORTS = ("subtypes.xlsx", "subtypes.html", "subtypes.json")
REPORTS_IN_WORDS = f"{', '.join(REPORTS[:-1])} and {REPORTS[-1]}"
FILES_OF_A_MODEL = ("assignments.csv", "model.json", "model.npz")
"""The results of a search, from which the reports can be made."""
SHARING = "sharing.json"
"""What a fit withholds; absent if nothing."""
FILES_OF_A_FIT = (*REPORTS, *FILES_OF_A_MODEL, SHARING, MANIFEST)

ANOTHER_FOLDER = "give --overwrite to replace it, or another folder after --out"


def overwrite(what: str) -> bool:
    """Declare the option that allows a command to replace `what` it wrote before."""
    allowed: bool = option(f"replace {what} if it exists", False)
    return allowed


@dataclass(kw_only=True)
class OutputOptions(TableOptions):
    """The file that a command writes."""

    out: Path | None = option("file to write (default: standard output)", type=path_given, metavar="FILE")
    overwrite: bool = overwrite("the file")


def spare_the_inputs(inputs: Iterable[tuple[str, Path]], *outputs: Path, more: Sequence[str] = ()) -> None:
    """Raise InputError, with `more` problems, if an output would replace a file that the command reads."""
    problems, known = [], list(inputs)
    for output in outputs:
        problems += [
            f"--out would replace {output}, which is {what}; give another name"
            for what, path in known
            if output.exists() and path.exists() and output.samefile(path)
        ]
    problems += more
    if problems:
        raise InputError("\n  ".join(problems))


def spare_file(
    options: OutputOptions, suffixes: Sequence[str] = (), *, called: str = "", holds: str = "an earlier result"
) -> None:
    """Check that ``--out`` can be written and replaces no input, and no other file without ``--overwrite``."""
    from clinclust.files.writing import check_place

    path = options.out
    if path is None:  # standard output
        return
    misnamed = suffixes and path.suffix.lower() not in suffixes and not path.is_dir()
    said = f"--out {path}: {called} ends in {' or '.join(suffixes)}; give such a name"
    spare_the_inputs(inputs_of(options), path, more=[said] if misnamed else [])
    if (path.is_file() or path.is_symlink()) and not options.overwrite:
        raise InputError(
            f"{path} exists and may hold {holds}; give --overwrite to replace it, or another name after --out"
        )
    check_place(path)


def spare_folder(
    folder: Path, names: Collection[str] = FILES_OF_A_FIT, *, allowed: bool, instead: str = ANOTHER_FOLDER
) -> None:
    """Check that no file of these names is replaced in a folder unless `allowed`; `instead` is the repair."""
    from clinclust.files.writing import check_place

    held = [name for name in names if (folder / name).is_file() or (folder / name).is_symlink()]
    if held and not allowed:
        raise InputError(f"{folder} holds what an earlier run wrote ({', '.join(held)}); {instead}")
    for name in held:
        check_place(folder / name)


def tell_of_other_files(folder: Path, names: Collection[str]) -> None:
    """Print the other files of a folder, which are not changed."""
    from clinclust.files.listed import listed

    if not folder.is_dir():
        return
    others = sorted(path.name for path in folder.iterdir() if path.name not in names and path.name[0] != ".")
    if others:
        note(f"{folder} holds other files too, which stay as they are: {listed(others)}")


def inputs_of(options: TableOptions) -> Iterator[tuple[str, Path]]:
    """Yield a description and the path of each file that the command reads."""
    for name in ("table", "cohort", "schema"):
        if getattr(options, name, None) is not None:
            yield f"the {name} itself", getattr(options, name)
    model: Path | None = getattr(options, "model", None)
    if model is not None:
        for name in FILES_OF_A_FIT:
            yield f"a file of the model {model}", model / name


@contextmanager
def reports_placed(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder whose reports move to `folder` at the end; InputError if the model there has changed."""
    from clinclust.files.writing import write_manifest, write_together

    kept = _listed_beside_reports(folder)
    with write_together(folder, last=MANIFEST) as new:
        yield new
        if _listed_beside_reports(folder) != kept:
            raise InputError(
                f"{folder} was written anew meanwhile, so nothing was changed there; make the report again"
            )
        write_manifest(new, [name for name in REPORTS if (new / name).exists()], kept=kept)


def _listed_beside_reports(folder: Path) -> dict[str, str]:
    from clinclust.files.writing import read_manifest

    listed = read_manifest(folder) if (folder / "model.json").is_file() else {}
    return {name: sha256 for name, sha256 in listed.items() if name not in REPORTS}
