"""The search in memory: sweeps to a fixed point, merges and divisions, restarts on threads, and their refinement."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from operator import itemgetter
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.kernels.moves import Partition, Sums, log_marginals, number_by_appearance, relabel
from clinclust.engine.kernels.sweep import find_best, full_sweep
from clinclust.engine.problem.encoding import principal_axis
from clinclust.engine.problem.problem import Problem, log_joint
from clinclust.engine.search.plan import Either, RestartResult, SearchPlan, Threads, n_threads

# Renumbering of clusters, which makes equal partitions comparable, and their agreement.


def compact(labels: NDArray[np.generic]) -> Labels:
    """Renumber clusters from 0 on in order of first appearance, so that equal partitions have equal labels."""
    numbered: Labels = labels.astype(np.int64)
    number_by_appearance(numbered, np.full(int(numbered.max()) + 1, -1))
    return numbered


def by_decreasing_size(labels: Labels) -> Labels:
    """Renumber clusters 0 .. K - 1 by decreasing size; clusters of equal size in order of their first member."""
    return groups_by_decreasing_size(labels, np.ones_like(labels))


def groups_by_decreasing_size(groups: Labels, sizes: Whole) -> Labels:
    """Renumber groups (J,) of clusters of these sizes (J,) by the decreasing number of their subjects."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    order = np.lexsort((first, -np.bincount(inverse, weights=sizes)))
    return np.asarray(np.argsort(order)[inverse], dtype=np.int64)


def adjusted_rand_index(first: Labels, second: Labels) -> float:
    """Return the adjusted Rand index (Hubert and Arabie 1985): 1 = equal partitions, 0 = agreement by chance."""
    shape = (int(first.max()) + 1, int(second.max()) + 1)
    size = np.unique(np.ravel_multi_index((first, second), shape), return_counts=True)[1]

    def pairs(counts: Whole) -> float:
        return float((counts * (counts - 1.0)).sum() / 2.0)

    together, all_pairs = pairs(size), pairs(np.array([first.size]))
    in_first, in_second = pairs(np.bincount(first)), pairs(np.bincount(second))
    expected = in_first * in_second / all_pairs if all_pairs else 0.0
    highest = (in_first + in_second) / 2.0
    return 1.0 if highest == expected else (together - expected) / (highest - expected)


# Iterated conditional modes: sweep until no subject moves in a full sweep.

SHORT = 20  # sweeps of the search for a division, and of clusters that were divided anew or dissolved
N_DIVIDED = 8_000  # largest number of members of a cluster of a large cohort among whom a division is searched for


def added(sums: Sequence[Sums]) -> Sums:
    """Return sums over parts of the subjects, added in their order."""
    sizes, statistics = (np.add.reduce(parts) for parts in zip(*sums, strict=True))
    return sizes, statistics


class SweepResult(NamedTuple):
    """Result of sweeps or scans from one start."""

    partition: Partition
    trace: list[float]  # log joint after each sweep, or only the last; of scans, before and after each round
    converged: bool
    partitions: Any = None  # the partitions that were scanned (`Partitioned`), of which these are the clusters


def settle(
    problem: Problem,
    start: Labels | Partition,
    order: Labels,
    max_sweeps: int,
    cancelled: Event,
    *,
    ignore_size: bool = False,
    traced: bool = True,
) -> SweepResult:
    """Sweep from labels 0 .. K - 1 until no subject moves in a full sweep; the subjects are visited in `order` (N,).

    A partition is modified in place. It stops early at the end of a sweep when `cancelled`. With `ignore_size`, the
    first sweep scores cluster 0 as if it held one subject, and may lower the log joint. If not `traced`, the log joint
    is computed only after the last sweep.
    """
    least, partition = minimum_gain(problem), start if isinstance(start, Partition) else problem.partition(start)
    trace, n_sweeps, converged = list[float](), 0, False
    while not converged and n_sweeps < max_sweeps and not cancelled.is_set():
        choices = {"minimum_gain": least, "ignore_size": ignore_size}
        partition, moves = full_sweep(problem.cohort.arrays, problem.model, partition, order, **choices)
        n_sweeps += 1
        converged = moves == 0 and not ignore_size
        ignore_size = False
        if traced or converged or n_sweeps == max_sweeps:
            trace.append(log_joint(problem, partition))
    return SweepResult(partition, trace, converged)


