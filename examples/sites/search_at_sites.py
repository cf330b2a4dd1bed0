"""The search among subjects at several sites, none of whom is sent: each site answers questions with sums of clusters.

Each site first finds clusters of its own, which are merged by their sums. Then each site in turn moves its subjects one
by one, given the sums of the clusters of all sites, and sends its own sums back. Divisions of clusters are proposed by
the sites, each from its own subjects, and made at all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np

from clinclust.arrays import Labels
from clinclust.engine.kernels.moves import Partition, Sums, clusters_without_subjects
from clinclust.engine.problem.problem import Problem, joint_of_sums, log_joint
from clinclust.engine.search.partitioned import Numbers, worth_a_round
from clinclust.engine.search.plan import Either, SearchPlan
from clinclust.engine.search.settle import added, merge_and_divide, merged_into, minimum_gain
from clinclust.errors import InputError

Answer = dict[str, Any]
Asked = Callable[..., Answer]
"""A site: it takes the name of a question and named numbers, and answers with named numbers."""


def numbered(order: Labels, n_clusters: int) -> Numbers:
    """Return the new number of each cluster, int32 (K,), if these are 0, 1, ... in this order; -1 of the others."""
    numbers = np.full(n_clusters, -1, dtype=np.int32)
    numbers[order] = np.arange(order.size)
    return numbers


def answer_of(sites: Sequence[Asked], number: int, question: str, **sent: Any) -> Answer:
    """Ask a site; InputError that names the site if it fails, without the text of the error, which may hold values."""
    try:
        return sites[number](question, **sent)
    except Exception as error:
        raise InputError(
            f"site {number + 1} of {len(sites)} failed at the question {question!r} ({type(error).__name__}), and no "
            "model was fitted; repair it there, where the whole error is known, and fit again"
        ) from error


@dataclass(frozen=True)
class AtSites:
    """Subjects at sites with their clusters."""

    problem: Problem
    """The problem of a `WholeCohort`."""
    sites: tuple[Asked, ...]
    labels: tuple[int, ...]
    """Number of the labels at each site, which keeps all that it made."""
    sums: tuple[Sums, ...]
    """Sums of the clusters of each site."""

    @classmethod
    def apart(cls, problem: Problem, sites: tuple[Asked, ...], answers: Sequence[Answer]) -> Self:
        """Return the clusters of each site as clusters of all, in each of which only that site has subjects."""
        ends = np.cumsum([answer["sizes"].size for answer in answers])
        labels, sums = [], []
        for number, (answer, end) in enumerate(zip(answers, ends.tolist(), strict=True)):
            own = np.arange(end - answer["sizes"].size, end)
            sizes, statistics = np.zeros(ends[-1]), np.zeros((ends[-1], answer["statistics"].shape[1]))
            sizes[own], statistics[own] = answer["sizes"], answer["statistics"]
            labels.append(answer_of(sites, number, "rename", labels=answer["labels"], numbers=own)["labels"])
            sums.append((sizes, statistics))
        return cls(problem, sites, tuple(labels), tuple(sums))

    @cached_property
    def clusters(self) -> Partition:
        """The clusters of all sites, with their sizes and statistics."""
        return clusters_without_subjects(self.problem.cohort.arrays, *added(self.sums))

    @cached_property
    def joint(self) -> float:
        """The log joint, in nats."""
        return log_joint(self.problem, self.clusters)

    @property
    def n_clusters(self) -> int:
        """Number of clusters, K."""
        return int(self.clusters.n_clusters[0])

    def asked(self, question: str, **sent: Any) -> list[Answer]:
        """Ask every site about its labels."""
        return [answer_of(self.sites, number, question, labels=own, **sent) for number, own in enumerate(self.labels)]

    def with_answers(self, answers: Sequence[Answer]) -> Self:
        """Return new labels of all sites, with their sums."""
        sums = tuple((answer["sizes"], answer["statistics"]) for answer in answers)
        return replace(self, labels=tuple(answer["labels"] for answer in answers), sums=sums)

    def renamed(self, numbers: Labels | Numbers) -> Self:
        """Return clusters with other numbers, int (K,), -1 of those without subjects; equal ones are merged."""
        if np.array_equal(numbers, np.arange(numbers.size)):
            return self
        kept, sums = numbers >= 0, []
        for sizes, statistics in self.sums:
            new = np.zeros(int(numbers.max()) + 1), np.zeros((int(numbers.max()) + 1, statistics.shape[1]))
            np.add.at(new[0], numbers[kept], sizes[kept])
            np.add.at(new[1], numbers[kept], statistics[kept])
            sums.append(new)
        labels = tuple(answer["labels"] for answer in self.asked("rename", numbers=numbers))
        return replace(self, labels=labels, sums=tuple(sums))

    def without_empty(self) -> Self:
        """Return the clusters that have subjects."""
        sizes = self.clusters.sizes[: self.n_clusters]
        return self.renamed(numbered(np.flatnonzero(sizes > 0.0), sizes.size))

    def moved(self, number: int) -> Self:
        """Return the clusters after the subjects of one site have moved one by one."""
        sizes, statistics = self.clusters.sums
        sent = {"labels": self.labels[number], "sizes": sizes, "statistics": statistics}
        least = minimum_gain(self.problem)
        answer = answer_of(self.sites, number, "move", **sent, least=least)
        sums = [_wider(own, answer["sizes"].size) for own in self.sums]
        labels = list(self.labels)
        sums[number], labels[number] = (answer["sizes"], answer["statistics"]), answer["labels"]
        return replace(self, labels=tuple(labels), sums=tuple(sums)).without_empty()

    def merged(self) -> Self:
        """Return the clusters after all merges that raise the log joint."""
        clusters = clusters_without_subjects(self.problem.cohort.arrays, *self.clusters.sums)
        into = merged_into(self.problem, clusters)
        return self.renamed(np.unique(into, return_inverse=True)[1])

    def divided(self, rng: np.random.Generator) -> Self | None:
        """Return the clusters after all divisions that raise the log joint; None if there are none.

        Of the divisions that sites propose, that is made which raises the joint of the site's own subjects most.
        """
        n_clusters, least = self.n_clusters, minimum_gain(self.problem)
        best = [(0.0, (sizes[None], statistics[None])) for sizes, statistics in zip(*self.clusters.sums, strict=True)]
        for found in self.asked("propose", n_clusters=n_clusters, seed=int(rng.integers(2**31))):
            for cluster in np.unique(found["cluster"]).tolist():
                own = found["cluster"] == cluster
                parts = found["sizes"][own], found["statistics"][own]
                best[cluster] = max(best[cluster], (self._gain(parts), parts), key=lambda each: each[0])
        sizes, statistics = (np.concatenate(each) for each in zip(*(parts for _, parts in best), strict=True))
        cluster = np.repeat(np.arange(n_clusters), [parts[0].size for _, parts in best])
        if cluster.size == n_clusters:
            return None
        divided = self.with_answers(self.asked("divide", cluster=cluster, sizes=sizes, statistics=statistics))
        sizes, statistics = added(divided.sums)
        numbers, n_after = np.full(cluster.size, -1), 0
        for each in range(n_clusters):
            held = np.flatnonzero((cluster == each) & (sizes > 0.0))
            is_better = held.size > 1 and self._gain((sizes[held], statistics[held])) > least
            numbers[held] = n_after + np.arange(held.size) * is_better
            n_after = int(numbers.max()) + 1
        return None if n_after == n_clusters else divided.renamed(numbers)

    def _gain(self, parts: Sums) -> float:
        """Return by how much the joint of some subjects is higher if they are in these clusters instead of in one."""
        together = parts[0].sum(keepdims=True), parts[1].sum(axis=0, keepdims=True)
        return joint_of_sums(self.problem, *parts) - joint_of_sums(self.problem, *together)


def _wider(sums: Sums, n_clusters: int) -> Sums:
    more = n_clusters - sums[0].size
    return (np.pad(sums[0], (0, more)), np.pad(sums[1], ((0, more), (0, 0)))) if more > 0 else sums


class Found(NamedTuple):
    """The clusters in which moves ended, as `SweepResult`."""

    cohort: AtSites
    trace: list[float]
    converged: bool

    @property
    def partition(self) -> Partition:
        """The clusters."""
        return self.cohort.clusters


def search_sites(cohort: AtSites, plan: SearchPlan, rng: np.random.Generator) -> Found:
    """Move subjects, merge and divide clusters, until this raises the log joint hardly any more."""
    return merge_and_divide(
        cohort.problem,
        _settled(cohort, plan),
        partial(_settled, plan=plan),
        lambda found, merges: found.cohort.merged() if merges else found.cohort.divided(rng),
        Either(plan.cancelled, plan.budget),
    )


def _settled(cohort: AtSites, plan: SearchPlan) -> Found:
    """Let the sites move their subjects in turn; moves that a threshold changes may lower the joint, and are undone."""
    trace, converged = [cohort.joint], False
    while not converged and len(trace) <= plan.max_sweeps and not plan.cancelled.is_set():
        for number in range(len(cohort.sites)):
            moved = cohort.moved(number)
            cohort = moved if moved.joint > cohort.joint else cohort
        trace.append(cohort.joint)
        converged = trace[-1] - trace[-2] < worth_a_round(cohort.problem)
    return Found(cohort, trace, converged)
