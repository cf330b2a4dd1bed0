"""MeanShift: clusters around the modes of a density."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from clinclust.errors import InputError
from clinclust.methods.method import Clustered, Method, needed, one_thread

if TYPE_CHECKING:
    from clinclust.methods.encoded import Encoded
    from clinclust.schema import FeatureSchema

_QUANTILE = 0.3  # share of the subjects that are neighbours of a subject where the bandwidth is estimated


@dataclass(eq=False, repr=False)
class MeanShift(Method):
    """Mean shift, through scikit-learn: each subject belongs to the mode of the density that it climbs to.

    From each subject, x moves to the mean of all subjects closer than the bandwidth h until it rests (a flat kernel;
    Fukunaga and Hostetler 1975, IEEE Trans Inf Theory 21:32-40; Comaniciu and Meer 2002, IEEE TPAMI 24:603-619). Modes
    within h of each other are one. A subject far from all others is a cluster of its own.

    Parameters
    ----------
    schema : FeatureSchema, optional
        As in `MAPDP`.
    bandwidth : float, optional
        h, a distance of standardised columns. By default the mean distance from a subject to the farthest of the
        nearest 30% of the subjects.

    Attributes
    ----------
    bandwidth_ : float

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust import methods
    >>> X = np.random.default_rng(1).normal(np.repeat([[0], [9]], [60, 40], axis=0), 1, (100, 4))
    >>> methods.MeanShift(bandwidth=1.0).fit(X).cluster_sizes_.tolist()
    [60, 40]
    """

    schema: FeatureSchema | None = None
    _: KW_ONLY
    bandwidth: float | None = None

    bandwidth_: float = field(init=False)

    def _clustered(self, table: Encoded, seed: int) -> Clustered:
        cluster = needed("sklearn.cluster", "MeanShift")
        with one_thread("MeanShift"):
            estimated = cluster.estimate_bandwidth(table.values, quantile=_QUANTILE) if self.bandwidth is None else 0
            bandwidth = float(self.bandwidth or estimated)
            if bandwidth <= 0.0:
                raise InputError("bandwidth must be given: so many subjects are equal that the estimate is 0")
            labels = cluster.MeanShift(bandwidth=bandwidth).fit(table.values).labels_
        return Clustered(labels.astype(np.int64), facts={"bandwidth_": bandwidth})

    def _made_by(self) -> str:
        return f"mean shift with a bandwidth of {self.bandwidth_:.4g}"