def hasten(problem: Problem, partition: Partition, n_rounds: int = 12) -> Partition:
    """Move all subjects at once to their best clusters, in rounds that take a tenth of a sweep; the joint may fall."""
    arrays = problem.cohort.arrays
    for _ in range(n_rounds):
        best = find_best(arrays, problem.model, partition, 0.0, int(partition.n_clusters[0]), up_to_date=False)
        moved = bool((best != partition.labels).any())
        relabel(arrays, partition, compact(best))
        if not moved:
            break
    return partition


def minimum_gain(problem: Problem) -> float:
    """Return the smallest rise of the log joint, in nats, that counts as one and not as a rounding error.

    It grows with the number of terms, N D, and with their size: log base measures of large counts cancel log marginals.
    """
    arrays = problem.cohort.arrays
    largest = float(np.abs(arrays.level_log_base).max())
    return 1e-9 + (1e-13 + 1e-15 * largest) * problem.cohort.n_subjects * len(problem.cohort.encoding.features)


# Merges and divisions of whole clusters, which escape local maxima of moves of single subjects, and the merge tree.
#
# Sufficient statistics add up: the change of the log joint by a merge is exact and needs no new fit.

_pairs_of = lru_cache(maxsize=64)(np.triu_indices)  # by the number of clusters, and 1
_NUMBERS_AT_ONCE = 2_000_000  # number of statistics of merged clusters that are kept in memory


