"""From a table to a fit: checks before the search, the search that a plan describes, its results, and misfits.

A fit goes from `MAPDP.fit` to `prepared`, the validated and encoded cohort; `found_fit` and `search`, which chooses the
kind of search; `run_restarts` of the engine and its kernels; and back by `fit_of`, the test of the tree (`walk_tree`),
the number of subtypes (`as_asked`) and what the user is warned of (`list_notes`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from numbers import Integral
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln

from clinclust.arrays import Array, Labels, Mask
from clinclust.drafting.kinds import kinds_of_numbers, missing_numbers, numbers_on_grid
from clinclust.engine.joint_estimates import resolution
from clinclust.engine.joint_estimates.outlying import SearchResult, none_outlying, search_filling, search_with_outlying
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem import problem as joint
from clinclust.engine.problem.encoding import ModelValues, canonical_order, powers_of_blocks, powers_of_features
from clinclust.engine.problem.problem import ClusterTree, Problem
from clinclust.engine.sampling.chains import average_membership, temperature
from clinclust.engine.search import settle
from clinclust.engine.search.plan import Budget, RestartResult, SearchPlan, interruptible
from clinclust.engine.search.settle import LARGE, Start
from clinclust.errors import InputError, SchemaError, visible, warn
from clinclust.estimators import say
from clinclust.estimators.adjustment import Adjustment, estimate_adjustment
from clinclust.estimators.cohort_table import CohortFingerprint, cohort_and_schema, salt_of, warn_of_rows
from clinclust.estimators.distinct_subtypes import as_asked, refuse_too_large_a_floor, walk_tree
from clinclust.estimators.fit import FEWEST_DRAWS, N_DRAWS, STOPPED_EARLY, Fit, SubtypeTree
from clinclust.estimators.parameters import SamplerParameters
from clinclust.estimators.saving import software_versions
from clinclust.estimators.settings import Settings, pose_for, refuse_or_warn_of_memory
from clinclust.estimators.subtype_model import fitted_problem
from clinclust.files.cell_text import limited, listed, shortened
from clinclust.files.row_choice import rows_taken
from clinclust.likelihoods import REGISTRY
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.likelihood import without_far_values
from clinclust.likelihoods.ordinal import Ordinal
from clinclust.progress import Progress
from clinclust.schema import Feature, FeatureSchema
from clinclust.schema.validation import warn_of_uninformative
from clinclust.schema.yaml_files import yaml_line

# Checks before a search, shared by a fit and `clinclust check`.


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
    """Return the checked and encoded cohort of a fit; CohortError or InputError if it cannot be fitted as asked."""
    frame, schema = cohort_and_schema(X, settings.schema, progress=settings.progress)
    if isinstance(settings.n_clusters, Integral) and settings.n_clusters > len(frame):
        raise InputError(say("too_few_subjects", n_clusters=settings.n_clusters, n_subjects=len(frame)))
    refuse_too_large_a_floor(settings.min_size, len(frame))
    cohort = posed(settings, frame, schema)
    refuse_or_warn_of_memory(cohort.problem, settings)
    return cohort


def posed(settings: Settings | SamplerParameters, frame: pd.DataFrame, schema: FeatureSchema) -> Prepared:
    """Return the cohort with its problem, and warn of rows and columns that inform no clustering."""
    problem = interruptible(partial(pose_for, settings, frame, schema))
    warn_of_uninformative(problem.kept_out, problem.cohort.n_subjects)
    warn_of_rows(frame, list(dict.fromkeys(feature.column for feature in problem.cohort.encoding.features)))
    # Values of a multivariate Gaussian block are not used where a more complete feature of the block is missing.
    encoding, n_used, lost = problem.cohort.encoding, problem.cohort.n_observed.tolist(), Counter[str]()
    for feature, likelihood, n_values in zip(encoding.features, encoding.likelihoods, n_used, strict=True):
        if likelihood.n_before:
            lost[str(feature.block)] += int(frame[feature.name].notna().sum()) - n_values
    if blocks := [f"{block}: {n} value(s)" for block, n in lost.items() if n]:
        warn(say("unused_values_of_blocks", blocks="; ".join(blocks)))
    return Prepared(frame, schema, problem)


# The search of a fit: from a prepared cohort to its `Fit`.
#
# Block weights are first estimated with one cluster (`joint_estimates.dependence`), which is too low where subtypes
# differ in one block only. If one is low, a short search with full weights is tested for distinct subtypes; where these
# leave less dependence, the search is repeated with weights that they imply. Of as many subtypes, its explain more.

_SHARE_OF_ADJUSTMENT, _SHARE_IN_FULL, _SHARE_OF_SELECTION, _SHARE_OF_POWERS = 0.5, 0.3, 0.3, 0.3
"""Largest shares of the time that is left for the effects of the columns to adjust for, the search with full weights,
the selection of features before the search, and the estimation of block weights."""
_LOW = 0.8
"""Weight below which a block may hide subtypes."""
_LEFT = 0.4
"""Largest share of the dependence inside a block, 1 / w - 1, left by distinct subtypes, for another search."""


def found_fit(settings: Settings, cohort: Prepared, cancelled: Event) -> tuple[Fit, list[str]]:
    """Search as the settings say; return the fit and what to warn of; InputError for unusable `init`."""
    budget, progress = Budget(settings.max_seconds), Progress(bool(settings.progress))
    with announcing_compilation():
        plan = settings.search_plan(cohort.problem, cancelled, budget, progress)
        of_interest = adjusted(cohort, settings, plan)
        fit = fit_by(plan, of_interest, is_tested=settings.is_tested)
        fit = cut(fit, of_interest, plan, settings, settings.min_size)
    return fit, list(list_notes(fit, settings, cohort.frame))


def adjusted(cohort: Prepared, settings: Settings, plan: SearchPlan) -> Prepared:
    """Return the cohort with its measurements adjusted for the columns with the role ``adjust``."""
    short = plan.shortened(plan.budget.part(_SHARE_OF_ADJUSTMENT), "adjustment")
    short = replace(short, choose_coarsening=plan.choose_coarsening, selects_first=plan.selects_first)

    def search_adjusted(frame: pd.DataFrame) -> tuple[Labels, float]:
        result = search(pose_for(settings, frame, cohort.schema), short)
        labels = result.problem.cohort.in_table_order(result.winner.labels)
        whole = result.problem.under(coarsening=1.0)
        return labels, joint.log_joint(whole, whole.partition(result.winner.labels))

    adjustment = estimate_adjustment(cohort.frame, cohort.schema, search_adjusted)
    if adjustment is None:
        return cohort
    frame = adjustment.remove(cohort.frame, cohort.schema)
    return Prepared(frame, cohort.schema, pose_for(settings, frame, cohort.schema), cohort.frame, adjustment)


def fit_by(plan: SearchPlan, cohort: Prepared, *, is_tested: bool, in_short: bool = False) -> Fit:
    """Return the fit by a plan, with its tree tested if `is_tested` (`with_tree_tested`); no clusters are merged."""
    fit = fit_of(search(cohort.problem, plan), cohort, plan)
    if not is_tested:
        return fit
    fit = with_tree_tested(fit, cohort, plan, in_short=in_short)
    powers = fit.block_weights_
    if not plan.estimate_powers or min(powers.values(), default=1.0) >= _LOW or plan.budget.used_up():
        return fit
    short = plan.shortened(plan.budget.part(_SHARE_IN_FULL), "blocks in full")
    in_full = with_tree_tested(_searched(cohort, short, {}), cohort, plan, in_short=True)
    if in_full.tree_test_ is None or _n_parted(in_full) == 1:
        return fit
    problem = fitted_problem(in_full, cohort.problem, coarsening=1.0)
    distinct = in_full.tree_test_.parted_of(in_full.tree_)[in_full.tree_.labels]
    weights = resolution.implied_weights(problem, distinct[problem.cohort.order])
    implied = powers_of_blocks(problem.cohort.encoding.features, weights)
    if not any(1.0 / implied[block] - 1.0 <= _LEFT * (1.0 / powers[block] - 1.0) for block in implied):
        return fit
    again = replace(plan, estimate_powers=False, progress=plan.progress.within("blocks anew"))
    implied_fit = with_tree_tested(_searched(cohort, again, powers | implied), cohort, plan, in_short=in_short)
    return implied_fit if _n_parted(implied_fit) >= max(_n_parted(fit), 2) else fit


def with_tree_tested(fit: Fit, cohort: Prepared, plan: SearchPlan, *, in_short: bool = False) -> Fit:
    """Return a fit of a cohort with its tree tested: in short with the fewest draws, and without grades."""
    n_draws = FEWEST_DRAWS if in_short else N_DRAWS
    tree, test = walk_tree(fit, cohort.problem, plan, n_draws, with_grades=not in_short)
    return replace(fit, tree_=tree, tree_test_=test)


def cut(fit: Fit, cohort: Prepared, plan: SearchPlan, settings: Settings, min_size: float | None) -> Fit:
    """Return a fit with the subtypes that the settings ask for, and the temperature of their probabilities."""
    fit = as_asked(fit, settings.n_clusters, min_size)
    if fit.n_clusters_ == 1 or not settings.calibrate:
        return fit
    problem, order = fitted_problem(fit, cohort.problem, fit.coarsening_), cohort.problem.cohort.order
    places, averages = average_membership(problem, fit.cluster_labels_[order], plan)
    scores = np.log(np.maximum(fit.cluster_membership_, np.finfo(np.float64).tiny))
    warmth = temperature(scores[order[places]], averages, fit.subtype_of_)
    scores /= warmth
    clusters = replace(fit.clusters_, temperature=warmth)
    return replace(fit, clusters_=clusters, cluster_membership_=joint.probabilities(scores))


def _searched(cohort: Prepared, plan: SearchPlan, powers: Mapping[str, float]) -> Fit:
    of_features = powers_of_features(cohort.problem.cohort.encoding.features, powers)
    return fit_of(search(cohort.problem.with_powers(of_features), plan), cohort, plan)


def _n_parted(fit: Fit) -> int:
    return 0 if fit.tree_test_ is None else len(fit.tree_test_.parted_nodes(fit.tree_))


def list_notes(fit: Fit, settings: Settings, frame: pd.DataFrame) -> Iterator[str]:
    """Yield warnings of a search that did not end by itself, and of misfits of likelihoods in the validated cohort."""
    if not fit.restarts_["converged"].iloc[fit.restarts_["log_joint"].argmax()]:
        moving = "moving subjects or changing filled values" if settings.fills_modes else "moving subjects"
        yield f"The best restart was still {moving} after {settings.max_sweeps} sweeps; raise `max_sweeps`"
    if fit.stopped_early_:
        path = "; the path of coarsenings may have ended too early" if settings.chooses_coarsening else ""
        yield say("search_ended_early", ended=STOPPED_EARLY, about_the_path=path, max_seconds=settings.max_seconds)
    if misfits := warning_of_misfits(compared_likelihoods(fit, frame)):
        yield misfits


# The kinds of search that a plan can describe; nothing else chooses among them.

CONCENTRATIONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""The concentrations of cross-validation."""
N_FOLDS = 5
_BRANCH = 1414
"""Spawn key of the random draws of the resolution path."""
_RESTARTS_OF_SELECTION = 6
"""Largest number of restarts of the selection; the fifth, `bisected`, finds groups that differ a little everywhere."""


