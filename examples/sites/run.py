"""Three hospitals fit one model, and no row leaves any of them.

``python examples/sites/run.py`` simulates the hospitals, fits their subjects with and without a threshold, and prints
the fits beside that of the pooled table, and what was sent.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from coordinator import fit_at_sites
from three_sites import SCHEMA, Wire, three_tables

import clinclust as cc
from clinclust.engine.search.settle import adjusted_rand_index


def estimator():
    """Return the recommended model, without outliers, which are not searched for at sites."""
    return cc.MAPDP(SCHEMA, outlying_share=0.0, random_state=0, progress=False)


def joint_of(labels, table, model):
    """Return the log joint of labels in the pooled table under the model of its fit."""
    validated = SCHEMA.validate(table, warn=False)
    given = {"coarsening": model.coarsening_, "hyperparameters": model.hyperparameters_}
    return cc.log_joint(validated, labels, SCHEMA, concentration=model.concentration_, **given)


def main():
    """Print the fits."""
    tables = three_tables()
    pooled = pd.concat(tables, ignore_index=True)
    expected = estimator().fit(pooled)
    print(f"pooled: {expected.n_clusters_} subtypes of {expected.cluster_sizes_.tolist()}")
    for fewest in (1, 10):
        wires = [Wire(cc.Site(table, SCHEMA, fewest=fewest)) for table in tables]
        model = fit_at_sites(estimator(), wires)
        labels = np.concatenate([wire.site.labels for wire in wires]) - 1
        agreement = adjusted_rand_index(labels, expected.labels_)
        lost = joint_of(expected.labels_, pooled, expected) - joint_of(labels, pooled, expected)
        said = [message for wire in wires for message in wire.crossed]
        n_bytes = sum(len(back) for _, _, back in said)
        print(f"at sites, at least {fewest}: {model.n_clusters_} subtypes of {model.cluster_sizes_.tolist()},")
        print(f"  adjusted Rand index to the pooled {agreement:.4f}, log joint {lost:.2f} nats lower,")
        print(f"  {len(said)} answers of {n_bytes:,} bytes in all")


if __name__ == "__main__":
    main()
