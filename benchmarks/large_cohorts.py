"""What the search of a large cohort gains and loses by beginning in a sample, beside the search among all, and K-means.

    python benchmarks/large_cohorts.py                          # all cohorts, 5,001 to 20,000 subjects: many minutes
    python benchmarks/large_cohorts.py --cohorts clear near --subjects 8000 10000 25000 50000 --seeds 0 1

Cohorts of `peer_cohorts` whose oracle reaches an adjusted Rand index of .995 (clear) or .88 (near), by
`PublishedMAPDP`; and five groups in 16 mixed features, with a severity inside each group and 10% missing, and a
survey of 70 dependent columns without groups, both with ``coarsening="auto"``. Each is searched twice: among all
subjects from the beginning, and from a sample on. Times are processor seconds of one thread, in the same process; those
of K-means (scikit-learn, ten starts, as many clusters as were found, standardised numbers, indicators of the levels of
clear and near cohorts) are given as a ratio. The log joints of two coarsenings cannot be compared, so that of both
partitions is given at coarsening 1.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
from continuum_cohorts import Setting, continuum_cohort
from near_tied_cohorts import dependent_survey
from near_ties import k_means, standardised
from peer_cohorts import peer_cohort
from speed import indicators

import clinclust as cc
from clinclust.engine.problem.problem import log_joint
from clinclust.engine.search.settle import LARGE, adjusted_rand_index
from clinclust.estimators.subtype_model import fitted_problem

_MIXED = ("gaussian",) * 6 + ("ordinal",) * 5 + ("bernoulli",) * 3 + ("negative_binomial",) * 2
_NEVER = 10**12
_ORACLES = {"clear": 0.995, "near": 0.88}
_COHORTS = (*_ORACLES, "groups", "survey")


class Cohort(NamedTuple):
    """A table and what is asked of it."""

    frame: pd.DataFrame
    schema: cc.FeatureSchema
    groups: np.ndarray | None
    numbers: np.ndarray
    """What K-means is given."""
    coarsening: float | str


def cohort(name: str, n_subjects: int, seed: int) -> Cohort:
    """Draw a cohort."""
    if name in _ORACLES:
        drawn = peer_cohort(n_subjects, seed, oracle_ari=_ORACLES[name])
        return Cohort(drawn.frame, drawn.schema, drawn.groups, indicators(drawn), 1.0)
    if name == "groups":
        frame, schema, groups = continuum_cohort(seed, Setting(n_subjects, 5, _MIXED, 0.1, 0.6))
        return Cohort(frame, schema, groups, standardised(frame), "auto")
    frame, schema = dependent_survey(n_subjects, seed)
    return Cohort(frame, schema, None, standardised(frame), "auto")


def searched(drawn: Cohort, large: int) -> tuple[cc.MAPDP, float]:
    """Return a fit, and its processor seconds, where a cohort of `large` subjects is searched in a sample first."""
    began, given = time.process_time(), {"random_state": 0, "n_jobs": 1, "progress": False}
    with patch("clinclust.estimators.fitting.LARGE", large):
        model = cc.methods.PublishedMAPDP(drawn.schema, coarsening=drawn.coarsening, **given).fit(drawn.frame)
    return model, time.process_time() - began


def measured(name: str, n_subjects: int, seed: int) -> None:
    """Print a line for each of the two searches of a cohort."""
    drawn = cohort(name, n_subjects, seed)
    groups = drawn.groups
    first: cc.MAPDP | None = None
    for kind, large in (("all", _NEVER), ("a sample", LARGE)):
        model, seconds = searched(drawn, large)
        first = first or model
        problem = fitted_problem(model.fit_, drawn.schema.validate(drawn.frame, warn=False), coarsening=1.0)
        joint = log_joint(problem, problem.partition(model.cluster_labels_[problem.cohort.order]))
        peer = k_means(drawn.numbers, model.n_clusters_)
        print(
            f"| {name} {seed} | {n_subjects:,} x {drawn.frame.shape[1]} | {kind} | {model.coarsening_:.3f} "
            f"| {model.n_clusters_} | {joint:.2f} | {seconds:.1f} | {seconds / peer:.2f} "
            f"| {adjusted_rand_index(model.labels_, first.labels_):.2f} "
            f"| {'' if groups is None else f'{adjusted_rand_index(model.labels_, groups):.2f}'} |",
            flush=True,
        )


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=int, nargs="*", default=[5_001, 10_000, 20_000])
    parser.add_argument("--cohorts", nargs="*", choices=_COHORTS, default=list(_COHORTS))
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    small = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"])
    cc.methods.PublishedMAPDP(coarsening="auto", random_state=0, progress=False).fit(small)  # compiles or loads
    k_means(small.to_numpy(), 2)
    print("| cohort | size | begins in | coarsening | K | log joint at 1 | seconds | / K-means | ARI to all | ARI |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for n_subjects in chosen.subjects:
        for name in chosen.cohorts:
            for seed in chosen.seeds:
                measured(name, n_subjects, seed)


if __name__ == "__main__":
    main()
