"""From a table to a fit: checks before the search, the search that a plan describes, and its results.

A fit goes from `MAPDP.fit` to `prepared`, the validated and encoded cohort; `found_fit` and `search`, which chooses the
kind of search; `run_restarts` of the engine and its kernels; and back by `fit_of`, the test of the tree (`tested_tree`)
and the number of subtypes (`as_asked`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from numbers import Integral
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.arrays import Labels
from clinclust.engine.joint_estimates.outlying import SearchResult, none_outlying, search_filling, search_with_outlying
from clinclust.engine.joint_estimates.resolution import (
    ResolutionStep,
    alternate,
    carry_on,
    choose_greedily,
    chosen_step,
    deal_folds,
    first_step,
    held_out_log_density,
    resolution_steps,
    sampled_steps,
    starts_among,
)
from clinclust.engine.joint_estimates.selection import (
    has_repeated,
    implied_weights,
    reproduced_weights,
    run_selecting_restarts,
    strength_and_features,
    strengthened,
    with_all_features,
)
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem.encoding import powers_of_blocks, powers_of_features
from clinclust.engine.problem.problem import (
    clusters_of,
    leave_one_out_nll,
    leave_one_out_scores,
    log_crp,
    log_joint,
    probabilities,
)
from clinclust.engine.sampling.chains import temperature
from clinclust.engine.search.plan import Budget, RestartResult, SearchPlan, interruptible
from clinclust.engine.search.restarts import (
    LARGE,
    Start,
    draw_sample,
    index_of_best,
    run_restarts,
    search_starts,
    starts_from,
)
from clinclust.engine.search.settle import adjusted_rand_index, by_decreasing_size, merge_tree
from clinclust.errors import InputError, warn
from clinclust.estimators.adjustment import Adjustment, estimate_adjustment
from clinclust.estimators.cohort_table import cohort_and_schema, fingerprint_of, salt_of, warn_of_copied_rows
from clinclust.estimators.distinct_subtypes import as_asked, refuse_too_large_a_floor, tested_tree
from clinclust.estimators.fit import DEFAULT_TEST, FEWEST_DRAWS, STOPPED_EARLY, Fit, SubtypeTree
from clinclust.estimators.likelihood_check import compared_likelihoods, warning_of_misfits
from clinclust.estimators.parameters import SamplerParameters
from clinclust.estimators.saving import software_versions
from clinclust.estimators.settings import Settings, pose_for, refuse_or_warn_of_memory
from clinclust.estimators.subtype_model import fitted_problem
from clinclust.files.cell_text import limited
from clinclust.files.row_choice import noted_several_rows, rows_taken
from clinclust.progress import Progress
from clinclust.schema import FeatureSchema
from clinclust.schema.validation import warn_of_uninformative

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem


# Checks before a search, shared by a fit and `clinclust check`.

_ROWS_SHOWN = 5


class Prepared(NamedTuple):
    """A cohort that can be fitted."""

    frame: pd.DataFrame
    """The validated columns, with measurements adjusted as in the fit."""
    schema: FeatureSchema
    problem: Problem
    unadjusted: pd.DataFrame | None = None
    """The validated columns as they are; None if nothing is adjusted."""
    adjustment: Adjustment | None = None


def prepared(settings: Settings, X: pd.DataFrame | ArrayLike) -> Prepared:
    """Return the checked cohort with the problem of the fit.

    Raises CohortError if the table does not fit the schema, and InputError if no feature is left, memory is too small,
    or the subtypes asked for cannot be had.
    """
    frame, schema = cohort_and_schema(X, settings.schema, progress=settings.progress)
    if isinstance(settings.n_clusters, Integral) and settings.n_clusters > len(frame):
        raise InputError(
            f"{settings.n_clusters} subtypes were asked for, and the cohort has {len(frame)} subjects; ask for fewer "
            "subtypes, or check how the table was read or filtered"
        )
    refuse_too_large_a_floor(settings.min_size, len(frame))
    cohort = posed(settings, frame, schema)
    refuse_or_warn_of_memory(cohort.problem, settings)
    return cohort


def posed(settings: Settings | SamplerParameters, frame: pd.DataFrame, schema: FeatureSchema) -> Prepared:
    """Return the cohort with its problem, and warn of rows and columns that inform no clustering."""
    warn_of_visits(frame)
    problem = interruptible(partial(pose_for, settings, frame, schema))
    warn_of_uninformative(problem.kept_out, len(frame))
    names = list(dict.fromkeys(feature.column for feature in problem.cohort.encoding.features))
    warn_of_unobserved(frame, names)
    warn_of_copied_rows(frame, names)
    _warn_of_gaps(problem, frame)
    return Prepared(frame, schema, problem)


def warn_of_visits(frame: pd.DataFrame) -> None:
    """Warn of several rows per subject."""
    found = noted_several_rows(frame)
    if found is not None:
        warn(limited(f"ROWS ARE NOT PATIENTS, and each counts as a subject of its own: {found.sentence()}"))


def warn_of_unobserved(frame: pd.DataFrame, names: list[str]) -> None:
    """Warn of rows without any value in these columns, such as notes or totals."""
    rows = frame.index[frame[names].isna().all(axis="columns").to_numpy()]
    if len(rows):
        shown = ", ".join(map(str, rows[:_ROWS_SHOWN]))
        warn(
            f"no observed value in any feature to cluster on: {len(rows)} row(s) (first: {shown}); each still counts "
            "as a subject, so leave notes, totals and empty rows out of the table"
        )


def _warn_of_gaps(problem: Problem, frame: pd.DataFrame) -> None:
    """Warn of values in a multivariate Gaussian block that are not used, because a more complete one is missing."""
    encoding, arrays = problem.cohort.encoding, problem.cohort.arrays
    n_table, n_used = arrays.codes.shape[1], (~np.isnan(arrays.values)).sum(axis=0)
    lost: dict[str, int] = {}
    for index, likelihood in enumerate(encoding.likelihoods):
        if likelihood.n_before:
            feature = encoding.features[index]
            n_lost = int(frame[feature.name].notna().sum()) - int(n_used[index - n_table])
            lost[str(feature.block)] = lost.get(str(feature.block), 0) + n_lost
    told = [f"{block}: {n} value(s)" for block, n in lost.items() if n]
    if told:
        warn(
            "values of multivariate Gaussian blocks that take no part in the search, because their subject has no "
            f"value in a more complete feature of the block: {'; '.join(told)}. Where these are many, take the "
            "features with the most missing values out of the block"
        )


# The search of a fit: from a prepared cohort to its `Fit`.
#
# Block weights are first estimated with one cluster (`joint_estimates.dependence`), which is too low where subtypes
# differ in one block only. If one is low, a short search with full weights is tested for distinct subtypes; where these
# leave less dependence, the search is repeated with the weights that they imply.

_SHARE_OF_ADJUSTMENT = 0.5
"""Largest share of a time budget for the effects of the columns to adjust for."""
_LOW = 0.8
"""Weight below which a block may hide subtypes."""
_LEFT = 0.4
"""Largest share of the dependence inside a block, 1 / w - 1, left by distinct subtypes, for another search."""
_SHARE = 0.3
"""Share of the remaining time budget for the search with full weights."""


def found_fit(settings: Settings, cohort: Prepared, cancelled: Event) -> Fit:
    """Search as the settings say; InputError for unusable `init` or too few clusters, SearchCancelled if cancelled."""
    budget = Budget(settings.max_seconds)
    with announcing_compilation():
        plan = settings.search_plan(cohort.problem, cancelled, budget, Progress(bool(settings.progress)))
        cohort = adjusted(cohort, settings, plan)
        fit = fit_by(plan, cohort, is_tested=settings.is_tested)
    return as_asked(fit, settings.n_clusters, settings.min_size)


def adjusted(cohort: Prepared, settings: Settings, plan: SearchPlan) -> Prepared:
    """Return the cohort with its measurements adjusted for the columns with the role ``adjust``."""
    short = plan.shortened(plan.budget.part(_SHARE_OF_ADJUSTMENT), "adjustment")
    short = replace(short, choose_coarsening=plan.choose_coarsening, selects_first=plan.selects_first)

    def search_adjusted(frame: pd.DataFrame) -> tuple[Labels, float]:
        result = search(pose_for(settings, frame, cohort.schema), short)
        labels = result.problem.cohort.in_table_order(result.winner.labels)
        whole = replace(result.problem, model=result.problem.model._replace(coarsening=1.0))
        return labels, log_joint(whole, whole.partition(result.winner.labels))

    adjustment = estimate_adjustment(cohort.frame, cohort.schema, search_adjusted)
    if adjustment is None:
        return cohort
    frame = adjustment.remove(cohort.frame, cohort.schema)
    return Prepared(frame, cohort.schema, pose_for(settings, frame, cohort.schema), cohort.frame, adjustment)


def fit_by(
    plan: SearchPlan,
    cohort: Prepared,
    *,
    is_tested: bool,
    n_draws: int = DEFAULT_TEST["n_draws"],
    with_grades: bool = True,
) -> Fit:
    """Return the fit by a plan, with its tree tested if `is_tested`; no clusters are merged.

    `n_draws` is the largest number of cohorts drawn at each join. With `with_grades`, accepted joins are also tested
    against one continuum of any shape.
    """
    fit = fit_of(search(cohort.problem, plan), cohort, plan)
    if not is_tested:
        return fit

    def tested(found: Fit, *, in_short: bool = False) -> Fit:
        draws = FEWEST_DRAWS if in_short else n_draws
        return with_tree_tested(found, cohort, plan, n_draws=draws, with_grades=with_grades and not in_short)

    fit = tested(fit)
    powers = fit.block_weights_
    if not plan.estimate_powers or min(powers.values(), default=1.0) >= _LOW or plan.budget.used_up():
        return fit
    short = plan.shortened(plan.budget.part(_SHARE), "blocks in full")
    in_full = tested(_searched(cohort, short, {}), in_short=True)
    if in_full.tree_test_ is None or _n_parted(in_full) == 1:
        return fit
    problem = fitted_problem(in_full, cohort.frame, coarsening=1.0)
    distinct = in_full.tree_test_.parted_of(in_full.tree_)[in_full.tree_.labels]
    weights = implied_weights(problem, distinct[problem.cohort.order])
    implied = powers_of_blocks(problem.cohort.encoding.features, weights)
    if not any(1.0 / implied[block] - 1.0 <= _LEFT * (1.0 / powers[block] - 1.0) for block in implied):
        return fit
    again = replace(plan, estimate_powers=False, progress=plan.progress.within("blocks anew"))
    found = tested(_searched(cohort, again, powers | implied))
    return found if _n_parted(found) > _n_parted(fit) else fit


def with_tree_tested(
    found: Fit, cohort: Prepared, plan: SearchPlan, *, n_draws: int = DEFAULT_TEST["n_draws"], with_grades: bool = True
) -> Fit:
    """Return a fit of a cohort with its tree tested; the arguments are those of `fit_by`."""
    parameters = {**DEFAULT_TEST, "random_state": found.random_seed_, "n_jobs": plan.n_jobs, "n_draws": n_draws}
    tree, test = tested_tree(found, cohort.frame, parameters, plan.progress, plan.cancelled, with_grades=with_grades)
    return replace(found, tree_=tree, tree_test_=test)


def _searched(cohort: Prepared, plan: SearchPlan, powers: Mapping[str, float]) -> Fit:
    of_features = powers_of_features(cohort.problem.cohort.encoding.features, powers)
    return fit_of(search(cohort.problem.with_powers(of_features), plan), cohort, plan)


def _n_parted(fit: Fit) -> int:
    return 0 if fit.tree_test_ is None else len(fit.tree_test_.parted_nodes(fit.tree_))


def warn_of_fit(fit: Fit, settings: Settings, cohort: Prepared) -> None:
    """Warn of a search that did not end by itself, and of misfits of likelihoods."""
    if not fit.restarts_["converged"].iloc[fit.restarts_["log_joint"].argmax()]:
        moving = "moving subjects or changing filled values" if settings.fills_modes else "moving subjects"
        warn(f"The best restart was still {moving} after {settings.max_sweeps} sweeps; raise `max_sweeps`")
    if fit.stopped_early_:
        path = "; the path of coarsenings may have ended too early" if settings.chooses_coarsening else ""
        warn(
            f"The search was {STOPPED_EARLY}{path}. The limit was {settings.max_seconds:g} seconds (`max_seconds`). "
            "Allow more to see whether the subtypes change"
        )
    misfits = warning_of_misfits(compared_likelihoods(fit, cohort.frame, cohort.problem.cohort.order))
    if misfits is not None:
        warn(misfits)


# The kinds of search that a plan can describe; nothing else chooses among them.

CONCENTRATIONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""The concentrations of cross-validation."""
N_FOLDS = 5
_BRANCH = 1414
"""Spawn key of the random draws of the resolution path."""
_RESTARTS_OF_SELECTION = 6
"""Largest number of restarts of the selection; the fifth, `bisected`, finds groups that differ a little everywhere."""
_SHARE_OF_SELECTION = 0.3
"""Largest share of a time budget for the selection of features before the search."""
_SHARE_OF_POWERS = 0.3
"""Largest share of a time budget for the estimation of block weights."""


