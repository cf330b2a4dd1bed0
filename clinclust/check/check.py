"""Whether a table fits its schema and what is left to decide, and whether a model fits its table."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray
from scipy.special import stdtr

from clinclust.arguments import accepting
from clinclust.arrays import Array, RandomState, graded, mid_ranks
from clinclust.drafting.column import Look
from clinclust.drafting.draft import looks_of
from clinclust.drafting.redundancy import looks, redundancies
from clinclust.engine.problem.problem import ClusterTree, log_marginals_in_tree
from clinclust.errors import on_one_line
from clinclust.estimators.fitting import Prepared
from clinclust.estimators.subtype_model import FittedCohort, SubtypeModel, cohort_of, require_search
from clinclust.files.cell_text import shortened
from clinclust.files.row_choice import noted_several_rows
from clinclust.likelihoods.likelihood import Likelihood
from clinclust.schema import Feature, FeatureSchema
from clinclust.schema.reading import LOOK
from clinclust.schema.yaml_files import yaml_line

# What a table that fits its schema holds: the use of each column, missing values, and what is left to decide.
#
# cohort.csv fits schema.yaml: 40 subjects, 4 features to cluster on (3.1% of their values missing), 1 to describe.
# to cluster on (4): tremor, stage, falls, crp
# to decide (1); read each, and edit schema.yaml where that is wrong:
#   - stage: 38 of 40 subjects have the same value

_MUCH_MISSING = 0.2
_NARROWEST, _WIDEST = 40, 120
_NO_BREAK = "\0"  # in the place of a space inside a name
_MOST_LOOKS, _MOST_LINES = 10, 3
"""Number of remarks, and of lines of names per use, that fit on one screen."""


def look_at_draft(schema: FeatureSchema) -> list[Look]:
    """Return what `draft_schema` left to be decided, largest effect on the result first; one `Look` per remark."""
    columns: dict[str, list[str]] = {}
    weights: dict[str, float] = {}
    for feature in schema:
        first, *lines = schema.comments.get(feature.name, "").splitlines() or [""]
        probability = first.rpartition("probability ")[2]
        for line in lines:
            if not line.startswith(LOOK):
                continue
            remark = line.removeprefix(LOOK)
            if remark.startswith("otherwise "):
                remark = f"{first}; {remark}"
            columns.setdefault(remark, []).append(feature.name)
            weight = 0.0 if feature.is_ignored else float(probability) if "; otherwise " in remark else 1.0
            weights[remark] = weight + (2.0 if feature.is_described else 0.0)
    return [Look(tuple(columns[remark]), remark, "") for remark in sorted(columns, key=lambda remark: weights[remark])]


def look_at_table(cohort: Prepared, table: pd.DataFrame) -> list[Look]:
    """Return properties of the table that may make spurious subtypes: ties, odd numbers, repetitions."""
    pairs = redundancies(cohort.frame, cohort.schema) if len(cohort.schema.clustered) > 1 else []
    return [*looks_of(table, cohort.schema), *looks(pairs, cohort.schema)]


def facts_of_check(cohort: Prepared, table: pd.DataFrame, looks: Sequence[Look]) -> dict[str, Any]:
    """Return the facts about a table that fits its schema, for a program."""
    missing = cohort.frame.isna().mean()
    return {
        "subjects": len(cohort.frame),
        **_uses(cohort, table),
        "described": [feature.name for feature in cohort.schema.described],
        "cannot_be_clustered": dict(cohort.problem.kept_out),
        "missing": {str(name): float(share) for name, share in missing.items() if share > 0.0},
        "to_decide": [asdict(look) for look in looks],
    }


def _uses(cohort: Prepared, table: pd.DataFrame) -> dict[str, list[str]]:
    """Return the columns of each use, by the name of the use in a summary."""
    schema, uninformative = cohort.schema, cohort.problem.kept_out
    return {
        "clustered": [feature.name for feature in schema.clustered if feature.name not in uninformative],
        "cannot_be_clustered": list(uninformative),
        "identifiers": [feature.name for feature in schema.ids],
        "not_in_schema": [str(name) for name in table.columns if name not in schema],
    }


_HEADINGS = {
    "clustered": "to cluster on",
    "cannot_be_clustered": "cannot be clustered on",
    "identifiers": "identifiers",
    "not_in_schema": "not in the schema, so ignored",
}


def render_check(
    cohort: Prepared, table: pd.DataFrame, *, names: tuple[str, str], looks: Sequence[Look], is_all: bool = False
) -> list[str]:
    """Return the lines to print about a table that fits its schema; `is_all` prints more than one screen of `looks`."""
    frame, schema, uses, width = cohort.frame, cohort.schema, _uses(cohort, table), _width()
    visits = noted_several_rows(frame)
    n_subjects = f"{len(frame)} subjects" if visits is None else f"{len(frame)} rows of {visits.n_subjects} subjects"
    # The same features as in the report: those that the fit clusters on.
    missing = frame[uses["clustered"]].isna().to_numpy().mean() if uses["clustered"] else 0.0
    lines = [
        f"{names[0]} fits {names[1]}: {n_subjects}, {len(schema.clustered)} features to cluster on "
        f"({missing:.1%} of their values missing), {len(schema.described)} to describe."
    ]
    shares = frame.isna().mean().sort_values(ascending=False, kind="stable")
    sections = {_HEADINGS[use]: [_show_name(name) for name in columns] for use, columns in uses.items()}
    sections[f"more than {_MUCH_MISSING:.0%} missing"] = [
        f"{_show_name(name)} {share:.0%}" for name, share in shares[shares > _MUCH_MISSING].items()
    ]
    for heading, items in sections.items():
        section = _wrap_names(f"{heading} ({len(items)}):", items, width)
        lines += section if is_all or len(section) <= _MOST_LINES else [*section[: _MOST_LINES - 1], "  ..."]
    if looks:
        shown = looks if is_all else looks[:_MOST_LOOKS]
        to_do = "; what follows `to do` is not in it yet" if any(look.repair for look in looks) else ""
        lines.append(f"to decide ({len(looks)}); read each, and edit {names[1]} where that is wrong{to_do}:")
        for look in shown:
            columns = ", ".join(map(_show_name, look.columns))
            about = "" if not columns or look.what.startswith(columns) else f"{columns}: "
            lines += _wrap_item(f"{about}{look.what}" + (f"; to do: {look.repair}" if look.repair else ""))
        if len(shown) < len(looks):
            lines.append(f"  and {len(looks) - len(shown)} more, which change less: --all")
    return lines


def _width() -> int:
    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


def render_advice(check: ModelCheck, n_features: int) -> list[str]:
    """Return the lines to print about a model of so many clustered features: what would mend it, if anything."""
    if check.advice.empty:
        return [check.summary]
    n = check.advice["feature"].nunique()
    lines = [f"{n} of {n_features} features {'is' if n == 1 else 'are'} not as the model says; what would mend it:"]
    for line in check.summary.split("\n"):  # a line of the schema in one piece, to be copied
        lines += [f"    {line}"] if line.startswith("  - ") else _wrap_item(line)
    return lines


def _wrap_item(text: str) -> list[str]:
    """Return an item of a list in lines of the terminal; options stay in one piece."""
    options: dict[str, Any] = {"initial_indent": "  - ", "subsequent_indent": "    ", "break_on_hyphens": False}
    return textwrap.wrap(on_one_line(text), _width(), **options)


def _wrap_names(heading: str, items: Sequence[str], width: int) -> list[str]:
    """Return names between commas below a heading, which no line break divides."""
    names = ", ".join(item.replace(" ", _NO_BREAK) for item in items)
    options: dict[str, Any] = {"subsequent_indent": " " * 4, "break_long_words": False, "break_on_hyphens": False}
    lines = textwrap.wrap(f"{heading} {names}", width, **options)
    return [line.replace(_NO_BREAK, " ") for line in lines] if items else []


def _show_name(name: object) -> str:
    text = shortened(on_one_line(str(name)))
    return repr(text) if "," in text or text != text.strip() or not text else text


# Check the fit of a model: likelihoods against their alternatives, replicated values, dependence, and the repairs.

COLUMNS_OF_CHECKS = ["feature", "likelihood", "statistic", "observed", "expected", "distance", "p", "words"]
_FEWEST_VALUES = 10  # features with fewer observed values are not checked
_N_DRAWS = 200  # replicates of each feature: the smallest p is then just below .01
_AT_ONCE = 4_000_000  # values that are drawn at once
_FAR_VALUE = 3.0  # a value is far at so many standard deviations from the mean of its cluster


_WORDS = {
    "scatter": "the values vary {observed:.3g} (variance), expected {expected:.3g}",
    "zeros": "{observed:.1%} of the values are 0, expected {expected:.1%}",
    "ends": "{observed:.1%} of the values lie at an end of the scale, expected {expected:.1%}",
    "tails": "{observed:.1%} of the values lie 3 SD and more from their mean, expected {expected:.1%}",
    "skewness": "the values are skewed by {observed:.2f}, expected {expected:.2f}",
}
"""What each statistic says after "inside the subtypes, "."""


def compute_statistics(
    values: Array, clusters: NDArray[np.int64], feature: Feature, likelihood: Likelihood
) -> dict[str, Array]:
    """Return what is checked of R replicates of a feature, float64 (R, n), in clusters, int64 (n,): each is (R,)."""
    members = np.zeros((clusters.size, int(clusters.max()) + 1))
    members[np.arange(clusters.size), clusters] = 1.0
    means = (values @ members) / np.maximum(members.sum(axis=0), 1.0)
    residuals = values - means[:, clusters]
    statistics = {"scatter": (residuals**2).mean(axis=1)}
    standardised = residuals / np.maximum(np.sqrt(statistics["scatter"]), 1e-300)[:, None]
    if likelihood.is_count and feature.lowest == 0.0:  # counts from 1 on have no zeros
        statistics["zeros"] = (values == 0.0).mean(axis=1)
    if likelihood.is_scale:
        statistics["ends"] = ((values <= 0.0) | (values >= float(likelihood.highest_score(feature) or 0))).mean(axis=1)
    else:
        statistics["tails"] = (np.abs(standardised) >= _FAR_VALUE).mean(axis=1)
    if likelihood.is_real:  # a general power takes 20 times as long
        statistics["skewness"] = (standardised**2 * standardised).mean(axis=1)
    return statistics


def predictive_checks(cohort: FittedCohort, rng: np.random.Generator) -> pd.DataFrame:
    """Return one row for each clustered feature and statistic, in the order of the schema."""
    fit, clusters = cohort.fit, cohort.fit.clusters_
    encoding, values = clusters.encoding, cohort.usual_values()
    checks: dict[str, list[dict[str, Any]]] = {}
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.alone, strict=True)):
        column = (values[feature.name] - encoding.centres[index]) / encoding.scales[index]
        is_usual = ~np.isnan(column)
        if likelihood.is_share or likelihood.counts_levels or is_usual.sum() < _FEWEST_VALUES:
            continue
        column, labels = column[is_usual], fit.cluster_labels_[is_usual]
        labels = labels if clusters.included[index] else np.zeros_like(labels)
        order = np.argsort(labels, kind="stable")  # replicates come in the order of their clusters
        with_values, labels, sizes = np.unique(labels[order], return_inverse=True, return_counts=True)
        posteriors, drawn = clusters.posteriors(index)[with_values], []
        for some in np.array_split(np.arange(_N_DRAWS), min(-(-_N_DRAWS * column.size // _AT_ONCE), _N_DRAWS)):
            pairs = zip(posteriors, sizes.tolist(), strict=True)
            replicates = [likelihood.draw_jointly(of_cluster, some.size, size, rng) for of_cluster, size in pairs]
            drawn.append(compute_statistics(np.concatenate(replicates, axis=1), labels, feature, likelihood))
        observed = compute_statistics(column[order][None], labels, feature, likelihood)
        checks[feature.column] = [
            {"feature": feature.column, "likelihood": likelihood.name, "statistic": name}
            | _compare(name, float(here), np.concatenate([of[name] for of in drawn]), float(encoding.scales[index]))
            for name, (here,) in observed.items()
        ]
    rows = [row for name in fit.schema_.names for row in checks.get(name, [])]
    return pd.DataFrame(rows, columns=COLUMNS_OF_CHECKS)


def _compare(name: str, here: float, replicated: Array, unit: float) -> dict[str, Any]:
    """Return how far a statistic lies from that of the replicates, (R,), with numbers on the scale of the table."""
    at_least, at_most = (replicated >= here - 1e-12).sum(), (replicated <= here + 1e-12).sum()
    p = min(1.0, 2.0 * (1.0 + min(at_least, at_most)) / (1.0 + replicated.size))
    expected, spread = float(replicated.mean()), float(replicated.std())
    distance = abs(here - expected) / spread if spread > 0.0 else 0.0
    squared = unit**2 if name == "scatter" else 1.0
    numbers = {"observed": here * squared, "expected": expected * squared, "distance": distance, "p": p}
    return numbers | {"words": _WORDS[name].format(**numbers)}


_CLEAR = 0.01
_REPORTED, _BLOCKED = 0.3, 0.5
"""Least residual correlations of a pair that is reported, and of features that are advised to be one block, which says
that they measure the same thing: blocks from .3 on made the cultivars of the wines less clear (ARI .95 -> .90).
"""
_EVERYWHERE = 4  # a group of at least so many features and more than half of all is no block, but dependence everywhere


def dependent_pairs(pairs: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
    """Return the pairs of no common block that clearly depend on each other, the strongest first."""
    return _without_blocks(pairs[_is_dependent(pairs, _REPORTED)], {feature.name: feature.block for feature in schema})


def _without_blocks(pairs: pd.DataFrame, blocks: Mapping[str, str | None]) -> pd.DataFrame:
    ends = [(blocks[first], blocks[second]) for first, second in zip(pairs["first"], pairs["second"], strict=True)]
    return pairs[np.array([first is None or first != second for first, second in ends], dtype=np.bool_)]


def dependence(schema: FeatureSchema, pairs: pd.DataFrame) -> list[tuple[str, list[str], str | None, str]]:
    """Return the features that depend on others by `residual_pairs`, those that are advised to be one block first.

    Each has the others, the block that it should be in, or None, and the evidence in words.
    """
    rows: list[tuple[str, list[str], str | None, str]] = []
    blocks = {feature.name: feature.block for feature in schema}
    for members in _groups(pairs):
        is_block = len(members) < _EVERYWHERE or 2 * len(members) <= len(schema.clustered)
        block = _name_block(members, blocks)
        evidence = _describe_strongest(pairs[pairs["first"].isin(members) & pairs["second"].isin(members)])
        changed = [name for name in members if schema[name].block != block]
        for name in changed:
            rows.append((name, [other for other in members if other != name], block if is_block else None, evidence))
        blocks |= dict.fromkeys(changed, block)
    blocks |= {name: block for name, _, block, _ in rows}
    rest, advised = _without_blocks(dependent_pairs(pairs, schema), blocks), {name for name, *_ in rows}
    for name in dict.fromkeys(rest[["first", "second"]].to_numpy().ravel()):
        if name not in advised:
            pairs_of_it = rest[(rest["first"] == name) | (rest["second"] == name)]
            others = pairs_of_it["second"].where(pairs_of_it["first"] == name, pairs_of_it["first"]).tolist()
            rows.append((name, others, None, _describe_strongest(pairs_of_it)))
    return rows


def _is_dependent(pairs: pd.DataFrame, least: float) -> pd.Series[bool]:
    return (pairs["p_of_largest"] <= _CLEAR) & (pairs["correlation"].abs() >= least)


def _describe_strongest(pairs: pd.DataFrame) -> str:
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
    groups = [sorted(names[at] for at in np.flatnonzero(group == number)) for number in dict.fromkeys(group.tolist())]
    return [members for members in groups if len(members) > 1]


def _name_block(members: list[str], blocks: Mapping[str, str | None]) -> str:
    """Return the block of one of the features, or a name that no block has."""
    of_members = [block for name in members if (block := blocks[name]) is not None]
    new = (name for number in count(1) if (name := f"depends_{number}") not in blocks.values())
    return of_members[0] if of_members else next(new)


COLUMNS_OF_PAIRS = ["first", "second", "correlation", "p", "p_of_largest", "n"]
_FEWEST_IN_BOTH = 10  # pairs with fewer subjects with both values are left out


def residual_pairs(cohort: FittedCohort) -> pd.DataFrame:
    """Return one row for each pair of clustered features, the strongest first.

    The measure is the correlation of the residuals of their mid-ranks (of an unordered feature, of the level with the
    strongest one) after regression on the probabilities of the clusters, with p as of n - J pairs of normal values;
    `p_of_largest` is p times the number of correlations.
    """
    fit, membership = cohort.fit, cohort.fit.cluster_membership_
    features = list(dict.fromkeys(feature.whole for feature in fit.clusters_.encoding.features))
    scores = ((feature.scores(cohort.table[feature.name]), feature.traits.is_nominal) for feature in features)
    columns, _, owners = graded(scores, mid_ranks)
    residuals, seen = _residuals(columns, membership)
    n = seen.T @ seen
    squares = (residuals**2).T @ seen
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (residuals.T @ residuals) / np.sqrt(squares * squares.T)
    usable = np.isfinite(r) & (n - membership.shape[1] >= _FEWEST_IN_BOTH)
    r = np.where(usable, np.clip(r, -1.0, 1.0), 0.0)
    names = np.array([feature.name for feature in features], dtype=object)
    places = np.nonzero(owners[:, None] < owners)
    first, second, r, n = owners[places[0]], owners[places[1]], r[places], n[places]
    pairs = pd.DataFrame({"first": names[first], "second": names[second], "correlation": r, "n": n})
    pairs = pairs.iloc[np.lexsort((-np.abs(r), second, first))].drop_duplicates(["first", "second"], ignore_index=True)
    r, df = pairs["correlation"].to_numpy(), np.maximum(pairs["n"].to_numpy() - membership.shape[1] - 1.0, 1.0)
    pairs["p"] = 2.0 * stdtr(df, -np.abs(r) * np.sqrt(df / np.maximum(1.0 - r**2, 1e-300)))
    pairs["p_of_largest"] = np.minimum(pairs["p"] * max(int(usable[places].sum()), 1), 1.0)
    order = pairs["correlation"].abs().sort_values(ascending=False, kind="stable").index
    return pairs.loc[order, COLUMNS_OF_PAIRS].reset_index(drop=True).astype({"n": "int64"})


def _residuals(columns: Array, membership: Array) -> tuple[Array, Array]:
    """Return the residuals of each column after regression on the membership, 0 where missing, and 1 where observed."""
    seen = (~np.isnan(columns)).astype(np.float64)
    centre = np.nansum(columns, axis=0) / np.maximum(seen.sum(axis=0), 1.0)
    values = np.where(seen > 0.0, columns - centre, 0.0)
    n_subtypes = membership.shape[1]
    products = (membership[:, :, None] * membership[:, None, :]).reshape(-1, n_subtypes**2)
    squares = (seen.T @ products).reshape(-1, n_subtypes, n_subtypes)
    slopes = np.linalg.pinv(squares, hermitian=True) @ (membership.T @ values).T[:, :, None]
    residuals = seen * (values - membership @ slopes[:, :, 0].T)
    # Residuals that are only rounding errors are set to 0.
    residuals[:, (residuals**2).sum(axis=0) <= 1e-18 * (values**2).sum(axis=0)] = 0.0
    return residuals, seen


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
    for name, others, block, evidence in dependence(schema, pairs):
        if block is not None:
            mended[name] = Feature(**(mended.get(name, schema[name]).content() | {"block": block}))
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        why = f"depends on {', '.join(others[:_NAMED])}{more} inside the subtypes"
        rows.append((name, DEPENDENCE, why, block is not None, evidence))
    otherwise = [name for name, kind, *_ in rows if kind == LIKELIHOOD]
    for row in odd_values(checks).to_dict("records"):
        name, prior = str(row["feature"]), (priors or {}).get(str(row["feature"]))
        if name in otherwise:
            continue
        if prior:
            mended[name] = Feature(**(mended.get(name, schema[name]).content() | {"prior": dict(prior)}))
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


def better_priors(cohort: FittedCohort) -> dict[str, dict[str, float]]:
    """Return hyperparameters that describe the values in the clusters clearly better, by feature.

    Only those of `Likelihood.compared_hyperparameters` are varied: those that must be known in clusters, and whose
    default, taken from all subjects together, includes the differences between clusters.
    """
    fit, encoding = cohort.fit, cohort.fit.clusters_.encoding
    tree = ClusterTree(fit.clusters_, fit.tree_.joins, fit.tree_.evidence)
    features, likelihoods, better = encoding.features, encoding.likelihoods, {}
    values = cohort.usual_values()
    for feature, likelihood in zip(features, likelihoods, strict=True):
        column = values[feature.name]
        is_usual = ~np.isnan(column)
        column, labels = column[is_usual], fit.cluster_labels_[is_usual]
        alternatives = likelihood.compared_hyperparameters(column)
        if len(alternatives) < 2:
            continue
        names = likelihood.hyperparameter_names
        priors = np.vstack([[fit.hyperparameters_[feature.name][name] for name in names], alternatives])
        of_nodes = log_marginals_in_tree(likelihood, column, labels, tree, priors)
        evidence = of_nodes[:, : tree.n_clusters].sum(axis=1)
        best = int(evidence.argmax())
        if evidence[best] - evidence[0] >= _CLEAR_EVIDENCE:
            # The others follow: they say where the values lie.
            stated = {name: float(f"{value:.2g}") for name, value in zip(names, priors[best], strict=True)}
            better[feature.column] = {name: value for name, value in stated.items() if name in likelihood.bounds}
    return better


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
        lines: list[str] = []
        for row in self.advice.to_dict("records"):
            lines.append(on_one_line(f"{row['feature']}: {row['problem']} ({row['evidence']})"))
            line = f"  {row['line']}"  # one line may mend two problems
            lines += [line] if row["line"] and line not in lines else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        n = self.advice["feature"].nunique()
        return f"ModelCheck({'1 feature has' if n == 1 else f'{n} features have'} problems)"


@accepting()
def check_model(model: SubtypeModel, frame: pd.DataFrame, *, random_state: RandomState = 0) -> ModelCheck:
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
        If the model is not a fitted MAPDP, or `frame` is not its cohort.

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
    from clinclust.estimators.fitting import compared_likelihoods

    require_search(model, "check_model")
    cohort = cohort_of(model, frame)
    likelihoods = compared_likelihoods(cohort.fit, cohort.table)
    return check_cohort(cohort, likelihoods, np.random.default_rng(random_state))


def check_cohort(cohort: FittedCohort, likelihoods: pd.DataFrame, rng: np.random.Generator) -> ModelCheck:
    """Return the result of `check_model`, given the likelihoods of `compared_likelihoods`."""
    checks = predictive_checks(cohort, rng)
    pairs = residual_pairs(cohort)
    advice, mended = advice_of(cohort.schema, likelihoods, checks, pairs, better_priors(cohort))
    return ModelCheck(likelihoods, checks, pairs, advice, mended)
