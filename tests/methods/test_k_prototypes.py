"""K-prototypes: its cost by hand, and cohorts of levels or numbers alone."""

import numpy as np
import pytest

import clinclust as cc
from clinclust import methods

from .clear_groups import SCHEMA, cohort

LEVELS = ("fatigue", "gene")


def cost(numbers, levels, labels, gamma):
    """The objective of Huang (1997), line by line."""
    total = 0.0
    for label in set(labels.tolist()):
        members = labels == label
        total += ((numbers[members] - numbers[members].mean(axis=0)) ** 2).sum()
        for column in levels[members].T:
            total += gamma * (len(column) - max((column == value).sum() for value in set(column.tolist())))
    return total


@pytest.mark.parametrize("gamma", [None, 2.0])
def test_the_cost_is_that_of_the_labels_and_no_single_move_lowers_it(gamma):
    frame, _ = cohort(0, 0.0)
    model = methods.KPrototypes(SCHEMA, 3, gamma=gamma, random_state=0).fit(frame)
    numbers = frame[["gait", "crp", "falls", "tremor"]].assign(crp=np.log(frame["crp"])).to_numpy()
    numbers = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    levels = frame[list(LEVELS)].to_numpy()
    found = cost(numbers, levels, model.labels_, gamma or 0.5)
    assert model.cost_ == pytest.approx(found)
    shuffled = np.random.default_rng(0).permutation(model.labels_)
    assert cost(numbers, levels, shuffled, gamma or 0.5) > 1.5 * found


def of_columns(names):
    return cc.FeatureSchema([feature for feature in SCHEMA if feature.name in names])


def test_levels_alone_are_clustered_by_k_modes():
    frame, _ = cohort(0, 0.1)
    model = methods.KPrototypes(of_columns(LEVELS), 3, random_state=0).fit(frame[list(LEVELS)])
    assert model.made_by.startswith("K-modes with 3 clusters")
    assert model.cluster_sizes_.sum() == 90


def test_numbers_alone_are_sent_to_k_means():
    frame, _ = cohort(0, 0.0)
    with pytest.raises(ValueError, match="use KMeans"):
        methods.KPrototypes(of_columns(("gait", "falls")), 3).fit(frame[["gait", "falls"]])


def test_more_clusters_than_different_subjects_are_refused():
    frame, _ = cohort(0, 0.0)
    with pytest.raises(ValueError, match=r"subjects that differ \(6\), not 6"):
        methods.KPrototypes(of_columns(LEVELS), 6).fit(frame[list(LEVELS)])