def search(problem: Problem, plan: SearchPlan) -> SearchResult:
    """Run the search that the plan describes, after shorter ones that estimate block weights and select features.

    The problem holds all values; its coarsening is 1 if the coarsening is to be chosen.
    """
    if plan.estimate_powers and has_repeated(problem):  # in a sample of a large cohort
        part, between = draw_sample(problem, plan.shortened(plan.budget.part(_SHARE_OF_POWERS), "block weights"))
        rounds = count(1)

        def find(posed: Problem) -> tuple[Problem, NDArray[np.int64]]:
            about = f"block weights, round {next(rounds)}"
            result = _search(posed, replace(between, progress=plan.progress.within(about)))
            return result.problem, result.labels

        problem = problem.with_powers(reproduced_weights(part, find, between.budget.used_up))
    if plan.selects_first is not None:
        short = plan.shortened(plan.budget.part(_SHARE_OF_SELECTION), "selection of features")
        short = replace(short, n_restarts=min(plan.n_restarts, _RESTARTS_OF_SELECTION))
        chosen = strength_and_features(*draw_sample(problem, short), plan.selects_first)
        if chosen is not None:
            strength, included = chosen
            stronger = strengthened(problem, strength, plan.selects_first)
            result = _search(stronger.with_features(included), plan)
            result = with_all_features(result, stronger, included, plan.outlying_share)
            return replace(result, prior_strength=strength)
    return _search(problem, plan)


