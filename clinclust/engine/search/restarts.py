"""Starts, what is made of one start, refinement of the winner, and restarts on threads."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from clinclust.arrays import Labels, Mask
from clinclust.engine.problem.encoding import principal_axis
from clinclust.engine.problem.problem import Problem, joint_of, log_joint
from clinclust.engine.search.plan import Either, RestartResult, SearchPlan, Threads, n_threads
from clinclust.engine.search.settle import (
    SHORT,
    SweepResult,
    adjusted_rand_index,
    compact,
    hasten,
    merge_all,
    merge_gains,
    minimum_gain,
    resettle,
    settle,
)

# Starts of the search: the partitions from which restarts begin.

_BISECTED = 4
"""Place of the start that is no random partition."""
# Numbers of clusters of the random starting partitions, taken in turn. A start with too many clusters loses the
# superfluous ones within one or two sweeps. A start with too few clusters rarely gains any, because a subject alone in
# a new cluster is scored with the vague prior. Most numbers are therefore larger than the usual number of subtypes.
_RANDOM_SIZES = (8, 4, 12, 2, 20, 6, 16, 3, 10)
_BISECTIONS = 3


class Start(NamedTuple):
    """The partition from which a restart begins, and how the restart proceeds from it."""

    name: str
    labels: Labels
    """(N,) clusters 0 .. K - 1."""
    seed: np.random.SeedSequence
    """Seed of all further random numbers in this restart."""
    order: Labels
    """(N,) the subjects in the order of their visit."""
    begin: str = "given"
    """How to begin: "given" = from the labels; "single" = so, and the first sweep scores cluster 0 as if it held one
    subject (Raykov et al. 2016, appendix B); "random" = with a few rounds in which all subjects move at once
    (`hasten`); "bisected" = so, from parts along principal axes (`bisected`)."""
    included: Mask | None = None
    """(D,) features to begin with when features are selected; None = all."""


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


Attempts = dict[bytes, Labels]
"""New labels of divided clusters, (0,) where no division raises the joint, by what they depend on: searches share them,
on threads that may make one twice, which gives the same."""


def search_from(problem: Problem, start: Start, plan: SearchPlan, attempts: Attempts) -> RestartResult:
    """Search from one start until no move of a subject or of a whole cluster raises the log joint.

    For a "single" start (that of the paper), only sweeps are made. Restarts share `attempts`, because most end at the
    same partition; an outcome does not depend on the restart that makes the attempt.
    """
    enough = Either(plan.cancelled, plan.budget)
    settled = partial(settle, problem, order=start.order, max_sweeps=plan.max_sweeps, cancelled=plan.cancelled)
    labels = bisected(problem, np.random.default_rng(start.seed)) if start.begin == "bisected" else start.labels
    is_hasty = start.begin in ("random", "bisected")
    begin = hasten(problem, problem.partition(labels)) if is_hasty else labels
    result = settled(begin, ignore_size=start.begin == "single")

    def divided(result: SweepResult) -> Labels | None:
        labels = result.partition.labels
        return _divide_cluster(problem, labels, start.seed, attempts, enough) if plan.divide else None

    def merged(result: SweepResult) -> Labels:
        return merge_all(problem, result.partition.labels)

    if start.begin != "single":
        result = merge_and_divide(problem, result, settled, merged, divided, enough)
    trace = result.trace or [log_joint(problem, result.partition)]  # empty if cancelled before the first sweep
    return RestartResult.of(start.name, result.partition.labels, trace, converged=result.converged)


def merge_and_divide(
    problem: Problem,
    found: SweepResult,
    settled: Callable[[Any], SweepResult],
    merged: Callable[[SweepResult], Any],
    divided: Callable[[SweepResult], Any | None],
    enough: Event,
) -> SweepResult:
    """Merge and divide clusters of sweeps that converged, and settle after each, while this raises the log joint.

    `merged` makes the merges that raise the joint; `divided` returns None if no division raises it. `settled` continues
    from what they return.
    """
    trace = list(found.trace)
    least = minimum_gain(problem)
    while found.converged and not enough.is_set():
        changed = merged(found) if merge_gains(problem, found.partition).max() > least else divided(found)
        if changed is None:
            break
        after = settled(changed)
        # What was gained must show in the joint: rounding errors of large terms could otherwise be gained for ever.
        if after.trace and after.trace[-1] <= trace[-1] + 0.5 * least:
            break
        found = after
        trace += found.trace
    return found._replace(trace=trace)


def _divide_cluster(
    problem: Problem, labels: Labels, seed: np.random.SeedSequence, attempts: Attempts, cancelled: Event
) -> Labels | None:
    """Return labels with the first cluster divided whose division raises the log joint; None without one."""
    for cluster in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == cluster)
        if members.size == 1:
            continue
        digest = hashlib.blake2b(members.tobytes(), digest_size=16)
        digest.update(np.float64(problem.model.concentration).tobytes())
        key = digest.digest()
        division = attempts.get(key)
        if division is None:
            # All restarts share the entropy of one seed: this generator depends on the cluster and not on the restart.
            rng = np.random.default_rng([np.random.SeedSequence(seed.entropy).generate_state(1)[0], *key])
            gain, division = resettle(problem.restricted_to(members), rng, cancelled)
            if cancelled.is_set():
                return None
            attempts[key] = division = division if gain > minimum_gain(problem) else division[:0]
        if division.size:
            divided = labels.copy()
            divided[members] = division + labels.max() + 1
            return compact(divided)
    return None


# Refinement: recombine and perturb the best partitions as long as this leads to better ones.

Maker = Callable[[Problem, np.random.Generator], Labels | None]
"""It returns the labels of a start, or None if a search from them would find nothing new."""
Begin = Callable[..., RestartResult]
"""`search_from` with fixed problem and attempts; it takes the start and the plan."""

_MOST_CLUSTERS = 4
_MOST_ROUNDS = 8
_PATIENCE_IF_FOUND_OFTEN, _PATIENCE = 4, 12
_ELITE = 6
"""Number of best partitions whose pairs are recombined."""
_PERTURBED = 3
"""Number of best partitions that are perturbed. Half of each batch perturbs the best one."""
_BATCH = 8
_WORTHWHILE = 1e-4
"""Gain, as a share of what the clusters explain, that prolongs a refinement where restarts ended differently."""


def refine(
    pool: Threads, problem: Problem, begin: Begin, found: list[RestartResult], plan: SearchPlan
) -> list[RestartResult]:
    """Recombine and perturb the best partitions until this finds nothing better; return the results of these searches.

    Where the restarts `found` differ, tiny gains do not prolong it.
    """
    found_often = _times_found(found) >= plan.often_enough
    patience = plan.patience or (_PATIENCE_IF_FOUND_OFTEN if found_often else _PATIENCE)
    # When the time is used up, the searches of the refinement end at once: the partitions found before suffice.
    enough = Either(plan.cancelled, plan.budget)
    everything, tried, numbers = list(found), set[tuple[float, float]](), itertools.count()
    one_cluster = joint_of(problem, problem.cohort.together)

    def has_risen(before: float) -> bool:
        """Return whether the best log joint has risen by as much as prolongs the refinement."""
        best, least = highest(), minimum_gain(problem)
        return best > before + (least if found_often else max(least, _WORTHWHILE * (best - one_cluster)))

    def highest() -> float:
        return max(restart.log_joint for restart in everything)

    def search(make: Maker, start: str, origin: RestartResult, seed: np.random.SeedSequence) -> RestartResult | None:
        """Search from the labels that are made of those of an origin, with its features."""
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
                every = {(one.log_joint, two.log_joint): (one, two) for one, two in itertools.combinations(best, 2)}
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
    distinct: dict[float, RestartResult] = {}
    for restart in found:
        distinct.setdefault(round(restart.log_joint, 6), restart)
    return sorted(distinct.values(), key=lambda restart: -restart.log_joint)[:at_most]


# Restarts from different starts, in batches on threads, then refinement of the best partitions.
#
# The search of a large cohort begins in a sample (`sampled_steps`). All subjects are then assigned to its clusters, and
# moved, and clusters are merged and divided; a division is searched for among some members of a cluster.

_SWEEPS_OF_A_HEAT = 8
LARGE = 3_000
"""Number of subjects from which on the search begins in a sample."""
N_SAMPLED = 5_000
"""Largest number of subjects in the sample, which is half of a smaller cohort."""
_CARRIED = 3
"""Largest number of partitions of the sample that are extended to all subjects: with one, 11 of 48 searches in 12 large
cohorts lose up to 35 nats."""
_CLOSE_TO_BEST = 30.0
"""Largest difference in log joint, in nats, to the best partition of the sample for a partition to be extended."""
_ALIKE = 0.95
"""Adjusted Rand index from which on two partitions of the sample are expected to lead to the same final partition."""
_SAMPLE = 1415
"""Spawn key of the sample of a large cohort for block weights and the selection of features."""


def run_restarts(
    problem: Problem, starts: list[Start], plan: SearchPlan, *, search: Callable[..., RestartResult] = search_from
) -> list[RestartResult]:
    """Search from every start, on threads, and refine the best partitions.

    Return the restarts in the order of the starts, then the results of the refinement. `search` searches from one
    start, as `search_from` does. Raises SearchCancelled.
    """
    begin = partial(search, problem, attempts=Attempts())
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
