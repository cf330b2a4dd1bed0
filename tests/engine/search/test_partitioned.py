"""Subjects in shards against the same subjects in memory, and the search among them."""

from dataclasses import replace
from tempfile import TemporaryFile
from threading import Event

import numpy as np
import pytest
from cohorts import LIKELIHOODS, mixed_cohort
from problems import problem_of

from clinclust.engine.joint_estimates.outlying import (
    NOTHING,
    best_outlying,
    none_outlying,
    search_partitions,
    with_best_outlying,
    without_outlying,
)
from clinclust.engine.kernels.moves import clusters_without_subjects
from clinclust.engine.kernels.sweep import Visit, sweep
from clinclust.engine.problem.encoding import log_bases
from clinclust.engine.problem.problem import joint_of, log_joint
from clinclust.engine.search import partitioned as scanning
from clinclust.engine.search.partitioned import Partitioned, Shard, Store, WholeCohort, count
from clinclust.engine.search.plan import SearchPlan, Threads
from clinclust.engine.search.settle import added, adjusted_rand_index, compact, merge_all, minimum_gain, settle


class Eagerly:
    """Runs every function at once."""

    def submit(self, function, *arguments):
        return function(*arguments)

    def results(self, handles):
        return list(handles)


def a_problem(seed, n, **options):
    frame, schema, _, groups = mixed_cohort(seed, n, **options)
    problem = problem_of(frame, schema)
    return problem, groups[problem.cohort.order]


def in_shards(problem, labels, n_shards, store=None):
    """Return the subjects of a problem in shards with these labels, in a file if there is a store."""
    arrays, n = problem.cohort.arrays, problem.cohort.n_subjects
    empty = np.full((1, arrays.values.shape[1]), np.nan)
    tables = arrays._replace(codes=np.zeros((1, arrays.codes.shape[1]), dtype=np.int32), values=empty)
    shards, of_shards = [], []
    for rows in np.array_split(np.arange(n), n_shards):
        parts = arrays.codes[rows].astype(np.uint16), arrays.values[rows]
        if store is not None:
            parts = store.add(parts)
        shards.append(Shard(tables, *parts, n_subjects=rows.size))
        of_shards.append(labels[rows].astype(np.int32))
    base = float((problem.model.powers * log_bases(problem.cohort, problem.model.prior)).sum())
    cohort = WholeCohort(problem.cohort.encoding, tables, base, np.arange(1), n, problem.cohort.n_observed)
    sums = added([count(*own, NOTHING, int(labels.max()) + 1) for own in zip(shards, of_shards, strict=True)])
    whole = replace(problem, cohort=cohort)
    aside = (NOTHING,) * n_shards
    return Partitioned(
        whole, clusters_without_subjects(tables, *sums), Eagerly(), tuple(shards), tuple(of_shards), aside
    )


@pytest.fixture
def pool():
    with Threads(1) as threads:
        yield threads


@pytest.fixture
def store():
    with TemporaryFile() as file:
        yield Store(file)