def _search(problem: Problem, plan: SearchPlan) -> SearchResult:
    """Run the search that the plan describes, with the block weights of the problem."""
    if plan.fill_modes:
        return _best_of(problem, run_restarts(problem, _starts(problem, plan), plan, search=search_filling))
    if plan.begins_in_sample and problem.cohort.n_subjects >= LARGE:
        return _chosen(sampled_steps(problem, plan, _branch(plan)), plan)
    starts = _starts(problem, plan)
    if plan.choose_coarsening:
        return _chosen(resolution_steps(problem, plan, _branch(plan), first_step(problem, starts, plan)), plan)
    if plan.outlying_share > 0.0:
        return search_with_outlying(problem, starts, plan)
    if plan.concentration != "cross-validation":
        return _search_under(problem, starts, plan, problem.model.concentration)
    # The seed has one child more than there are restarts, so that the folds share no random draws with a restart.
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed).spawn(len(starts) + 1)[-1])
    tried = _cross_validated(problem, starts, plan, rng)
    chosen = max(tried, key=lambda row: row["held_out_log_density"])
    result = _search_under(problem, starts, plan, chosen["concentration"])
    return replace(result, tried=[row | {"chosen": row is chosen} for row in tried])


def _branch(plan: SearchPlan) -> np.random.SeedSequence:
    return np.random.SeedSequence(plan.seed, spawn_key=(_BRANCH,))


