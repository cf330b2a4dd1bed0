"""Print a fingerprint of what fits find, so that two versions of the code can be compared to the bit.

    python benchmarks/bits.py > after.txt        # and the same on the version before; then diff both files

One line for each reference cohort by `PublishedMAPDP`, and for each of its options and the default `MAPDP` on a few
of them: the number of clusters, the log joint in hexadecimal, and a hash of labels, membership probabilities and
restarts. The bits are those of one machine
with one set of versions.
"""

from __future__ import annotations

import argparse
import hashlib
import warnings

import numpy as np
from reference_cohorts import N_COHORTS, reference_cohort

import clinclust as cc

OPTIONS = {
    "paper's start": {"init": "single"},
    "coarsening": {"coarsening": 0.5},
    "coarsening auto": {"coarsening": "auto"},
    "outlying": {"outlying_share": 0.02},
    "selection": {"select_features": True},
    "concentration map": {"concentration": "map"},
    "cross-validation": {"concentration": "cross-validation", "n_restarts": 3},
    "greedy": {"hyperparameters": "greedy", "n_restarts": 3},
}
OPTION_COHORTS = (1, 6)


def fingerprint(model: cc.MAPDP) -> str:
    """Return the line of one fit."""
    digest = hashlib.sha256()
    for array in (model.labels_, model.membership_, model.log_joint_trace_, model.outliers_):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(model.restarts_["log_joint"].to_numpy().tobytes())
    digest.update(model.feature_relevance_.to_numpy().tobytes())
    return f"K={model.n_clusters_} joint={model.log_joint_.hex()} sha256={digest.hexdigest()[:24]}"


def as_published(schema: cc.FeatureSchema | None, **options: object) -> cc.MAPDP:
    """Return an estimator of the model as published, with these options."""
    return cc.methods.PublishedMAPDP(schema, random_state=0, progress=False, **options)


def fit(index: int, **options: object) -> str:
    """Fit one reference cohort."""
    frame, schema, _ = reference_cohort(index)
    return fingerprint(as_published(schema, **options).fit(frame))


def fit_in_blocks(index: int) -> str:
    """Fit one reference cohort in whose schema every second feature belongs to one of three blocks."""
    frame, schema, _ = reference_cohort(index)
    features = [
        cc.Feature(**{**feature.content(), "block": f"block {place % 3}"}) if place % 2 else feature
        for place, feature in enumerate(schema)
    ]
    return fingerprint(as_published(cc.FeatureSchema(features), block_weights="auto").fit(frame))


def main() -> None:
    """Print all lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cohorts", type=int, default=N_COHORTS, help="how many reference cohorts (default: all)")
    cohorts = parser.parse_args().cohorts
    warnings.simplefilter("ignore")
    for index in range(cohorts):
        print(f"cohort {index}: {fit(index)}", flush=True)
    for name, options in OPTIONS.items():
        for index in OPTION_COHORTS:
            print(f"{name}, cohort {index}: {fit(index, **options)}", flush=True)
    for index in OPTION_COHORTS:
        print(f"blocks, cohort {index}: {fit_in_blocks(index)}", flush=True)
    for index in OPTION_COHORTS:
        frame, schema, _ = reference_cohort(index)
        print(f"default, cohort {index}: {fingerprint(cc.MAPDP(schema, random_state=0, progress=False).fit(frame))}")
    rng = np.random.default_rng(0)
    groups = rng.integers(3, size=40_000)
    large = np.column_stack(
        [rng.normal(groups * 2.0, 1.0), rng.normal(-groups, 1.0), rng.random(40_000) < 0.2 + 0.3 * groups]
    )
    model = as_published(None).fit(large.astype(float))
    print(f"sampled search of 40,000: {fingerprint(model)}")
    frame, schema, _ = reference_cohort(1)
    model = as_published(schema).fit(frame)
    found = cc.validated_associations(model, schema.validate(frame), progress=False)
    print(f"associations: {hashlib.sha256(found['p'].to_numpy(dtype=float).tobytes()).hexdigest()[:24]}")


if __name__ == "__main__":
    main()
