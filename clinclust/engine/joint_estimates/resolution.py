"""How strongly features count: coarsening, alternation, and the concentration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, psi

from clinclust.arrays import Array, Labels
from clinclust.engine.joint_estimates.outlying import (
    SearchResult,
    best_outlying,
    raise_in_turns,
    raise_partitions,
    run_outlying_restarts,
    search_partitions,
    search_with_outlying,
    with_best_outlying,
    without_outlying,
)
from clinclust.engine.joint_estimates.selection import independent_share
from clinclust.engine.kernels.moves import clusters_without_subjects
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.encoding import EncodedCohort
from clinclust.engine.problem.problem import Problem, joint_of
from clinclust.engine.search.partitioned import in_memory
from clinclust.engine.search.plan import Budget, RestartResult, SearchPlan, Threads, n_threads
from clinclust.engine.search.restarts import Start, index_of_best, sample_rows, search_starts, starts_from, unlike
from clinclust.engine.search.settle import SweepResult, compact, minimum_gain, settle
from clinclust.progress import SILENT

# Alternation of search and estimation: the partition given the concentration, then the concentration given it.
#
# The objective is the extended joint, with the log hyperprior of the concentration:
#
#     ln p(X_obs, z | theta, N0) + ln h(N0)
#
# The search raises the first term, and a new concentration is accepted only if it raises the sum, so that the
# alternation ends. `choose_greedily` tries hyperparameters theta without a hyperprior, as in the paper.

Search = Callable[[Problem, list[Start]], list[RestartResult]]
"""`run_restarts` or `run_selecting_restarts` with a fixed plan: it takes a problem and starts, and returns restarts."""

_MOST_ROUNDS = 20
_LEAST_GAIN = 1e-6
"""Nats by which a new concentration must raise the extended joint, above the error of the maximisation."""
_FACTORS = (1 / 8, 1 / 4, 1 / 2, 2.0, 4.0, 8.0)
"""Factors by which a positive hyperparameter is multiplied; the paper does not give values."""
_STEPS = (-1.0, -0.5, 0.5, 1.0)
"""Steps of the prior mean of a Gaussian feature, in its standard deviations."""


def alternate(
    problem: Problem, restarts: list[RestartResult], starts: list[Start], search: Search, budget: Budget
) -> tuple[Problem, list[RestartResult]]:
    """Set the concentration to its mode given the best partition, and continue the search, until neither changes.

    Return the problem with the last concentration, and as many restarts, with log joints under it; the best one is
    continued. Traces show the extended joint less the log hyperprior of the last concentration.
    """
    for turn in range(_MOST_ROUNDS):
        if turn and budget.used_up():
            break
        best = restarts[index_of_best(restarts)]
        before, mode = problem.model.concentration, concentration_mode(best.labels.size, int(best.labels.max()) + 1)
        candidate = replace(problem, model=problem.model._replace(concentration=mode))
        fall = log_concentration_hyperprior(before) - log_concentration_hyperprior(mode)
        if joint_of(candidate, best.labels) - fall - best.log_joint <= _LEAST_GAIN:
            break
        problem = candidate
        restarts = carry_on(problem, restarts, starts, search, fall)
    return problem, restarts


def carry_on(
    problem: Problem, restarts: list[RestartResult], starts: list[Start], search: Search, fall: float = 0.0
) -> list[RestartResult]:
    """Compute the log joint of all restarts under a new model, and continue the search from the best of them.

    `fall` is the decrease of the log hyperprior by the new concentration, in nats, which is added to the traces.
    """
    restarts = [
        replace(restart, log_joint=joint_of(problem, restart.labels), trace=restart.trace + fall)
        for restart in restarts
    ]
    lead = index_of_best(restarts)
    best = restarts[lead]
    restarts[lead] = best.followed_by(search(problem, starts_from(best.labels, [starts[0].seed]))[0])
    return restarts


def choose_greedily(
    problem: Problem, restarts: list[RestartResult], starts: list[Start], search: Search, plan: SearchPlan
) -> tuple[Problem, list[RestartResult]]:
    """Set one hyperparameter after the other to the value with the highest log joint (Raykov et al. 2016, app. G.2).

    Differences to the paper: results are compared by the log joint, not by eq. 12, which sweeps do not minimise; sweeps
    continue from the best partition so far, and clusters are merged and divided once, at the end; the first values are
    the defaults; each hyperparameter that the schema does not state is changed once, by `_FACTORS` or `_STEPS`.
    """
    encoding = problem.cohort.encoding
    named = [
        (feature, likelihood, name)
        for feature, likelihood in zip(encoding.features, encoding.likelihoods, strict=True)
        for name in likelihood.hyperparameter_names
    ]
    lead = index_of_best(restarts)
    best = restarts[lead]
    for index, (feature, likelihood, name) in enumerate(named):
        if likelihood.is_chained or name in feature.stated:
            continue  # the prior of a multivariate Gaussian block is not free
        if plan.budget.used_up():
            break
        here = problem
        default = problem.model.prior[index]
        for value in default + np.array(_STEPS) if name == "mean" else default * np.array(_FACTORS):
            prior = here.model.prior.copy()
            prior[index] = value
            candidate = here.with_prior(prior)
            settled = settle(candidate, best.labels, starts[0].order, plan.max_sweeps, plan.cancelled, traced=False)
            if settled.converged and settled.trace[-1] > best.log_joint + minimum_gain(problem):
                problem = candidate
                best = best.raised_to(settled.trace[-1], settled.partition.labels)
    restarts = [best if index == lead else restart for index, restart in enumerate(restarts)]
    return problem, carry_on(problem, restarts, starts, search)


# The concentration N0: its most probable value given a partition, and cross-validation of values that are tried.
#
# Raykov et al. (2016, appendix G, eq. 35): with N0 ~ Gamma(a, b), given K clusters of N subjects,
#
#     p(N0 | N, K) is proportional to Gamma(N0) / Gamma(N0 + N) N0^(K + a - 1) exp(-b N0).
#
# The density maximised here is that of u = ln N0, with one more factor N0, as in Rasmussen (2000): it is log-concave,
# with a mode above 0 for every K.
#
# In cross-validation, each fold is scored with the clusters of the other folds (point 4, and eq. 33); the encoding and
# the default priors come from the whole cohort.

DEFAULT = 3.0
"""The default concentration, which is the mean of the hyperprior."""
SHAPE, RATE = 1.0, 1.0 / DEFAULT
"""Shape a and rate b of the gamma hyperprior, an exponential distribution with mean 3. It weighs as one cluster."""


def log_concentration_hyperprior(concentration: float) -> float:
    """Return the log density of ln N0 under the hyperprior, a ln b - ln Gamma(a) + a ln N0 - b N0."""
    return SHAPE * math.log(RATE) - math.lgamma(SHAPE) + SHAPE * math.log(concentration) - RATE * concentration


def concentration_mode(n_subjects: int, n_clusters: int) -> float:
    """Return the N0 at the mode of p(ln N0 | N, K): where the derivative by u = ln N0 of the log density is 0.

    It is a + K + N0 [psi(N0) - psi(N0 + N) - b].
    """

    def slope(u: float) -> float:
        concentration = math.exp(u)
        return SHAPE + n_clusters + concentration * float(psi(concentration) - psi(concentration + n_subjects) - RATE)

    return math.exp(brentq(slope, math.log(1e-12), math.log(1e12), xtol=1e-12))


def deal_folds(n_subjects: int, n_folds: int, rng: np.random.Generator) -> Iterator[tuple[Labels, Labels]]:
    """Yield (training, held-out) subjects of each fold, ascending; every subject is held out once."""
    fold = rng.permutation(np.arange(n_subjects) % min(n_folds, n_subjects))
    for index in range(int(fold.max()) + 1):
        yield np.flatnonzero(fold != index), np.flatnonzero(fold == index)


def starts_among(starts: list[Start], subjects: Labels) -> list[Start]:
    """Return the starts restricted to a subset of the subjects."""
    position = np.full(starts[0].labels.size, -1, dtype=np.int64)
    position[subjects] = np.arange(subjects.size)
    restricted = []
    for start in starts:
        order = position[start.order]
        restricted.append(start._replace(labels=compact(start.labels[subjects]), order=order[order >= 0]))
    return restricted


def held_out_log_density(training: Problem, labels: Labels, cohort: EncodedCohort, subjects: Labels) -> Array:
    """Return ln p(x | training clusters) of held-out subjects, in nats, float64 (n,): the mixture of eq. 33."""
    sizes, statistics = training.partition(labels).sums
    arrays = cohort.with_prior(training.model.prior, training.model.powers).arrays
    arrays = arrays._replace(codes=arrays.codes[subjects], values=arrays.values[subjects])
    new = clusters_without_subjects(arrays, sizes, statistics)
    scores = np.zeros((subjects.size, sizes.size + 1))
    # The clusters may come from powers of likelihoods, but only densities that count in full integrate to 1.
    write_scores(arrays, training.model.in_full(), new, scores)
    scores -= np.log(labels.size + training.model.concentration)
    return np.asarray(logsumexp(scores, axis=1) + cohort.encoding.log_jacobian(arrays), dtype=np.float64)


# The best partition found at each of a decreasing sequence of coarsenings, each with fewer clusters.
#
# In a large cohort, the path is followed in a sample to the first coarsening that is borne out, then among all
# subjects.

COARSENINGS = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05)
"""The path, each coarsening 14 to 33 percent below the one before."""
_N_FRESH = 2
"""Number of fresh starts at every step after the first."""
_TOLERANCE = 0.01
"""Difference to the estimated share of independent features that does not change the partition."""
_SHARE_OF_FIRST = 0.5
"""Share of a time budget that the first step may take: the others have fewer clusters and starts."""
_SHARE_OF_SAMPLE = 0.5
"""Share of a time budget that the search in the sample may take."""


@dataclass(frozen=True, eq=False)
class ResolutionStep(SearchResult):
    """One step of the path: the best partition found at one coarsening.

    After the first step, the first restart continues from the step before (start ``"step before"``).
    """

    independent_share: float
    """The coarsening that the dependence within these clusters implies (`independent_share`)."""

    @property
    def coarsening(self) -> float:
        """The coarsening of the step."""
        return self.problem.model.coarsening

    @property
    def borne_out(self) -> bool:
        """Whether the coarsening is strong enough for the dependence within the clusters of this partition."""
        return self.coarsening <= self.independent_share + _TOLERANCE

    @property
    def onward(self) -> RestartResult:
        """The best restart as the beginning of a restart of the next step."""
        return replace(self.winner, start="step before", trace=np.array([]), n_sweeps=0)


def resolution_steps(
    problem: Problem, starts: list[Start], plan: SearchPlan, seed: np.random.SeedSequence
) -> list[ResolutionStep]:
    """Search from the starts, then at each coarsening from the step before and from fresh starts; return the steps.

    The path ends at the first step with one cluster, or that is `borne_out`, or at once if the plan has no path.
    """
    seed.spawn(1)  # the children from the second on are those of the steps after it
    # A time budget leaves time for the coarser steps.
    first = search_with_outlying(problem, starts, replace(plan, budget=plan.budget.part(_SHARE_OF_FIRST)))

    def search_at(coarsening: float, before: ResolutionStep) -> ResolutionStep:
        """Continue from the step before, then search from fresh starts."""
        coarsened, share = at_coarsening(problem, coarsening), plan.outlying_share
        (drawn,) = seed.spawn(1)
        starts = search_starts(problem.cohort.n_subjects, drawn.spawn(_N_FRESH))
        (start,) = starts_from(before.labels, [drawn])
        outlying, joint = best_outlying(coarsened, before.labels, before.outlying, share)
        begin = before.onward.raised_to(joint)
        onward, outlying = raise_in_turns(coarsened, begin, outlying, start, plan, look_back=False)
        fresh_plan = replace(plan, refine=False, progress=SILENT)  # one step of the stage "coarsening"
        fresh, masks = run_outlying_restarts(coarsened, starts, outlying, fresh_plan)
        restarts = [onward, *fresh]
        best = index_of_best(restarts)
        if best > 0:
            arguments = coarsened, restarts[best], masks[best - 1], start, plan
            restarts[best], outlying = raise_in_turns(*arguments, look_back=False)
        return step_of(SearchResult(without_outlying(coarsened, outlying, share), restarts, best, outlying))

    return followed(step_of(first), plan, search_at)


def followed(
    begin: ResolutionStep, plan: SearchPlan, search_at: Callable[[float, ResolutionStep], ResolutionStep]
) -> list[ResolutionStep]:
    """Follow a path from one of its steps to its end, with `search_at`; return this step and those after it."""
    steps, ahead = [begin], [value for value in COARSENINGS if value < begin.coarsening]
    if not plan.choose_coarsening:
        return steps
    with plan.progress.stage("coarsening") as advance:
        while ahead and steps[-1].labels.max() > 0 and not steps[-1].borne_out:
            if plan.budget.used_up():
                break
            # The last partition may ask for a coarsening before the next one of the path.
            if ahead[0] < steps[-1].independent_share:
                ahead.insert(0, steps[-1].independent_share)
            steps.append(search_at(ahead.pop(0), steps[-1]))
            advance()
    return steps


def at_coarsening(problem: Problem, coarsening: float) -> Problem:
    """Return the problem at a coarsening."""
    return replace(problem, model=problem.model._replace(coarsening=coarsening))


def step_of(found: SearchResult) -> ResolutionStep:
    """Return the step of the best of the restarts at one coarsening."""
    share = independent_share(found.problem, found.labels)
    return ResolutionStep(found.problem, found.restarts, found.best, found.outlying, independent_share=share)


def chosen_step(steps: Sequence[ResolutionStep]) -> int:
    """Return the index of the first step that is `borne_out`, or of the last step if none is.

    At coarsening 1, extra clusters may explain dependence, so that it is underestimated; hence the dependence within
    each step's own clusters.
    """
    return next((index for index, step in enumerate(steps) if step.borne_out), len(steps) - 1)


def sampled_steps(problem: Problem, plan: SearchPlan, seed: np.random.SeedSequence) -> list[ResolutionStep]:
    """Search in a sample as the plan says, then among all subjects from its coarsening; return the latter steps."""
    of_rows, of_path, of_all = seed.spawn(3)
    rows = sample_rows(problem.cohort.n_subjects, np.random.default_rng(of_rows))
    budget, progress = plan.budget.part(_SHARE_OF_SAMPLE), plan.progress.within("a sample")
    in_sample = replace(plan, patience=1, budget=budget, progress=progress)
    part = problem.restricted_to(rows)
    steps = resolution_steps(part, search_starts(rows.size, in_sample.seeds), in_sample, of_path)
    step = steps[chosen_step(steps)]
    rng, share = np.random.default_rng(of_all), plan.outlying_share
    at, chosen = at_coarsening(problem, step.coarsening), unlike(step.restarts)
    with Threads(n_threads(plan.n_jobs), plan.cancelled) as pool:
        cohort = in_memory(at, pool, may_lack_any=share > 0.0)

        def step_at(start: str, found: SweepResult) -> ResolutionStep:
            """Return the step of a search among all subjects, which the next step continues."""
            nonlocal cohort
            cohort = found.partitions
            labels, outlying = cohort.gathered()
            kept = without_outlying(at_coarsening(problem, cohort.problem.model.coarsening), outlying, share)
            restart = RestartResult.of(start, labels, found.trace, converged=found.converged)
            return step_of(SearchResult(kept, [restart], 0, outlying))

        def search_at(coarsening: float, before: ResolutionStep) -> ResolutionStep:
            """Continue from the step before."""
            onward = replace(cohort, problem=at_coarsening(cohort.problem, coarsening))
            onward = with_best_outlying(onward, share) if share > 0.0 else onward
            return step_at(before.onward.start, raise_partitions(onward, plan, rng, pool))

        carried: list[SweepResult] = []
        with plan.progress.stage("search among all subjects", len(chosen)) as advance:
            for restart in chosen:
                if not carried or not plan.budget.used_up():
                    sampled = step.problem.partition(restart.labels).sums
                    carried.append(search_partitions(cohort, sampled, plan, rng, pool))
                    advance()
        best = max(range(len(carried)), key=lambda place: carried[place].trace[-1])
        return followed(step_at(f"sample: {chosen[best].start}", carried[best]), plan, search_at)
