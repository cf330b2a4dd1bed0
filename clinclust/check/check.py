"""Check the fit of a model: likelihoods against their alternatives, replicated values, dependence, and the repairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray

from clinclust.arguments import FRAME, MODEL, RANDOM_STATE, WHOLE, accepting
from clinclust.arrays import Array, RandomState
from clinclust.engine.joint_estimates.likelihoods_in_clusters import ClusterTree, log_marginals_in_tree
from clinclust.engine.problem.encoding import model_values
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import require_search
from clinclust.graded import graded, mid_ranks
from clinclust.schema import Feature
from clinclust.schema.yaml_writer import yaml_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.likelihoods.likelihood import Likelihood
    from clinclust.schema import Feature, FeatureSchema


COLUMNS_OF_CHECKS = ["feature", "likelihood", "statistic", "observed", "expected", "distance", "p", "words"]
_FEWEST_VALUES = 10  # features with fewer observed values are not checked
_AT_ONCE = 4_000_000  # values that are drawn at once
_FAR_VALUE = 3.0  # a value is far at so many standard deviations from the mean of its cluster


class Values(NamedTuple):
    """Values of one feature in R replicates, or the observed ones (R = 1)."""

    drawn: Array
    """(R, n) on the scale of the model."""
    residuals: Array
    """(R, n) less the mean of the cluster in the same replicate."""


class Statistic(NamedTuple):
    """A statistic, and what it says for a reader."""

    name: str
    words: str
    """Completes "inside the subtypes, ..."."""
    compute: Callable[[Values], Array]
    """Takes `Values`, returns float64 (R,)."""


def values_in(values: Array, clusters: NDArray[np.int64]) -> Values:
    """Return values, float64 (R, n), with their residuals from the means of their clusters, int64 (n,)."""
    members = np.zeros((clusters.size, int(clusters.max()) + 1))
    members[np.arange(clusters.size), clusters] = 1.0
    means = (values @ members) / np.maximum(members.sum(axis=0), 1.0)
    return Values(values, values - means[:, clusters])


def statistics_of(*, is_count: bool, is_scale: bool, is_real: bool, lowest: float, highest: float) -> list[Statistic]:
    """Return what is checked of a feature with these traits, on a scale from `lowest` to `highest`."""

    def zeros(of: Values) -> Array:
        return np.asarray((of.drawn == 0.0).mean(axis=1))

    def ends(of: Values) -> Array:
        return np.asarray(((of.drawn <= lowest) | (of.drawn >= highest)).mean(axis=1))

    share = "{{observed:.1%}} of the values {}, expected {{expected:.1%}}".format
    every = (
        (True, "scatter", "the values vary {observed:.3g} (variance), expected {expected:.3g}", _variance),
        (is_count, "zeros", share("are 0"), zeros),
        (is_scale, "ends", share("lie at an end of the scale"), ends),
        (not is_scale, "tails", share("lie 3 SD and more from their mean"), _far),
        (is_real, "skewness", "the values are skewed by {observed:.2f}, expected {expected:.2f}", _skewness),
    )
    return [Statistic(name, words, compute) for applies, name, words, compute in every if applies]


def _variance(of: Values) -> Array:
    return np.asarray((of.residuals**2).mean(axis=1))


def _spread(of: Values) -> Array:
    return np.maximum(np.sqrt(_variance(of)), 1e-300)[:, None]


def _far(of: Values) -> Array:
    return np.asarray((np.abs(of.residuals) >= _FAR_VALUE * _spread(of)).mean(axis=1))


def _skewness(of: Values) -> Array:
    standardised = of.residuals / _spread(of)
    return np.asarray((standardised**2 * standardised).mean(axis=1))  # a general power takes 20 times as long


def predictive_checks(fit: Fit, cohort: pd.DataFrame, n_draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return one row for each clustered feature and statistic, in the order of the schema, by `n_draws` replicates."""
    clusters = fit.clusters_
    values = model_values(cohort, clusters.encoding.features)
    of_feature: dict[str, list[dict[str, Any]]] = {}
    places = fit.schema_.places(clusters.encoding.features)
    for index, (feature, likelihood, place) in enumerate(
        zip(clusters.encoding.features, clusters.encoding.alone, places, strict=True)
    ):
        column = (values[feature.name] - clusters.encoding.centres[index]) / clusters.encoding.scales[index]
        kept = ~np.isnan(column) & ~fit.outliers_[:, place]
        if likelihood.is_share or likelihood.counts_levels or kept.sum() < _FEWEST_VALUES:
            continue
        labels = fit.cluster_labels_[kept] if clusters.included[index] else np.zeros(int(kept.sum()), dtype=np.int64)
        of_feature[feature.column] = _checked(feature, likelihood, clusters, index, column[kept], labels, n_draws, rng)
    rows = [row for name in fit.schema_.names for row in of_feature.get(name, [])]
    return pd.DataFrame(rows, columns=COLUMNS_OF_CHECKS)


