"""PartitionedFit: the fit of a table in partitions, with the fit of its sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.problem.posterior import Clusters
from clinclust.engine.search.labels import groups_by_decreasing_size
from clinclust.estimators.fit import Fit

Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class PartitionedFit(Fit):
    """The fit of a table in partitions: clusters of all subjects, and the tree of those in the sample.

    `cluster_labels_` is a Dask series. Nothing else holds single subjects: membership and outliers are None.
    """

    in_sample_: Fit = field(kw_only=True)
    """The same clusters as those of the sample."""
    sample_: pd.DataFrame = field(kw_only=True)
    """The rows of the sample as given."""

    @classmethod
    def of(cls, in_sample: Fit, clusters: Clusters, labels: Any, sample: pd.DataFrame, **fields: Any) -> Self:
        """Return the fit of all subjects; its first clusters are those of the sample, the others have no subject in it.

        `labels` is the Dask series of clusters.
        """
        of_sample = {name: getattr(in_sample, name) for name in Fit.__dataclass_fields__}
        none = {"cluster_membership_": None, "outliers_": None, "leave_one_out_nll_": np.nan}
        of_all = {"cluster_labels_": labels, "clusters_": clusters, "in_sample_": in_sample, "sample_": sample}
        return cls(**(of_sample | none | of_all | fields)).with_subtypes_of(in_sample)

    def with_subtypes_of(self, in_sample: Fit) -> Self:
        """Return the fit with the subtypes of the sample; a cluster without a subject in it is a subtype of its own."""
        sizes = self.clusters_.sizes.astype(np.int64)
        n_more = sizes.size - in_sample.subtype_of_.size
        groups = np.append(in_sample.subtype_of_, in_sample.n_clusters_ + np.arange(n_more))
        subtype_of = groups_by_decreasing_size(groups, sizes)
        return replace(
            self,
            in_sample_=in_sample,
            subtype_of_=subtype_of,
            tree_=in_sample.tree_,
            tree_test_=in_sample.tree_test_,
            min_size_=in_sample.min_size_,
        )

    @property
    def labels_(self) -> Any:
        """Subtype of each subject, a Dask series of int64 with the index of the table."""
        labels: Any = self.cluster_labels_
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
    import dask
    import dask.dataframe

    parts = [
        dask.delayed(series_of, pure=False)(frame, own)
        for frame, own in zip(table.to_delayed(optimize_graph=False), labels, strict=True)
    ]
    meta = series_of(table._meta, np.empty(0, dtype=np.int32))
    return dask.dataframe.from_delayed(parts, meta=meta, divisions=table.divisions, verify_meta=False)