def search(problem: Problem, plan: SearchPlan) -> SearchResult:
    """Run the search that the plan describes, after shorter ones that estimate block weights and select features."""
    if plan.estimate_powers and resolution.has_repeated(problem):  # in a sample of a large cohort
        part, between = settle.draw_sample(problem, plan.shortened(plan.budget.part(_SHARE_OF_POWERS), "block weights"))
        rounds = count(1)

        def find(posed: Problem) -> tuple[Problem, NDArray[np.int64]]:
            about = f"block weights, round {next(rounds)}"
            result = _search(posed, replace(between, progress=plan.progress.within(about)))
            return result.problem, result.labels

        problem = problem.with_powers(resolution.reproduced_weights(part, find, between.budget.used_up))
    if plan.selects_first is not None:
        short = plan.shortened(plan.budget.part(_SHARE_OF_SELECTION), "selection of features")
        short = replace(short, n_restarts=min(plan.n_restarts, _RESTARTS_OF_SELECTION))
        chosen = resolution.strength_and_features(*settle.draw_sample(problem, short), plan.selects_first)
        if chosen is not None:
            strength, included = chosen
            stronger = resolution.strengthened(problem, strength, plan.selects_first)
            result = _search(stronger.with_features(included), plan)
            result = resolution.with_all_features(result, stronger, included, plan.outlying_share)
            return replace(result, prior_strength=strength)
    return _search(problem, plan)


