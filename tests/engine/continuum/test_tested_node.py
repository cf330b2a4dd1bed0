"""The statistic of a node against a plain computation, its level, and what it does not depend on."""

from dataclasses import replace
from statistics import NormalDist, mean, stdev
from threading import Event

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema
from hypothesis import given
from hypothesis import strategies as st
from problems import problem_of
from scored import few

from clinclust.engine.continuum import tested_node
from clinclust.engine.continuum.tested_node import DrawPlan, Node, NodeTest, RunningTest, farthest
from clinclust.engine.search.plan import SearchCancelled, Threads
from clinclust.estimators.fit import DISTINCT_LEVEL


def plainly(observed, expected):
    """Return z and p as the module's docstring says them."""
    columns = list(zip(*expected, strict=True))
    statistic = max((g - mean(c)) / stdev(c) for g, c in zip(observed, columns, strict=True))
    highest = []
    for b, row in enumerate(expected):
        others = [np.delete(column, b).tolist() for column in columns]
        highest.append(max((s - mean(c)) / stdev(c) for s, c in zip(row, others, strict=True)))
    z = (statistic - mean(highest)) / stdev(highest)
    beyond = sum(value >= statistic for value in highest) / len(highest)
    return z, max(1.0 - NormalDist().cdf(z), beyond)


@given(seed=st.integers(0, 10**6), k=st.integers(2, 7), shift=st.floats(-3.0, 8.0), moved=st.floats(-3.0, 8.0))
def test_z_and_p_are_those_of_the_definition(seed, k, shift, moved):
    rng = np.random.default_rng(seed)
    expected = np.cumsum(rng.exponential(20.0, size=(12, k)), axis=1)
    observed = np.cumsum(rng.exponential(20.0, size=k)) + 20.0 * shift
    shapes = rng.normal(-1.1, 0.1, size=(12, 4))
    shape = rng.normal(-1.1, 0.1, size=4) + 0.1 * moved
    for own, drawn in ((observed, expected), (shape, shapes)):
        found = farthest(own, drawn, 1e-9, 40)
        assert (found.z, found.p) == pytest.approx(plainly(own, drawn), abs=1e-8)
        at = found.n_parts - 2
        assert (found.gain, found.n_subjects) == (own[at], 40)
        assert (found.expected, found.expected_sd) == pytest.approx((drawn[:, at].mean(), drawn[:, at].std(ddof=1)))


@given(p=st.floats(0.0, 1.0), p_of_shape=st.floats(0.0, 1.0))
def test_a_node_has_the_smaller_of_the_p_of_its_gain_and_twice_that_of_its_shape(p, p_of_shape):
    found = NodeTest(3, 30.0, 10.0, 4.0, 1.5, p, 40).or_by_shape(NodeTest(2, -1.0, -2.0, 0.1, 2.5, p_of_shape, 40))
    assert found.p == min(p, 2.0 * p_of_shape, 1.0)
    assert found.z == (1.5 if p <= 2.0 * p_of_shape else 2.5)
    assert (found.n_parts, found.gain, found.expected, found.expected_sd, found.excess) == (3, 30.0, 10.0, 4.0, 20.0)


def test_draws_that_all_gain_the_same_divide_by_no_zero():
    assert farthest(np.zeros(3), np.zeros((30, 3)), 1e-9, 40).p == 1.0
    assert farthest(np.full(3, 5.0), np.zeros((30, 3)), 1e-9, 40).p == 0.0


def test_rare_gains_of_the_draws_bound_p():
    # three of thirty draws gain as much: M is far from normal, and z alone would be significant
    rare = np.zeros((30, 2))
    rare[:3] = 4.0
    found = farthest(np.full(2, 4.0), rare, 1e-9, 40)
    assert found.z > 2.0
    assert found.p == pytest.approx(0.1)


# --- whole nodes --------------------------------------------------------------------------------------------------


def continuum(seed, n=150, separation=0.0):
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % 2
    X = 0.7 * rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, 6))
    X[:, :3] += separation * groups[:, None]
    schema = gaussian_schema([f"x{column}" for column in range(6)])
    problem = problem_of(pd.DataFrame(X, columns=schema.names), schema)
    return problem, groups[problem.cohort.order]


def no_more():
    """Count nothing."""


def result(
    problem, halves, n_threads=2, n_draws=40, any_shape=False, seed=0, cancelled=None, members=None, advance=no_more
):
    members = np.arange(problem.cohort.n_subjects) if members is None else members
    with Threads(n_threads) as pool:
        plan = DrawPlan(n_draws, 0.05, pool, Event() if cancelled is None else cancelled, advance, any_shape)
        return RunningTest(problem, Node(members, halves[members], 4), plan, np.random.SeedSequence(seed)).ended()


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads():
    problem, halves = continuum(0, 90)
    for any_shape in (False, True):
        one, other = (result(problem, halves, n_threads=n_threads, any_shape=any_shape) for n_threads in (1, 3))
        assert one == other
    assert one != result(problem, halves, any_shape=True, seed=1)


def drawn_and_decided(problem, halves):
    drawn = []
    found = result(problem, halves, n_draws=100, advance=lambda: drawn.append(1))
    return len(drawn), found.p < 0.05


