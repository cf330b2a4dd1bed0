"""The problem that a search solves: its hyperparameters, log joint and posterior, and predictives in a cluster."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import gammaln

from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.kernels.moves import (
    CohortArrays,
    Model,
    Partition,
    add_up,
    clusters_without_subjects,
    log_marginals,
    new_partition,
)
from clinclust.engine.kernels.sweep import log_predictives_by_feature, write_scores
from clinclust.engine.problem.encoding import (
    EncodedCohort,
    Encoding,
    ModelValues,
    canonical_order,
    log_bases,
    members_of_blocks,
    members_of_chains,
    powers_of_features,
)
from clinclust.errors import InputError, SchemaError
from clinclust.files.cell_text import listed
from clinclust.likelihoods.likelihood import KNOWN_DEGREES, Likelihood
from clinclust.likelihoods.multivariate_gaussian import default_correlations
from clinclust.priors.conjugate import log_gamma_ratio
from clinclust.priors.normal_wishart import NormalWishart, parts
from clinclust.schema import Feature, FeatureSchema
from clinclust.schema.feature import few_of_the_rest
from clinclust.schema.validation import uninformative

# Hyperparameters in two forms: by name for users, and as one flat array on the encoded scale for the engine.
#
# By name they refer to the validated column after its transform; the engine standardises Gaussian features.

Hyperparameters = dict[str, dict[str, Any]]


def default_hyperparameters(
    encoding: Encoding, values: Mapping[str, Array], given: Mapping[str, Mapping[str, Any]]
) -> Hyperparameters:
    """Return every feature's hyperparameters by name: those in `given`, in the schema's `prior`, or the default.

    The default is a prior around the observed mean that weighs about as much as one subject. Raises an InputError that
    lists all stated hyperparameters out of bounds.
    """
    complete: Hyperparameters = {}
    problems: list[str] = []
    before: dict[str, Any] = {}
    factor = np.empty(0)
    correlations = _correlations_of_blocks(encoding, values)
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        default = likelihood.default_hyperparameters(values[feature.name])
        if index in correlations:
            default = likelihood.correlated(default, *correlations[index])
        stated = {**feature.stated, **given.get(feature.name, {})}
        if likelihood.n_before:
            if before.get("degrees") == KNOWN_DEGREES and "scatter" not in stated:
                problems.append(
                    f"{feature.name}: the covariance of its block is known: give its row of known_covariance too"
                )
            else:
                problems += [
                    f"{feature.name}: {key} {stated[key]:g} is not that of its block, {before[key]:g}; a block has one "
                    f"{key}"
                    for key in likelihood.shared_in_block
                    if not np.isclose(stated.get(key, before[key]), before[key], rtol=1e-9, atol=0.0)
                ]
            stated = {**{name: before[name] for name in likelihood.shared_in_block}, **stated}
        unusable = [f"{feature.name}: {problem}" for problem in likelihood.problems_of(stated)]
        theta = default if unusable else likelihood.from_dict(stated, default)
        problems += unusable or _out_of_bounds(feature.name, likelihood, theta, values[feature.name], stated)
        before = complete[feature.name] = likelihood.as_dict(theta)
        factor = likelihood.after(factor, theta)
        problems += [f"{feature.name}: {text}" for text in likelihood.problems_of_factor(factor) if not unusable]
    _refuse(problems)
    return complete


def _correlations_of_blocks(encoding: Encoding, values: Mapping[str, Array]) -> dict[int, tuple[Array, Array]]:
    """Return the roots of the scatter diagonal up to each feature of a block, and its correlations, by its index."""
    by_block: dict[int, tuple[Array, Array]] = {}
    for members in members_of_chains(encoding.features):
        columns = [values[encoding.features[index].name] for index in members]
        correlations = default_correlations(np.column_stack(columns))
        likelihoods = [encoding.likelihoods[index] for index in members]
        pairs = zip(likelihoods, columns, strict=True)
        spreads = np.sqrt(np.array([likelihood.default_hyperparameters(column)[-1] for likelihood, column in pairs]))
        for place, index in enumerate(members):
            by_block[index] = spreads[: place + 1], correlations[place, : place + 1]
    return by_block


def _out_of_bounds(
    name: str, likelihood: Likelihood, theta: Array, values: Array, stated: Mapping[str, Any]
) -> list[str]:
    free = dict(zip(likelihood.hyperparameter_names, likelihood.unit_free(theta, values).tolist(), strict=True))
    problems = []
    for key in sorted(likelihood.with_unit & set(stated)):
        low, high = likelihood.bounds.get(key, likelihood.usual_bounds)
        if not low <= free[key] <= high:
            number = stated[key][-1] if isinstance(stated[key], list) else stated[key]
            called, unit = key, 1.0
            for parameter, (weight, scale) in likelihood.known_parameters.items():  # by a hyperparameter
                if key == scale and stated.get(weight) in (KNOWN_DEGREES, 0.5 * KNOWN_DEGREES):
                    called, unit = parameter, float(stated[weight])
            problems.append(
                f"{name}: {called} {float(number) / unit:g} cannot be used with the values of the column: in units of "
                f"their spread it is {free[key] / unit:g}, and must lie between {low / unit:g} and {high / unit:g}"
            )
    return problems


def _refuse(problems: list[str]) -> None:
    if problems:
        raise InputError("\n  - ".join(["The hyperparameters cannot be used:", *problems]))


def flat_prior(encoding: Encoding, hyperparameters: Mapping[str, Mapping[str, Any]]) -> Array:
    """Return the hyperparameters of all features, one after the other, on the encoded scale, float64 (H,)."""
    parts: list[Array] = []
    theta = np.empty(0)
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        named = hyperparameters[feature.name]
        of_feature = likelihood.from_dict(dict(named), np.full(likelihood.n_hyperparameters, np.nan))
        theta = likelihood.after(theta, of_feature)
        parts.append(likelihood.encoded_hyperparameters(theta, *encoding.standards_of(index, likelihood.n_before)))
    return np.concatenate(parts) if parts else np.zeros(0)


def named_hyperparameters(encoding: Encoding, prior: Array) -> Hyperparameters:
    """Return the hyperparameters of a flat prior by feature and name, on the scale of the columns."""
    named: Hyperparameters = {}
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        standards = encoding.standards_of(index, likelihood.n_before)
        theta = likelihood.stated_hyperparameters(encoding.theta(index, prior), *standards)
        named[feature.name] = likelihood.as_dict(theta)
    return named


def stated_hyperparameters(given: Mapping[str, Mapping[str, Any]], features: tuple[Feature, ...]) -> Hyperparameters:
    """Check hyperparameters that a user gives in code, all problems at once; return them as plain numbers and lists."""
    by_name = {feature.name: feature for feature in features}
    stated: Hyperparameters = {}
    problems: list[str] = []
    for name, named in given.items():
        if name not in by_name:
            problems.append(f"{name}: no clustered feature has this name; they are {', '.join(by_name)}")
            continue
        stated[name] = {key: np.asarray(value).tolist() for key, value in named.items()}
        try:
            # A prior given here must satisfy the same rules as a prior in the schema.
            stated[name] = Feature(**{**by_name[name].content(), "prior": stated[name]}).stated
        except SchemaError as error:
            problems.extend(error.problems)
    _refuse(problems)
    return stated


# The problem that the engine solves: find the partition of a cohort with the highest log joint under a model.

_NARROWEST = 1e-100  # smallest standard deviation of a continuous feature, whose square is still a normal float64


@dataclass(frozen=True)
class Problem:
    """A cohort and its model."""

    cohort: EncodedCohort
    hyperparameters: Hyperparameters  # by feature and name, on the scale of the columns
    model: Model
    kept_out: dict[str, str]  # features, or one of their parts, that cannot inform a clustering, each with the reason

    def partition(self, labels: Labels, capacity: int = 0) -> Partition:
        """Return the partition with these labels, 0 .. K - 1, int64 (N,), and at least this number of columns."""
        return new_partition(self.cohort.arrays, labels, capacity)

    @cached_property
    def fingerprint(self) -> bytes:
        """A hash of the values and of the model."""
        parts = [np.ascontiguousarray(part).data for part in (*self.cohort.arrays, *self.model)]
        return b"".join(hashlib.blake2b(part, digest_size=16).digest() for part in parts)

    @cached_property
    def joint_of_one(self) -> float:
        """The log joint of all subjects in one cluster, in nats."""
        return joint_of(self, self.cohort.together)

    @cached_property
    def work_space(self) -> Partition:
        """A partition that one thread may give other labels, of six clusters at most."""
        return self.partition(self.cohort.together)

    def with_features(self, included: Mask) -> Problem:
        """Return the problem in which features that are not `included`, bool (D,), have one distribution for all."""
        if included.all():
            return self
        arrays, prior = self.cohort.arrays, self.model.prior
        together = self.partition(self.cohort.together).statistics[:1]
        shared = (self.model.powers * log_marginals(arrays, prior, together)[0])[~included].sum()
        cohort = self.cohort.with_features(included, self.cohort.log_base + float(shared))
        parts, of_block = [np.zeros(0)], list[bool]()
        for index, likelihood in enumerate(self.cohort.encoding.likelihoods):
            of_block = [*(of_block if likelihood.n_before else []), bool(included[index])]
            if included[index]:
                theta = self.cohort.encoding.theta(index, prior)
                parts.append(likelihood.without_before(theta, np.array(of_block)))
        model = self.model._replace(prior=np.concatenate(parts), powers=self.model.powers[included])
        named = {feature.name: self.hyperparameters[feature.name] for feature in cohort.encoding.features}
        if any(likelihood.is_chained for likelihood in cohort.encoding.likelihoods):
            named = named_hyperparameters(cohort.encoding, model.prior)
        return replace(self, cohort=cohort, hyperparameters=named, model=model)

    def with_prior(self, prior: Array) -> Problem:
        """Return the problem with other hyperparameters, float64 (H,); those of the schema keep every digit."""
        encoding = self.cohort.encoding
        named = named_hyperparameters(encoding, prior)
        for feature in encoding.features:
            stated = self.hyperparameters[feature.name]
            named[feature.name].update({name: stated[name] for name in feature.stated})
        # Users may pass hyperparameters by name back, so the flat array is computed from those numbers.
        prior = flat_prior(encoding, named)
        cohort = self.cohort.with_prior(prior, self.model.powers)
        return replace(self, cohort=cohort, hyperparameters=named, model=self.model._replace(prior=prior))

    def with_powers(self, powers: Array) -> Problem:
        """Return the problem in which the likelihood of each feature counts to this power, float64 (D,)."""
        change = powers - self.model.powers
        if not change.any():
            return self
        more = float((change * log_bases(self.cohort, self.model.prior)).sum())
        cohort = replace(self.cohort, log_base=self.cohort.log_base + more)
        return replace(self, cohort=cohort, model=self.model._replace(powers=powers))

    def under(self, **numbers: Any) -> Problem:
        """Return the problem with another `concentration` or `coarsening`."""
        return replace(self, model=self.model._replace(**numbers))

    def restricted_to(self, subjects: Whole) -> Problem:
        """Return the problem of some of the subjects: the joint changes as that of all; `log_base` is 0."""
        arrays = self.cohort.arrays
        return self.of_subjects(arrays._replace(codes=arrays.codes[subjects], values=arrays.values[subjects]))

    def of_subjects(self, arrays: CohortArrays) -> Problem:
        """Return the problem of some subjects with these arrays (`restricted_to`)."""
        return replace(self, cohort=EncodedCohort(self.cohort.encoding, arrays, 0.0, np.arange(arrays.codes.shape[0])))


def pose(
    frame: pd.DataFrame,
    schema: FeatureSchema,
    hyperparameters: Mapping[str, Mapping[str, Any]] | None,
    concentration: float,
    coarsening: float = 1.0,
    block_weights: Mapping[str, float] | None = None,
) -> Problem:
    """Return the problem of a validated cohort: encode it and complete the hyperparameters.

    Raises an InputError if no feature is left to cluster on, hyperparameters cannot be used, or a block is unknown.
    """
    features, excluded = _informative(frame, schema, ModelValues(frame, schema.clustered_parts))
    if not features:
        reasons = ", ".join(f"{name} has {reason}" for name, reason in excluded.items())
        raise InputError(f"No feature is left to cluster on: {reasons or 'the schema has none with role cluster'}")
    blocks = list(members_of_blocks(schema.clustered))
    if unknown := [str(block) for block in block_weights or {} if block not in blocks]:
        has = f"it has {listed(blocks)}" if blocks else "no clustered feature of it has a block"
        raise InputError(f"block_weights: the schema has no block {listed(unknown)}; {has}")
    stated = stated_hyperparameters(hyperparameters or {}, schema.clustered_parts)
    order = canonical_order(ModelValues(frame, features))
    # The last digits of sums of other than whole numbers depend on their order: all columns have the canonical one.
    values = ModelValues(frame, features, order)
    spreads = {part.name: float(np.nanstd(values[part.name])) for part in features if part.traits.is_continuous}
    if narrow := [f"{name} (standard deviation {sd:g})" for name, sd in spreads.items() if sd < _NARROWEST]:
        raise InputError(
            f"The values of {', '.join(narrow)} lie too close together to be modelled; give the column in a smaller "
            f"unit, so that its standard deviation is at least {_NARROWEST:g}"
        )
    encoding = Encoding.of(features, values, stated)
    complete = default_hyperparameters(encoding, values, stated)
    prior = flat_prior(encoding, complete)
    arrays, log_base = encoding.encode(values, prior)
    cohort = EncodedCohort(encoding, arrays, log_base, order)
    model = Model(prior, np.ones(len(features)), float(concentration), float(coarsening))
    problem = Problem(cohort, complete, model, excluded)
    return problem.with_powers(powers_of_features(encoding.features, block_weights or {}))


def _informative(
    frame: pd.DataFrame, schema: FeatureSchema, values: Mapping[str, Array]
) -> tuple[tuple[Feature, ...], dict[str, str]]:
    """Return the features to cluster on, and those that cannot inform a clustering by name, each with the reason."""
    reasons, features, excluded = uninformative(values), list[Feature](), dict[str, str]()
    for feature in schema.clustered:
        for part in feature.parts:
            if part.is_part and part.name not in reasons and (few := few_of_the_rest(part, frame[feature.name])):
                reasons[part.name] = few
        parts = [part for part in feature.parts if part.name not in reasons]
        left_out = {part.name: reasons[part.name] for part in feature.parts if part.name in reasons}
        excluded |= left_out if parts or not left_out else {feature.name: next(iter(left_out.values()))}
        features += parts
    return tuple(features), excluded


# The collapsed log joint, which is the objective of every search, and the relevance of each feature.
#
#     ln p(X_obs, z) = ln p(z) + coarsening * sum_d power_d sum_k ln m_d(observed values of feature d in cluster k)
#     ln p(z)        = K ln N0 + sum_k ln Gamma(n_k) + ln Gamma(N0) - ln Gamma(N0 + N)
#
# The power of a feature is below 1 where it shares its information with other features of its block.


def log_joint(problem: Problem, partition: Partition) -> float:
    """Return ln p(X_obs, z) of a partition, in nats, with the powers of the model and all constants."""
    return joint_of_sums(problem, *partition.sums)


def joint_of(problem: Problem, labels: Labels) -> float:
    """Return the log joint of the partition with these labels, 0 .. K - 1, int64 (N,), in nats."""
    arrays, n_clusters = problem.cohort.arrays, int(labels.max()) + 1
    sizes, statistics = np.zeros(n_clusters), np.zeros((n_clusters, int(arrays.statistic_start[-1])))
    add_up(arrays, np.ascontiguousarray(labels, dtype=np.int64), sizes, statistics)
    return joint_of_sums(problem, sizes, statistics)


def joint_of_sums(problem: Problem, sizes: Array, statistics: Array) -> float:
    """Return the log joint of clusters with these sizes (K,) and statistics (K, S), in nats."""
    model = problem.model
    marginals = log_marginals(problem.cohort.arrays, model.prior, statistics)
    log_likelihood = float((marginals * model.powers).sum()) + problem.cohort.log_base
    return log_crp(sizes, model.concentration) + model.coarsening * log_likelihood


def log_crp(sizes: Array, concentration: float) -> float:
    """Return the log probability of a partition with these cluster sizes (K,) under the Chinese restaurant process."""
    of_new = _log_of_new(sizes.size, concentration)
    return float(of_new + gammaln(sizes).sum() - _log_of_all(concentration, float(sizes.sum())))


_log_of_all = lru_cache(log_gamma_ratio)
_log_of_new = lru_cache(lambda n_clusters, concentration: np.full(n_clusters, np.log(concentration)).sum())


def feature_relevance(arrays: CohortArrays, prior: Array, statistics: Array) -> Array:
    """Return the evidence that each encoded feature differs between clusters with statistics (K, S), in nats, (D,).

    R_d = sum_k ln m_d(values in cluster k) - ln m_d(all values together), without coarsening and block weights.
    Below 0, the data favour one distribution for all clusters.
    """
    apart = log_marginals(arrays, prior, statistics).sum(axis=0)
    together = log_marginals(arrays, prior, statistics.sum(axis=0, keepdims=True))[0]
    return np.asarray(apart - together, dtype=np.float64)


def leave_one_out_nll(problem: Problem, labels: Labels) -> float:
    """Return the papers' objective E (Raykov et al. 2016, eq. 12), including C(N0, N); for reproduction only.

    It is a sum of leave-one-out predictives without block weights; a move that raises the log joint can worsen it.
    """
    problem = problem.with_powers(np.ones_like(problem.model.powers))
    partition, model = problem.partition(labels), problem.model
    sizes, scores = partition.sums[0], leave_one_out_scores(problem, partition)
    weights = np.log(np.where(sizes > 1.0, sizes - 1.0, model.concentration))[labels]
    densities = (scores[np.arange(labels.size), labels] - weights) / model.coarsening
    densities += problem.cohort.encoding.log_jacobian(problem.cohort.arrays)
    return -float(densities.sum()) - log_crp(sizes, model.concentration)


# The clusters of a fitted model: scores of the fitted subjects and of new subjects.


@dataclass(frozen=True)
class Clusters:
    """The clusters of a fitted model, without the subjects."""

    encoding: Encoding
    model: Model
    sizes: Array  # (K,) number of subjects in each cluster
    statistics: Array  # (K, S) sufficient statistics of each cluster, of all features
    included: Mask  # (D,) the features that differ between the clusters; others have one distribution for all
    outlying_share: float = 0.0  # probability that a value is drawn from the prior predictive of its feature
    temperature: float = 1.0  # divisor of the log weights of clusters for probabilities (`temperature`)

    def pooled(self, into: Labels) -> Clusters:
        """Return the clusters merged into the clusters `into`, int64 (K,), 0, 1, ...: sizes and statistics add up."""
        groups = [np.flatnonzero(into == group) for group in range(int(into.max()) + 1)]
        sizes = np.array([self.sizes[members].sum() for members in groups])
        return replace(self, sizes=sizes, statistics=np.array([self.statistics[it].sum(axis=0) for it in groups]))

    def relevance(self) -> Array:
        """Return the `feature_relevance` of each encoded feature, in nats, float64 (D,)."""
        return feature_relevance(self._without_subjects(), self.model.prior, self.statistics)

    def log_joint_of_each(self) -> Array:
        """Return the term of each cluster in the log joint of a partition, in nats, float64 (K,)."""
        likelihood = self._counted_log_marginals()[:, self.included].sum(axis=1)
        return np.asarray(gammaln(self.sizes) + self.model.coarsening * likelihood)

    def likelihood_terms(self) -> Array:
        """Return the term of each cluster and included feature in the log joint, in nats, float64 (K, D)."""
        return np.where(self.included, self.model.coarsening * self._counted_log_marginals(), 0.0)

    def _counted_log_marginals(self) -> Array:
        return log_marginals(self._without_subjects(), self.model.prior, self.statistics) * self.model.powers

    def _without_subjects(self) -> CohortArrays:
        none = {feature.name: np.empty(0) for feature in self.encoding.features}
        return self.encoding.encode(none, self.model.prior)[0]

    def scores(self, values: Mapping[str, Array], *, coarsened: bool) -> Array:
        """Return ln p(z = k) + ln p(x | cluster k) of new subjects, in nats, (n, K + 1); the last cluster is empty.

        Densities refer to the columns of `ModelValues` (Raykov et al. 2016, appendix E): the log-sum-exp of a row is
        eq. 33, and its largest entry is eq. 34. If values may be outlying, p(x_d | cluster k) is its mixture with p(x_d
        | prior). Assignment to clusters needs `coarsened`, which multiplies ln p(x_d | cluster k) by the coarsening and
        the power of the feature, and divides the sum by the temperature; densities do not integrate to 1 then.
        """
        prior, statistics = self._shared()
        arrays, _ = self.encoding.encode(values, prior)
        partition = clusters_without_subjects(arrays, self.sizes, statistics)
        model = self.model._replace(prior=prior)
        model = model if coarsened else model.in_full()
        scores = np.zeros((arrays.codes.shape[0], self.sizes.size + 1))
        if self.outlying_share == 0.0:
            write_scores(arrays, model, partition, scores)
        else:
            # ln weight_k + sum_d exponent_d ln[(1 - share) p(x_d | cluster k) + share p(x_d | prior)]
            every = log_predictives_by_feature(arrays, model.in_full(), partition, np.arange(len(scores)))
            for likelihood, exponent, logs in zip(self.encoding.likelihoods, model.exponents, every, strict=True):
                is_missing, terms, share = np.isnan(logs), np.nan_to_num(logs), self.outlying_share
                if not likelihood.is_chained:
                    terms = np.logaddexp(np.log1p(-share) + terms, np.log(share) + terms[:, -1:])
                scores += exponent * np.where(is_missing, 0.0, terms)
            scores += partition.log_weights[0, : scores.shape[1]]
        scores += model.coarsening * self.encoding.log_jacobian(arrays, model.powers)[:, None]
        scores -= np.log(self.sizes.sum() + model.concentration)
        return np.asarray(scores / self.temperature if coarsened else scores, dtype=np.float64)

    def posteriors(self, feature: int) -> Array:
        """Return the encoded posterior hyperparameters of one feature in every cluster; last, its prior, (K + 1, P)."""
        theta, sums = self.of_feature(feature)
        prior = self.encoding.alone[feature].prior
        estimates: Array = prior.posterior(np.broadcast_to(theta, (sums.shape[0], theta.size)), sums)
        return np.vstack([estimates, theta])

    def of_feature(self, feature: int) -> tuple[Array, Array]:
        """Return the hyperparameters (P,) and the statistics (K, S) with which one feature is predicted by itself."""
        likelihood = self.encoding.likelihoods[feature]
        theta, sums = self.factor_of(feature)
        return likelihood.marginal_prior(theta), likelihood.marginal_statistics(sums)

    def factor_of(self, feature: int) -> tuple[Array, Array]:
        """Return the hyperparameters (P,) and the statistics (K, S) of a feature given those before it in its block."""
        return self.encoding.part(feature, *self._shared())

    def _shared(self) -> tuple[Array, Array]:
        """Return prior and statistics; a feature that is not included has all subjects in its prior, no statistics."""
        prior, statistics = self.model.prior.copy(), self.statistics.copy()
        for feature in np.flatnonzero(~self.included).tolist():
            theta, sums = self.encoding.part(feature, prior, statistics)
            theta[:] = self.encoding.likelihoods[feature].prior.posterior(theta, sums.sum(axis=0))
            sums[:] = 0.0
        return prior, statistics


def clusters_of(problem: Problem, partition: Partition, included: Mask | None = None) -> Clusters:
    """Return the clusters of a partition; `included`, bool (D,), are the features that differ between them."""
    encoding, (sizes, statistics) = problem.cohort.encoding, partition.sums
    included = np.ones(len(encoding.features), dtype=np.bool_) if included is None else included
    return Clusters(encoding, problem.model, sizes.copy(), statistics.copy(), included)


def leave_one_out_scores(problem: Problem, partition: Partition) -> Array:
    """Return each subject's log posterior weight for each cluster without it, (N, K); for its own alone, a new one."""
    scores = np.zeros((problem.cohort.n_subjects, int(partition.n_clusters[0]) + 1))
    write_scores(problem.cohort.arrays, problem.model, partition, scores)
    return scores[:, :-1]