def _search(problem: Problem, plan: SearchPlan) -> SearchResult:
    branch = np.random.SeedSequence(plan.seed, spawn_key=(_BRANCH,))
    if plan.fill_modes:
        return _best_of(problem, settle.run_restarts(problem, _starts(problem, plan), plan, search=search_filling))
    steps: list[resolution.ResolutionStep] = []
    if plan.begins_in_sample and problem.cohort.n_subjects >= LARGE:
        steps = resolution.sampled_steps(problem, plan, branch)
    elif plan.choose_coarsening:
        steps = resolution.resolution_steps(problem, _starts(problem, plan), plan, branch)
    if steps:
        return replace(steps[resolution.chosen_step(steps)], steps=steps if plan.choose_coarsening else ())
    starts = _starts(problem, plan)
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


def _best_of(problem: Problem, restarts: list[RestartResult]) -> SearchResult:
    return SearchResult(problem, restarts, settle.index_of_best(restarts), none_outlying(problem))


def _starts(problem: Problem, plan: SearchPlan) -> list[Start]:
    if not isinstance(plan.start, str):
        return settle.starts_from(plan.start, plan.seeds)
    if plan.start == "single":
        return settle.starts_from(problem.cohort.together, plan.seeds, "single")
    return settle.search_starts(problem.cohort.n_subjects, plan.seeds)