@pytest.mark.parametrize("separation", few([0.0, 5.0, 2.0, 1.5, 2.5, 3.0], 2))
def test_draws_end_early_without_another_decision(monkeypatch, separation, some):
    cohorts = [continuum(seed, separation=separation) for seed in some(range(3), few=1)]
    early = [drawn_and_decided(*cohort) for cohort in cohorts]
    monkeypatch.setattr(tested_node, "_CHECKPOINTS", ())
    late = [drawn_and_decided(*cohort) for cohort in cohorts]
    assert {n for n, _ in late} == {100}
    assert {n for n, _ in early} <= {5, 7, 10, 20, 30, 40, 50, 70, 100}
    assert [decided for _, decided in early] == [decided for _, decided in late]
    if separation in (0.0, 5.0):
        assert sum(n for n, _ in early) < 100 * len(cohorts)


def plan_of(level, n_draws=100):
    return DrawPlan(n_draws, level, None, Event(), no_more)


Z = st.floats(-5.0, 50.0)


@given(level=st.floats(1e-9, 0.9), n_draws=st.integers(8, 300), of_gain=Z, of_shape=Z)
def test_a_test_ends_early_only_if_all_z_are_far_below_the_level_or_one_far_above(level, n_draws, of_gain, of_shape):
    found = [NodeTest(2, 1.0, 0.0, 1.0, z, 0.5, 40) for z in (of_gain, of_shape)]
    off = []
    for z, own in ((of_gain, level), (of_shape, level / 2.0)):
        error = ((1.0 + z**2 / 2.0) * (1.0 / n_draws - 1.0 / 301)) ** 0.5
        off.append((z - NormalDist().inv_cdf(1.0 - own)) / error)
    if np.abs(np.abs(off) - 2.75).min() > 1e-3:
        expected = True if max(off) > 2.75 else False if max(off) < -2.75 else None
        assert plan_of(level, 301).decision(*found, n_draws) is expected
    rare = replace(found[0], expected_sd=0.0)  # a rare gain may yet come
    assert plan_of(level).decision(rare, found[1], n_draws) is None


@pytest.mark.parametrize("any_shape", [False, True])
def test_two_groups_are_told_from_a_continuum(any_shape):
    apart = result(*continuum(1, separation=4.0), any_shape=any_shape)
    assert apart.p < 1e-3
    assert apart.excess > 20.0
    assert result(*continuum(1), any_shape=any_shape).p > 0.05


def test_a_large_node_is_tested_in_a_sample(monkeypatch):
    problem, halves = continuum(2, separation=4.0)
    whole = result(problem, halves)
    monkeypatch.setattr(tested_node, "LARGEST_NODE", 60)
    part = result(problem, halves)
    assert 0.1 * whole.gain < part.gain < 0.7 * whole.gain
    assert part == result(problem, halves)
    assert part.p < 0.01
    monkeypatch.setattr(tested_node, "LARGEST_NODE", 150)
    assert result(problem, halves) == whole


@pytest.mark.parametrize(("separation", "n_tested"), [(6.0, 80), (0.0, 150)])
def test_a_large_node_is_tested_in_a_few_first_and_in_all_where_these_leave_doubt(monkeypatch, separation, n_tested):
    problem, halves = continuum(2, separation=separation)
    whole = result(problem, halves)
    monkeypatch.setattr(tested_node, "FIRST_SAMPLE", 80)
    monkeypatch.setattr(tested_node, "MANY", 120)
    found = result(problem, halves)
    assert (whole.n_subjects, found.n_subjects) == (150, n_tested)
    assert (found.p < 0.05) == (whole.p < 0.05)
    assert (found == whole) == (n_tested == 150)
    assert result(problem, halves, n_draws=20).n_subjects == 150  # so few draws would settle every doubt


def test_a_cancelled_test_ends():
    cancelled = Event()
    cancelled.set()
    with pytest.raises(SearchCancelled):
        result(*continuum(0), cancelled=cancelled)


def test_the_shape_tells_two_classes_that_gain_no_more_than_a_continuum(monkeypatch):
    rng = np.random.default_rng(3)
    classes = np.arange(300) % 2
    frame = pd.DataFrame(rng.normal(size=(300, 8)) + 0.9 * classes[:, None], columns=list("abcdefgh"))
    problem = problem_of(frame)
    halves = classes[problem.cohort.order]
    assert result(problem, halves, n_draws=100).p < 0.01
    monkeypatch.setattr(tested_node, "_SHAPE_COUNTS", 1e9)
    assert result(problem, halves, n_draws=100).p > 0.05


@pytest.mark.parametrize("seed", few([0, 1, 3], 1))
def test_a_curved_severity_is_told_from_a_straight_one_only(seed):
    rng = np.random.default_rng(seed)
    t = rng.normal(size=(300, 1))
    curvature = 0.5 * np.array([1, 1, 1, -1, -1, -1])
    frame = pd.DataFrame(t + curvature * (t**2 - 1.0) + 0.5 * rng.normal(size=(300, 6)), columns=list("abcdef"))
    problem = problem_of(frame)
    halves = (t[:, 0] > 0).astype(np.int64)[problem.cohort.order]
    assert result(problem, halves).p < 0.01
    assert result(problem, halves, any_shape=True).p > DISTINCT_LEVEL