def _chosen(steps: list[ResolutionStep], plan: SearchPlan) -> SearchResult:
    return replace(steps[chosen_step(steps)], steps=steps if plan.choose_coarsening else ())


def _best_of(problem: Problem, restarts: list[RestartResult]) -> SearchResult:
    return SearchResult(problem, restarts, index_of_best(restarts), none_outlying(problem))


def _starts(problem: Problem, plan: SearchPlan) -> list[Start]:
    if not isinstance(plan.start, str):
        return starts_from(plan.start, plan.seeds)
    if plan.start == "single":
        return starts_from(problem.cohort.together, plan.seeds, "single")
    return search_starts(problem.cohort.n_subjects, plan.seeds)


def _search_under(
    problem: Problem,
    starts: list[Start],
    plan: SearchPlan,
    concentration: float,
    found: list[RestartResult] | None = None,
) -> SearchResult:
    """Search from an initial concentration, or on from `found`."""
    problem = replace(problem, model=problem.model._replace(concentration=concentration))
    search = partial(_restarts, plan)
    restarts = search(problem, starts) if found is None else carry_on(problem, found, starts, search)
    if plan.choose_hyperparameters:
        problem, restarts = choose_greedily(problem, restarts, starts, search, plan)
    if plan.concentration == "map":
        problem, restarts = alternate(problem, restarts, starts, search, plan.budget)
    return _best_of(problem, restarts)


