"""`clinclust fit` of a table larger than memory: a folder of parquet files, or a parquet file of many rows."""

from __future__ import annotations

from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinclust.cli.inputs import RowOptions, TableOptions
from clinclust.cli.options import called, declared
from clinclust.cli.roles import RoleOptions
from clinclust.cli.streams import say
from clinclust.errors import InputError, missing_package
from clinclust.files.writing import MANIFEST, write_manifest, write_together

if TYPE_CHECKING:
    from collections.abc import Callable

    from clinclust.estimators.mapdp import MAPDP

MANY_ROWS = 2_000_000
"""Number of rows from which on a parquet file is read in partitions, its row groups."""
ASSIGNMENTS = "assignments.parquet"


def is_in_partitions(table: Path) -> bool:
    """Return whether a table is a folder of parquet files, or a parquet file of many rows."""
    if table.is_dir():
        return any(table.glob("*.parquet"))
    if table.suffix.lower() != ".parquet" or not table.is_file():
        return False
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        return False  # the reader of tables says what is missing
    try:
        return bool(parquet.read_metadata(table).num_rows >= MANY_ROWS)
    except (ArrowException, OSError):
        return False  # so it does of a damaged file


def fit_in_partitions(
    model: MAPDP, path: Path, out: Path, files: tuple[str, ...], record: Callable[[Path], list[str]]
) -> Any:
    """Fit a table in partitions, write the model, and the subtype of each subject, to a folder; return the table.

    `files` are those of an earlier fit, which are replaced; `record` writes further files and returns their names.
    """
    table = _table(path)
    with write_together(out, replacing=files, last=MANIFEST) as folder:
        model.fit(table).save(folder)
        _write_assignments(model, table, folder / ASSIGNMENTS)
        write_manifest(folder, ["model.json", "model.npz", ASSIGNMENTS, *record(folder)])
    n_sampled, n_subjects = model.in_sample()[0].labels_.size, int(model.cluster_sizes_.sum())
    if n_sampled < n_subjects:
        say(
            f"Sizes, summaries and tests of features are of all {n_subjects} subjects, and so is {ASSIGNMENTS}; what "
            f"else the reports say is of a sample of {n_sampled}."
        )
    return table


def _table(path: Path) -> Any:
    try:
        from dask import dataframe
    except ImportError:
        raise missing_package(f"{path}, a table in partitions,", "'clinclust[dask]'") from None
    try:
        return dataframe.read_parquet(path, split_row_groups=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as parquet: {error}") from error


def refuse_options(options: TableOptions) -> None:
    """Raise InputError for options that choose rows, columns or roles of a table in memory."""
    kinds = (*TableOptions.__mro__, RowOptions, RoleOptions)
    names = {name for kind in kinds for name in vars(kind).get("__annotations__", {})} - {"table"}
    given = []
    for _, one in declared(type(options)):
        default = one.default if one.default_factory is MISSING else one.default_factory()
        if one.name in names and getattr(options, one.name) != default:
            given.append(called(one.name))
    if given:
        raise InputError(
            f"{', '.join(given)} cannot be used with a table in partitions: choose rows and columns when its files are "
            "written, and roles in the schema"
        )


def _write_assignments(model: MAPDP, table: Any, file: Path) -> None:
    """Write identifiers and subtypes, one partition after the other."""
    import pyarrow as pa
    from pyarrow import parquet

    ids = [feature.name for feature in model.schema_.ids]
    writer = None
    columns = table[ids].to_delayed(optimize_graph=False)
    of_all: Any = model.labels_
    for frame, labels in zip(columns, of_all.to_delayed(), strict=True):
        rows = frame.compute(scheduler="synchronous").astype(str)
        rows["subtype"] = labels.compute(scheduler="synchronous").to_numpy() + 1
        content = pa.Table.from_pandas(rows, preserve_index=False)
        writer = writer or parquet.ParquetWriter(file, content.schema)
        writer.write_table(content)
    if writer is not None:
        writer.close()
