"""Leaves of a tree that are one continuum are merged where the tree has divided by severity before disease."""

from itertools import combinations
from threading import Event
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, quick_fit, schema_of

from clinclust import MAPDP, distinct_subtypes
from clinclust.engine.continuum.tested_node import DrawPlan
from clinclust.engine.problem.problem import log_joint
from clinclust.engine.search.plan import SearchPlan, Threads
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.estimators import distinct_subtypes as tested_tree
from clinclust.estimators.distinct_subtypes import PairTests, joined_groups
from clinclust.estimators.fit import SubtypeTree
from clinclust.estimators.subtype_model import cohort_of, fitted_problem
from clinclust.methods import PublishedMAPDP


def of_severity_and_disease(seed=7):
    """Return 300 people of two diseases, and their schema; a severity through all measurements parts them first."""
    rng = np.random.default_rng(seed)
    disease = np.arange(300) % 2
    shifts = np.array([2.0, -2.0, 2.0, -2.0, 2.0, 0.0, 0.0, 0.0])
    values = 1.2 * rng.normal(size=(300, 1)) + rng.normal(size=(300, 8)) + shifts * disease[:, None]
    frame = pd.DataFrame(values, columns=list("abcdefgh"))
    return frame, gaussian_schema(frame), disease


@pytest.fixture(scope="module")
def severe():
    frame, schema, disease = of_severity_and_disease()
    model = quick_fit(frame, schema, coarsening="auto", n_restarts=4)
    return model, frame, disease, distinct_subtypes(model, frame)


@pytest.mark.simulation
def test_slices_of_one_disease_come_together(severe, monkeypatch):
    model, frame, disease, distinct = severe
    monkeypatch.setattr(tested_tree, "joined_groups", lambda *_: ([], []))
    monkeypatch.setattr(tested_tree, "_are_further_apart", lambda *_: False)  # no second tree either
    along_the_tree = distinct_subtypes(model, frame)
    assert along_the_tree.n_subtypes > distinct.n_subtypes == 2
    assert adjusted_rand_index(along_the_tree.labels, disease) < 0.5
    assert adjusted_rand_index(distinct.labels, disease) > 0.75


def kinds_beside_a_severity(seed):
    frame, schema, disease = of_severity_and_disease(seed)
    model = quick_fit(frame, schema, coarsening="auto", n_restarts=4)
    distinct = distinct_subtypes(model, frame)
    return distinct.n_distinct, adjusted_rand_index(distinct.distinct, disease)


def test_a_severity_parts_no_kinds():
    assert kinds_beside_a_severity(6) == (2, pytest.approx(1.0, abs=0.4))


@pytest.mark.simulation
def test_a_severity_parts_kinds_in_one_of_ten_cohorts_at_most():
    numbers, agreements = zip(*map(kinds_beside_a_severity, range(1, 13)), strict=True)
    assert np.mean(np.array(numbers) == 2) >= 0.9
    assert np.mean(agreements) > 0.65


def of_two_diseases_in_two_sexes(seed=2, distance=4.0, of_sex=3.0):
    """Return 300 people with two diseases that differ in two measurements; the sexes differ in four others."""
    rng = np.random.default_rng(seed)
    disease, sex = rng.choice(2, 300, p=[0.6, 0.4]), rng.integers(2, size=300)
    values = rng.normal(size=(300, 11))
    values[:, :2] += disease[:, None] * distance / np.sqrt(2.0)
    values[:, 4:8] += sex[:, None] * of_sex / 2.0
    frame = pd.DataFrame(values, columns=list("abcdefghijk")).assign(sex=np.where(sex, "m", "f"))
    return frame, schema_of(frame, sex={"likelihood": "bernoulli", "levels": ("f", "m")}), disease


def agreement_with_disease(seed):
    frame, schema, disease = of_two_diseases_in_two_sexes(seed)
    return adjusted_rand_index(MAPDP(schema, random_state=0).fit(frame).kinds_, disease)


def test_two_diseases_in_two_sexes_are_two_kinds():
    assert agreement_with_disease(2) > 0.8


@pytest.mark.simulation
def test_two_diseases_in_two_sexes_are_mostly_kinds():
    """The tree of least evidence alone agrees by .31; where the sexes have a gap too, there are four kinds."""
    assert np.mean([agreement_with_disease(seed) for seed in range(1, 8)]) > 0.5


