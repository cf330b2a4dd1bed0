"""Other methods of clustering, each a `SubtypeModel`, whose partitions are reported, tested and shared like any other.

`clinclust.methods.method.Method` has the fitted attributes of all. Unless a method says otherwise, its columns are
those of `clinclust.methods.encoded`: missing values are filled, and every column counts alike. Most need scikit-learn,
StepMix or kmodes; an error names the package that is missing.
"""

from __future__ import annotations

from clinclust.estimators.mapdp import PublishedMAPDP
from clinclust.methods.compare import MethodComparison, compare_methods
from clinclust.methods.dp_means import DPMeans
from clinclust.methods.gaussian_mixture import GaussianMixture
from clinclust.methods.hard_hdp import HardHDP
from clinclust.methods.harmonic_means import KHarmonicMeans
from clinclust.methods.k_means import KMeans
from clinclust.methods.k_prototypes import KPrototypes
from clinclust.methods.latent_classes import LatentClasses
from clinclust.methods.mean_shift import MeanShift
from clinclust.methods.normalised_cut import NormalisedCut
from clinclust.methods.spectral_dp_means import SpectralDPMeans

__all__ = [
    "DPMeans",
    "GaussianMixture",
    "HardHDP",
    "KHarmonicMeans",
    "KMeans",
    "KPrototypes",
    "LatentClasses",
    "MeanShift",
    "MethodComparison",
    "NormalisedCut",
    "PublishedMAPDP",
    "SpectralDPMeans",
    "compare_methods",
]
