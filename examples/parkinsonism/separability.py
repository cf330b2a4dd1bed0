"""How well a rule that knows the true parameters tells the groups apart.

``python examples/parkinsonism/separability.py`` prints the share of each group that this ideal rule gets
wrong. No clustering method can do better on average, so an example that is to be recovered needs small
numbers here.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd
from simulate import simulate
from truth import GROUP_SIZES, SCHEMA, differing, outcome_table, read_truth

import clinclust as cc


def log_likelihoods(frame: pd.DataFrame) -> np.ndarray:
    """Give the log probability of each subject's observed features in each group, shape (N, 5), in nats."""
    truth = read_truth()
    total = np.zeros((len(frame), len(GROUP_SIZES)))
    for feature in cc.FeatureSchema.from_yaml(SCHEMA).clustered:
        values, probability = outcome_table(feature, truth)
        with np.errstate(divide="ignore"):
            log_probability = np.log(probability).T
        # A missing value says nothing about the group: an extra row of zeros.
        table = np.vstack([log_probability, np.zeros(len(GROUP_SIZES))])
        codes = pd.Index(values).get_indexer(frame[feature.name])
        total += table[codes]
    return total


def classify(frame: pd.DataFrame) -> np.ndarray:
    """Give each subject the most probable group, 1 to 5, under the true parameters and group sizes."""
    weights = np.log(np.array(GROUP_SIZES) / sum(GROUP_SIZES))
    return (log_likelihoods(frame) + weights).argmax(axis=1) + 1


def error_rates(sizes: Sequence[int], seed: int = 0) -> pd.Series:
    """Simulate groups of the given sizes; give the share of each that the ideal rule puts elsewhere."""
    frame, groups = simulate(seed, sizes)
    return (classify(frame) != groups).groupby(groups).mean().rename("error")


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    truth = read_truth()
    print(f"Features that truly differ between groups 1 and 2: {len(differing(truth, 'group_1', 'group_2'))}")
    print("Share of each group that the ideal rule gets wrong:")
    print(error_rates([2000] * 5).to_string(float_format="{:.4f}".format))


if __name__ == "__main__":
    main()
