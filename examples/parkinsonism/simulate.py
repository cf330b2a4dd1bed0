"""Simulate the parkinsonism cohort of the paper's section 6, whose records are not public.

``python examples/parkinsonism/simulate.py`` writes ``cohort.csv`` (what a study would have) and
``true_groups.csv`` (what it would not). The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from truth import GROUP_SIZES, PROBABILITY_OF_PD, SCHEMA, outcome_table, read_truth

import clinclust as cc

SEED = 2016
MISSING = 0.10


def simulate(
    seed: int = SEED, sizes: Sequence[int] = GROUP_SIZES, missing: float = MISSING
) -> tuple[pd.DataFrame, pd.Series]:
    """Draw a cohort from the truth: features independent within a group, values missing completely at random.

    Parameters
    ----------
    seed
        Seed of `numpy.random.default_rng`. Only its uniform numbers and one permutation are used.
    sizes
        Subjects in groups 1 to 5; they come in random order.
    missing
        Probability with which each value of the 215 features is missing.

    Returns
    -------
    frame
        The cohort as text, a missing value being the empty string: ``patient_id``, ``probability_of_pd``,
        features.
    groups
        The group (1 to 5) of each row of `frame`.
    """
    rng = np.random.default_rng(seed)
    schema, truth = cc.FeatureSchema.from_yaml(SCHEMA), read_truth()
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    subjects = len(group)
    width = len(str(subjects))
    columns = {
        "patient_id": [f"P{number:0{width}d}" for number in range(1, subjects + 1)],
        "probability_of_pd": _ratings(rng, group),
    }
    for feature in schema.clustered:
        values, probability = outcome_table(feature, truth)
        # One uniform number a subject, read off the cumulative distribution of the subject's group.
        edges = probability.cumsum(axis=1)[:, :-1]
        outcome = (rng.random(subjects)[:, None] >= edges[group]).sum(axis=1)
        cells = np.array(values, dtype=object)[outcome]
        cells[rng.random(subjects) < missing] = ""
        columns[feature.name] = cells
    return pd.DataFrame(columns), pd.Series(group + 1, name="group")


def _ratings(rng: np.random.Generator, group: np.ndarray) -> list[str]:
    """Draw the specialist's ratings: uniform over the steps of 5% between the ends given for the group."""
    lowest, highest = np.array(PROBABILITY_OF_PD)[group].T
    steps = (highest - lowest) // 5 + 1
    return [str(rating) for rating in lowest + 5 * (rng.random(len(group)) * steps).astype(int)]


def write_cohort(folder: Path, seed: int = SEED) -> None:
    """Write ``cohort.csv`` and ``true_groups.csv`` into an existing folder."""
    frame, groups = simulate(seed)
    frame.to_csv(folder / "cohort.csv", index=False, lineterminator="\n")
    truth = pd.DataFrame({"patient_id": frame["patient_id"], "group": groups})
    truth.to_csv(folder / "true_groups.csv", index=False, lineterminator="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--random-state", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder to write to")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    write_cohort(arguments.out, arguments.random_state)


if __name__ == "__main__":
    main()