def _search_under(
    problem: Problem,
    starts: list[Start],
    plan: SearchPlan,
    concentration: float,
    found: list[RestartResult] | None = None,
) -> SearchResult:
    """Search from an initial concentration, or on from `found`."""
    problem = problem.under(concentration=concentration)
    search = partial(_restarts, plan)
    restarts = search(problem, starts) if found is None else resolution.carry_on(problem, found, starts, search)
    if plan.choose_hyperparameters:
        problem, restarts = resolution.choose_greedily(problem, restarts, starts, search, plan)
    if plan.concentration == "map":
        problem, restarts = resolution.alternate(problem, restarts, starts, search, plan.budget)
    return _best_of(problem, restarts)


def _restarts(plan: SearchPlan, problem: Problem, starts: list[Start]) -> list[RestartResult]:
    run = resolution.run_selecting_restarts if plan.select_features else settle.run_restarts
    onward = starts[0].name == "given"  # a search that continues from a given partition is not refined
    return run(problem, starts, replace(plan, refine=plan.refine and not onward))


def _cross_validated(
    problem: Problem, starts: list[Start], plan: SearchPlan, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Return one row per concentration: mean held-out log density, and mean number of clusters over the folds."""
    densities = np.empty((problem.cohort.n_subjects, len(CONCENTRATIONS)))
    n_clusters = [[] for _ in CONCENTRATIONS]  # type: list[list[int]]
    folds = resolution.deal_folds(problem.cohort.n_subjects, N_FOLDS, rng)
    for fold, (training, held_out) in enumerate(folds, start=1):
        part, part_starts = problem.restricted_to(training), resolution.starts_among(starts, training)
        progress = plan.progress.within(f"fold {fold} of {N_FOLDS}")
        n_ahead = N_FOLDS + 2 - fold  # the folds, and the search in the whole cohort after them
        fold_plan = replace(plan, budget=plan.budget.part(1.0 / n_ahead), progress=progress)
        at_default = _restarts(replace(fold_plan, budget=fold_plan.budget.part(0.5)), part, part_starts)
        for index, concentration in enumerate(CONCENTRATIONS):
            at_value = replace(fold_plan, progress=progress.within(f"concentration {concentration:g}"))
            result = _search_under(part, part_starts, at_value, concentration, at_default)
            of_fold = result.problem, result.labels, problem.restricted_to(held_out)
            densities[held_out, index] = resolution.held_out_log_density(*of_fold)
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
    labels = settle.by_decreasing_size(best.labels)
    in_table, partition = cohort.in_table_order, problem.partition(labels)
    # A feature that was not selected has the same distribution in every cluster. It cancels in the probabilities of
    # clusters and in the evidence of joins.
    included = np.ones(len(cohort.encoding.features), dtype=np.bool_) if best.included is None else best.included
    selected = problem.with_features(included)
    nll = _leave_one_out_nll(problem, selected, labels, ~included)  # before the membership: both take memory
    membership = joint.probabilities(in_table(joint.leave_one_out_scores(selected, selected.partition(labels))))
    joins, evidence = settle.merge_tree(selected, labels)
    outlying = np.zeros((cohort.n_subjects, len(schema.parts)), dtype=np.bool_)  # takes no memory until it is written
    if result.outlying.any():
        outlying[:, schema.places(cohort.encoding.features)] = in_table(result.outlying)
    labels_of_table, choice = in_table(labels), rows_taken(frame)
    clusters = replace(joint.clusters_of(problem, partition, included), outlying_share=plan.outlying_share)
    return Fit(
        schema_=schema,
        random_seed_=plan.seed,
        cluster_labels_=labels_of_table,
        cluster_membership_=membership,
        clusters_=clusters,
        subtype_of_=np.arange(clusters.sizes.size),
        log_joint_=joint.log_joint(problem, partition) if plan.fill_modes else best.log_joint,
        log_joint_trace_=best.trace,
        leave_one_out_nll_=nll,
        hyperparameters_=problem.hyperparameters,
        uninformative_=problem.kept_out,
        tree_=SubtypeTree(labels_of_table, joins, evidence),
        outliers_=outlying,
        restarts_=pd.DataFrame(
            {
                "restart": np.arange(1, len(result.restarts) + 1),
                "start": [restart.start for restart in result.restarts],
                "log_joint": [restart.log_joint for restart in result.restarts],
                "n_clusters": [int(restart.labels.max()) + 1 for restart in result.restarts],
                "sweeps": [restart.n_sweeps for restart in result.restarts],
                "converged": [restart.converged for restart in result.restarts],
                "ari_to_best": [settle.adjusted_rand_index(restart.labels, best.labels) for restart in result.restarts],
            }
        ),
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
        cohort_fingerprint_=CohortFingerprint.of(frame, salt_of(schema, plan.seed, labels_of_table, clusters)),
        stopped_early_=plan.budget.cut_short,
        row_counts_=None if choice is None else choice.counts,
        completed_log_joint_=best.log_joint if plan.fill_modes else None,
        adjustment_=of_cohort.adjustment,
        prior_strength_=result.prior_strength,
    )


def _leave_one_out_nll(problem: Problem, selected: Problem, labels: Labels, shared: NDArray[np.bool_]) -> float:
    """Return the paper's E (eq. 12) at full weight; the `shared` features (D,) are not among the selected ones."""
    nll = joint.leave_one_out_nll(selected, labels)
    if shared.any():  # these have one cluster, whose ln p(z) does not count
        alike, n_subjects = problem.with_features(shared), np.array([float(labels.size)])
        of_shared = joint.leave_one_out_nll(alike, problem.cohort.together)
        nll += of_shared + joint.log_crp(n_subjects, alike.model.concentration)
    return nll


# The declared likelihood of each feature, compared with its alternatives in the clusters of a fit.

_FEW_COUNTS = 10
"""Largest count for which counts may be declared as levels of a scale."""
_AT_LOWEST, _MOST_TIED, _LEAST_SPREAD = 0.1, 0.2, 2.0
_COUNTS = [name for name, traits in REGISTRY.items() if "count" in traits.drafted_for and traits.is_count]
_OF_VALUES = ("levels", "trials", "minimum", "maximum")


def alternatives_of(feature: Feature, scores: Array) -> list[Feature]:
    """Return the feature with each other likelihood or transform that the schema accepts for its observed scores (n,).

    Bernoulli, ordinal and categorical features have no alternative.
    """
    if feature.traits.is_share or feature.traits.counts_levels or not scores.size:
        return []
    declared, others = (feature.likelihood, feature.transform), list[Feature]()
    for fields in _other_fields(feature, scores):
        if (fields["likelihood"], fields.get("transform")) == declared:
            continue
        traits, content = REGISTRY[fields["likelihood"]], feature.content()
        takes = () if fields["likelihood"] == Ordinal.name else traits.takes
        unfit = {"prior", "transform", *(name for name in _OF_VALUES if name not in takes)}
        unfit |= {"contrast"} if content.get("contrast") not in traits.contrasts else set()
        content = {name: value for name, value in content.items() if name not in unfit}
        content |= {name: value for name, value in fields.items() if value is not None}
        if feature.is_part:  # of a feature in two parts, that of the second
            of_part = {name: content.get(name) for name in ("likelihood", "transform", "prior")}
            content = feature.whole.content() | of_part
        with suppress(SchemaError):
            others.append(Feature(**content).parts[-1] if feature.is_part else Feature(**content))
    return others


def _other_fields(feature: Feature, scores: Array) -> Iterator[dict[str, Any]]:
    """Yield the likelihoods and transforms that values can have, the usual ones first."""
    low, high = float(scores.min()), float(scores.max())
    if feature.traits.is_scale:  # ordinal, or a density for a scale of many steps
        steps = feature.n_trials or 0
        shares = np.unique(scores, return_counts=True)[1] / scores.size
        if Ordinal.most_steps is None or steps <= Ordinal.most_steps:
            yield {"likelihood": Ordinal.name, **{name: getattr(feature, name) for name in _OF_VALUES}}
        elif feature.levels is None and scores.std() >= _LEAST_SPREAD and shares.max() < _MOST_TIED:
            yield {"likelihood": Gaussian.name, "minimum": feature.lowest, "maximum": feature.lowest + steps}
    elif feature.traits.is_count:
        yield from ({"likelihood": name} for name in _COUNTS if int(high) <= REGISTRY[name].largest)
        if 1 < int(high) <= _FEW_COUNTS:
            yield {"likelihood": Ordinal.name, "trials": int(high)}
    elif np.isin(scores, (0.0, 1.0)).all():
        yield {"likelihood": Bernoulli.name}
    elif (
        np.unique(scores).size > 2 and kinds_of_numbers(numbers_on_grid(scores))[0].what == "counts"
    ):  # 0, 1, 2 and 5 falls are no durations
        yield from ({"likelihood": name} for name in _COUNTS if int(high) <= REGISTRY[name].largest)
    else:
        yield {"likelihood": Gaussian.name}
        if _has_logarithm(scores):
            yield {"likelihood": Gaussian.name, "transform": "log"}
            yield {"likelihood": Gaussian.name, "transform": "sqrt"}
        elif low == 0.0 and _has_logarithm(scores + 1.0):
            yield {"likelihood": Gaussian.name, "transform": "log1p"}
        if low >= 0.0:
            yield {"likelihood": Exponential.name}


def _has_logarithm(values: Array) -> bool:
    """Return whether all values are positive and few of them are the lowest one."""
    low = float(values.min())
    return low > 0 and bool(np.mean(values == low) <= max(_AT_LOWEST, 2.0 / values.size))


_CLEAR, _CLEAR_A_VALUE = 15.0, 0.02
"""Evidence in nats, and in nats per observed value, from which another likelihood is clearly better."""
_CLEAR_A_GROUP = 5.0
"""Additional nats for each further group of the better one."""
_PREFERRED = 5.0
"""Evidence in nats by which a less usual alternative must be better than a more usual one."""
_MOST_SUBJECTS = 4000
"""Number of subjects above which a systematic sample is taken."""

_COLUMNS = {
    "feature": str,
    "declared": str,
    "better": object,
    "evidence": float,
    "n_values": int,
    "declared_groups": object,
    "better_groups": object,
    "is_misfit": bool,
    "schema_line": object,
}
NOTHING_COMPARED = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in _COLUMNS.items()})
"""An empty table of `compared_likelihoods`."""