def _checked(
    feature: Feature,
    likelihood: Likelihood,
    clusters: Clusters,
    index: int,
    column: Array,
    labels: NDArray[np.int64],
    n_draws: int,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    order = np.argsort(labels, kind="stable")
    with_values, labels = np.unique(labels[order], return_inverse=True)
    column, posteriors = column[order], clusters.posteriors(index)[with_values]
    highest = float(likelihood.highest_score(feature) or 0)
    is_count = likelihood.is_count and feature.lowest == 0.0  # counts from 1 on have no zeros
    traits = {"is_count": is_count, "is_scale": likelihood.is_scale, "is_real": likelihood.is_real}
    statistics = statistics_of(**traits, lowest=0.0, highest=highest)
    observed = [float(statistic.compute(values_in(column[None], labels))[0]) for statistic in statistics]
    drawn: list[list[Array]] = [[] for _ in statistics]
    for first in range(0, n_draws, max(_AT_ONCE // column.size, 1)):
        n = min(max(_AT_ONCE // column.size, 1), n_draws - first)
        replicates = _replicates(likelihood, posteriors, labels, n, rng)
        for kept, statistic in zip(drawn, statistics, strict=True):
            kept.append(statistic.compute(replicates))
    rows = []
    unit = clusters.encoding.scales[index]
    for statistic, here, of_draws in zip(statistics, observed, drawn, strict=True):
        replicated = np.concatenate(of_draws)
        at_least, at_most = (replicated >= here - 1e-12).sum(), (replicated <= here + 1e-12).sum()
        p = min(1.0, 2.0 * (1.0 + min(at_least, at_most)) / (1.0 + n_draws))
        spread = float(replicated.std())
        distance = abs(here - float(replicated.mean())) / spread if spread > 0.0 else 0.0
        squared = unit**2 if statistic.name == "scatter" else 1.0
        numbers = {"observed": here * squared, "expected": float(replicated.mean()) * squared, "distance": distance}
        about = {"feature": feature.column, "likelihood": likelihood.name, "statistic": statistic.name, "p": p}
        rows.append(about | numbers | {"words": statistic.words.format(**numbers)})
    return rows


def _replicates(
    likelihood: Likelihood, posteriors: Array, labels: NDArray[np.int64], n: int, rng: np.random.Generator
) -> Values:
    clusters = zip(posteriors, np.bincount(labels).tolist(), strict=True)
    drawn = [likelihood.draw_jointly(posterior, n, size, rng) for posterior, size in clusters]
    return values_in(np.concatenate(drawn, axis=1), labels)


_CLEAR = 0.01
_REPORTED, _BLOCKED = 0.3, 0.5
"""Least residual correlations of a pair that is reported, and of features that are advised to be one block, which says
that they measure the same thing: blocks from .3 on made the cultivars of the wines less clear (ARI .95 -> .90).
"""
_BLOCK = "depends_{}"
_EVERYWHERE = 4  # a group of at least so many features and more than half of all is no block, but dependence everywhere


class Dependent(NamedTuple):
    """A feature that depends on others; the block that it should be in, or None."""

    feature: str
    others: list[str]
    block: str | None
    evidence: str


def dependent_pairs(pairs: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
    """Return the pairs of no common block that clearly depend on each other, the strongest first."""
    strong = pairs[_is_dependent(pairs, _REPORTED)]
    blocks = [(schema[first].block, schema[second].block) for first, second in _names(strong)]
    return strong[np.array([first is None or first != second for first, second in blocks], dtype=np.bool_)]


def dependence(schema: FeatureSchema, pairs: pd.DataFrame) -> list[Dependent]:
    """Return the features that depend on others by `residual_pairs`, those that are advised to be one block first."""
    found: dict[str, Dependent] = {}
    taken = {feature.block for feature in schema}
    for members in _groups(pairs):
        is_block = len(members) < _EVERYWHERE or 2 * len(members) <= len(schema.clustered)
        block = _block_of(schema, members, taken)
        inside = pairs[pairs["first"].isin(members) & pairs["second"].isin(members)]
        for name in members:
            if schema[name].block != block:
                others = [other for other in members if other != name]
                found[name] = Dependent(name, others, block if is_block else None, _evidence(inside))
                taken.add(block)
    rest = dependent_pairs(pairs, schema)
    blocks = {feature.name: feature.block for feature in schema} | {name: each.block for name, each in found.items()}
    is_known = [
        {first, second} <= set(found) or (blocks[first] is not None and blocks[first] == blocks[second])
        for first, second in _names(rest)
    ]
    rest = rest[~np.array(is_known, dtype=np.bool_)]
    for name in dict.fromkeys(name for pair in _names(rest) for name in pair):
        if name not in found:
            own = rest[(rest["first"] == name) | (rest["second"] == name)]
            others = [second if first == name else first for first, second in _names(own)]
            found[name] = Dependent(name, others, None, _evidence(own))
    return list(found.values())


def _is_dependent(pairs: pd.DataFrame, least: float) -> pd.Series[bool]:
    return (pairs["p_of_largest"] <= _CLEAR) & (pairs["correlation"].abs() >= least)


def _names(pairs: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(pairs["first"].tolist(), pairs["second"].tolist(), strict=True))


def _evidence(pairs: pd.DataFrame) -> str:
    strongest = pairs.iloc[0]
    return f"r = {strongest['correlation']:.2f} of {strongest['first']} and {strongest['second']}"


def _groups(pairs: pd.DataFrame) -> list[list[str]]:
    """Return groups of features that all clearly depend on each other, the strongest group first.

    Linkage is complete: in a chain of features that depend on their neighbours only, the ends are in no common group.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    strong = pairs[_is_dependent(pairs, _BLOCKED)]
    names = list(dict.fromkeys(strong[["first", "second"]].to_numpy().ravel().tolist()))
    if not names:
        return []
    place = {name: at for at, name in enumerate(names)}
    distance = np.ones((len(names), len(names)))
    for first, second, r in strong[["first", "second", "correlation"]].itertuples(index=False):
        distance[place[first], place[second]] = distance[place[second], place[first]] = 1.0 - abs(r)
    upper = distance[np.triu_indices(len(names), 1)]
    group = fcluster(linkage(upper, "complete"), 1.0 - _BLOCKED + 1e-9, "distance")
    found = [sorted(names[at] for at in np.flatnonzero(group == number)) for number in dict.fromkeys(group.tolist())]
    return [members for members in found if len(members) > 1]


def _block_of(schema: FeatureSchema, members: list[str], taken: set[str | None]) -> str:
    """Return the block of one of the features, or a name that no block has."""
    named = [block for name in members if (block := schema[name].block) is not None]
    if named:
        return named[0]
    return next(name for number in range(1, len(taken) + 2) if (name := _BLOCK.format(number)) not in taken)


COLUMNS_OF_PAIRS = ["first", "second", "correlation", "p", "p_of_largest", "n"]
_FEWEST_IN_BOTH = 10  # pairs with fewer subjects with both values are left out


def residual_pairs(fit: Fit, cohort: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each pair of clustered features, the strongest first.

    The measure is the correlation of the residuals of their mid-ranks (of an unordered feature, of the level with the
    strongest one) after regression on the probabilities of the clusters, with p as of n - J pairs of normal values;
    `p_of_largest` is p times the number of correlations.
    """
    features = list(dict.fromkeys(feature.whole for feature in fit.clusters_.encoding.features))
    table = graded(
        ((feature.scores(cohort[feature.name]), feature.traits.is_nominal) for feature in features), mid_ranks
    )
    left, seen = _residuals(table.columns, fit.cluster_membership_)
    n = seen.T @ seen
    squares = (left**2).T @ seen
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (left.T @ left) / np.sqrt(squares * squares.T)
    usable = np.isfinite(r) & (n - fit.cluster_membership_.shape[1] >= _FEWEST_IN_BOTH)
    r = np.where(usable, np.clip(r, -1.0, 1.0), 0.0)
    names = np.array([feature.name for feature in features], dtype=object)
    tried = np.nonzero(table.owners[:, None] < table.owners)
    n_tried = int(usable[tried].sum())
    pairs = pd.DataFrame(
        {
            "first": names[table.owners[tried[0]]],
            "second": names[table.owners[tried[1]]],
            "correlation": r[tried],
            "n": n[tried],
        }
    )
    strongest = np.lexsort((-np.abs(r[tried]), table.owners[tried[1]], table.owners[tried[0]]))
    found = pairs.iloc[strongest].drop_duplicates(["first", "second"], ignore_index=True)
    found["p"] = _two_sided(found["correlation"].to_numpy(), found["n"].to_numpy() - fit.cluster_membership_.shape[1])
    found["p_of_largest"] = np.minimum(found["p"] * max(n_tried, 1), 1.0)
    order = found["correlation"].abs().sort_values(ascending=False, kind="stable").index
    return found.loc[order, COLUMNS_OF_PAIRS].reset_index(drop=True).astype({"n": "int64"})


def _two_sided(r: Array, df: Array) -> Array:
    from scipy.special import stdtr

    df = np.maximum(df - 1.0, 1.0)
    with np.errstate(divide="ignore"):
        t = np.abs(r) * np.sqrt(df / np.maximum(1.0 - r**2, 1e-300))
    return np.asarray(2.0 * stdtr(df, -t))


def _residuals(columns: Array, membership: Array) -> tuple[Array, Array]:
    """Return the residuals of each column after regression on the membership, 0 where missing, and 1 where observed."""
    seen = (~np.isnan(columns)).astype(np.float64)
    centre = np.nansum(columns, axis=0) / np.maximum(seen.sum(axis=0), 1.0)
    values = np.where(seen > 0.0, columns - centre, 0.0)
    n_subtypes = membership.shape[1]
    products = (membership[:, :, None] * membership[:, None, :]).reshape(-1, n_subtypes**2)
    squares = (seen.T @ products).reshape(-1, n_subtypes, n_subtypes)
    slopes = np.linalg.pinv(squares, hermitian=True) @ (membership.T @ values).T[:, :, None]
    left = seen * (values - membership @ slopes[:, :, 0].T)
    # Residuals that are only rounding errors are set to 0.
    left[:, (left**2).sum(axis=0) <= 1e-18 * (values**2).sum(axis=0)] = 0.0
    return left, seen


COLUMNS_OF_ADVICE = ["feature", "kind", "problem", "line", "evidence"]
LIKELIHOOD, DEPENDENCE, VALUES = "likelihood", "dependence", "values"  # kinds of problems
_PROBABLE = 5.0  # least evidence in nats to advise another likelihood where more than the evidence speaks for it
_FAR_STATISTIC = 5.0
"""Least distance of a statistic from its replicates, in their SDs, to report it: of many, some are far by chance."""
_NAMED = 5


def advice_of(
    schema: FeatureSchema,
    likelihoods: pd.DataFrame,
    checks: pd.DataFrame,
    pairs: pd.DataFrame,
    priors: Mapping[str, Mapping[str, float]] | None = None,
) -> tuple[pd.DataFrame, dict[str, Feature]]:
    """Return the advice, one row for each problem, and the features as the advice would have them.

    The tables are those of `compared_likelihoods`, `predictive_checks` and `residual_pairs`; `priors` is from
    `better_priors`, to be stated where the values of a feature are odd.
    """
    rows: list[tuple[str, str, str, bool, str]] = []
    mended: dict[str, Feature] = {}
    for row in likelihoods[_better_otherwise(likelihoods, checks)].to_dict("records"):
        feature = Feature(**yaml.safe_load(str(row["schema_line"]))[0])
        mended[feature.name] = feature
        why = f"{row['better']} describes it better than {row['declared']}"
        rows.append((feature.name, LIKELIHOOD, why, True, f"{row['evidence']:,.0f} nats"))
    for found in dependence(schema, pairs):
        if found.block is not None:
            feature = mended.get(found.feature, schema[found.feature])
            mended[found.feature] = Feature(**(feature.content() | {"block": found.block}))
        more = f" and {len(found.others) - _NAMED} more" if len(found.others) > _NAMED else ""
        why = f"depends on {', '.join(found.others[:_NAMED])}{more} inside the subtypes"
        rows.append((found.feature, DEPENDENCE, why, found.block is not None, found.evidence))
    otherwise = [name for name, kind, *_ in rows if kind == LIKELIHOOD]
    for row in odd_values(checks).to_dict("records"):
        name, prior = str(row["feature"]), (priors or {}).get(str(row["feature"]))
        if name in otherwise:
            continue
        if prior:
            feature = mended.get(name, schema[name])
            mended[name] = Feature(**(feature.content() | {"prior": dict(prior)}))
        why = f"inside the subtypes, {row['words']}"
        rows.append((name, VALUES, why, bool(prior), f"{row['distance']:.1f} SD away"))
    # A feature with two problems has one line, which mends both.
    lined = [
        (name, kind, why, yaml_line(mended[name]) if is_mended else None, evidence)
        for name, kind, why, is_mended, evidence in rows
    ]
    return pd.DataFrame(lined, columns=COLUMNS_OF_ADVICE), mended


def odd_values(checks: pd.DataFrame) -> pd.DataFrame:
    """Return the predictive checks that are clearly not as the model says."""
    return checks[(checks["p"] <= _CLEAR) & (checks["distance"] >= _FAR_STATISTIC)]


def _better_otherwise(likelihoods: pd.DataFrame, checks: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which features another likelihood describes better: clearly, or probably where more speaks for it.

    Clusters due to one wrong likelihood serve the other features as well, and hide how wrong theirs are.
    """
    is_clear = likelihoods["is_misfit"].to_numpy(dtype=bool)
    is_supported = likelihoods["feature"].isin(odd_values(checks)["feature"]).to_numpy(dtype=bool) | is_clear.any()
    is_probable = (likelihoods["evidence"] >= _PROBABLE) & likelihoods["schema_line"].notna()
    return np.asarray(is_clear | (is_supported & is_probable.to_numpy(dtype=bool)))


_CLEAR_EVIDENCE = 5.0  # nats by which another value must describe the clusters better


def better_priors(fit: Fit, cohort: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return hyperparameters that describe the values in the clusters clearly better, by feature.

    Only those of `Likelihood.compared_hyperparameters` are varied: those that must be known in clusters, and whose
    default, taken from all subjects together, includes the differences between clusters.
    """
    clusters = fit.clusters_
    tree = ClusterTree(clusters, fit.tree_.joins, fit.tree_.evidence)
    values = model_values(cohort, clusters.encoding.features)
    found = {}
    features, likelihoods = clusters.encoding.features, clusters.encoding.likelihoods
    for feature, likelihood, place in zip(features, likelihoods, fit.schema_.places(features), strict=True):
        column = values[feature.name]
        kept = ~np.isnan(column) & ~fit.outliers_[:, place]
        tried = likelihood.compared_hyperparameters(column[kept])
        if len(tried) < 2:
            continue
        own = fit.hyperparameters_[feature.name]
        names = likelihood.hyperparameter_names
        priors = np.vstack([[own[name] for name in names], tried])
        of_nodes = log_marginals_in_tree(likelihood, column[kept], fit.cluster_labels_[kept], tree, priors)
        evidence = of_nodes[:, : tree.n_clusters].sum(axis=1)
        best = int(evidence.argmax())
        if evidence[best] - evidence[0] >= _CLEAR_EVIDENCE:
            # The others follow: they say where the values lie.
            stated = {name: float(f"{value:.2g}") for name, value in zip(names, priors[best], strict=True)}
            found[feature.column] = {name: value for name, value in stated.items() if name in likelihood.bounds}
    return found


@dataclass(frozen=True, eq=False, repr=False)
class ModelCheck:
    """Where a model does not fit, and what would mend it. Tables are tidy; `check_model` explains them.

    Attributes
    ----------
    likelihoods, checks, pairs, advice : DataFrame
    mended : mapping of str to Feature
        The features as the advice would have them, by name.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> frame = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=list("abc"))
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    >>> model = cc.MAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
    >>> found = cc.check.check_model(model, frame)
    >>> isinstance(found, cc.check.ModelCheck), found.summary
    (True, 'Nothing speaks clearly against the model.')
    """

    likelihoods: pd.DataFrame
    checks: pd.DataFrame
    pairs: pd.DataFrame
    advice: pd.DataFrame
    mended: Mapping[str, Feature]

    def applied_to(self, schema: FeatureSchema) -> FeatureSchema:
        """Return a copy of the schema with every line of the advice; KeyError if it lacks a feature of the advice.

        Fit again with it and check again: a first mistake can hide others.
        """
        for name in self.mended:
            schema[name]
        return schema.with_changed([self.mended.get(feature.name, feature) for feature in schema])

    @property
    def summary(self) -> str:
        """The advice in words, a line for each problem."""
        if self.advice.empty:
            return "Nothing speaks clearly against the model."
        lines = []
        for row in self.advice.to_dict("records"):
            lines.append(f"{row['feature']}: {row['problem']} ({row['evidence']})")
            lines += [f"  {row['line']}"] if row["line"] else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        n = self.advice["feature"].nunique()
        return f"ModelCheck({'1 feature has' if n == 1 else f'{n} features have'} problems)"


N_DRAWS = 200  # replicates of each feature: the smallest p is then just below .01


@accepting(model=MODEL, frame=FRAME, n_draws=WHOLE, random_state=RANDOM_STATE)
def check_model(
    model: SubtypeModel,
    frame: pd.DataFrame,
    *,
    n_draws: int = N_DRAWS,
    random_state: RandomState = 0,
) -> ModelCheck:
    """Say where a fitted model does not describe its cohort, and which lines of the schema would mend it.

    Three questions are asked of every clustered feature, given the clusters that the search found:

    - Does another likelihood describe it better? The log marginals of its likelihood and of its alternatives are
      compared.
    - Would values drawn from the model scatter as the observed ones do? Posterior predictive checks (Gelman, Meng and
      Stern 1996, Statistica Sinica 6, 733-807) of the scatter, zeros, ends of a scale, tails and skewness. Their p
      is conservative, because the model has seen the same values.
    - Does it depend on another feature inside the clusters? Correlations of the residuals of all pairs.

    Clusters that a wrong likelihood or a dependence has made hide how wrong or strong it is: follow the advice, fit
    again, and check again. Dependence everywhere may not be seen at all: ``coarsening="auto"`` and `distinct_subtypes`
    are for such cohorts.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    frame : DataFrame, N rows
        The cohort of the fit.
    n_draws : int
        Replicates of each feature.
    random_state : int, numpy.random.Generator, RandomState or None
        Seed of the replicates.

    Returns
    -------
    ModelCheck
        likelihoods: for each feature the declared likelihood, the better one if there is one, the evidence in nats, and
        whether it is clear (`is_misfit`).

        checks: for each feature and statistic the observed number, the mean of the replicates, the distance of both in
        standard deviations of the replicates, p, and words. Advice names those at least 5 away. Features of yes/no or
        of levels with a probability of their own can have any distribution, and are not checked.

        pairs: for each pair of features the correlation inside the clusters, its p, how often the largest of all pairs
        would be as large by chance, and the number of subjects with both.

        advice: one row for each problem: its kind (likelihood, dependence, values), the line of the schema that would
        mend it, if there is one, and the evidence. Features that all depend on each other (|r| of at least .5) are
        advised to be one block, unless they are more than half of all features. Where counts scatter less inside
        clusters than in all subjects, the line states a dispersion.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not a fitted MAPDP, `frame` is not its cohort, or `n_draws` is not above 0.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail, pressure = np.arange(150) % 3 == 0, rng.normal(size=150)
    >>> frame = pd.DataFrame(rng.normal(4.0 * frail[:, None], 1.0, (150, 4)), columns=list("abcd"))
    >>> frame["systolic"], frame["diastolic"] = (pressure + 0.7 * rng.normal(size=150) for _ in range(2))
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    >>> model = cc.MAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
    >>> found = cc.check.check_model(model, frame)
    >>> found.advice["feature"].tolist()
    ['diastolic', 'systolic']
    >>> found.applied_to(schema)["systolic"].block
    'depends_1'
    """
    from clinclust.estimators.fitted_cohort import cohort_of
    from clinclust.estimators.likelihood_check import compared_likelihoods

    fit = require_search(model, "check_model")
    if n_draws < 1:
        raise InputError(f"n_draws must be a whole number of at least 1, not {n_draws!r}")
    cohort = cohort_of(model, frame, stacklevel=3).table
    rng = np.random.default_rng(random_state)
    return check_of(fit, cohort, compared_likelihoods(fit, cohort), int(n_draws), rng)


def check_of(
    fit: Fit, cohort: pd.DataFrame, likelihoods: pd.DataFrame, n_draws: int, rng: np.random.Generator
) -> ModelCheck:
    """Return the check of a fit, given the likelihoods of `compared_likelihoods` and the cohort of `cohort_of`."""
    checks = predictive_checks(fit, cohort, n_draws, rng)
    pairs = residual_pairs(fit, cohort)
    advice, mended = advice_of(fit.schema_, likelihoods, checks, pairs, better_priors(fit, cohort))
    return ModelCheck(likelihoods, checks, pairs, advice, mended)
