"""What the search of a large cohort gains and loses by beginning in a sample, beside the search among all, and K-means.

    python benchmarks/large_cohorts.py                          # 5,000 to 20,000 subjects: many minutes
    python benchmarks/large_cohorts.py --subjects 10000

Five groups in 16 mixed features, with a severity inside each group and 10% missing, and a survey of 70 dependent
columns without groups. Each is searched twice with ``coarsening="auto"``: among all subjects from the beginning, and
from a sample on. Times are processor seconds of one thread, in the same process; those of K-means (scikit-learn, ten
starts, as many clusters as were found) are given as a ratio. The log joints of two coarsenings cannot be compared, so
that of both partitions is given at coarsening 1 (`resolution_path_`).
"""

from __future__ import annotations

import argparse
import time
import warnings
from unittest.mock import patch

import numpy as np
import pandas as pd
from continuum_cohorts import Setting, continuum_cohort
from near_tied_cohorts import dependent_survey
from near_ties import k_means

import clinclust as cc
from clinclust.engine.search.labels import adjusted_rand_index
from clinclust.engine.search.restarts import N_SAMPLED

_MIXED = ("gaussian",) * 6 + ("ordinal",) * 5 + ("bernoulli",) * 3 + ("negative_binomial",) * 2
_NEVER = 10**12
_COHORTS = ("groups", "survey")


def cohort(name: str, n_subjects: int) -> tuple[pd.DataFrame, cc.FeatureSchema, np.ndarray | None]:
    """Return the table, its schema, and the true groups, if there are any."""
    if name == "groups":
        return continuum_cohort(0, Setting(n_subjects, 5, _MIXED, 0.1, 0.6))
    return (*dependent_survey(n_subjects), None)


def searched(frame: pd.DataFrame, schema: cc.FeatureSchema, large: int) -> tuple[cc.MAPDP, float]:
    """Return a fit, and its processor seconds, where a cohort of `large` subjects is searched in a sample first."""
    began = time.process_time()
    with patch("clinclust.estimators.search.LARGE_BESIDE", large):
        model = cc.MAPDP.as_published(schema, coarsening="auto", random_state=0, n_jobs=1, progress=False).fit(frame)
    return model, time.process_time() - began


def measured(name: str, n_subjects: int) -> None:
    """Print a line for each of the two searches of a cohort."""
    frame, schema, groups = cohort(name, n_subjects)
    first: cc.MAPDP | None = None
    for kind, large in (("all", _NEVER), ("a sample", N_SAMPLED + 1)):
        model, seconds = searched(frame, schema, large)
        first = first or model
        step = model.resolution_path_.steps.iloc[-1]
        peer = k_means(frame, model.n_clusters_)
        print(
            f"| {name} | {n_subjects:,} x {frame.shape[1]} | {kind} | {model.coarsening_:.3f} | {model.n_clusters_} "
            f"| {step['log_joint_uncoarsened']:.1f} | {seconds:.1f} | {seconds / peer:.1f} "
            f"| {adjusted_rand_index(model.labels_, first.labels_):.2f} "
            f"| {'' if groups is None else f'{adjusted_rand_index(model.labels_, groups):.2f}'} |",
            flush=True,
        )


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=int, nargs="*", default=[5_001, 10_000, 20_000])
    parser.add_argument("--cohorts", nargs="*", choices=_COHORTS, default=list(_COHORTS))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    small = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"])
    cc.MAPDP.as_published(coarsening="auto", random_state=0, progress=False).fit(small)  # compiles or loads
    k_means(small, 2)
    print("| cohort | size | begins in | coarsening | K | log joint at 1 | seconds | / K-means | ARI to all | ARI |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for n_subjects in chosen.subjects:
        for name in chosen.cohorts:
            measured(name, n_subjects)


if __name__ == "__main__":
    main()