def probabilities(scores: Array) -> Array:
    """Return rows of probabilities from rows of log weights, each normalised to sum to 1."""
    rows = scores - scores.max(axis=1, keepdims=True)
    np.exp(rows, out=rows)  # in place, as one of the largest arrays of a fit
    return np.asarray(np.divide(rows, rows.sum(axis=1, keepdims=True), out=rows))


# Predictives in a cluster: of every single value, and of missing values of a multivariate Gaussian block.
#
# The latter are exact if no value of the block was missing in the cohort; else each regression on the features before
# it rests on the subjects with its features, and the degrees of freedom are those of the last.


def log_predictives(
    clusters: Clusters, values: Mapping[str, Array], labels: Labels, left_out: Mask | None = None
) -> Array:
    """Return ln p(x_d | a cluster) of subjects, float64 (D, n), the terms of a score; 0 where a value is missing.

    With A the log normaliser of the conjugate prior and theta_k the posterior of the cluster, it is A(theta_k + T(x)) -
    A(theta_k) + ln h(x) on the encoded scale, without the Jacobian; where values may be outlying, the mixture with the
    prior predictive. `labels` (n,) are the clusters that judge; K is the empty one. The `left_out` values (D, n) are
    taken from the statistics of the cluster first, because these hold them.
    """
    encoding, terms = clusters.encoding, []
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        before = encoding.features[index - likelihood.n_before : index]
        centres, scales = encoding.standards_of(index, likelihood.n_before)
        columns = (np.column_stack([values[member.name] for member in (*before, feature)]) - centres) / scales
        # Given features one of which is missing, the value takes no part.
        column = np.where(np.isnan(columns).any(axis=1), np.nan, columns[:, -1])
        theta, sums = clusters.factor_of(index)
        held = np.vstack([sums, np.zeros(sums.shape[1])])[labels]
        # Of a feature that is the same in all clusters, one value of N counts for nothing, and in every cluster alike.
        if left_out is not None and clusters.included[index]:
            held -= likelihood.statistics_of_block(columns) * left_out[index][:, None]
        logs = log_predictives_of(likelihood, columns, likelihood.prior.posterior(theta[None, :], held), theta)
        if clusters.outlying_share > 0.0 and not likelihood.is_chained:
            share = clusters.outlying_share
            of_prior = log_predictives_of(likelihood, columns, theta[None, :], theta)
            logs = np.logaddexp(np.log1p(-share) + logs, np.log(share) + of_prior)
        terms.append(np.where(np.isnan(column), 0.0, logs))
    return np.array(terms).reshape(len(terms), labels.size)