def merge_gains(problem: Problem, partition: Partition) -> Array:
    """Return the change of the log joint by the merge of each pair of clusters, in nats, float64 (K, K).

    It is -inf on and below the diagonal. The change is

        ln Gamma(n_k + n_l) - ln Gamma(n_k) - ln Gamma(n_l) - ln N0
            + coarsening * sum_d power_d [ln m_d(k with l) - ln m_d(k) - ln m_d(l)].
    """
    sizes, statistics = partition.sums
    n_clusters = sizes.size
    gains = np.full((n_clusters, n_clusters), -np.inf)
    apart, pairs = _terms(problem, statistics, sizes), _pairs_of(n_clusters, 1)
    at_once = max(1, _NUMBERS_AT_ONCE // max(1, statistics.shape[1]))
    for start in range(0, pairs[0].size, at_once):
        first, second = pairs[0][start : start + at_once], pairs[1][start : start + at_once]
        together = _terms(problem, statistics[first] + statistics[second], sizes[first] + sizes[second])
        gains[first, second] = together - apart[first] - apart[second] - np.log(problem.model.concentration)
    return gains


def merge_all(problem: Problem, labels: Labels) -> Labels:
    """Merge the pair of clusters whose merge raises the log joint most, while it rises; return labels."""
    return compact(merged_into(problem, problem.partition(labels))[labels])


def merged_into(problem: Problem, partition: Partition) -> Labels:
    """Return the cluster that each cluster becomes a part of by `merge_all`, int64 (K,); their sums are added up."""
    into, least = np.arange(int(partition.n_clusters[0])), minimum_gain(problem)
    for target, lost, _, gain in _merges(problem, partition):
        if gain <= least:
            break
        into[into == lost] = target
    return into


def _merges(
    problem: Problem, partition: Partition, first: Sequence[tuple[int, int]] = ()
) -> Iterator[tuple[int, int, list[int], float]]:
    """Yield two clusters, their nodes (`merge_tree`) and the gain by their merge; then add the second to the first."""
    n_clusters, log_new = int(partition.n_clusters[0]), np.log(problem.model.concentration)
    gains = merge_gains(problem, partition) + log_new
    statistics, sizes, nodes = partition.statistics, partition.sizes, np.arange(n_clusters)
    for step in range(n_clusters - 1):
        if step < len(first):
            target, lost = sorted(int(np.flatnonzero(nodes == node)[0]) for node in first[step])
        else:
            target, lost = (int(place) for place in np.unravel_index(gains.argmax(), gains.shape))
        yield target, lost, sorted(nodes[[target, lost]].tolist()), float(gains[target, lost] - log_new)
        statistics[target] += statistics[lost]
        sizes[target] += sizes[lost]
        gains[lost], gains[:, lost] = -np.inf, -np.inf
        nodes[target], nodes[lost] = n_clusters + step, -1
        others = np.flatnonzero(nodes >= 0)
        others = others[others != target]
        apart = _terms(problem, statistics[others], sizes[others])
        alone = _terms(problem, statistics[[target]], sizes[[target]])
        together = _terms(problem, statistics[others] + statistics[target], sizes[others] + sizes[target])
        gains[np.minimum(others, target), np.maximum(others, target)] = together - apart - alone


def _terms(problem: Problem, statistics: Array, sizes: Array) -> Array:
    """Return the terms of the log joint of clusters with these statistics (K, S) and sizes (K,), float64 (K,)."""
    model = problem.model
    marginals = log_marginals(problem.cohort.arrays, model.prior, statistics)
    marginals *= model.powers
    likelihoods = model.coarsening * marginals.sum(axis=1)
    return np.asarray(likelihoods + gammaln(sizes))


def resettle(part: Problem, rng: np.random.Generator, cancelled: Event) -> tuple[float, Labels]:
    """Divide a cluster as if its members (M,) were the cohort; return the gain in nats, -inf for none, and labels."""
    none = -np.inf, part.cohort.together
    best, division = max(divisions(part, rng, cancelled), key=itemgetter(0), default=none)
    return best - part.joint_of_one, division


def divisions(part: Problem, rng: np.random.Generator, cancelled: Event) -> Iterator[tuple[float, Labels]]:
    """Yield the log joint and the labels, int64 (M,), of each partition in which sweeps from two parts end."""
    tried: set[bytes] = set()
    partition = part.partition(part.cohort.together)
    along = principal_axis(part.cohort.arrays, rng)
    # Cuts along the first principal axis, then at random. A small subtype lies at one end of the axis: a cut through
    # the middle does not separate it.
    for cut in (0.0, *np.quantile(along, (0.1, 0.9)), None, None):
        if cancelled.is_set():
            return
        halves = rng.random(along.size) < 0.5 if cut is None else along > cut
        order = rng.permutation(halves.size)
        relabel(part.cohort.arrays, partition, compact(halves))
        start = hasten(part, partition).labels.tobytes()
        if partition.n_clusters[0] == 1 or start in tried:  # different cuts often lead to the same division
            continue
        tried.add(start)
        settled = settle(part, partition, order, SHORT, cancelled, traced=False)
        if settled.trace:
            yield settled.trace[-1], settled.partition.labels.copy()


def merge_tree(problem: Problem, labels: Labels, first: Sequence[tuple[int, int]] = ()) -> tuple[Labels, Array]:
    """Merge the clusters 0 .. K - 1 of a partition until one is left, each time at the least loss of the log joint.

    The `first` pairs of nodes are merged first, whatever the cost. Return the two nodes merged at each step, the
    smaller number first, int64 (K - 1, 2), and the decrease of the log joint, in nats, float64 (K - 1,). Nodes 0 .. K -
    1 are the clusters; node K + s is the result of step s.
    """
    steps = [(nodes, -change) for _, _, nodes, change in _merges(problem, problem.partition(labels), first)]
    joins = np.array([nodes for nodes, _ in steps], dtype=np.int64).reshape(-1, 2)
    return joins, np.array([evidence for _, evidence in steps])


# Starts of the search: the partitions from which restarts begin.

_BISECTED = 4  # place of the start that is no random partition
# Numbers of clusters of the random starting partitions, taken in turn. A start with too many clusters loses the
# superfluous ones within one or two sweeps. A start with too few clusters rarely gains any, because a subject alone in
# a new cluster is scored with the vague prior. Most numbers are therefore larger than the usual number of subtypes.
_RANDOM_SIZES = (8, 4, 12, 2, 20, 6, 16, 3, 10)
_BISECTIONS = 3


class Start(NamedTuple):
    """The partition from which a restart begins, and how the restart proceeds from it.

    It begins "given" = from the labels; "single" = so, and the first sweep scores cluster 0 as if it held one subject
    (Raykov et al. 2016, appendix B); "random" = with a few rounds in which all subjects move at once (`hasten`);
    "bisected" = so, from parts along principal axes (`bisected`).
    """

    name: str
    labels: Labels  # (N,) clusters 0 .. K - 1
    seed: np.random.SeedSequence  # of all further random numbers in this restart
    order: Labels  # (N,) the subjects in the order of their visit
    begin: str = "given"
    included: Mask | None = None  # (D,) features to begin with when features are selected; None = all


def starts_from(labels: Labels, seeds: list[np.random.SeedSequence], begin: str = "given") -> list[Start]:
    """Return starts from one partition, one per seed, in random orders of visit."""
    return [Start(begin, labels, seed, np.random.default_rng(seed).permutation(labels.size), begin) for seed in seeds]


def search_starts(n_subjects: int, seeds: list[np.random.SeedSequence]) -> list[Start]:
    """Return starts, one per seed: random partitions with different numbers of clusters, and one cut along axes."""
    starts: list[Start] = []
    together = np.zeros(n_subjects, dtype=np.int64)
    for index, seed in enumerate(seeds):
        if index == _BISECTED:
            starts += starts_from(together, [seed], "bisected")
            continue
        rng = np.random.default_rng(seed)
        n_clusters = min(_RANDOM_SIZES[index % len(_RANDOM_SIZES)], n_subjects)
        labels = compact(rng.integers(n_clusters, size=n_subjects))
        starts.append(Start(f"random {n_clusters}", labels, seed, rng.permutation(n_subjects), "random"))
    return starts


def bisected(problem: Problem, rng: np.random.Generator) -> Labels:
    """Return labels of eight parts, int64 (N,): in three rounds, each is cut at the median of its principal axis."""
    labels = np.zeros(problem.cohort.n_subjects, dtype=np.int64)
    for _ in range(_BISECTIONS):
        halves = np.zeros_like(labels)
        for part in range(int(labels.max()) + 1):
            members = np.flatnonzero(labels == part)
            along = principal_axis(problem.restricted_to(members).cohort.arrays, rng)
            halves[members] = along > np.median(along)
        labels = compact(2 * labels + halves)
    return labels


# The search from one start: sweeps, then merges and divisions of clusters, until none raises the log joint.


def search_from(problem: Problem, start: Start, plan: SearchPlan) -> RestartResult:
    """Search from one start until no move of a subject or of a whole cluster raises the log joint.

    For a "single" start (that of the paper), only sweeps are made. Searches share attempts to divide clusters, because
    most end at the same partition; an outcome does not depend on the search that makes the attempt.
    """
    enough = Either(plan.cancelled, plan.budget)
    settled = partial(settle, problem, order=start.order, max_sweeps=plan.max_sweeps, cancelled=plan.cancelled)
    labels = bisected(problem, np.random.default_rng(start.seed)) if start.begin == "bisected" else start.labels
    begin = hasten(problem, problem.partition(labels)) if start.begin in ("random", "bisected") else labels
    result = settled(begin, ignore_size=start.begin == "single")

    def changed(result: SweepResult, merges: bool) -> Labels | None:
        labels = result.partition.labels
        if merges:
            return merge_all(problem, labels)
        return _divide_cluster(problem, labels, start.seed, plan, enough) if plan.divide else None

    if start.begin != "single":
        result = merge_and_divide(problem, result, settled, changed, enough)
    trace = result.trace or [log_joint(problem, result.partition)]  # empty if cancelled before the first sweep
    return RestartResult.of(start.name, result.partition.labels, trace, converged=result.converged)


def merge_and_divide(
    problem: Problem,
    result: SweepResult,
    settled: Callable[[Any], SweepResult],
    changed: Callable[[SweepResult, bool], Any | None],
    enough: Event,
) -> SweepResult:
    """Merge and divide clusters of sweeps that converged, and settle after each, while this raises the log joint.

    `changed` makes the merges that raise the joint, or else a division; without one, it returns None. `settled`
    continues from what it returns.
    """
    trace = list(result.trace)
    least = minimum_gain(problem)
    while result.converged and not enough.is_set():
        onward = changed(result, bool(merge_gains(problem, result.partition).max() > least))
        if onward is None:
            break
        after = settled(onward)
        # What was gained must show in the joint: rounding errors of large terms could otherwise be gained for ever.
        if after.trace and after.trace[-1] <= trace[-1] + 0.5 * least:
            break
        result = after
        trace += result.trace
    return result._replace(trace=trace)


def _divide_cluster(
    problem: Problem, labels: Labels, seed: np.random.SeedSequence, plan: SearchPlan, cancelled: Event
) -> Labels | None:
    """Return labels with the first cluster divided whose division raises the log joint; None without one."""
    for cluster in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == cluster)
        if members.size == 1:
            continue
        about = members.tobytes() + np.float64(problem.model.concentration).tobytes()
        key = hashlib.blake2b(about, digest_size=16).digest()
        attempt = seed.entropy, problem.fingerprint, key
        division = plan.memory.get(attempt)
        if division is None:
            # All restarts share the entropy of one seed: this generator depends on the cluster and not on the restart.
            rng = np.random.default_rng([np.random.SeedSequence(seed.entropy).generate_state(1)[0], *key])
            gain, division = resettle(problem.restricted_to(members), rng, cancelled)
            if cancelled.is_set():
                return None
            plan.memory[attempt] = division = division if gain > minimum_gain(problem) else division[:0]
        if division.size:
            divided = labels.copy()
            divided[members] = division + labels.max() + 1
            return compact(divided)
    return None


