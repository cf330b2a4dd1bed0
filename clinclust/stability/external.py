"""Are the subtypes of a cohort found again in another one? Assigned against found there, sizes and profiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

from clinclust.arguments import FRAME, MODEL, ON_OR_OFF, accepting
from clinclust.arrays import Array, Labels
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.search.labels import adjusted_rand_index
from clinclust.estimators.fitted_cohort import cohort_of
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.subtype_model import require_search
from clinclust.stability.assess import RECOVERED, band_of, clusterwise_jaccard, contingency

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

_PERMUTATIONS = 20


@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """Whether subtypes are found again in another cohort.

    Attributes
    ----------
    subtypes : DataFrame
        `validate_subtypes` explains the columns.
    n_found : int
        Number of subtypes that the same procedure finds in the other cohort.
    n_cohort, n_other : int
        Subjects of both.
    agreement : float
        Adjusted Rand index, in the other cohort, of the subtypes assigned and of those found there.
    agreement_in_cohort : float
        The same in the cohort of the model.

    Examples
    --------
    >>> import clinclust as cc
    >>> isinstance(cc.stability.Validation, type)
    True
    """

    subtypes: pd.DataFrame
    n_found: int
    n_cohort: int
    n_other: int
    agreement: float
    agreement_in_cohort: float

    @property
    def n_found_again(self) -> int:
        """Subtypes that are found again: in one group, none is."""
        return int((self.subtypes["jaccard"] >= RECOVERED).sum()) if self.n_found > 1 else 0

    @property
    def summary(self) -> str:
        """The result in words: a line for the number, and one for each subtype."""
        finds = f"{self.n_found} subtypes" if self.n_found > 1 else "one group"
        outside = 1.0 - self.subtypes["share_assigned"].sum()
        none = f"; {outside:.1%} of the subjects there fit none" if outside > 1e-9 else ""
        lines = [
            f"{self.n_found_again} of {len(self.subtypes)} subtypes are found again in the other cohort of "
            f"{self.n_other:,} subjects, where the same procedure finds {finds} (adjusted Rand index of assigned and "
            f"found {self.agreement:.2f}){none}."
        ]
        for row in self.subtypes.to_dict("records"):
            shares = f"{row['share']:.1%} of the cohort, {row['share_assigned']:.1%} of the other"
            again = "" if math.isnan(row["jaccard"]) else f", Jaccard {row['jaccard']:.2f}"
            profile = row["profile_correlation"]
            profiles = "" if math.isnan(profile) else f", correlation of the profiles {profile:.2f}"
            lines.append(f"Subtype {row['subtype']}: {shares}; there {row['band']}{again}{profiles}.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        jaccards = ", ".join(f"{value:.2f}" for value in self.subtypes["jaccard"])
        return f"Validation(jaccard {jaccards}; {self.n_found} found in {self.n_other:,} subjects)"


@accepting(model=MODEL, frame=FRAME, other=FRAME, progress=ON_OR_OFF)
def validate_subtypes(
    model: SubtypeModel, frame: pd.DataFrame, other: pd.DataFrame, *, progress: bool = True
) -> Validation:
    """Look for the subtypes of a model in another cohort, such as of another hospital.

    The subjects of the other cohort are assigned by the model, and independently clustered by the same procedure, with
    all that the fit chooses from the data chosen anew. Of another number found, the tree of the other fit is cut to as
    many subtypes, where it has them. What is compared is in the sense of Hennig (2007, Computational Statistics and
    Data Analysis 52, 258-271): a subtype is found again if mostly the same subjects come together.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    frame : DataFrame, N rows
        The cohort of the fit.
    other : DataFrame
        Another cohort, with the features of the fit in the same units.
    progress : bool
        Show a bar for the search.

    Returns
    -------
    Validation
        subtypes: for each subtype its share of the cohort, and of the other as assigned and as found there
        (`share_found`); the subtype found there that is nearest (`nearest`); `jaccard`, the number of subjects of the
        other cohort in both divided by that in either; `jaccard_by_chance`, that of random labels of the same sizes;
        the `band` of Hennig, or ``not found`` if the other cohort is one group; `jaccard_in_cohort`, where the subjects
        of the cohort are assigned by the fit of the other; and `profile_correlation` of the means of the features in
        the subtype and in the nearest, each in standard deviations from the mean of its own cohort.

    Raises
    ------
    CohortError
        If a table does not fit the schema.
    ValueError
        If the model is not a fitted MAPDP, or `frame` is not its cohort.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> def cohort(n):
    ...     frail = rng.random(n) < 0.4
    ...     return pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> frame, other = cohort(200), cohort(150)
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> found = cc.stability.validate_subtypes(model, frame, other, progress=False)
    >>> found.n_found, (found.subtypes["jaccard"] > 0.9).tolist()
    (2, [True, True])
    """
    require_search(model, "validate_subtypes")
    searched = cast("MAPDP", model)
    cohort = cohort_of(model, frame, stacklevel=3).table
    schema, n_subtypes = searched.schema_needed, searched.n_clusters_
    parameters = searched.get_params() | {"schema": schema, "progress": progress}
    asked = parameters["n_clusters"]
    if isinstance(asked, Integral):  # a search that finds fewer says that they are not there
        parameters["n_clusters"] = None
    validated = schema.validate(other, warn=False)  # before the model, which knows a repair for single subjects only
    assigned = np.asarray(searched.predict(other))
    fit = type(searched)(**parameters).fit(other)
    n_found = min(int(asked), fit.n_clusters_) if isinstance(asked, Integral) else fit.n_clusters_
    if n_subtypes != fit.n_clusters_ and n_subtypes <= fit.subtype_of_.size:
        fit = fit.cut(n_subtypes)
    reported, found = np.asarray(model.labels_), np.asarray(fit.labels_)
    back = np.asarray(fit.predict(cohort))
    known, known_back = assigned >= 0, back >= 0
    in_other = contingency(assigned[known], found[known], n_subtypes)
    in_cohort = contingency(reported[known_back], back[known_back], n_subtypes)
    jaccard = clusterwise_jaccard(in_other)
    nearest = _nearest(in_other)
    profiles = (
        _profiles(cohort, reported, schema.clustered),
        _profiles(validated, found, schema.clustered),
    )
    sizes = np.bincount(assigned[known], minlength=n_subtypes)
    bands = [band_of(value, size).name for value, size in zip(jaccard.tolist(), sizes.tolist(), strict=True)]
    if n_found == 1 < n_subtypes:  # all subjects there come together, and those of every subtype with them
        bands = ["not found"] * n_subtypes
    table = pd.DataFrame(
        {
            "subtype": np.arange(1, n_subtypes + 1),
            "share": np.bincount(reported, minlength=n_subtypes) / len(reported),
            "share_assigned": sizes / len(other),
            "nearest": nearest + 1,
            "share_found": np.bincount(found)[nearest] / len(other),
            "jaccard": jaccard,
            "jaccard_by_chance": _by_chance(assigned[known], found[known], n_subtypes, fit.random_seed_),
            "band": bands,
            "jaccard_in_cohort": clusterwise_jaccard(in_cohort),
            "profile_correlation": [_correlation(profiles[0][k], profiles[1][at]) for k, at in enumerate(nearest)],
        }
    )
    return Validation(
        table,
        n_found,
        len(cohort),
        len(other),
        adjusted_rand_index(assigned[known], found[known]),
        adjusted_rand_index(reported[known_back], back[known_back]),
    )


def _nearest(counts: Array) -> Labels:
    """Return the subtype found with the largest Jaccard similarity to each subtype, int64 (K,)."""
    either = counts.sum(axis=1, keepdims=True) + counts.sum(axis=0) - counts
    return np.asarray((counts / np.maximum(either, 1.0)).argmax(axis=1))


def _by_chance(assigned: Labels, found: Labels, n_subtypes: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    drawn = [
        clusterwise_jaccard(contingency(assigned, rng.permutation(found), n_subtypes)) for _ in range(_PERMUTATIONS)
    ]
    return np.asarray(np.mean(drawn, axis=0))


def _profiles(frame: pd.DataFrame, labels: Labels, features: tuple[Feature, ...]) -> Array:
    """Return the mean of each feature or nominal level in each subtype, in standard deviations from all, (K, F)."""
    columns = []
    for feature in features:
        values = model_values(frame, feature.parts)
        for part in feature.parts:
            column = values[part.name]
            if not part.traits.is_nominal:
                columns.append(column)
                continue
            levels = range(len(part.levels or ()))
            columns += [np.where(np.isnan(column), np.nan, column == level) for level in levels]
    table = pd.DataFrame(np.column_stack(columns))
    return ((table.groupby(labels).mean() - table.mean()) / table.std()).to_numpy()


def _correlation(one: Array, other: Array) -> float:
    known = np.isfinite(one) & np.isfinite(other)
    if known.sum() < 3 or np.ptp(one[known]) == 0.0 or np.ptp(other[known]) == 0.0:
        return float("nan")
    return float(np.corrcoef(one[known], other[known])[0, 1])
