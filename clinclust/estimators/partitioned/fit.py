"""PartitionedFit: the fit of a table in partitions, with the fit of its sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.search.shard import Sums
from clinclust.errors import InputError
from clinclust.estimators.fit import Fit

Labels = NDArray[np.int64]


ARRAYS_OF_ALL = ("all_subjects.sizes", "all_subjects.statistics", "all_subjects.log_joint_trace")
"""Names of the arrays that are saved in addition to those of the sample's fit."""


@dataclass(frozen=True, eq=False, repr=False)
class PartitionedFit(Fit):
    """The fit of a table in partitions: clusters of all subjects, and the tree of those in the sample.

    `cluster_labels_` is a Dask series. Nothing else holds single subjects: membership and outliers are None.
    """

    in_sample_: Fit = field(kw_only=True)
    """The same clusters as those of the sample."""
    sample_: pd.DataFrame | None = field(kw_only=True)
    """The rows of the sample as given; None of a model that was loaded."""

    @classmethod
    def of(
        cls, in_sample: Fit, sums: Sums, labels: Any = None, sample: pd.DataFrame | None = None, **fields: Any
    ) -> Self:
        """Return the fit of all subjects; its first clusters are those of the sample, the others have no subject in it.

        `sums` are those of the clusters of all subjects, `labels` the Dask series of clusters.
        """
        sizes, statistics = sums
        clusters = replace(in_sample.clusters_, sizes=sizes, statistics=statistics)
        of_sample = {name: getattr(in_sample, name) for name in Fit.__dataclass_fields__}
        none = {"cluster_membership_": None, "outliers_": None, "leave_one_out_nll_": np.nan}
        of_all = {"cluster_labels_": labels, "clusters_": clusters, "in_sample_": in_sample, "sample_": sample}
        return cls(**(of_sample | none | of_all | fields)).with_subtypes_of(in_sample)

    def written(self, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Return what is saved in addition to the fit of the sample, for JSON, and add arrays (`read`)."""
        found = (self.clusters_.sizes, self.clusters_.statistics, self.log_joint_trace_)
        arrays |= dict(zip(ARRAYS_OF_ALL, found, strict=True))
        return {"log_joint": self.log_joint_, "stopped_early": self.stopped_early_}

    @classmethod
    def read(cls, in_sample: Fit, text: Any, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return the fit that was saved, without subjects; InputError for arrays of another sample."""
        sizes, statistics, trace = (arrays[name] for name in ARRAYS_OF_ALL)
        joint, stopped = float(text["log_joint"]), bool(text["stopped_early"])
        in_sample_sizes = in_sample.clusters_.sizes
        if sizes.size < in_sample_sizes.size or (sizes[: in_sample_sizes.size] < in_sample_sizes).any():
            raise InputError("the clusters of all subjects are fewer or smaller than those of the sample")
        sums = sizes, statistics
        return cls.of(in_sample, sums, log_joint_=joint, log_joint_trace_=trace, stopped_early_=stopped)

    def with_subtypes_of(self, in_sample: Fit) -> Self:
        """Return the fit with the subtypes of the sample; a cluster without a subject in it is a subtype of its own.

        Subtypes have the numbers that they have in the sample, those without a subject in it the next ones.
        """
        n_more = self.clusters_.sizes.size - in_sample.subtype_of_.size
        return replace(
            self,
            in_sample_=in_sample,
            subtype_of_=np.append(in_sample.subtype_of_, in_sample.n_clusters_ + np.arange(n_more)),
            tree_=in_sample.tree_,
            tree_test_=in_sample.tree_test_,
            min_size_=in_sample.min_size_,
        )

    @property
    def labels_(self) -> Any:
        """Subtype of each subject, a Dask series of int64 with the index of the table; None after loading."""
        labels: Any = self.cluster_labels_
        if labels is None:
            return None
        return labels.map_partitions(partial(_subtypes, subtype_of=self.subtype_of_), meta=labels._meta)

    @property
    def membership_(self) -> Any:
        """None: `predict_proba` gives the probabilities of a table in partitions."""
        return None

    @property
    def cluster_sizes_(self) -> Labels:
        """Number of subjects in each subtype, int64 (K,)."""
        return self.subtypes_.sizes.astype(np.int64)


def floor_as_share(min_size: float | None, n_subjects: int) -> float | None:
    """Return a `MAPDP.min_size` of all subjects as a share of them."""
    return min_size if min_size is None or isinstance(min_size, float) else min_size / n_subjects


def _subtypes(clusters: pd.Series[Any], subtype_of: Labels) -> pd.Series[Any]:
    return pd.Series(subtype_of[clusters.to_numpy()], index=clusters.index, name=clusters.name)


def series_of(frame: pd.DataFrame, labels: NDArray[np.int32]) -> pd.Series[Any]:
    """Return the clusters of a partition with its index."""
    return pd.Series(labels.astype(np.int64), index=frame.index, name="subtype")


def dask_series(table: Any, labels: Sequence[Any]) -> Any:
    """Return the Dask series of labels that lie where the partitions do, or here."""
    import dask.dataframe
    from dask.delayed import delayed

    parts = [
        delayed(series_of, pure=False)(frame, own)
        for frame, own in zip(table.to_delayed(optimize_graph=False), labels, strict=True)
    ]
    meta = series_of(table._meta, np.empty(0, dtype=np.int32))
    return dask.dataframe.from_delayed(parts, meta=meta, divisions=table.divisions, verify_meta=False)