def log_predictives_of(likelihood: Likelihood, values: Array, posteriors: Array, theta: Array) -> Array:
    """Return the log predictives of encoded values (n, l + 1) by posteriors (n or 1, P) of a prior (P,), (n,) nats."""
    prior = likelihood.prior
    after = prior.posterior(posteriors, likelihood.statistics_of_block(values))
    rise: Array = prior.log_normalizer(after) - prior.log_normalizer(posteriors)
    return rise + likelihood.log_base_measure(values[:, -1], theta)


@dataclass(frozen=True)
class BlockPredictive:
    """The multivariate Student t distribution of a block in each cluster; the last is a new one."""

    mean: Array  # (K + 1, p)
    scale: Array  # (K + 1, p, p)
    degrees: Array  # (K + 1,) degrees of freedom

    def given(self, place: int, others: Mask, values: Array) -> Array:
        """Return the distribution of one feature given others, as Normal-Gamma hyperparameters, float64 (n, K + 1, 4).

        It is Student's t with nu + q degrees of freedom for q others, bool (p,), with the conditional mean of the
        normal distribution of encoded values (n, p), and its conditional variance times (nu + squared Mahalanobis
        distance of the others) / (nu + q).
        """
        n, q = len(values), int(others.sum())
        moments = np.empty((n, self.degrees.size, 4))
        for k, (mean, scale, degrees) in enumerate(zip(self.mean, self.scale, self.degrees, strict=True)):
            apart = values[:, others] - mean[others]
            weights = np.linalg.solve(scale[np.ix_(others, others)], np.column_stack([scale[others, place], apart.T]))
            distance = np.einsum("nq,qn->n", apart, weights[:, 1:])
            rest = scale[place, place] - float(scale[place, others] @ weights[:, 0])
            variance = (degrees + distance) / (degrees + q) * rest
            shape = 0.5 * (degrees + q)
            moments[:, k, 0] = mean[place] + np.einsum("nq,q->n", apart, weights[:, 0])
            moments[:, k, 1], moments[:, k, 2] = 1.0, shape
            moments[:, k, 3] = 0.5 * variance * shape  # the squared scale of the predictive is 2 rate / shape
        return moments