@pytest.mark.parametrize("n_shards", [1, 5])
def test_a_scan_of_shards_is_one_in_memory_and_so_are_the_moves(n_shards, pool, store):
    problem, _ = a_problem(3, 300, likelihoods=LIKELIHOODS * 2, missing=0.2)
    labels = compact(np.random.default_rng(3).integers(7, size=300))
    shards = in_shards(problem, labels, n_shards, store if n_shards > 1 else None)
    memory = scanning.in_memory(problem, pool, may_lack_any=False).with_labels([labels.astype(np.int32)], 7)
    least = minimum_gain(problem)
    assert log_joint(shards.problem, shards.clusters) == pytest.approx(joint_of(problem, labels), abs=1e-6)
    ours, theirs = shards.scan(least), memory.scan(least)
    best = memory.place.results(theirs.best)[0].best
    assert ours.n_candidates == theirs.n_candidates
    np.testing.assert_array_equal(np.concatenate([own.best for own in ours.best]), best)
    np.testing.assert_allclose(ours.statistics, theirs.statistics, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(shards.all_moved(ours).gathered()[0], best)
    swept = problem.partition(labels, 100)
    order = np.flatnonzero(best != labels)
    sweep(problem.cohort.arrays, problem.model, swept, order, Visit(minimum_gain=least))
    for cohort, found in ((shards, ours), (memory, theirs)):
        moved, _ = cohort.candidates_moved(found, least).gathered()
        np.testing.assert_array_equal(compact(moved), compact(swept.labels))


def test_scans_of_shards_settle_at_a_fixed_point_whose_joint_is_that_of_the_labels(pool):
    problem, _ = a_problem(2, 400, likelihoods=LIKELIHOODS * 2)
    # Every subject in a cluster of its own empties clusters, and renames them, at every move.
    for start in (np.random.default_rng(2).integers(6, size=400), np.arange(400) // 3):
        found = scanning.settled_by_scans(in_shards(problem, compact(start), 3), SearchPlan(max_sweeps=100))
        assert found.converged
        assert (np.diff(found.trace) > 0.0).all()
        labels = found.partitions.gathered()[0]
        assert found.trace[-1] == pytest.approx(joint_of(problem, labels), abs=1e-6)
        again = settle(problem, labels, np.arange(400), 100, Event())
        np.testing.assert_array_equal(again.partition.labels, labels)


def test_merges_and_divisions_of_shards_raise_the_joint_by_what_they_say(pool):
    problem, groups = a_problem(5, 600, likelihoods=LIKELIHOODS * 2, n_groups=4)
    split = compact(groups * 2 + (np.arange(600) % 2))
    merged = in_shards(problem, split, 4).merged()
    labels, _ = merged.gathered()
    np.testing.assert_array_equal(compact(labels), merge_all(problem, split))
    assert log_joint(merged.problem, merged.clusters) == pytest.approx(joint_of(problem, labels), abs=1e-6)
    two = in_shards(problem, compact(groups // 2), 4)
    divided = two.divided(np.random.default_rng(0), Event(), pool)
    labels = divided.gathered()[0]
    assert log_joint(divided.problem, divided.clusters) == pytest.approx(joint_of(problem, labels), abs=1e-6)
    assert joint_of(problem, labels) > joint_of(problem, compact(groups // 2)) + 10.0


def test_the_outlying_values_of_shards_are_those_in_memory(monkeypatch):
    monkeypatch.setattr(scanning, "CHUNK", 64)
    problem, groups = a_problem(7, 500, likelihoods=("gaussian", "poisson", "exponential", "bernoulli"), missing=0.1)
    labels, share = compact(groups), 0.02
    problem.cohort.arrays.values[:5] = 9.0
    mask, _ = best_outlying(problem, labels, none_outlying(problem), share)
    shards = in_shards(problem, labels, 4)
    n_observed = float((problem.model.powers * problem.cohort.n_observed).sum())
    base = shards.problem.cohort.log_base + n_observed * np.log1p(-share)
    cohort = replace(shards.problem.cohort, log_base=base)
    found = with_best_outlying(replace(shards, problem=replace(shards.problem, cohort=cohort)), share)
    np.testing.assert_array_equal(found.gathered()[1], mask)
    assert mask.any()
    problem = replace(problem, cohort=replace(problem.cohort, log_base=shards.problem.cohort.log_base))
    expected = without_outlying(problem, mask, share)
    assert log_joint(found.problem, found.clusters) == pytest.approx(
        log_joint(expected, expected.partition(labels)), abs=1e-6
    )


@pytest.mark.parametrize("share", [0.0, 0.02])
def test_the_search_finds_the_groups_from_clusters_of_a_sample_whatever_the_shards(share, pool, monkeypatch):
    monkeypatch.setattr(scanning, "CHUNK", 64)
    problem, groups = a_problem(11, 600, likelihoods=("gaussian",) * 6 + ("bernoulli",) * 6, n_groups=3)
    some = np.arange(0, 600, 4)
    sampled = problem.restricted_to(some).partition(compact(groups[some] // 2)).sums
    found = []
    for n_shards in (1, 5):
        together = in_shards(problem, problem.cohort.together, n_shards)
        plan = SearchPlan(outlying_share=share)
        result = search_partitions(together, sampled, plan, np.random.default_rng(0), pool)
        labels, mask = result.partitions.gathered()
        kept = without_outlying(problem, mask, share)
        rise = log_joint(result.partitions.problem, result.partitions.clusters) - joint_of(kept, labels)
        assert rise == pytest.approx(together.problem.cohort.log_base - problem.cohort.log_base, abs=1e-6)
        found.append(labels)
    assert adjusted_rand_index(found[0], groups) > 0.9
    np.testing.assert_array_equal(found[0], found[1])


def test_arrays_in_a_file_are_read_as_they_were_written(store):
    rng = np.random.default_rng()
    arrays = [rng.integers(0, 9, (3, 5)).astype(np.uint8), rng.random((4, 2)).T, np.empty((0, 3)), rng.random(1)]
    arrays += [rng.random(n) for n in (1, 700, 5)]  # across a page
    first, second = store.add(arrays), store.add(arrays)
    third = store.add([arrays[0] + 1, arrays[1]], replaced=first)
    fourth = store.add([np.ones(2000)], replaced=third)
    assert third[0].offset == first[0].offset
    assert fourth[0].offset >= second[-1].end
    again = [*zip(arrays, second, strict=True), (arrays[0] + 1, third[0]), (arrays[1], third[1])]
    for array, found in [*again, (np.ones(2000), fourth[0])]:
        np.testing.assert_array_equal(found.mapped(), array)
        assert found.mapped().dtype == array.dtype
        assert found.mapped().flags.aligned
        assert not (found.mapped().size and found.mapped().flags.writeable)
