"""Chains of Gibbs sweeps with splits on threads, and what their draws say: one partition, and their calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment, minimize_scalar
from scipy.special import gammaln

from clinclust.arrays import Array, Codes, Labels
from clinclust.engine.joint_estimates.resolution import RATE, SHAPE, log_concentration_hyperprior
from clinclust.engine.kernels.compiled import kernel
from clinclust.engine.kernels.moves import Partition, log_marginals
from clinclust.engine.kernels.sweep import Visit, full_sweep, sweep
from clinclust.engine.problem.problem import Problem, leave_one_out_scores, log_joint, probabilities
from clinclust.engine.search.plan import SearchPlan, Threads, n_threads
from clinclust.engine.search.settle import by_decreasing_size, compact, run_restarts, search_starts

# Divisions and mergers of whole clusters, proposed and accepted so that the posterior is unchanged.
#
# Two subjects are drawn. The other members of their clusters are allocated in random order to the one or the other by
# their conditional probabilities, or, every second time, all to the second, and then visited a few times by Gibbs
# sampling between both: the launch state. If the pair was in one cluster, one more visit proposes a division; if not, a
# merger is proposed. With q the probability of this last visit, or of that which would restore the clusters, and p the
# posterior, a division is accepted with the first probability and a merger with the second:
#
#     min(1, p(divided) / (p(merged) q)),   min(1, p(merged) q / p(divided))
#
# (Jain and Neal 2004, J Comput Graph Stat 13, 158-182; sequential allocation: Dahl 2005). Every second time, the pair
# is drawn among all subjects, the first one more often far from the others (`far_first`). Otherwise it is drawn by way
# of its clusters, all as probable, so that small ones are divided and merged as often; the ratio is then multiplied by
# that of the probabilities of the pair in both states.

_VISITS = 3  # visits of all members on the way to the launch state


def far_first(problem: Problem) -> Array:
    """Return the probability of each subject to be drawn first, (N,): half is equal, half by ranks of densities."""
    scores = leave_one_out_scores(problem, problem.partition(problem.cohort.together))[:, 0]
    ranks = np.empty(scores.size)
    ranks[np.argsort(scores, kind="stable")] = np.arange(1.0, scores.size + 1.0)
    return np.asarray(0.5 / scores.size + 0.5 / ranks / (1.0 / ranks).sum())


def divide_or_merge(
    problem: Problem, partition: Partition, drawn_first: Array, rng: np.random.Generator
) -> Labels | None:
    """Propose a division or a merger once; return the new labels, int64 (N,), or None if it is not accepted."""
    labels = partition.labels
    if labels.size < 2:
        return None
    by_cluster = rng.random() < 0.5
    if by_cluster:
        pair = _pair_by_cluster(partition, rng)
    else:
        subject = int(rng.choice(drawn_first.size, p=drawn_first))
        pair = np.array([subject, (subject + rng.integers(1, drawn_first.size)) % drawn_first.size])
    if pair is None:
        return None
    first, second = labels[pair].tolist()
    members = np.flatnonzero((labels == first) | (labels == second))
    order = rng.permutation(members[(members != pair[0]) & (members != pair[1])])
    is_division = first == second
    targets = np.empty(0, dtype=np.int64) if is_division else (labels[order] == second).astype(np.int64)
    # Two clusters grow from the pair, and then all others are visited.
    allocated, log_allocation = np.full(labels.size, -1), 0.0
    if rng.random() < 0.5:
        allocated[order] = 1
    allocated[pair] = 0, 1
    halves = problem.partition(allocated)
    for number in range(_VISITS + 1):
        visit = Visit(most_clusters=2, uniforms=rng.random(order.size))
        visit = visit._replace(targets=targets) if number == _VISITS else visit
        _, _, log_allocation = sweep(problem.cohort.arrays, problem.model, halves, order, visit)
    log_ratio = _log_ratio(problem, halves) - log_allocation
    if by_cluster:
        others = np.delete(partition.sums[0], [first, second])
        log_ratio += _log_ratio_of_pair(others, halves.sizes[:2])
    if np.log(rng.random()) >= (log_ratio if is_division else -log_ratio):
        return None
    proposed = labels.copy()
    if is_division:
        proposed[halves.labels == 1] = partition.n_clusters[0]
    else:
        lower, upper = min(first, second), max(first, second)
        proposed[proposed == upper] = lower
        proposed[proposed > upper] -= 1
    return proposed


def _pair_by_cluster(partition: Partition, rng: np.random.Generator) -> Labels | None:
    """Return two subjects of one cluster or of two, int64 (2,); None if no such clusters exist."""
    sizes = partition.sums[0]
    if rng.random() < 0.5:
        divisible = np.flatnonzero(sizes >= 2.0)
        if not divisible.size:
            return None
        members = np.flatnonzero(partition.labels == rng.choice(divisible))
        return np.asarray(rng.choice(members, 2, replace=False))
    if sizes.size < 2:
        return None
    clusters = rng.choice(sizes.size, 2, replace=False)
    return np.array([rng.choice(np.flatnonzero(partition.labels == cluster)) for cluster in clusters])


def _log_ratio_of_pair(others: Array, halves: Array) -> float:
    """Return the log of the probability of a pair by cluster in the divided state over that in the merged one.

    It is 1 / (2 K (K - 1) n_1 n_2) over 1 / (2 L (n_1 + n_2) (n_1 + n_2 - 1)), with L merged clusters of several.
    """
    n_divided, n_divisible, n_merged = others.size + 2, 1 + int((others >= 2.0).sum()), float(halves.sum())
    divided = np.log(n_divided * (n_divided - 1.0)) + np.log(halves).sum()
    return float(np.log(n_divisible * n_merged * (n_merged - 1.0)) - divided)


def _log_ratio(problem: Problem, halves: Partition) -> float:
    model = problem.model
    sizes, statistics = halves.sizes[:2], halves.statistics[:2]
    whole = statistics.sum(axis=0, keepdims=True)
    marginals = log_marginals(problem.cohort.arrays, model.prior, np.vstack([statistics, whole]))
    log_likelihood = float((marginals @ model.powers) @ (1.0, 1.0, -1.0))
    log_prior = np.log(model.concentration) + gammaln(sizes).sum() - gammaln(sizes.sum())
    return float(log_prior + model.coarsening * log_likelihood)


# One Markov chain of partitions: sweeps of Gibbs sampling, with divisions and mergers of clusters between them.
#
# The concentration may be drawn too, under its hyperprior.

_OFTEN = 100
"""Sweeps after each of which something is proposed, because a chain begins far from the posterior. Later proposals are
rarer: one takes as long as ten sweeps."""


class Chain:
    """A chain that continues from its last state, and keeps what is traced and up to twice `max_draws` labels."""

    sweeps_a_proposal = 8

    def __init__(
        self, problem: Problem, labels: Labels, rng: np.random.Generator, draws_concentration: bool, max_draws: int = 1
    ) -> None:
        self.problem, self.partition = problem, problem.partition(labels)
        self._rng, self._most, self._draws_concentration = rng, max_draws, draws_concentration
        self._drawn_first = far_first(problem)
        self._n_sweeps = self.n_accepted = 0
        self.traced: list[tuple[float, ...]] = []
        self.kept: list[tuple[Codes, float]] = []
        self.thinning = 1

    def step(self) -> float:
        """Make one sweep in random order, perhaps propose a division or a merger, and draw the concentration.

        Return the log joint, in nats, with the log hyperprior of the concentration if that is drawn.
        """
        arrays, model, n_subjects = self.problem.cohort.arrays, self.problem.model, self.problem.cohort.n_subjects
        order = self._rng.permutation(n_subjects)
        self.partition, _ = full_sweep(arrays, model, self.partition, order, uniforms=self._rng.random(order.size))
        if self._n_sweeps < _OFTEN or self._n_sweeps % self.sweeps_a_proposal == 0:
            proposed = divide_or_merge(self.problem, self.partition, self._drawn_first, self._rng)
            if proposed is not None:
                self.n_accepted += 1
                self.partition = self.problem.partition(proposed, self.partition.sizes.size)
        self._n_sweeps += 1
        log_prior = 0.0
        if self._draws_concentration:
            n_clusters = int(self.partition.n_clusters[0])
            drawn = draw_concentration(model.concentration, n_subjects, n_clusters, self._rng)
            self.problem = self.problem.under(concentration=drawn)
            log_prior = log_concentration_hyperprior(drawn)
        return log_prior + log_joint(self.problem, self.partition)

    def run(self, n_sweeps: int, cancelled: Event) -> None:
        """Make some more sweeps, and keep what is traced of them (`TRACED`)."""
        for _ in range(n_sweeps):
            if cancelled.is_set():
                break
            joint, concentration = self.step(), self.problem.model.concentration
            sizes = np.sort(self.partition.sums[0])[::-1]
            shares = sizes / sizes.sum()
            entropy = float(-(shares * np.log(shares)).sum())
            second = float(sizes[1]) if sizes.size > 1 else 0.0
            self.traced.append((joint, concentration, float(sizes.size), float(sizes[0]), second, entropy))
            if len(self.traced) % self.thinning == 0:
                self.kept.append((self.partition.labels.astype(np.int32), concentration))
                if len(self.kept) > 2 * self._most:
                    self.kept = self.kept[1::2]
                    self.thinning *= 2


def draw_concentration(concentration: float, n_subjects: int, n_clusters: int, rng: np.random.Generator) -> float:
    """Return the next concentration of a chain (Escobar and West 1995, J Am Stat Assoc 90, 577-588, eqs. 13, 14)."""
    rate = RATE - math.log(rng.beta(concentration + 1.0, n_subjects))
    odds = (SHAPE + n_clusters - 1.0) / (n_subjects * rate)
    shape = SHAPE + n_clusters - (rng.random() > odds / (1.0 + odds))
    return float(rng.gamma(shape) / rate)


# Several Markov chains from overdispersed starts, run until they agree or the sweeps allowed are used up.
#
# After each round, the first half of all draws so far is discarded; rounds double in length.

HIGHEST_R_HAT, LEAST_DRAWS = 1.01, 400.0  # of an effective sample size, as Vehtari et al. (2021) recommend
TRACED = ("log_joint", "concentration", "n_clusters", "largest", "second", "entropy")
"""The log joint, the concentration, K, the two largest sizes, and the entropy of all sizes."""
_FIRST_ROUND = 100
_BRANCH = 2004


class Diagnosis(NamedTuple):
    """Rank-normalised R-hat and bulk effective sample size (Vehtari et al. 2021, Bayesian Anal 16, 667-718)."""

    r_hat: float
    effective_size: float

    @property
    def has_converged(self) -> bool:
        """Whether both are as good as they should be."""
        return self.r_hat <= HIGHEST_R_HAT and self.effective_size >= LEAST_DRAWS


@dataclass(frozen=True)
class Chains:
    """The draws of all chains without the first half."""

    labels: Codes  # (C S, N) the clusters of the kept draws, chain after chain
    concentrations: list[float]  # the concentration of each kept draw
    traces: dict[str, Array]  # (C, sweeps) each number of `TRACED`, after every sweep of the second half
    diagnoses: dict[str, Diagnosis]
    n_sweeps: int  # sweeps of each chain, the first half included

    @property
    def has_converged(self) -> bool:
        """Whether every traced number has converged."""
        return all(diagnosis.has_converged for diagnosis in self.diagnoses.values())


def run_chains(
    problem: Problem, starts: Sequence[Labels], plan: SearchPlan, max_draws: int, *, draws_concentration: bool = False
) -> Chains:
    """Run one chain from each start until all have converged, or the plan ends; keep `max_draws` labels of each."""
    seeds = np.random.SeedSequence(plan.seed).spawn(len(starts))
    pairs = zip(starts, map(np.random.default_rng, seeds), strict=True)
    chains = [Chain(problem, start, rng, draws_concentration, max_draws) for start, rng in pairs]
    done, more = 0, min(_FIRST_ROUND, plan.max_sweeps)
    stage = plan.progress.stage("Gibbs sampling, in rounds")
    with Threads(n_threads(plan.n_jobs), plan.cancelled) as pool, stage as advance:
        while True:
            for future in [pool.submit(chain.run, more, plan.cancelled) for chain in chains]:
                future.result()
            plan.refuse_cancelled()
            done += more
            # The first half of all draws is discarded.
            traced = np.array([chain.traced[done // 2 :] for chain in chains])
            traces = {name: traced[:, :, place] for place, name in enumerate(TRACED)}
            n_left = done // chains[0].thinning - done // 2 // chains[0].thinning
            draws = [draw for chain in chains for draw in chain.kept[len(chain.kept) - n_left :]]
            labels, concentrations = zip(*draws, strict=True)
            diagnoses = {name: diagnosed(trace) for name, trace in traces.items()}
            result = Chains(np.array(labels, dtype=np.int32), list(concentrations), traces, diagnoses, done)
            advance()
            more = min(done, plan.max_sweeps - done)
            if result.has_converged or more == 0 or plan.budget.used_up():
                return result


def diagnosed(trace: Array) -> Diagnosis:
    """Return the diagnosis of draws (chains, draws); R-hat is 1 if all are equal, infinite if only within chains."""
    from arviz_stats.base.array import array_stats

    n_chains, n_draws = trace.shape
    if (trace == trace[0, 0]).all():
        return Diagnosis(1.0, float(trace.size))
    if (trace == trace[:, :1]).all():
        return Diagnosis(np.inf, float(n_chains))
    if n_draws < 4:
        return Diagnosis(np.nan, np.nan)
    statistics: Any = array_stats
    axes = {"chain_axis": 0, "draw_axis": 1}
    return Diagnosis(float(statistics.rhat(trace, **axes)), float(statistics.ess(trace, **axes)))


def overdispersed_starts(problem: Problem, n_chains: int, plan: SearchPlan) -> list[Labels]:
    """Return one partition for each chain, int64 (N,).

    The first is that of a short search, the second is a single cluster, the others are random with up to N^(1/2)
    clusters: the first chain comes to the posterior from above, the others from below. The plan is that of the chains.
    """
    n_subjects = problem.cohort.n_subjects
    short = SearchPlan(plan.seed, 1, refine=False, n_jobs=1, cancelled=plan.cancelled, budget=plan.budget)
    (best,) = run_restarts(problem, search_starts(n_subjects, short.seeds), short)
    starts = [compact(best.labels), np.zeros(n_subjects, dtype=np.int64)]
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(_BRANCH,)))
    most = max(int(np.sqrt(n_subjects)), 2)
    while len(starts) < n_chains:
        n_clusters = int(rng.integers(2, most + 1))
        starts.append(compact(rng.integers(n_clusters, size=n_subjects)))
    return starts[:n_chains]


# The temperature at which probabilities of clusters hold.
#
# Given one partition, probabilities are too certain: the partition was chosen to divide the subjects clearly, and its
# clusters are not known exactly. The probabilities of a subject averaged over partitions into as many clusters, drawn
# from their posterior, are right if the model is:
#
#     P(z_i = k | X) = mean over draws of p(z_i = k | z of all others, X)          (Rao-Blackwell)
#
# The temperature T minimises the cross entropy of these to p_ik proportional to exp(s_ik / T), with s_ik the log
# weights given the partition of the fit, both summed over the clusters of a subtype (temperature scaling: Guo, Pleiss,
# Sun and Weinberger 2017, *On calibration of modern neural networks*, ICML). It serves new subjects too. Of 344
# penguins, T is 5 for four clusters, among which sexes wander, and 1.1 for the two subtypes that the test leaves.

_BEFORE, _SWEEPS, _EVERY = 20, 100, 2  # sweeps before the first draw, sweeps after it, and sweeps of a draw
_MOST_SUBJECTS = 5_000  # number of subjects above which a sample of this size is drawn
_BRANCH_OF_CALIBRATION = 1764  # spawn key of the random numbers
_LARGEST, _LEAST = 5.0, 1e-300


def temperature(scores: Array, averages: Array, subtype_of: Labels) -> float:
    """Return the temperature of log weights of clusters (n, K), given averages over draws: 1 (none needed) to 5.

    `subtype_of` (K,) is the subtype of each cluster: which of the clusters of a subtype are whose does not count.
    """
    of_subtypes = np.eye(int(subtype_of.max()) + 1)[subtype_of]  # (K, S) whether a cluster is of a subtype
    right = averages @ of_subtypes

    def cross_entropy(log_temperature: float) -> float:
        tempered = probabilities(np.exp(-log_temperature) * scores) @ of_subtypes
        return float(-(right * np.log(np.maximum(tempered, _LEAST))).sum())

    return float(np.exp(minimize_scalar(cross_entropy, bounds=(0.0, np.log(_LARGEST)), method="bounded").x))


def average_membership(problem: Problem, labels: Labels, plan: SearchPlan) -> tuple[Labels, Array]:
    """Return subjects, all or a sample (n,), and probabilities of clusters averaged over draws (n, K); cancellable."""
    key = problem.fingerprint, plan.seed, labels.tobytes()
    if key not in plan.memory:
        rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(_BRANCH_OF_CALIBRATION,)))
        places, averages = np.arange(labels.size), np.zeros((labels.size, int(labels.max()) + 1))
        if labels.size > _MOST_SUBJECTS:
            places = np.sort(rng.choice(labels.size, _MOST_SUBJECTS, replace=False))
            problem, averages = problem.restricted_to(places), averages[places]
        clusters, labels = np.unique(labels[places], return_inverse=True)  # the sample may lack a small one
        partition = problem.partition(labels)
        for number in range(_BEFORE + _SWEEPS):
            plan.refuse_cancelled()
            order, uniforms = rng.permutation(labels.size), rng.random(labels.size)
            arguments = problem.cohort.arrays, problem.model, partition, order
            partition, _ = full_sweep(*arguments, most_clusters=clusters.size, uniforms=uniforms)
            if number >= _BEFORE and number % _EVERY == 0:
                given_others = probabilities(leave_one_out_scores(problem, partition))
                averages[:, clusters] += _match_clusters(partition.labels, given_others, labels)
        averages /= _SWEEPS // _EVERY
        plan.memory[key] = places, averages
    places, averages = plan.memory[key]
    return places, averages


def _match_clusters(drawn: Labels, own: Array, labels: Labels) -> Array:
    """Return probabilities of drawn clusters as those of the clusters with most of their subjects, float64 (N, K)."""
    shared = np.zeros((int(labels.max()) + 1, own.shape[1]))
    np.add.at(shared, (labels, drawn), 1.0)
    clusters, columns = linear_sum_assignment(-shared)
    matches = np.zeros((labels.size, len(shared)))
    matches[:, clusters] = own[:, columns]
    return matches


# The partition with the lowest posterior expected loss, estimated over draws.
#
# The loss is the variation of information (Meila 2007, Journal of Multivariate Analysis 98, 873-895), in nats:
#
#     [sum_k f(n_k) + sum_j f(n_j) - 2 sum_kj f(n_kj)] / N,   f(n) = n ln n
#
# for two partitions with cluster sizes n_k and n_j, and n_kj subjects in cluster k of the one and j of the other.
# Single subjects are moved from several good partitions as long as this lowers the expected loss (Dahl, Johnson and
# Müller 2022, Journal of Computational and Graphical Statistics 31, 1189-1201).

_LEAST_GAIN = 1e-9  # gain, of f, below which no subject moves: the rounding error
_MOST_CANDIDATES = 200
_IMPROVED = 5
_MOST_SWEEPS = 100
_FURTHER_CLUSTERS = 5  # clusters that a search may open beyond those of its start


def point_estimate(draws: Codes) -> Labels:
    """Return the partition with the lowest expected loss, int64 (N,), clusters by decreasing size."""
    chosen = np.unique(np.linspace(0, len(draws) - 1, _MOST_CANDIDATES).astype(np.int64))
    candidates = [by_decreasing_size(labels.astype(np.int64)) for labels in np.unique(draws[chosen], axis=0)]
    candidates.append(np.zeros(draws.shape[1], dtype=np.int64))
    expected = [losses(draws, labels).mean() for labels in candidates]
    best = [candidates[place] for place in np.argsort(expected, kind="stable")[:_IMPROVED]]
    improved = []
    for labels in best:  # moves of single subjects lead to a local minimum
        for _ in range(_MOST_SWEEPS):
            capacity = min(int(labels.max()) + 1 + _FURTHER_CLUSTERS, labels.size)
            if _improve(draws, labels, _terms(labels.size), np.arange(labels.size), capacity) == 0:
                break
            labels = by_decreasing_size(labels)
        improved.append(by_decreasing_size(labels))
    return min(improved, key=lambda labels: losses(draws, labels).mean())


def losses(draws: Codes, labels: Labels) -> Array:
    """Return the loss of a partition, int64 (N,), if each of the draws, int32 (S, N), were true, float64 (S,)."""
    terms = _terms(labels.size)
    sums = _distances(draws, np.ascontiguousarray(labels), terms) + terms[np.bincount(labels)].sum()
    return np.asarray(np.maximum(sums, 0.0) / labels.size)


def _terms(n_subjects: int) -> Array:
    n = np.arange(n_subjects + 1.0)
    return np.asarray(n * np.log(np.maximum(n, 1.0)))


def membership_of_draws(draws: Codes, labels: Labels) -> Array:
    """Return shares of draws in clusters of `labels`, (N, K); each is matched with that of most of its subjects."""
    counts, subjects = np.zeros((labels.size, int(labels.max()) + 1)), np.arange(labels.size)
    for drawn in draws.astype(np.int64):
        pairs = np.bincount(drawn * counts.shape[1] + labels, minlength=(int(drawn.max()) + 1) * counts.shape[1])
        matches = pairs.reshape(-1, counts.shape[1]).argmax(axis=1)
        counts[subjects, matches[drawn]] += 1.0
    return counts / len(draws)


@kernel
def _distances(draws: Codes, labels: Labels, terms: Array) -> Array:
    """Return sum_j f(n_j) - 2 sum_kj f(n_kj) of each draw, float64 (S,); `terms` are f(0) .. f(N)."""
    joint, distances = np.zeros((draws.max() + 1, labels.max() + 1), np.int64), np.zeros(draws.shape[0])
    for s in range(draws.shape[0]):
        joint[:] = 0
        for i in range(labels.size):
            joint[draws[s, i], labels[i]] += 1
        for j in range(joint.shape[0]):
            distances[s] += terms[joint[j].sum()]
            for k in range(joint.shape[1]):
                distances[s] -= 2.0 * terms[joint[j, k]]
    return distances


@kernel
def _improve(draws: Codes, labels: Labels, terms: Array, order: Labels, capacity: int) -> int:
    """Move each subject, in place, to the cluster with the lowest mean distance to all draws; return how many moved."""
    n_draws = draws.shape[0]
    rises = terms[1:] - terms[:-1]
    sizes = np.zeros(capacity, np.int64)
    joint = np.zeros((n_draws, draws.max() + 1, capacity), np.int32)
    for i in range(labels.size):
        sizes[labels[i]] += 1
        for s in range(n_draws):
            joint[s, draws[s, i], labels[i]] += 1
    costs = np.empty(capacity)
    moves = 0
    for i in order:
        cluster = labels[i]
        sizes[cluster] -= 1
        costs[:] = 0.0
        for s in range(n_draws):
            cells = joint[s, draws[s, i]]
            cells[cluster] -= 1
            for k in range(capacity):
                costs[k] -= rises[cells[k]]
        best, lowest = cluster, rises[sizes[cluster]] + 2.0 / n_draws * costs[cluster] - _LEAST_GAIN
        for k in range(capacity):
            cost = rises[sizes[k]] + 2.0 / n_draws * costs[k]
            if k != cluster and cost < lowest:
                best, lowest = k, cost
        labels[i] = best
        sizes[best] += 1
        for s in range(n_draws):
            joint[s, draws[s, i], best] += 1
        moves += best != cluster
    return moves