def block_predictive(clusters: Clusters, members: list[int]) -> BlockPredictive:
    """Return the distribution of a block in each cluster, from `members_of_chains`."""
    n = clusters.sizes.size + 1
    mean, scale = np.zeros((n, len(members))), np.zeros((n, len(members), len(members)))
    degrees = kappa = np.ones(n)
    for place, index in enumerate(members):
        theta, sums = clusters.factor_of(index)
        posterior = NormalWishart.posterior(theta[None], np.vstack([sums, np.zeros(sums.shape[1])]))
        means, kappa, of_factor, scatter = parts(posterior, place + 1)
        degrees = of_factor - place
        for k in range(n):
            slopes = np.linalg.solve(scatter[k, :place, :place], scatter[k, :place, place])
            rest = scatter[k, place, place] - float(slopes @ scatter[k, :place, place])
            before = scale[k, :place, :place]
            mean[k, place] = means[k, place] + float(slopes @ (mean[k, :place] - means[k, :place]))
            scale[k, place, :place] = scale[k, :place, place] = before @ slopes
            scale[k, place, place] = rest / degrees[k] + float(slopes @ before @ slopes)
    return BlockPredictive(mean, scale * ((kappa + 1.0) / kappa)[:, None, None], degrees)


# The tree of the clusters of a fit: how well a likelihood describes a feature in it, and what clusters cost a feature.