def compared_likelihoods(fit: Fit, frame: pd.DataFrame) -> pd.DataFrame:
    """Compare the declared likelihood of every clustered feature with its alternatives, in the clusters of a fit.

    `frame` is the validated cohort in the order of the fit. The evidence for a likelihood m of a feature is its log
    marginal at the best level of the tree, where the J clusters are merged to k groups g, less what the divisions into
    these groups cost the feature:

        E(m) = max over k = 1 .. J of [ sum over the groups g of ln m(values in g) - sum over the divisions s of c_s ]
        c_s  = C_s max(G_s, 0) / (sum over all features of max(G_s, 0))

    G_s is the gain of the declared feature by division s, and C_s its cost by the prior of partitions. From 15 nats on
    (5 more for each group beyond its first) and 0.02 nats for each value, the alternative is clearly better and the
    declared likelihood a misfit. ln m is the log density on the scale of the column under default hyperparameters.
    Outliers are left out. The clearest misfit comes first; the columns are those of `_COLUMNS`.
    """
    rows: Labels | slice = slice(None)
    features = fit.clusters_.encoding.features
    if len(frame) > _MOST_SUBJECTS:  # rows that do not depend on the order of the table
        order = canonical_order(ModelValues(frame, sorted(features, key=fit.schema_.clustered_parts.index)))
        rows = order[:: -(-len(frame) // _MOST_SUBJECTS)]
    labels = fit.cluster_labels_[rows]
    tree = ClusterTree(fit.clusters_, fit.tree_.joins, fit.tree_.evidence)
    comparisons = []
    for feature, place in zip(features, fit.schema_.places(features), strict=True):
        if feature.is_part and feature.levels:
            continue  # of a feature in two parts, the likelihood of the second is a choice
        scores = feature.scores(frame[feature.column])[rows]
        seen, is_usual = ~np.isnan(scores), np.ones(scores.size, dtype=np.bool_)
        if fit.outlying_share_ > 0.0:
            is_usual = ~fit.outliers_[rows, place]
        comparisons.append(_compare(feature, scores[seen], labels[seen], is_usual[seen], tree))
    table = pd.DataFrame(comparisons, columns=list(_COLUMNS), dtype=object).astype(_COLUMNS)
    return table.sort_values(["is_misfit", "evidence"], ascending=False, kind="stable", ignore_index=True)


class _Described(NamedTuple):
    feature: Feature
    evidence: float
    n_groups: int
    charges: Array


def _compare(feature: Feature, scores: Array, labels: Labels, is_usual: Mask, tree: ClusterTree) -> dict[str, object]:
    """Return the row of one feature, from its observed values (n,) before any transform, and their clusters (n,).

    Codes for missing values are reported first. Likelihoods are compared in the usual values, which are no outliers.
    """
    row: dict[str, object] = dict.fromkeys(_COLUMNS) | {"feature": feature.column, "declared": in_words(feature)}
    row |= {"evidence": 0.0, "n_values": scores.size, "is_misfit": False}
    is_code = np.isin(scores, list(missing_numbers(*np.unique(scores, return_counts=True))))
    if is_code.any() and feature.traits.is_continuous and not feature.is_part:  # 0 among pressures has no logarithm
        codes = [f"{code:g}" for code in np.unique(scores[is_code])]
        declared = _described(feature, scores, labels, tree)
        other = _described(feature, scores[~is_code], labels[~is_code], tree, declared.charges)
        of_codes = betaln(is_code.sum() + 1.0, (~is_code).sum() + 1.0)  # log probability of who has a code
        content = feature.content() | {"missing_codes": [*feature.missing_codes, *codes]}
        row |= {"better": f"{in_words(feature)} with {listed(codes)} for missing", "is_misfit": True}
        row |= {"declared_groups": declared.n_groups, "better_groups": other.n_groups}
        row |= {"evidence": other.evidence + of_codes - declared.evidence}
        return row | {"schema_line": yaml_line(Feature(**content))}
    scores, labels = scores[is_usual], labels[is_usual]
    if feature.traits.is_continuous or feature.traits.is_count:
        usual = without_far_values(scores)
        if usual.size < scores.size:
            is_usual = (scores >= usual.min()) & (scores <= usual.max())
            scores, labels = scores[is_usual], labels[is_usual]
    row["n_values"] = scores.size
    others = alternatives_of(feature, scores)
    if not others:
        return row
    best = declared = _described(feature, scores, labels, tree)
    for alternative in others:  # a less usual one must be clearly better than a more usual one
        other = _described(alternative, scores, labels, tree, declared.charges)
        if other.evidence > best.evidence + (0.0 if best is declared else _PREFERRED):
            best = other
    row["declared_groups"] = declared.n_groups
    if best is declared:
        return row
    evidence = best.evidence - declared.evidence
    enough = _CLEAR + _CLEAR_A_GROUP * (best.n_groups - 1)
    is_misfit = evidence >= max(enough, _CLEAR_A_VALUE * scores.size)
    row |= {"better": in_words(best.feature), "evidence": evidence, "better_groups": best.n_groups}
    return row | {"is_misfit": is_misfit, "schema_line": yaml_line(best.feature.whole)}


def _described(
    feature: Feature, scores: Array, labels: Labels, tree: ClusterTree, charges: Array | None = None
) -> _Described:
    """Return the evidence for a declaration; without charges, at the level of the fit."""
    values, log_jacobian = feature.on_model_scale(scores)
    log_marginals = joint.log_marginals_in_tree(feature.traits.of(feature), values, labels, tree)
    if charges is None:
        by_prior = tree.charges(log_marginals)
        charges = by_prior[tree.best_level(log_marginals, by_prior)[2]]
    # Every prior pays the same: of two that gain as little, the one that gains less would look better for paying less.
    nats, n_groups, _ = tree.best_level(log_marginals, charges[None])
    evidence = nats + log_jacobian
    return _Described(feature, evidence if np.isfinite(evidence) else -np.inf, n_groups, charges)


def in_words(feature: Feature) -> str:
    """Return the likelihood and transform of a feature in words."""
    name = str(feature.likelihood).replace("_", " ")
    return name if feature.transform is None else f"{name} of the {feature.transform}"


_SHOWN, _LONGEST_LINE = 5, 400
_PROBABLE = 5.0
"""Nats from which another likelihood is reported as probably better, if another feature is a misfit."""


def warning_of_misfits(compared: pd.DataFrame) -> str | None:
    """Return the warning, with lines for the schema; None if no likelihood is clearly better."""
    misfits = compared[compared["is_misfit"]]
    if not (n := len(misfits)):
        return None
    lines = ""
    for row in misfits.iloc[:_SHOWN].to_dict("records"):
        line = str(row["schema_line"])
        if len(line) > _LONGEST_LINE:  # many levels, or long texts
            line = f"- {shortened(str(row['feature']))}: see the sheet Likelihoods of a report"
        lines += f"\n  {line}  # {row['better']} instead of {row['declared']}, by {row['evidence']:,.0f} nats"
    more = f"\n  and {n - _SHOWN} more: the sheet Likelihoods of a report lists all" if n > _SHOWN else ""
    features, lines_of = ("1 feature is", "this line") if n == 1 else (f"{n} features are", "these lines")
    also = probably_too(compared)
    also = f"\n  {also}" if also else ""
    return limited(say("misfits", features=features, these_lines=lines_of, lines=lines, more=more, also=also))


def probably_too(compared: pd.DataFrame) -> str:
    """Return the sentence on probably better likelihoods; empty without any or without a clear misfit."""
    close = compared[~compared["is_misfit"] & (compared["evidence"] >= _PROBABLE)]
    named = [f"{visible(name)} ({better})" for name, better in close[["feature", "better"]].to_numpy(dtype=str)]
    is_told = named and compared["is_misfit"].any()
    return f"Probably better otherwise too, but not clearly: {listed(named)}." if is_told else ""
