"""Other methods of clustering, each a `SubtypeModel`, whose partitions are reported, tested and shared like any other.

`clinclust.methods.method.Method` has the fitted attributes of all. Unless a method says otherwise, its columns are
those of `clinclust.methods.method.encode`: missing values are filled, and every column counts alike. Most need
scikit-learn; an error says so if it is missing.
"""

from __future__ import annotations

from clinclust.estimators.mapdp import PublishedMAPDP
from clinclust.methods.compare import MethodComparison, compare_methods
from clinclust.methods.hard_limits import DPMeans, HardHDP, NormalisedCut, SpectralDPMeans
from clinclust.methods.method import GaussianMixture, KHarmonicMeans, KMeans, LatentClasses, MeanShift

__all__ = [
    "DPMeans",
    "GaussianMixture",
    "HardHDP",
    "KHarmonicMeans",
    "KMeans",
    "LatentClasses",
    "MeanShift",
    "MethodComparison",
    "NormalisedCut",
    "PublishedMAPDP",
    "SpectralDPMeans",
    "compare_methods",
]