# Refinement: recombine and perturb the best partitions as long as this leads to better ones.

Maker = Callable[[Problem, np.random.Generator], Labels | None]
"""It returns the labels of a start, or None if a search from them would find nothing new."""
Begin = Callable[..., RestartResult]  # `search_from` with a fixed problem; it takes the start and the plan

_MOST_CLUSTERS = 4
_MOST_ROUNDS = 8
_PATIENCE_IF_FOUND_OFTEN, _PATIENCE = 4, 12
_ELITE = 6  # number of best partitions whose pairs are recombined
_PERTURBED = 3  # number of best partitions that are perturbed. Half of each batch perturbs the best one.
_BATCH = 8
_WORTHWHILE = 1e-4  # gain, as a share of what clusters explain, that prolongs a refinement where restarts differ


def refine(
    pool: Threads, problem: Problem, begin: Begin, found: list[RestartResult], plan: SearchPlan
) -> list[RestartResult]:
    """Recombine and perturb the best of the restarts until nothing better is found; return the results of this."""
    found_often = _times_found(found) >= plan.often_enough
    patience = plan.patience or (_PATIENCE_IF_FOUND_OFTEN if found_often else _PATIENCE)
    # When the time is used up, the searches of the refinement end at once: the partitions found before suffice.
    enough = Either(plan.cancelled, plan.budget)
    everything, tried, numbers = list(found), set[tuple[float, float]](), itertools.count()

    def has_risen(before: float) -> bool:
        """Return whether the best log joint has risen by as much as prolongs the refinement."""
        best, least = highest(), minimum_gain(problem)
        return best > before + (least if found_often else max(least, _WORTHWHILE * (best - problem.joint_of_one)))

    def highest() -> float:
        return max(restart.log_joint for restart in everything)

    def search(make: Maker, start: str, origin: RestartResult, seed: np.random.SeedSequence) -> RestartResult | None:
        rng, included = np.random.default_rng(seed), origin.searched_features
        labels = make(problem if included is None else problem.with_features(included), rng)
        if labels is None:
            return None
        onward = Start(start, labels, seed, rng.permutation(labels.size), included=included)
        return begin(start=onward, plan=replace(plan, cancelled=enough))

    def run(start: str, origins: Sequence[RestartResult], makers: Sequence[Maker]) -> None:
        # The spawn key of each seed is one level longer than those of the restarts.
        futures = [
            pool.submit(search, make, start, origin, np.random.SeedSequence(plan.seed, spawn_key=(0, next(numbers))))
            for make, origin in zip(makers, origins, strict=True)
        ]
        results = [result for future in futures if (result := future.result()) is not None]
        plan.refuse_cancelled()
        # A search that the time ended between two sweeps is not at a fixed point.
        everything.extend(result for result in results if result.converged or not plan.budget.cut_short)

    failures = 0
    with plan.progress.stage("refinement, in batches") as advance:
        while failures < patience and not enough.is_set():
            before_both = highest()
            while not enough.is_set():
                best = best_distinct(everything, _ELITE)
                every = {(pair[0].log_joint, pair[1].log_joint): pair for pair in itertools.combinations(best, 2)}
                pairs = [pair for joints, pair in every.items() if joints not in tried]
                if not pairs:
                    break
                tried.update(every)
                before = highest()
                makers = [partial(recombined, first=first.labels, second=second.labels) for first, second in pairs]
                run("recombined", [first for first, _ in pairs], makers)
                if not found_often and not has_risen(before):
                    break
            failures = 0 if has_risen(before_both) else failures
            leading, before = best_distinct(everything, _PERTURBED), highest()
            origins = [leading[turn // 2 % len(leading)] if turn % 2 else leading[0] for turn in range(_BATCH)]
            run("perturbed", origins, [partial(perturbed, labels=it.labels, cancelled=enough) for it in origins])
            failures = 0 if has_risen(before) else failures + 1
            advance()
    return everything[len(found) :]


def recombined(problem: Problem, _rng: np.random.Generator, first: Labels, second: Labels) -> Labels:
    """Return labels of the common refinement of two partitions, with clusters merged while the log joint rises."""
    return merge_all(problem, compact(first * (int(second.max()) + 1) + second))


def perturbed(problem: Problem, rng: np.random.Generator, labels: Labels, cancelled: Event) -> Labels | None:
    """Return labels with one to four similar clusters divided at random and swept; None, as mostly, if unchanged."""
    gains = merge_gains(problem, problem.partition(labels))
    n_clusters, either = len(gains), np.maximum(gains, gains.T)
    # A cluster, and up to three others that would merge with one of those drawn before at a low loss.
    group = [int(rng.integers(n_clusters))]
    for _ in range(int(rng.integers(min(_MOST_CLUSTERS, n_clusters)))):
        others = np.flatnonzero(~np.bincount(group, minlength=n_clusters).astype(np.bool_))
        nearest = others[np.argsort(-either[group][:, others].max(axis=0), kind="stable")]
        group.append(int(nearest[min(int(rng.geometric(0.6)) - 1, nearest.size - 1)]))
    members = np.flatnonzero(np.bincount(group, minlength=n_clusters)[labels])
    part = problem.restricted_to(members)
    # The number of parts is at least 2 and at most two more than before. Fewer rounds of `hasten` give a rougher start.
    n_parts = int(rng.integers(2, len(group) + 3))
    start = part.partition(compact(rng.integers(n_parts, size=members.size)))
    start = hasten(part, start, int(rng.integers(1, _MOST_ROUNDS)))
    settled = settle(part, start, rng.permutation(members.size), SHORT, cancelled, traced=False)
    changed = labels.copy()
    changed[members] = n_clusters + settled.partition.labels
    before, changed = compact(labels), compact(changed)
    if np.array_equal(changed, before) and gains.max() <= minimum_gain(problem):  # as mostly: nothing is merged
        return None
    changed = merge_all(problem, changed)
    return None if np.array_equal(changed, before) else changed


def best_distinct(found: list[RestartResult], at_most: int) -> list[RestartResult]:
    """Return at most `at_most` partitions with distinct log joints, to six decimals, best first."""
    distinct = {round(restart.log_joint, 6): restart for restart in reversed(found)}  # the first of equal ones
    return sorted(distinct.values(), key=lambda restart: -restart.log_joint)[:at_most]


# Restarts from different starts, in batches on threads, then refinement of the best partitions.
#
# The search of a large cohort begins in a sample (`sampled_steps`). All subjects are then assigned to its clusters, and
# moved, and clusters are merged and divided; a division is searched for among some members of a cluster.

_SWEEPS_OF_A_HEAT = 8
LARGE = 3_000  # number of subjects from which on the search begins in a sample
N_SAMPLED = 5_000  # largest number of subjects in the sample, which is half of a smaller cohort
_CARRIED = 3
"""Largest number of partitions of the sample that are extended to all subjects: with one, 11 of 48 searches in 12 large
cohorts lose up to 35 nats."""
_CLOSE_TO_BEST = 30.0  # nats by which a partition of the sample may be below the best to be extended
_ALIKE = 0.95  # adjusted Rand index of partitions of the sample that are expected to lead to the same final one
_SAMPLE = 1415  # spawn key of the sample of a large cohort for block weights and the selection of features


def run_restarts(
    problem: Problem, starts: list[Start], plan: SearchPlan, *, search: Callable[..., RestartResult] = search_from
) -> list[RestartResult]:
    """Search from every start, on threads, and refine the best partitions.

    Return the restarts in the order of the starts, then the results of the refinement. `search` searches from one
    start, as `search_from` does. Raises SearchCancelled.
    """
    begin = partial(search, problem)
    with Threads(n_threads(plan.n_jobs), plan.cancelled) as pool:
        heat = plan if plan.finishers is None else replace(plan, max_sweeps=min(plan.max_sweeps, _SWEEPS_OF_A_HEAT))
        with plan.progress.stage("restarts", len(starts)) as advance:
            results = _restarts(pool, begin, starts, heat, advance)
            if plan.finishers is not None:
                best = best_distinct(results, plan.finishers)
                futures = {}
                for place, restart in enumerate(results):
                    if not restart.converged and any(restart is chosen for chosen in best):
                        onward = starts[place]._replace(labels=restart.labels, begin="given")
                        onward = onward._replace(included=restart.searched_features)
                        futures[place] = pool.submit(begin, start=onward, plan=plan)
                for place, future in futures.items():
                    results[place] = results[place].followed_by(future.result())
                plan.refuse_cancelled()
        if plan.refine and not plan.budget.used_up():
            results += refine(pool, problem, begin, results, plan)
    return results


def _restarts(
    pool: Threads, begin: Begin, starts: list[Start], plan: SearchPlan, advance: Callable[[], object]
) -> list[RestartResult]:
    """Search from the starts in order; skip the last ones if the best was found often enough, or no time is left."""
    results: list[RestartResult] = []
    left_out = Either(plan.cancelled)
    own_plan = replace(plan, cancelled=left_out)
    futures = [pool.submit(begin, start=start, plan=own_plan) for start in starts]
    try:
        while len(results) < len(starts) and not (plan.refine and _times_found(results) == plan.often_enough):
            if results and plan.budget.used_up():
                break
            results.append(futures[len(results)].result())
            plan.refuse_cancelled()
            advance()
    finally:
        left_out.set()
        for future in futures:
            future.cancel()
    return results


def _times_found(found: list[RestartResult]) -> int:
    best = max((restart.log_joint for restart in found), default=0.0)
    return sum(restart.log_joint > best - 1e-6 for restart in found)


def index_of_best(found: list[RestartResult]) -> int:
    """Return the index of the restart with the highest log joint; the first of several equal ones."""
    return max(range(len(found)), key=lambda index: found[index].log_joint)


def sample_size(n_subjects: int) -> int:
    """Return the number of subjects in the sample of a large cohort."""
    return min(N_SAMPLED, n_subjects // 2)


def sample_rows(n_subjects: int, rng: np.random.Generator) -> Labels:
    """Return the subjects of the sample of a large cohort, in ascending order."""
    return np.sort(rng.choice(n_subjects, sample_size(n_subjects), replace=False))


def draw_sample(problem: Problem, plan: SearchPlan) -> tuple[Problem, SearchPlan]:
    """Return the problem and the plan of a search in a sample of a large cohort; the same of a smaller one."""
    if problem.cohort.n_subjects < LARGE:
        return problem, plan
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(_SAMPLE,)))
    rows = sample_rows(problem.cohort.n_subjects, rng)
    if not isinstance(plan.start, str):
        plan = replace(plan, start=compact(plan.start[rows]))
    return problem.restricted_to(rows), plan


def unlike(found: list[RestartResult]) -> list[RestartResult]:
    """Return the best partitions, best first. Each differs from those before and is nearly as good as the first."""
    chosen: list[RestartResult] = []
    for restart in best_distinct(found, len(found)):
        if len(chosen) == _CARRIED or (chosen and restart.log_joint < chosen[0].log_joint - _CLOSE_TO_BEST):
            break
        if all(adjusted_rand_index(restart.labels, other.labels) < _ALIKE for other in chosen):
            chosen.append(restart)
    return chosen