class ClusterTree:
    """The J clusters of a fit, 0 .. J - 1, and the group of each join, J .. 2 J - 2; the last holds all subjects.

    The joins, int64 (J - 1, 2), and the evidence, float64 (J - 1,), are those of `merge_tree`.
    """

    def __init__(self, clusters: Clusters, joins: Labels, evidence: Array) -> None:
        self.n_clusters, self._joins = clusters.sizes.size, joins
        sizes, statistics = self.summed_up(clusters.sizes), self.summed_up(clusters.statistics)
        gains = self._gains(replace(clusters, sizes=sizes, statistics=statistics).likelihood_terms().T)
        # What a division gains, less the change of the log joint, is what it costs by the prior of partitions.
        cost, gained = gains.sum(axis=0) - evidence, np.maximum(gains, 0.0).sum(axis=0)
        self._rate = np.clip(cost / np.maximum(gained, 1e-300), 0.0, 1.0)

    def summed_up(self, of_clusters: Array) -> Array:
        """Return the sums over the clusters of each node, float64 (2 J - 1, ...), of terms of the clusters."""
        sums = np.concatenate([of_clusters, np.zeros((self.n_clusters - 1, *of_clusters.shape[1:]))])
        for node, (first, second) in enumerate(self._joins.tolist(), start=self.n_clusters):
            sums[node] = sums[first] + sums[second]
        return sums

    def charges(self, log_marginals: Array) -> Array:
        """Return the cost of each division, (..., J - 1), in nats: features pay in proportion to their gains."""
        return np.asarray(self._rate * np.maximum(self._gains(log_marginals), 0.0))

    def best_level(self, log_marginals: Array, charges: Array) -> tuple[float, int, int]:
        """Return the most that log marginals (P, 2 J - 1) less charges (P, J - 1) are; its number of groups, and prior.

        The log marginals are those of the groups at a level of the tree, the charges those of the divisions above it.
        """
        net = (self._gains(log_marginals) - charges)[:, ::-1]
        levels = np.cumsum(np.concatenate([log_marginals[:, -1:], net], axis=1), axis=1)
        prior, level = np.unravel_index(int(levels.argmax()), levels.shape)
        return float(levels[prior, level]), int(level) + 1, int(prior)

    def _gains(self, of_nodes: Array) -> Array:
        first, second = self._joins.T
        return np.asarray(of_nodes[..., first] + of_nodes[..., second] - of_nodes[..., self.n_clusters :])


