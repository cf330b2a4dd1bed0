"""Reports of a table in partitions: the comparisons are of all subjects, everything else of the sample of its fit."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from clinclust.comparisons import compare_subtypes
from clinclust.errors import CohortWarning, InputError
from clinclust.estimators.few_subjects import NO_FLOOR
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.partitioned.fit import PartitionedFit
from clinclust.estimators.subtype_model import SubtypeModel
from clinclust.files.parquet_partitions import Part, rows_of
from clinclust.progress import Progress
from clinclust.reporting.options import ReportOptions


def in_sample_of(model: SubtypeModel, table: Any) -> tuple[MAPDP, pd.DataFrame, dict[int, int]]:
    """Return the model in the sample of its table, the sample, and the sizes of the subtypes among all subjects.

    Raises InputError if the table is not that of the fit.
    """
    fit: Any = model.fit_
    if not (isinstance(fit, PartitionedFit) and isinstance(model, MAPDP)):
        raise InputError("the model was fitted on a table in memory, and this one is in partitions; give the former")
    if fit.labels_ is not None and fit.labels_.npartitions != table.npartitions:
        raise InputError(
            f"the table has {table.npartitions} partitions, and that of the fit had {fit.labels_.npartitions}; give "
            "the table that the model was fitted on"
        )
    return *model.in_sample(), dict(enumerate(model.cluster_sizes_.tolist(), start=1))


def comparisons_of_all(model: Any, table: Any, options: ReportOptions) -> pd.DataFrame | None:
    """Return comparisons of the subtypes in the sample, among all subjects of the table; None if all are in the sample.

    CohortWarning is issued if there are other subtypes, which are left out.
    """
    in_sample, sample = model.in_sample()
    n_subjects = int(model.cluster_sizes_.sum())
    if len(sample) == n_subjects:
        return None
    left_out = model.cluster_sizes_[in_sample.n_clusters_ :]
    if options.comparisons is not None and not left_out.size:
        return options.comparisons
    floor = in_sample.fit_.min_size_
    if floor > NO_FLOOR:
        floor = math.ceil(floor * n_subjects / len(sample))
    labels: Any = model.labels_
    if left_out.size:
        warnings.warn(
            f"the report leaves out {left_out.size} of {model.n_clusters_} subtypes, of {left_out.sum()} subjects in "
            "all: the sample has no subject of them",
            CohortWarning,
            stacklevel=3,
        )
        table, labels = (_sampled_subtypes(each, labels, in_sample.n_clusters_) for each in (table, labels))
    least, level = max(options.min_size, floor), options.significance_level
    with Progress(options.progress).stage("comparisons of all subjects"):
        return compare_subtypes(table, labels, model.schema_, min_size=least, significance_level=level)


def _sampled_subtypes(rows: Any, labels: Any, n_subtypes: int) -> Any:
    """Return the rows of the subtypes that have a subject in the sample, which are the first ones."""
    return rows.map_partitions(_below, labels, n_subtypes, meta=rows._meta)


def _below(rows: Any, labels: pd.Series[Any], n_subtypes: int) -> Any:
    return rows[labels.to_numpy() < n_subtypes]


def write_assignments(model: MAPDP, parts: list[Part], file: Path) -> None:
    """Write the identifiers and subtypes of all subjects as a parquet file, one partition after the other."""
    import pyarrow as pa
    from pyarrow import parquet

    ids = [feature.name for feature in model.schema_.ids]
    labels_of_all: Any = model.labels_
    schema = pa.schema([*((name, pa.string()) for name in ids), ("subtype", pa.int64())])
    with parquet.ParquetWriter(file, schema) as writer:
        for part, labels in zip(parts, labels_of_all.to_delayed(), strict=True):
            rows = rows_of(part, ids).astype(str)
            rows["subtype"] = labels.compute(scheduler="synchronous").to_numpy() + 1
            writer.write_table(pa.Table.from_pandas(rows, schema, preserve_index=False))