def test_groups_that_only_answers_tell_are_as_far_apart_as_these_make_them():
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=240)
    frame = pd.DataFrame(rng.normal(size=(240, 3)), columns=["crp", "bmi", "age"])
    frame[list("abcde")] = rng.random((240, 5)) < np.where(group, 0.9, 0.1)[:, None]
    schema = schema_of(frame, **dict.fromkeys("abcde", "bernoulli"))
    model = PublishedMAPDP(schema, random_state=0).fit(frame)
    draws = DrawPlan(20, 0.05, Threads(1, None), Event(), lambda: None)
    pair = frozenset([0]), frozenset([1])
    of_seeds = [PairTests(model.fit_, cohort_of(model, frame).table, SearchPlan(seed), draws) for seed in (0, 1)]
    assert min(tests.distance(*pair) for tests in of_seeds) > 3.0
    assert len({(tests.distance(*pair), tests.p_of_gap(*pair)) for tests in of_seeds}) == 1


@pytest.mark.simulation
def test_the_new_tree_is_one_of_the_same_clusters_whose_evidence_is_exact(severe):
    model, frame, _, distinct = severe
    tree = distinct.tree
    assert not np.array_equal(tree.joins, model.tree_.joins)
    np.testing.assert_array_equal(tree.labels, model.tree_.labels)
    assert sorted(tree.joins.ravel().tolist()) == list(range(2 * tree.n_subtypes - 2))
    problem = fitted_problem(model.fit_, frame, coarsening=model.coarsening_)
    joints = [
        log_joint(problem, problem.partition(tree.subtype_of(number)[tree.labels][problem.cohort.order]))
        for number in range(tree.n_subtypes, 0, -1)
    ]
    np.testing.assert_allclose(-np.diff(joints), tree.evidence, rtol=1e-8, atol=1e-6)


@pytest.mark.simulation
def test_a_model_takes_the_new_tree_with_its_test_and_keeps_both(severe, tmp_path):
    model, frame, _, distinct = severe
    cut = model.cut(distinct)
    np.testing.assert_array_equal(cut.labels_, distinct.labels)
    np.testing.assert_array_equal(cut.tree_.joins, distinct.tree.joins)
    loaded = MAPDP.load(cut.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.cut("distinct").labels_, distinct.labels)
    np.testing.assert_array_equal(cut.cut(None).labels_, model.labels_)
    fitted = MAPDP(model.schema_, block_weights=None, n_restarts=4, random_state=0).fit(frame)
    np.testing.assert_array_equal(fitted.labels_, distinct.labels)
    pd.testing.assert_frame_equal(fitted.tree_test_.joins, distinct.test.joins)


@pytest.mark.simulation
def test_two_sides_and_distinct_ones_are_left_as_they_are():
    rng = np.random.default_rng(0)
    for n_groups in (2, 3):
        centres = 5.0 * np.eye(3, 6)[np.arange(90) % n_groups]
        frame = pd.DataFrame(centres + rng.normal(size=(90, 6)), columns=list("abcdef"))
        model = quick_fit(frame)
        distinct = distinct_subtypes(model, frame, n_draws=40)
        assert distinct.n_subtypes == n_groups
        np.testing.assert_array_equal(distinct.tree.joins, model.tree_.joins)


@pytest.mark.simulation
def test_a_continuum_beside_a_distinct_group_stays_whole():
    """Pairs of its slices are parted clearly, as each slice has an edge; all of them together are one continuum."""
    rng = np.random.default_rng(1)
    group = (rng.random(400) < 0.2).astype(int)
    values = 0.8 * rng.normal(size=(400, 1)) + 0.6 * rng.normal(size=(400, 8))
    values += 2.5 * group[:, None] * np.array([1, -1, 1, -1, 0, 0, 0, 0])
    frame = pd.DataFrame(values, columns=list("abcdefgh"))
    model = MAPDP(gaussian_schema(frame), n_restarts=4, random_state=0, progress=False).fit(frame)
    assert model.subtype_of_.size > 3
    assert adjusted_rand_index(model.labels_, group) > 0.95
    assert model.n_clusters_ == 2


