"""The truth behind the simulated parkinsonism cohort: who is in which group, and what each group is like.

``truth.csv`` holds one row for each of the 215 features and one column for each of the five groups:

- bernoulli: the probability of the second level ("yes"), as in Table 3 of the paper;
- binomial: the mean score on the scale as reported (so 1 to 4 for the PD state during exam), as in Table 4;
- categorical: the probabilities of the levels, in the order of the schema, divided by "/";
- poisson: the mean count.

Its column ``source`` says where the numbers of groups 1 to 4 come from: "Table 3" and "Table 4" are those of
Raykov, Boukouvalas, Baig and Little (2016), What to do when K-means clustering fails, PLOS ONE 11(9):
e0162259; "chosen" means plausible numbers of our own. The paper describes group 5 in words only (advanced
parkinsonism, unlikely to be Parkinson's disease), so all numbers of group 5 are chosen.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from clinclust import Feature

SCHEMA = Path(__file__).parents[2] / "schemas" / "parkinsonism.yaml"
TRUTH = Path(__file__).with_name("truth.csv")

GROUPS = ("group_1", "group_2", "group_3", "group_4", "group_5")
# 50, 43, 5, 1.6 and 0.4% of 527 subjects, rounded; the paper says that the smallest group is 2 subjects.
GROUP_SIZES = (264, 227, 26, 8, 2)
# Lowest and highest rating, in %, that the specialist gives in each group: at least 90 in the two large
# groups and below 50 in the last, as the paper says; groups 3 and 4 are chosen.
PROBABILITY_OF_PD = ((90, 100), (90, 100), (20, 85), (50, 90), (10, 45))

# Counts whose probability is smaller than this are left out of a Poisson's table of outcomes.
_NEGLIGIBLE = 1e-12


def read_truth() -> pd.DataFrame:
    """Read the parameters: index the feature names, columns `GROUPS` and ``source``, every cell text."""
    return pd.read_csv(TRUTH, dtype=str).set_index("feature")


def published(truth: pd.DataFrame) -> pd.DataFrame:
    """Keep the twelve features whose numbers for groups 1 to 4 are printed in the paper."""
    return truth[truth["source"] != "chosen"]


def differing(truth: pd.DataFrame, group: str, other: str) -> list[str]:
    """Name the features whose distribution, in truth, is not the same in two groups.

    This is a statement about the parameters, not about a sample: a t-test misses some of these (facial
    expression has means 1.42 and 1.47) and finds some that are not here.
    """
    return truth.index[truth[group] != truth[other]].tolist()


def outcomes(feature: Feature, parameters: list[str]) -> list[str]:
    """List every value the feature can take, as the text of a table cell, in order.

    Parameters
    ----------
    feature
        The feature as the schema describes it.
    parameters
        Its parameters in all groups; a Poisson's list ends where all groups' probabilities are negligible.
    """
    if feature.levels is not None:
        return list(feature.levels)
    if feature.likelihood == "poisson":
        highest = max(float(parameter) for parameter in parameters)
        return [str(value) for value in range(int(stats.poisson.isf(_NEGLIGIBLE, highest)) + 1)]
    return [str(int(feature.lowest) + score) for score in range(feature.n_trials + 1)]


def probabilities(feature: Feature, parameter: str, n_outcomes: int) -> np.ndarray:
    """Give the probability of each outcome in one group, shape (n_outcomes,), summing to 1."""
    if feature.likelihood == "categorical":
        weights = np.array([float(weight) for weight in parameter.split("/")])
    elif feature.likelihood == "poisson":
        weights = stats.poisson.pmf(np.arange(n_outcomes), float(parameter))
    else:
        trials = n_outcomes - 1
        success = (float(parameter) - feature.lowest) / trials
        weights = stats.binom.pmf(np.arange(n_outcomes), trials, success)
    return weights / weights.sum()


def outcome_table(feature: Feature, truth: pd.DataFrame) -> tuple[list[str], np.ndarray]:
    """Give a feature's outcomes (L of them) and their probabilities in each group, shape (5, L)."""
    parameters = truth.loc[feature.name, list(GROUPS)].tolist()
    values = outcomes(feature, parameters)
    return values, np.array([probabilities(feature, parameter, len(values)) for parameter in parameters])
