"""Whether a new batch of subjects differs from the cohort, in its subtypes, missing values or distributions.

Each feature is tested in two samples, the subtypes of both are counted, and `Drift` says in words what differs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import accepting
from clinclust.arrays import Array, RandomState
from clinclust.comparisons.differences import Contrast, adjusted
from clinclust.data import WORDS
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem.encoding import model_values
from clinclust.errors import InputError, on_one_line
from clinclust.estimators.cohort_table import warn_of_other_rows
from clinclust.estimators.explanation import left_out_scores
from clinclust.estimators.mapdp import MAPDP, validate_subjects, without_unseen
from clinclust.estimators.subtype_model import FittedCohort, SubtypeModel, cohort_of, require_search, rows_of_the_fit
from clinclust.files.cell_text import shortened
from clinclust.likelihoods.likelihood import Likelihood

Counts = NDArray[np.int64]

_FIRST, _MOST, _CELLS = 2_000, 100_000, 1_000_000
"""Draws with which every feature is tested, the most with which a small p is computed, and their most numbers."""
_ENOUGH = 10  # draws at least as far out as the batch at which p is known well enough
_MOST_VALUES = 100  # most different values with a test by permutation; with more, ties are too few to matter


def compared_margins(likelihood: Likelihood, cohort: Array, batch: Array, rng: np.random.Generator) -> Contrast:
    """Return the test of observed values (n,) and (m,) for a likelihood: chi-squared or Kolmogorov-Smirnov."""
    if not cohort.size or not batch.size:
        return Contrast()
    values, places = np.unique(np.concatenate([cohort, batch]), return_inverse=True)
    in_cohort = np.bincount(places[: cohort.size], minlength=values.size)
    in_batch = np.bincount(places[cohort.size :], minlength=values.size)
    if values.size < 2:
        return Contrast()
    if likelihood.is_share:
        return chi_squared(in_cohort, in_batch, rng)
    if values.size <= _MOST_VALUES:
        return _permute("Kolmogorov-Smirnov, permuted", _largest_distance, in_cohort, in_batch, rng)
    from scipy.stats import ks_2samp

    test = ks_2samp(cohort, batch)
    return Contrast("Kolmogorov-Smirnov", float(test.statistic), p=float(test.pvalue))


def chi_squared(in_cohort: Counts, in_batch: Counts, rng: np.random.Generator) -> Contrast:
    """Return the chi-squared test of numbers by level, int64 (L,), in cohort and batch, by permutation."""
    occurs = in_cohort + in_batch > 0
    if occurs.sum() < 2 or not in_cohort.any() or not in_batch.any():
        return Contrast()
    return _permute("chi-squared, permuted", _chi_squared, in_cohort[occurs], in_batch[occurs], rng)


def _largest_distance(batch: Counts, totals: Counts) -> Array:
    in_batch, in_both = batch.cumsum(axis=1), totals.cumsum()
    n_batch, n_both = int(batch[0].sum()), int(totals.sum())
    distances = np.abs(in_batch / n_batch - (in_both - in_batch) / (n_both - n_batch))
    return np.asarray(distances.max(axis=1))


def _chi_squared(batch: Counts, totals: Counts) -> Array:
    n_batch, n_both = int(batch[0].sum()), int(totals.sum())
    expected = totals * (n_batch / n_both)
    # Both samples depart from their expected numbers by the same; together these terms are one.
    return np.asarray(((batch - expected) ** 2 / expected).sum(axis=1) * (n_both / (n_both - n_batch)))


def _permute(
    name: str,
    statistic: Callable[[Counts, Counts], Array],
    in_cohort: Counts,
    in_batch: Counts,
    rng: np.random.Generator,
) -> Contrast:
    """Return the test of a statistic of the numbers of the batch, int64 (draws, L), and those of both samples (L,)."""
    totals, n_batch = in_cohort + in_batch, int(in_batch.sum())
    here = float(statistic(in_batch[None, :], totals)[0])
    p = 1.0
    for n in (_FIRST, min(_MOST, _CELLS // totals.size)):
        drawn = rng.multivariate_hypergeometric(totals, n_batch, size=n, method="marginals")
        n_as_far = int((statistic(drawn, totals) >= here - 1e-9 * max(here, 1.0)).sum())
        p = (1 + n_as_far) / (1 + n)
        if n_as_far >= _ENOUGH:
            break
    return Contrast(name, here, p=p)


def table_of_features(
    cohort: FittedCohort, batch: pd.DataFrame, unseen: dict[str, NDArray[np.bool_]], rng: np.random.Generator
) -> pd.DataFrame:
    """Return one row for each clustered feature, as `assess_drift` explains it, from the results of `read_batch`."""
    encoding, names = cohort.fit.clusters_.encoding, cohort.schema.names
    in_cohort, in_batch = (model_values(table, encoding.features) for table in (cohort.table, batch))
    none_unseen = np.zeros(len(batch), dtype=np.bool_)
    rows = []
    pairs = zip(encoding.features, encoding.likelihoods, strict=True)
    for feature, likelihood in sorted(pairs, key=lambda pair: names.index(pair[0].column)):
        name, is_unseen = feature.name, unseen.get(feature.column, none_unseen)
        # Values at a point mass are not missing; they are counted in the row of the first part.
        missing = np.isnan(in_cohort[name]), np.isnan(in_batch[name]) & ~is_unseen
        is_rest = feature.is_part and not feature.levels
        rows.append(
            {"feature": feature.column, "label": feature.title, "likelihood": likelihood.name}
            | (dict.fromkeys(_MISSING, np.nan) if is_rest else _compare_missing(*missing))
            | {"q_missing": np.nan, "n_unseen": int(is_unseen.sum())}
            | _compare_observed(likelihood, in_cohort[name], in_batch[name], rng)
        )
    table = pd.DataFrame(rows)
    return table.assign(q_missing=adjusted(table["p_missing"].to_numpy()), q=adjusted(table["p"].to_numpy()))


_MISSING = ("missing_cohort", "missing_batch", "p_missing")


def _compare_missing(in_cohort: NDArray[np.bool_], in_batch: NDArray[np.bool_]) -> dict[str, Any]:
    from scipy.stats import fisher_exact

    table = np.array([[column.sum(), (~column).sum()] for column in (in_cohort, in_batch)])
    p = float(fisher_exact(table).pvalue) if table.any(axis=0).all() else np.nan
    return dict(zip(_MISSING, (float(in_cohort.mean()), float(in_batch.mean()), p), strict=True))


def _compare_observed(likelihood: Likelihood, cohort: Array, batch: Array, rng: np.random.Generator) -> dict[str, Any]:
    cohort, batch = cohort[~np.isnan(cohort)], batch[~np.isnan(batch)]
    test = compared_margins(likelihood, cohort, batch, rng)
    measure, effect = "", np.nan
    if test.test and likelihood.is_nominal:
        measure, effect = "Cramer's V", float(np.sqrt(test.statistic / (cohort.size + batch.size)))
    elif test.test:
        spread, measure = float(cohort.std()), "SD of the cohort"
        effect = (float(batch.mean()) - float(cohort.mean())) / spread if spread > 0.0 else np.nan
    results = {"test": test.test, "statistic": test.statistic, "measure": measure, "effect": effect, "p": test.p}
    return {"n_cohort": cohort.size, "n_batch": batch.size} | results


def count_subtypes(cohort: FittedCohort, batch: pd.DataFrame) -> tuple[Counts, Counts]:
    """Return how many subjects of the cohort, assigned by all others, and of the batch get each subtype, and none.

    Both are (K + 1,).
    """
    fit, clusters = cohort.fit, cohort.fit.clusters_
    scores, labels = left_out_scores(cohort), fit.cluster_labels_
    is_alone = clusters.sizes[labels] < 2
    scores[is_alone, labels[is_alone]] = -np.inf  # the cluster is empty without the subject
    scores_of_batch = clusters.scores(model_values(batch, clusters.encoding.features), coarsened=True)

    def count(table: pd.DataFrame, scores: Array) -> Counts:
        with np.errstate(invalid="ignore"):
            subtypes = fit.subtypes_.log_summed(scores).argmax(axis=1)
        is_observed = table[fit.selected_features_].notna().any(axis="columns").to_numpy()
        return np.bincount(subtypes[is_observed], minlength=fit.n_clusters_ + 1)

    return count(cohort.table, scores), count(batch, scores_of_batch)


def table_of_tests(in_cohort: Counts, in_batch: Counts, rng: np.random.Generator) -> pd.DataFrame:
    """Return the two tests: of the share that fits no subtype, and of the subtypes of all others."""
    from scipy.stats import fisher_exact

    none = Contrast()
    if in_cohort.any() and in_batch.any():
        table = np.array([[counts[-1], counts[:-1].sum()] for counts in (in_batch, in_cohort)])
        difference = float(in_batch[-1] / in_batch.sum() - in_cohort[-1] / in_cohort.sum())
        none = Contrast("Fisher's exact", difference, p=float(fisher_exact(table).pvalue))
    shares = chi_squared(in_cohort[:-1], in_batch[:-1], rng)
    n_both = int(in_cohort[:-1].sum() + in_batch[:-1].sum())
    rows = [
        ("none of these", none.test, "difference of shares", none.statistic, none.p),
        ("shares of subtypes", shares.test, "Cramer's V", float(np.sqrt(shares.statistic / max(n_both, 1))), shares.p),
    ]
    return pd.DataFrame(rows, columns=["question", "test", "measure", "effect", "p"])


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """How a batch of new subjects differs from the cohort. Tables are tidy; `assess_drift` explains the columns.

    Attributes
    ----------
    subtypes : DataFrame
        subtype, n_cohort, n_batch, share_cohort, share_batch.
    tests : DataFrame
        question (none of these, shares of subtypes), test, measure, effect, p.
    features : DataFrame
        feature, label, likelihood; missing_cohort, missing_batch, p_missing, q_missing; n_unseen; n_cohort, n_batch,
        test, statistic, measure, effect, p, q.
    n_cohort, n_batch : int
        Subjects of the cohort and of the batch.

    Examples
    --------
    >>> import clinclust as cc
    >>> cc.drift.Drift.__match_args__[:2]
    ('subtypes', 'tests')
    """

    subtypes: pd.DataFrame
    tests: pd.DataFrame
    features: pd.DataFrame
    n_cohort: int
    n_batch: int

    @property
    def summary(self) -> str:
        """The result in words, a line for each question. It names features and no subject."""
        (*subtypes, none), (share, shares) = self.subtypes.to_dict("records"), self.tests.to_dict("records")
        sizes = {"of_batch": self.subtypes["n_batch"].sum(), "of_cohort": self.subtypes["n_cohort"].sum()}
        more = _judge(share["p"], "more" if share["effect"] > 0 else "fewer")
        lines = [_TEXTS["sizes"].format(batch=_write_subjects(self.n_batch), cohort=self.n_cohort)]
        lines += [_TEXTS["none"].format_map(none | sizes | {"judgement": more})]
        # Shares of those who fit a subtype, as the test compares them.
        counts = {name: [row[name] for row in subtypes] for name in ("n_batch", "n_cohort")}
        parts = {name: " / ".join(f"{n / max(sum(of), 1):.1%}" for n in of) for name, of in counts.items()}
        lines += [
            _TEXTS["shares" if len(subtypes) > 1 else "one"].format(**parts, judgement=_judge(shares["p"], "differ"))
        ]
        for q, what in (("q_missing", "missing"), ("q", "shift")):
            features = self.features[self.features[q] < CLEAR].sort_values(q, kind="stable")
            form = _TEXTS["few"] if len(features) == 1 else _TEXTS["many"] if len(features) else _TEXTS["equal"]
            numbers = {"n": len(features), "of": len(self.features), "level": CLEAR, "names": _list(features, what)}
            lines.append(form.format(**numbers, what=_TEXTS["what"][what]))
        for what, is_so in (("unseen", self.features["n_unseen"] > 0), ("untested", self.features["n_batch"] == 0)):
            lines += [_TEXTS["what"][what].format(names=_list(self.features[is_so], what))] if is_so.any() else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        n_different = int(((self.features["q"] < CLEAR) | (self.features["q_missing"] < CLEAR)).sum())
        differ = f"{n_different} of {len(self.features)} features differ"
        return f"Drift({self.n_batch:,} subjects against {self.n_cohort:,}; {differ})"


_TEXTS = WORDS["drift"]
CLEAR = 0.05  # a difference is called clear if its p, or among many features its q, is below this
_MOST_NAMED = 8


def _judge(p: float, difference: str) -> str:
    if pd.isna(p):
        return str(_TEXTS["too_few"])
    shown = "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
    return f"{_TEXTS['difference'][difference if p < CLEAR else 'none']} ({shown})"


def _list(features: pd.DataFrame, what: str) -> str:
    """Return features with the number that is about them, in the form of what differs."""
    more = f" and {len(features) - _MOST_NAMED:,} more" if len(features) > _MOST_NAMED else ""
    items = []
    for row in features.iloc[:_MOST_NAMED].to_dict("records"):
        form = _TEXTS["item"].get(row["measure"] if what == "shift" else what)
        label = on_one_line(shortened(str(row["label"])))
        items.append(form.format_map(row | {"label": label, "subjects": _write_subjects(row["n_unseen"])}))
    return ", ".join(items) + more


def _write_subjects(n: int) -> str:
    return "1 subject" if n == 1 else f"{n:,} subjects"


@accepting()
def assess_drift(
    model: SubtypeModel, frame: pd.DataFrame, new: pd.DataFrame, *, random_state: RandomState = 0
) -> Drift:
    """Say whether a new batch of subjects differs from the cohort that the subtypes were found in.

    Subtypes describe another cohort badly if it has other patients, other instruments, or other gaps. A difference does
    not say which of these it is, and without a clear difference a small batch may still differ. Subjects are compared
    as if each were drawn independently; several visits of one person make p too small.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    frame : DataFrame, N rows
        The cohort of the fit.
    new : DataFrame, n rows
        The batch, of at least one subject. Identifiers and described columns may be absent. Values that the model
        cannot read are counted and taken for missing, as with ``unseen="missing"`` of `MAPDP.predict`.
    random_state : int, numpy.random.Generator, RandomState or None
        Seed of the permutations.

    Returns
    -------
    Drift
        subtypes: how many subjects of cohort and batch get each subtype, and how many most probably belong to none of
        these (subtype 0). Members of the cohort are assigned without their own influence, so that they do not fit
        better than new subjects. Subjects without any observed value are not counted.

        tests: Fisher's exact test of the share that fits no subtype, and a chi-squared test of the subtypes of all
        others, by permutation; effects are the difference of the shares (batch less cohort), and Cramer's V.

        features: for each clustered feature the shares that are missing, with Fisher's exact test; n_unseen, the number
        of subjects with a value that the model does not know; and a test of the observed values by the likelihood:
        Kolmogorov and Smirnov for measurements, counts and scales, chi-squared for yes/no and categories; by
        permutation where values are tied. The effect is the difference of the means (batch less cohort)
        in standard deviations of the cohort, after the transform of the feature; Cramer's V for categories. A feature
        with a spike or a limit has two rows: whether a value is at it, and the other values. q_missing and q are those
        of Benjamini and Hochberg over all features.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema, or `new` lacks a column.
    ValueError
        If the model is not a fitted MAPDP, `frame` is not its cohort, or `new` has no rows or is the cohort itself.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(280) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> frame, new = frame.iloc[:200], frame.iloc[200:].assign(grip=lambda batch: batch["grip"] + 5)
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> drift = cc.drift.assess_drift(model, frame, new)
    >>> drift.features.loc[drift.features["q"] < 0.05, "feature"].tolist()
    ['grip']
    """
    require_search(model, "assess_drift")
    return find_drift(cohort_of(model, frame), new, random_state)


def find_drift(cohort: FittedCohort, new: pd.DataFrame, random_state: RandomState = 0) -> Drift:
    """Return the `assess_drift` of a cohort."""
    warn_of_other_rows(cohort.schema, new)
    batch, unseen = read_batch(cohort, new)
    rng = np.random.default_rng(random_state)
    with announcing_compilation():
        in_cohort, in_batch = count_subtypes(cohort, batch)
    subtypes = pd.DataFrame({"subtype": [*cohort.model.codes_, 0], "n_cohort": in_cohort, "n_batch": in_batch})
    for name, counts in (("share_cohort", in_cohort), ("share_batch", in_batch)):
        subtypes[name] = counts / max(int(counts.sum()), 1)
    tests, features = table_of_tests(in_cohort, in_batch, rng), table_of_features(cohort, batch, unseen, rng)
    return Drift(subtypes, tests, features, len(cohort.table), len(batch))


def read_batch(cohort: FittedCohort, new: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, NDArray[np.bool_]]]:
    """Return new subjects as the model reads them, and who has an unknown value of each feature, bool (n,), if any has.

    Unknown values are missing in the table. Raises CohortError if a column is absent, InputError if there are no rows
    or it is the cohort of the fit.
    """
    if not len(new):
        raise InputError("new has no rows; give a table with one row for each new subject")
    if rows_of_the_fit(cohort.fit, new) is not None:
        raise InputError("the table of new subjects is the cohort of the fit itself; give a table of other subjects")
    needed = cast("MAPDP", cohort.model).schema_needed
    # What is missing is a result here, also where no value of the cohort might be missing.
    schema = needed.with_changed([feature.model_copy(update={"complete": False}) for feature in needed])
    readable, unseen, _ = without_unseen(schema, new)
    return validate_subjects(schema, readable), unseen
