"""Commands with a table larger than memory: a folder of parquet files, or a parquet file of many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinclust.cli.inputs import RowOptions, TableOptions
from clinclust.cli.options import called, declared
from clinclust.cli.roles import RoleOptions
from clinclust.cli.streams import say
from clinclust.errors import CohortError, InputError
from clinclust.files.parquet_partitions import Part, rows_of, table_of_parts
from clinclust.files.writing import MANIFEST, naming, write_manifest, write_together

if TYPE_CHECKING:
    from collections.abc import Callable

    from clinclust.estimators.mapdp import MAPDP

ASSIGNMENTS = "assignments.parquet"


def fit_in_partitions(
    model: MAPDP, path: Path, out: Path, files: tuple[str, ...], record: Callable[[Path], list[str]]
) -> Any:
    """Fit a table in partitions, write the model, and the subtype of each subject, to a folder; return the table.

    `files` are those of an earlier fit, which are replaced; `record` writes further files and returns their names.
    """
    with (
        table_in_partitions(path) as (table, parts),
        write_together(out, replacing=files, last=MANIFEST) as folder,
    ):
        model.fit(table)
        with naming(out):
            model.save(folder)
            _write_assignments(model, parts, folder / ASSIGNMENTS)
        write_manifest(folder, ["model.json", "model.npz", ASSIGNMENTS, *record(folder)])
    n_sampled, n_subjects = model.in_sample()[0].labels_.size, int(model.cluster_sizes_.sum())
    if n_sampled < n_subjects:
        say(
            f"Sizes, summaries and tests of features are of all {n_subjects} subjects, and so is {ASSIGNMENTS}; what "
            f"else the reports say is of a sample of {n_sampled}."
        )
    return table


@contextmanager
def table_in_partitions(path: Path) -> Iterator[tuple[Any, list[Part]]]:
    """Yield a table as a Dask DataFrame, and its partitions; errors about its content name its files."""
    from clinclust.files.opening import shown_name

    parts: list[Part] = []
    try:
        table, parts = table_of_parts(path)
        yield table, parts
    except CohortError as error:
        raise naming_files(error, path, parts) from error
    except InputError as error:
        raise InputError(f"{shown_name(path)}: {error}") from error


def naming_files(error: CohortError, path: Path, parts: Sequence[Part]) -> CohortError:
    """Return an error about a table with the names of the files in the place of the numbers of partitions."""
    from clinclust.files.opening import shown_name

    failures = error.failures
    if "partition" in failures:
        named = failures["partition"].map(lambda number: parts[number].file.name if number >= 0 else number)
        failures = failures.assign(partition=named)
    return CohortError(failures, shown_name(path))


def refuse_options(options: TableOptions, *, roles: bool = True) -> None:
    """Raise InputError for options that choose rows, columns, or (with `roles`) roles of a table in memory."""
    kinds = (*TableOptions.__mro__, RowOptions, *((RoleOptions,) if roles else ()))
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


def _write_assignments(model: MAPDP, parts: Sequence[Part], file: Path) -> None:
    """Write identifiers and subtypes, one partition after the other."""
    import pyarrow as pa
    from pyarrow import parquet

    ids = [feature.name for feature in model.schema_.ids]
    of_all: Any = model.labels_
    schema = pa.schema([*((name, pa.string()) for name in ids), ("subtype", pa.int64())])
    with parquet.ParquetWriter(file, schema) as writer:
        for part, labels in zip(parts, of_all.to_delayed(), strict=True):
            rows = rows_of(part, ids).astype(str)
            rows["subtype"] = labels.compute(scheduler="synchronous").to_numpy() + 1
            writer.write_table(pa.Table.from_pandas(rows, schema, preserve_index=False))
