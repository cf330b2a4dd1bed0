"""Whether subtypes are the same in groups of subjects, such as sexes or sites: each feature, given the subtype."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtrc, softmax

from clinclust.arguments import accepting
from clinclust.arrays import Array, Code, Labels, Mask
from clinclust.comparisons.differences import adjusted
from clinclust.engine.problem.problem import Clusters, probabilities
from clinclust.errors import on_one_line, refuse
from clinclust.estimators.subtype_model import SubtypeModel, require_search
from clinclust.files.cell_text import listed
from clinclust.outcomes.columns import CohortColumns
from clinclust.schema import Feature

_FEWEST = 10  # subjects of a group, and of a subtype in each group
_DIFFERS = 0.05  # q below which a feature is said to differ
_MOST_ROUNDS = 4  # in each, memberships are by the features that did not differ in the one before


@dataclass(frozen=True, eq=False)
class Invariance:
    """Whether subtypes have the same features in all groups of a column; `assess_invariance` explains the tables.

    Examples
    --------
    >>> import clinclust as cc
    >>> cc.stability.Invariance.__match_args__
    ('features', 'shares', 'groups')
    """

    features: pd.DataFrame
    shares: pd.DataFrame
    groups: str

    @property
    def summary(self) -> str:
        """The result in words: a line for the features, and one for each subtype."""
        table, is_tested = self.features, self.features["q"].notna()
        rows = table[table["q"] < _DIFFERS]
        n, n_tested = rows["feature"].nunique(), table["feature"][is_tested].nunique()
        shown = f"{n} of {n_tested} features {'was' if n == 1 else 'were'} shown to differ"
        shown = f"{shown if n_tested else 'no feature could be compared'} between the groups of {self.groups}"
        lines = [f"Given the subtype, {shown}"]
        lines[0] += ": " * bool(n) + "; ".join(rows["label"] + " (" + rows["direction"] + ")") + "."
        if not is_tested.all():
            lines.append(f"Not tested, with too few values or no other block: {listed(table['label'][~is_tested])}.")
        for subtype, is_compared, *shares in self.shares.itertuples(index=False):
            of_groups = zip(shares, self.shares.columns[2:].str.removeprefix("share_"), strict=True)
            few = "" if is_compared else f" (not compared: fewer than {_FEWEST} subjects in a group)"
            lines.append(f"Subtype {subtype}: {', '.join(f'{share:.1%} of {name}' for share, name in of_groups)}{few}.")
        return "\n".join(map(on_one_line, lines))


@accepting()
def assess_invariance(model: SubtypeModel, frame: pd.DataFrame, groups: str) -> Invariance:
    r"""Test whether features depend on the group of a subject, such as sex or site, given the subtype.

    Groups may have other shares of the subtypes, but then the same features in each: measurement invariance, without
    differential item functioning (Masyn 2017, Structural Equation Modeling 24, 180-197). Likelihood ratios compare
    three models of a feature, of any distribution in a subtype: no effect of groups; odds of higher values multiplied
    by one number in a group (uniform); by one in each subtype. Subjects count by their membership, in the mixture that
    EM finds from the clusters, given features outside the `block` of this one that do not differ themselves: assigned
    members depend on the group where shares do. CohortError is raised if `frame`, the table of the fit, does not fit
    the schema, ValueError if it is another one, no MAP-DP search made the model, or `groups`, a column that had no part
    in the subtypes, with at least 10 subjects a group, cannot be used.

    `features` has a row for each feature, two with a spike or limit, one for each level without order: `n` subjects,
    `p_uniform`, `p_non_uniform`, and `q`, the smaller of both after Benjamini and Hochberg (1995). `difference`, of the
    means of the two groups farthest apart, is in SDs of all, or of the share of a level; `direction` says which: on
    average over the subtypes or, where p_non_uniform is the smaller, in the subtype where it is largest. Subtypes with
    fewer than 10 values in a group take no part. `shares` has for each subtype whether it is `compared`, and its
    estimated share of each group.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail, is_man = rng.random((2, 400)) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(30 - 16 * frail, 3)})
    >>> frame["height"] = rng.normal(165 - 20 * frail + 12 * is_man, 6)
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> frame["sex"] = np.where(is_man, "men", "women")
    >>> print(cc.stability.assess_invariance(model, frame, "sex").summary.split("\n")[0])
    Given the subtype, 1 of 3 features was shown to differ between the groups of sex: height (higher in men).
    """
    fit, columns = require_search(model, "assess_invariance"), CohortColumns.read(model, frame)
    columns.check(1, [groups], "groups")
    cells = pd.Series(columns.cells(groups, "groups"), dtype="string")
    sizes = cells.value_counts()
    small = listed(f"{name!r} has {size}" for name, size in sizes.items() if size < _FEWEST)
    if len(cells) and (small or len(sizes) < 2):
        needs = f"two or more values, of at least {_FEWEST} subjects each; {small or 'it has no other'}"
        columns.problems.append(f"groups: {groups!r} needs {needs}")
    refuse(columns.problems)
    names, labels, values = sorted(sizes.index), columns.cohort.labels, columns.cohort.usual_values()
    group, clusters = pd.Categorical(cells, names).codes.astype(np.int64), _soften(fit.clusters_, values)
    parts = sorted(clusters.encoding.features, key=lambda part: model.schema_.names.index(part.column))

    def find_chances(left_out: set[str]) -> Array:
        without = values | dict.fromkeys(left_out, np.full(labels.size, np.nan))
        return probabilities(fit.subtypes_.log_summed(clusters.scores(without, coarsened=True))[:, :-1])

    table, differing = pd.DataFrame(), set[str]()
    for _ in range(_MOST_ROUNDS):
        rows = list[dict[str, Any]]()
        for part in parts:
            unused, block = {part.column, *differing}, part.block
            left_out = {other.name for other in parts if other.column in unused or other.block == block is not None}
            chances, untested = find_chances(left_out), [("", np.full(group.size, np.nan))]
            for how, column in _columns_of(part, values[part.name]) if len(left_out) < len(parts) else untested:
                test = compare_given_subtype(column, group, labels, chances)
                rows.append({"feature": part.column, "label": part.title} | _describe(test, how, names, model.codes_))
        table, before = pd.DataFrame(rows), differing
        table["q"] = np.fmin(*adjusted(table[["p_uniform", "p_non_uniform"]].to_numpy()).T)
        differing = set(table[table["q"] < _DIFFERS].nsmallest(len(parts) // 2, "q")["feature"])
        if differing == before:
            break
    left_out = {part.name for part in parts if part.column in differing}
    of_all = compare_given_subtype(np.zeros(labels.size), group, labels, find_chances(left_out))
    shares = {f"share_{name}": of_all.shares[:, place] for place, name in enumerate(names)}
    by_subtype = pd.DataFrame({"subtype": model.codes_, "compared": of_all.is_compared} | shares)
    return Invariance(table, by_subtype, groups)


# The test of one feature.


def _columns_of(part: Feature, column: Array) -> list[tuple[str, Array]]:
    """Return the tested columns of a feature (N,), each with what a higher value is called."""
    if not part.traits.is_share:
        return [("higher", column / np.nanstd(column))]
    levels = list(enumerate(part.levels or ("no", "yes")))[part.traits.is_yes_no :]
    return [(f"more often {name}", np.where(np.isnan(column), np.nan, column == code)) for code, name in levels]


def _describe(test: GivenSubtype, how: str, names: list[str], codes: list[Code]) -> dict[str, Any]:
    row = {"n": test.n, "p_uniform": test.p[0], "p_non_uniform": test.p[1]}
    if np.isnan(test.p[0]):
        return row | {"difference": np.nan, "direction": None}
    of_subtypes, compared = test.means[:, test.is_compared], np.flatnonzero(test.is_compared)
    means, where = of_subtypes[0].mean(axis=0), ""
    if test.p[1] < test.p[0]:
        place = int(np.ptp(of_subtypes[1], axis=1).argmax())
        means, where = of_subtypes[1][place], f"in subtype {codes[compared[place]]} "
    than = f" than in {names[means.argmin()]}" if len(names) > 2 else ""
    return row | {"difference": np.ptp(means), "direction": f"{where}{how} in {names[means.argmax()]}{than}"}


_MOST_SOFTENINGS, _STILL = 200, 1e-5  # steps of EM; the largest change of a share when it ends


def _soften(clusters: Clusters, values: Mapping[str, Array]) -> Clusters:
    """Return the mixture that EM finds from the clusters: subjects of the fit count with their memberships.

    A partition cuts the distributions of clusters that overlap: features then depend on each other inside them.
    """
    encoding, of_features = clusters.encoding, list[Array]()
    for place, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        members = (*encoding.features[place - likelihood.n_before : place], feature)
        centres, scales = encoding.standards_of(place, likelihood.n_before)
        columns = (np.column_stack([values[member.name] for member in members]) - centres) / scales
        of_features.append(likelihood.statistics_of_block(columns))
    statistics, clusters = np.hstack(of_features), replace(clusters, temperature=1.0)
    for _ in range(_MOST_SOFTENINGS):
        membership, before = probabilities(clusters.scores(values, coarsened=True)[:, :-1]), clusters.sizes
        sums = np.einsum("nk,ns->ks", membership, statistics)
        clusters = replace(clusters, sizes=membership.sum(axis=0), statistics=sums)
        if np.abs(clusters.sizes - before).max() < _STILL * len(membership):
            break
    return clusters


# Whether a column depends on the group of a subject, given the subtype, which is known up to chances.
#
# Level l with the score s_l has the share exp(a_kl + b_kg s_l) / Z_kg in subtype k and group g: groups tilt the
# distributions of the subtypes (density ratios: Qin 1998, Biometrika 85, 619-630). Of certain subtypes, likelihood
# ratios are those of logistic regressions of the group on subtype and score (Prentice and Pyke 1979, 66, 403).

_MOST_LEVELS = 20  # of more values, the medians of so many bins of equal numbers
_MOST_STEPS, _LEAST_GAIN = 1000, 1e-6  # of EM, in nats
_ABSENT = -700.0  # a, of a level that no subject of a subtype has


class GivenSubtype(NamedTuple):
    """The tests of a column in n subjects: p uniform and non-uniform, the means by both models, shares of subtypes."""

    n: int
    is_compared: Mask  # (K,) the subtypes with enough subjects in each group
    p: Array  # (2,) NaN = too few
    means: Array  # (2, K, G)
    shares: Array  # (K, G)


def compare_given_subtype(values: Array, groups: Labels, labels: Labels, chances: Array) -> GivenSubtype:
    """Test by likelihood ratios whether values (N,), NaN = missing, depend on the group (N,), given the subtype.

    Uniform: slopes b_g against none. Non-uniform: b_kg against b_g. Groups are 0 to G - 1, -1 = unknown. Subtypes with
    fewer than 10 subjects in a group, by `labels` (N,), have no slopes; nothing is tested if fewer have another than
    the commonest value. `chances` (N, K) are by other columns; shares of subtypes in groups are estimated.
    """
    rows, n_groups, n_subtypes = ~np.isnan(values) & (groups >= 0), int(groups.max()) + 1, chances.shape[1]
    values, groups, chances, sizes = values[rows], groups[rows], chances[rows], np.zeros((n_subtypes, n_groups))
    np.add.at(sizes, (labels[rows], groups), 1.0)
    is_compared = sizes.min(axis=1) >= _FEWEST
    if not rows.any():
        return GivenSubtype(0, is_compared, np.full(2, np.nan), np.zeros((2, *sizes.shape)), sizes)
    levels, codes = np.unique(values, return_inverse=True)
    if levels.size > _MOST_LEVELS:
        ends = np.unique(np.quantile(values, np.arange(1, _MOST_LEVELS) / _MOST_LEVELS))
        codes = np.unique(np.searchsorted(ends, values), return_inverse=True)[1]
        levels = np.array([np.median(values[codes == code]) for code in range(codes.max() + 1)])
    scores = (levels - levels[codes].mean()) / max(float(levels[codes].std()), 1e-300)
    n_levels, n_compared = levels.size, int(is_compared.sum())
    # Chances are in the order of the cells g L + l, to be summed cell by cell.
    cells, places = groups * n_levels + codes, np.arange(sizes.size).reshape(sizes.shape)
    chances = chances[np.argsort(cells, kind="stable")]
    present, first, of_cell = np.unique(np.sort(cells), return_index=True, return_inverse=True)
    base, slopes = np.zeros((n_subtypes, n_levels)), np.zeros((n_subtypes, n_groups))
    shares, counts = slopes + 1.0 / n_subtypes, np.zeros((n_groups * n_levels, n_subtypes))

    def tilt() -> Array:
        return np.asarray(softmax(base[:, None] + slopes[:, :, None] * scores, axis=2))

    heights, means = [], []
    for slope_of in (places - places.size, places % n_groups, places):  # EM goes on from the model before
        free, height, tilted = np.where(is_compared[:, None], slope_of, -1), -np.inf, tilt()
        for _ in range(_MOST_STEPS):
            joint = chances * (shares[:, :, None] * tilted).reshape(n_subtypes, -1).T[present][of_cell]
            total, before = joint.sum(axis=1, keepdims=True), height
            height = float(np.log(total).sum())
            if height - before < _LEAST_GAIN:
                break
            counts[present] = np.add.reduceat(joint / total, first, axis=0)
            by_level = counts.T.reshape(tilted.shape)
            sizes, observed = by_level.sum(axis=2), by_level.sum(axis=1)
            shares, expected = sizes / np.maximum(sizes.sum(axis=0), 1e-300), np.einsum("kg,kgl->kl", sizes, tilted)
            with np.errstate(divide="ignore", invalid="ignore"):  # proportional fitting of a
                base = np.where(observed > 0.0, base + np.log(observed / expected), _ABSENT)
            base -= base.max(axis=1, keepdims=True)
            tilted = tilt()
            mean, square = tilted @ scores, tilted @ scores**2  # a step of Newton for each slope
            terms = by_level @ scores - sizes * mean, sizes * (square - mean**2)
            score, information = (np.bincount(free[free >= 0], of[free >= 0], places.size + 1) for of in terms)
            slopes = slopes + np.clip(score / np.maximum(information, 1e-9), -1.0, 1.0)[free]
            tilted = tilt()
        heights.append(height)
        means.append(tilted @ levels)
    # With q columns, the ratio is about n / (n - q) times chi-squared.
    gains = 2.0 * np.diff(heights) * (1.0 - np.array([n_compared + 1, 2 * n_compared]) / values.size)
    df = np.array([n_groups - 1, (n_compared - 1) * (n_groups - 1)])
    is_testable = n_compared > 0 and values.size - np.bincount(codes).max() >= _FEWEST
    p = np.where((df > 0) & is_testable, chdtrc(df, np.maximum(gains, 0.0)), np.nan)
    return GivenSubtype(values.size, is_compared, p, np.array(means[1:]), shares)