def log_marginals_in_tree(
    likelihood: Likelihood, values: Array, labels: Labels, tree: ClusterTree, priors: Array | None = None
) -> Array:
    """Return ln m(values in node | theta) of every node of a tree, in nats, float64 (P, 2 J - 1).

    The observed values (n,) are on the scale of the likelihood, each in a cluster 0 .. J - 1 of `labels`. By default,
    theta are the P `Likelihood.compared_hyperparameters`.
    """
    priors = likelihood.compared_hyperparameters(values) if priors is None else priors
    centre, scale = likelihood.standardisation(values)
    standard = (values - centre) / scale
    encoded = np.array([likelihood.encoded_hyperparameters(theta, centre, scale) for theta in priors])

    def in_clusters(column: Array) -> Array:
        return np.bincount(labels, weights=column, minlength=tree.n_clusters).astype(np.float64)

    statistics = np.column_stack([in_clusters(column) for column in likelihood.statistics(standard).T])
    # Thousands of counts or levels are few different ones, whose gamma functions are computed once for each prior.
    is_alone = likelihood.is_continuous
    different, places = (standard, slice(None)) if is_alone else np.unique(standard, return_inverse=True)
    # The log base measures include the Jacobian of the standardisation.
    bases = [in_clusters((likelihood.log_base_measure(different, theta) - np.log(scale))[places]) for theta in encoded]
    normalizer, theta = likelihood.prior.log_normalizer, encoded[:, None, :]
    of_nodes = likelihood.prior.posterior(theta, tree.summed_up(statistics)[None])
    return np.asarray(normalizer(of_nodes) - normalizer(theta) + tree.summed_up(np.array(bases).T).T)