def _restarts(plan: SearchPlan, problem: Problem, starts: list[Start]) -> list[RestartResult]:
    run = run_selecting_restarts if plan.select_features else run_restarts
    onward = starts[0].name == "given"  # a search that continues from a given partition is not refined
    return run(problem, starts, replace(plan, refine=plan.refine and not onward))


def _cross_validated(
    problem: Problem, starts: list[Start], plan: SearchPlan, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Return one row per concentration: mean held-out log density, and mean number of clusters over the folds."""
    densities = np.empty((problem.cohort.n_subjects, len(CONCENTRATIONS)))
    n_clusters = [[] for _ in CONCENTRATIONS]  # type: list[list[int]]
    n_ahead = N_FOLDS + 1  # the folds, and the search in the whole cohort after them
    for training, held_out in deal_folds(problem.cohort.n_subjects, N_FOLDS, rng):
        part, part_starts = problem.restricted_to(training, 0), starts_among(starts, training)
        progress = plan.progress.within(f"fold {N_FOLDS + 2 - n_ahead} of {N_FOLDS}")
        fold_plan = replace(plan, budget=plan.budget.part(1.0 / n_ahead), progress=progress)
        n_ahead -= 1
        at_default = _restarts(replace(fold_plan, budget=fold_plan.budget.part(0.5)), part, part_starts)
        for index, concentration in enumerate(CONCENTRATIONS):
            at_value = replace(fold_plan, progress=progress.within(f"concentration {concentration:g}"))
            result = _search_under(part, part_starts, at_value, concentration, at_default)
            densities[held_out, index] = held_out_log_density(result.problem, result.labels, problem.cohort, held_out)
            n_clusters[index].append(int(result.labels.max()) + 1)
    means = densities.mean(axis=0).tolist()
    return [
        {"concentration": value, "held_out_log_density": mean, "n_clusters": float(np.mean(numbers))}
        for value, mean, numbers in zip(CONCENTRATIONS, means, n_clusters, strict=True)
    ]


# The results of a search.


def fit_of(result: SearchResult, of_cohort: Prepared, plan: SearchPlan) -> Fit:
    """Return the results of a search, subjects in the order of the table and clusters by decreasing size."""
    problem, best, schema = result.problem, result.winner, of_cohort.schema
    cohort, frame = problem.cohort, of_cohort.frame if of_cohort.unadjusted is None else of_cohort.unadjusted
    labels = by_decreasing_size(best.labels)
    partition = problem.partition(labels)
    # A feature that was not selected has the same distribution in every cluster. It cancels in the probabilities of
    # clusters and in the evidence of joins.
    included = np.ones(len(cohort.encoding.features), dtype=np.bool_) if best.included is None else best.included
    selected = problem if included.all() else problem.with_features(included)
    scores = leave_one_out_scores(selected, selected.partition(labels))
    joins, evidence = merge_tree(selected, labels)
    warmth = temperature(selected, labels, plan.seed, plan.cancelled) if plan.calibrate else 1.0
    outlying = np.zeros((cohort.n_subjects, len(schema.parts)), dtype=np.bool_)
    if result.outlying.any():
        outlying[:, schema.places(cohort.encoding.features)] = cohort.in_table_order(result.outlying)
    labels_of_table, taken = cohort.in_table_order(labels), rows_taken(frame)
    clusters = clusters_of(problem, partition, included)
    clusters = replace(clusters, outlying_share=plan.outlying_share, temperature=warmth)
    return Fit(
        schema_=schema,
        random_seed_=plan.seed,
        cluster_labels_=labels_of_table,
        cluster_membership_=cohort.in_table_order(probabilities(scores / warmth)),
        clusters_=clusters,
        subtype_of_=np.arange(clusters.sizes.size),
        log_joint_=log_joint(problem, partition) if plan.fill_modes else best.log_joint,
        log_joint_trace_=best.trace,
        leave_one_out_nll_=_nll(selected, labels) + _shared_nll(problem, ~included),
        hyperparameters_=problem.hyperparameters,
        uninformative_=problem.kept_out,
        tree_=SubtypeTree(labels_of_table, joins, evidence),
        outliers_=outlying,
        restarts_=_table_of_restarts(result.restarts, best),
        tuning_=pd.DataFrame(
            result.tried
            or {
                "concentration": [float(problem.model.concentration)],
                "log_joint": [best.log_joint],
                "n_clusters": [int(result.labels.max()) + 1],
                "chosen": [True],
            }
        ),
        versions_=software_versions(),
        cohort_fingerprint_=fingerprint_of(frame, salt_of(schema, plan.seed, labels_of_table, clusters)),
        stopped_early_=plan.budget.cut_short,
        row_counts_=None if taken is None else taken.counts,
        completed_log_joint_=best.log_joint if plan.fill_modes else None,
        adjustment_=of_cohort.adjustment,
        prior_strength_=result.prior_strength,
    )


def _table_of_restarts(restarts: list[RestartResult], best: RestartResult) -> pd.DataFrame:
    """Return the table `MAPDP.restarts_`."""
    return pd.DataFrame(
        {
            "restart": np.arange(1, len(restarts) + 1),
            "start": [restart.start for restart in restarts],
            "log_joint": [restart.log_joint for restart in restarts],
            "n_clusters": [int(restart.labels.max()) + 1 for restart in restarts],
            "sweeps": [restart.n_sweeps for restart in restarts],
            "converged": [restart.converged for restart in restarts],
            "ari_to_best": [adjusted_rand_index(restart.labels, best.labels) for restart in restarts],
        }
    )


def _shared_nll(problem: Problem, shared: NDArray[np.bool_]) -> float:
    """Return the contribution of the unselected features (D,) to the paper's E (eq. 12), without ln p(z)."""
    if not shared.any():
        return 0.0
    alike, n_subjects = problem.with_features(shared), problem.cohort.n_subjects
    nll = _nll(alike, np.zeros(n_subjects, dtype=np.int64))
    return nll + log_crp(np.array([float(n_subjects)]), alike.model.concentration, alike.model.discount)


def _nll(problem: Problem, labels: Labels) -> float:
    """Return the paper's E with all features at full weight."""
    in_full = problem.with_powers(np.ones_like(problem.model.powers))
    partition = in_full.partition(labels)
    return leave_one_out_nll(in_full, partition, leave_one_out_scores(in_full, partition))