class Draws:
    """Stands in for a running test: another p after each batch of draws."""

    def __init__(self, *ps):
        self.ps = list(ps)

    def go_on(self):
        self.ps.pop(0)

    found = property(lambda self: SimpleNamespace(p=self.ps[0]))
    has_ended = property(lambda self: len(self.ps) == 1)


class Sides:
    """Stands in for the tests of groups of clusters."""

    plan = SimpleNamespace(significance_level=0.05)
    nearest_pairs = staticmethod(lambda sides: combinations(sides, 2))
    p_of_gap = staticmethod(lambda *_: 1.0)
    most_continuous = PairTests.most_continuous

    def __init__(self, begun):
        self.begun = begun


@pytest.mark.parametrize(
    ("ps", "expected", "left"),
    [
        ([[0.2, 0.06], [0.3, 0.02, 0.01], [0.01, 0.9]], (0, 1), [1, 2, 2]),
        ([[0.2, 0.01], [0.04, 0.03], [0.01, 0.01]], None, [1, 1, 1]),
        ([[0.4], [0.3, 0.5], [0.01, 0.9]], (0, 1), [1, 2, 2]),
    ],
    ids=["the first falls below others", "all below the level", "one has ended"],
)
def test_only_the_tests_with_the_largest_p_go_on(ps, expected, left):
    tests = [Draws(*one) for one in ps]
    in_order = iter(tests)
    sides = Sides(lambda *_: next(in_order))
    pair = None if expected is None else tuple(frozenset([side]) for side in expected)
    assert sides.most_continuous([frozenset([side]) for side in range(3)]) == pair
    assert [len(test.ps) for test in tests] == left


@pytest.mark.parametrize(
    ("p_of_gap", "straight", "smoothed", "is_discrete", "distance", "expected"),
    [
        (0.01, 0.5, 0.5, True, 9.0, 0.01),
        (0.1, 0.001, 0.002, True, 9.0, 0.006),
        (0.1, 0.04, 0.002, True, 9.0, 0.04),  # a straight population explains them
        (0.1, 0.001, 0.001, True, 4.0, 0.1),  # they may be neighbouring slices
        (0.1, 0.001, 0.001, False, 9.0, 0.1),
    ],
)
def test_draws_of_any_shape_count_between_far_groups_in_scales(
    p_of_gap, straight, smoothed, is_discrete, distance, expected, monkeypatch
):
    monkeypatch.setattr(tested_tree.nodes, "distance_in", lambda *_: distance)
    tests = Sides(lambda *_: SimpleNamespace(ended=lambda: SimpleNamespace(p=straight)))
    tests.known, tests.discrete, tests.plan = {}, np.array([is_discrete]), DrawPlan(20, 0.05, None, Event(), None)
    tests.p_of_gap, tests.are_clear = lambda *_: p_of_gap, lambda *_: True
    tests.problem, tests.node, tests.distance = None, lambda *_: None, lambda *_: 1.0
    tests._begun = lambda *_: SimpleNamespace(ended=lambda: SimpleNamespace(p=smoothed))
    pair = frozenset([0]), frozenset([1])
    assert PairTests.p_of_any_shape(tests, *pair) == pytest.approx(expected)
    tests.known, tests.are_clear = {}, lambda *_: False
    assert PairTests.p_of_any_shape(tests, *pair) == 1.0


@pytest.mark.parametrize("n_sides", [3, 5, 8])
def test_slices_are_joined_with_their_neighbours_until_the_distinct_group_is_left(n_sides):
    joins = np.array([[0 if step == 0 else n_sides + step - 1, step + 1] for step in range(n_sides - 1)])
    tree = SubtypeTree(np.repeat(np.arange(n_sides), 20), joins, np.ones(n_sides - 1))
    distinct = frozenset([n_sides - 1])
    sides = Sides(lambda one, other: Draws(0.01 if distinct in (one, other) else 0.5))
    made, kinds = joined_groups(tree, list(range(n_sides)), sides.most_continuous)
    assert set(kinds) == {distinct, frozenset(range(n_sides - 1))}
    assert all(not first & second for first, second in made)
    assert made[-1][0] | made[-1][1] == frozenset(range(n_sides - 1))
    assert len(made) == n_sides - 2
