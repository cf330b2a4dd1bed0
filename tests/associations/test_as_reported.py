"""Features that make the subtypes only together, and what a validated p is about."""

from threading import Event

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import clinclust as cc
from clinclust.associations.refit import AsReported, Subtypes, as_many, effects
from clinclust.engine.problem.problem import pose
from clinclust.engine.search.settle import merge_tree
from clinclust.estimators.fit import SubtypeTree


def few_informative(seed, n=400, shift=1.5):
    """Four of 14 features make the subtypes together; without any of them the log joint prefers one subtype."""
    table = np.random.default_rng([14, seed]).normal(size=(n, 14))
    table[:, :4] += shift * np.repeat([0.0, 1.0], n // 2)[:, None]
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    return frame, cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])


def without(schema, frame, name):
    others = cc.FeatureSchema([feature for feature in schema if feature.name != name])
    return cc.methods.PublishedMAPDP(others, n_restarts=2, random_state=0, progress=False).fit(frame.drop(columns=name))


@pytest.mark.simulation
def test_features_that_make_the_subtypes_only_together_are_tested_too():
    found, alone = [], []
    for seed in range(5):
        frame, schema = few_informative(seed)
        model = cc.methods.PublishedMAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
        assert model.n_clusters_ == 2
        rows = cc.validated_associations(model, frame, progress=False)
        assert (rows["n_subtypes"].dropna() == 2).all()
        found.append(rows.head(4))
        alone += [without(schema, frame, name).n_clusters_ == 1 for name in frame.columns[:4]]
    assert np.mean(alone) > 0.5
    rows = pd.concat(found)
    assert (rows["p"] < 1e-6).mean() > 0.9
    assert rows["agreement"].median() > 0.5
    assert (rows["effect"] > 0.3 * rows["effect_reported"]).mean() > 0.9


def test_effects_are_those_of_the_subtypes_found_without_the_feature():
    frame, _ = few_informative(0)
    reported = np.repeat([0, 1], 200)
    found = np.where(np.arange(400) < 20, 1 - reported, reported)[::-1]
    rows = np.arange(400)[::-1]
    without = Subtypes(rows, found)
    labels = found[np.argsort(rows)]
    x = frame["x0"].to_numpy()
    got = effects(x[:, None], reported, reported, without)
    assert got[0] == pytest.approx((x[200:].mean() - x[:200].mean()) / x.std())
    assert got[1] == pytest.approx((x[labels == 1].mean() - x[labels == 0].mean()) / x.std())
    swapped = effects(-x[:, None], reported, reported, without)  # the other one is higher, by as much
    assert swapped == pytest.approx(got)


@pytest.fixture(scope="module")
def one_and_two_odd_ones():
    """One population of 200 in which four features differ a little, and two odd subjects far away from all."""
    rng = np.random.default_rng(3)
    table = rng.normal(size=(202, 8))
    table[:100, :4] += 1.2
    table[200:] += np.array([[40.0], [-40.0]])
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    problem = pose(frame, schema, {}, 3.0)
    rows = problem.cohort.order
    return problem, np.where(rows < 200, 0, rows - 199), rows


@pytest.mark.simulation
def test_odd_subjects_do_not_stand_for_the_subtypes_that_are_missing(one_and_two_odd_ones):
    problem, clusters, rows = one_and_two_odd_ones
    found, subtype_of = as_many(problem, clusters, AsReported(2, 2, 2, 30), 0, Event())
    subtypes = subtype_of[found]
    assert (np.bincount(subtypes) >= 30).sum() == 2
    halves = subtypes[rows < 200] == np.bincount(subtypes).argmax()
    assert abs(np.corrcoef(halves, rows[rows < 200] < 100)[0, 1]) > 0.4
    assert subtype_of.max() + 1 == np.unique(subtypes).size


@pytest.mark.simulation
def test_what_is_merged_along_the_tree_keeps_its_clusters(one_and_two_odd_ones):
    problem, _, rows = one_and_two_odd_ones
    finer = rows // 60
    found, subtype_of = as_many(problem, finer, AsReported(2, 1, 1, 30), 0, Event())
    assert adjusted_rand_score(found, finer) == 1.0
    tree = SubtypeTree(found, *merge_tree(problem, found))
    assert adjusted_rand_score(subtype_of[found], tree.subtype_of(2)[found]) == 1.0


def test_nothing_is_divided_below_the_subjects_that_are_enough(one_and_two_odd_ones):
    problem, clusters, _ = one_and_two_odd_ones
    found, subtype_of = as_many(problem, clusters, AsReported(3, 3, 3, 150), 0, Event())
    assert adjusted_rand_score(subtype_of[found], clusters) == 1.0
