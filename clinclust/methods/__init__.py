"""Other methods of clustering, each a `SubtypeModel`, whose partitions are reported, tested and shared like any other.

They are for comparison: reviewers ask why not K-means, a Gaussian mixture or latent classes.
"""

from __future__ import annotations

from clinclust.methods.dp_means import DPMeans

__all__ = ["DPMeans"]
