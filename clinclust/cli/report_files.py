"""Put the reports of a model into a folder, with a manifest of them and of the files of the model that lie there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clinclust.cli.outputs import REPORTS
from clinclust.errors import InputError
from clinclust.files.writing import MANIFEST

__all__ = ["reports_placed"]


@contextmanager
def reports_placed(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to write reports to; they move to `folder` together if the block ends without an error.

    The files of a model in `folder` stay as they are.

    Raises
    ------
    InputError
        If the folder was written anew meanwhile: the reports would then belong to another model.
    """
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
    """Return the checksums of the files of the model, if the folder holds one."""
    from clinclust.files.writing import read_manifest

    listed = read_manifest(folder) if (folder / "model.json").is_file() else {}
    return {name: sha256 for name, sha256 in listed.items() if name not in REPORTS}
