"""Run other methods than MAP-DP, and say of each what it found, by measures that hold for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from clinclust.arguments import FRAME, MODEL, NOTHING, ON_OR_OFF, RANDOM_STATE, SCHEMA, TEXTS, WHOLE, accepting, either
from clinclust.arrays import RandomState
from clinclust.errors import InputError, MissingPackageError, refuse
from clinclust.estimators.fitted_cohort import cohort_of
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.parameters import seed_of
from clinclust.estimators.subtype_model import require_search
from clinclust.methods.dp_means import DPMeans
from clinclust.methods.gaussian_mixture import GaussianMixture
from clinclust.methods.harmonic_means import KHarmonicMeans
from clinclust.methods.k_means import KMeans
from clinclust.methods.k_prototypes import KPrototypes
from clinclust.methods.latent_classes import LatentClasses
from clinclust.methods.mean_shift import MeanShift
from clinclust.methods.measures import STARTS, Measures, without_warnings
from clinclust.progress import Progress

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.methods.method import Method
    from clinclust.schema import FeatureSchema


Make: TypeAlias = Callable[["FeatureSchema", int, int], "MAPDP | Method"]
"""Makes an estimator from the schema, the number of subtypes of ours, and a seed."""

OURS = "MAP-DP"
FEWEST_SUBJECTS = 20  # size of the smallest cohort: a fifth of it is held out, and halves are clustered
_MOST = 10  # largest number of clusters that a criterion chooses from

_UP_TO_MOST: dict[str, Any] = {"max_clusters": _MOST, "n_restarts": STARTS}
_FEWER: dict[str, Any] = {"max_clusters": _MOST - 2, "n_restarts": STARTS}

CANDIDATES: Mapping[str, Make] = MappingProxyType(
    {
        "K-means, K by BIC": lambda schema, k, seed: KMeans(schema, random_state=seed, **_UP_TO_MOST),
        "K-means, K by silhouette": lambda schema, k, seed: KMeans(
            schema, choose_by="silhouette", random_state=seed, **_UP_TO_MOST
        ),
        "Gaussian mixture, K by BIC": lambda schema, k, seed: GaussianMixture(schema, random_state=seed, **_UP_TO_MOST),
        "Latent classes, K by BIC": lambda schema, k, seed: LatentClasses(schema, random_state=seed, **_FEWER),
        "Mean shift": lambda schema, k, seed: MeanShift(schema),
        "K-harmonic means, K of MAP-DP": lambda schema, k, seed: KHarmonicMeans(
            schema, k, n_restarts=STARTS, random_state=seed
        ),
        "K-prototypes, K of MAP-DP": lambda schema, k, seed: KPrototypes(
            schema, k, n_restarts=STARTS, random_state=seed
        ),
        "DP-means, about K of MAP-DP": lambda schema, k, seed: DPMeans(
            schema, n_clusters=k, n_restarts=STARTS, random_state=seed
        ),
    }
)
"""The other methods by the name of their row, in the order of the table."""


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison:
    """What each method found on one cohort. `compare_methods` explains the columns.

    Attributes
    ----------
    table : DataFrame, one row for each method, ours first
        method, n_clusters, n_distinct, held_out, held_out_gain, held_out_gain_se, stability, agreement, seconds, said.
    models : mapping
        The fitted model of each method that could run, by the name of its row: each can be reported, tested and shared
        like ours (`write_report`, `validated_associations`).

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(90) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> few = {"methods": ["Mean shift"], "n_resamples": 2, "n_draws": 20}
    >>> found = cc.methods.compare_methods(frame, schema, **few, progress=False)
    >>> isinstance(found, cc.methods.MethodComparison), found.table["method"].tolist(), list(found.models)
    (True, ['MAP-DP', 'Mean shift'], ['MAP-DP', 'Mean shift'])
    """

    table: pd.DataFrame
    models: Mapping[str, SubtypeModel]

    @property
    def summary(self) -> str:
        """The result in words, a line for each method."""
        lines = []
        for row in self.table.to_dict("records"):
            if np.isnan(row["n_clusters"]):
                lines.append(f"{row['method']}: left out. {row['said']}")
                continue
            k = int(row["n_clusters"])
            distinct = f"{row['n_distinct']:.0f} distinct" if row["n_distinct"] > 1 else "one continuum by the test"
            parts = [f"{row['method']}: {k} cluster{'' if k == 1 else 's'}, {distinct}"]
            if row["method"] != OURS:
                parts.append(f"adjusted Rand index with {OURS} {row['agreement']:.2f}")
                parts.append(f"predicts new subjects {_better(row['held_out_gain'], row['held_out_gain_se'])}")
            lines.append("; ".join([*parts, f"half-samples agree by {row['stability']:.2f}"]))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"MethodComparison({len(self.models)} methods)\n{self.summary}"


@accepting(
    frame=FRAME,
    schema=SCHEMA,
    model=either(MODEL, NOTHING),
    methods=either(TEXTS, NOTHING),
    n_resamples=WHOLE,
    n_draws=WHOLE,
    random_state=RANDOM_STATE,
    progress=ON_OR_OFF,
)
def compare_methods(
    frame: pd.DataFrame,
    schema: FeatureSchema,
    *,
    model: MAPDP | None = None,
    methods: Sequence[str] | None = None,
    n_resamples: int = 10,
    n_draws: int = 50,
    random_state: RandomState = 0,
    progress: bool = True,
) -> MethodComparison:
    """Cluster one cohort by MAP-DP and by other methods: K-means, mixtures, latent classes and more.

    Each method gets the table as it needs it (`said` has how), and chooses its number of clusters by its own criterion
    where it has one. No labels are known in a cohort, so that no column says which method is right; together they say
    which subtypes do not depend on the method, come again, predict new subjects, or are slices of one continuum.

    Parameters
    ----------
    frame : DataFrame, N rows
        At least 20 subjects.
    schema : FeatureSchema
    model : MAPDP, optional
        Our fit of this cohort; by default ``MAPDP(schema)`` is fitted.
    methods : sequence of str, optional
        Names of the other methods to run, as in the table; all by default.
    n_resamples : int
        Half-samples for `stability`, at least 1.
    n_draws : int
        As in `distinct_subtypes`, from 20.
    random_state : int, numpy.random.Generator, RandomState or None
    progress : bool

    Returns
    -------
    MethodComparison
        Its table has a row for each method:

        - n_clusters; NaN if the method could not run, and `said` says why.
        - n_distinct: how many of its clusters are distinct by the test against one continuum (`distinct_subtypes`),
          along the tree of the clusters under the model of the schema.
        - held_out: mean log density in nats of each fifth of the subjects under the clusters of the method among the
          other four fifths, by the likelihoods of the schema: one scale for all methods, the higher the better.
          held_out_gain: the same less ours. held_out_gain_se: its standard error from the N differences of the same
          subjects, which takes them for independent: rather too small (Bengio and Grandvalet 2004, J. Mach. Learn. Res.
          5: 1089).
        - stability: mean adjusted Rand index of the clusters with those of refits of half-samples.
        - agreement: adjusted Rand index with our subtypes.
        - seconds: of the fit. said: what the method made of the table, or why it was left out.

        Refits keep the number of clusters of the whole cohort (DP-means sets its penalty anew for it), so that
        `stability` and `held_out` do not see how sure this choice is; `assess_stability` repeats the whole procedure.

    Raises
    ------
    CohortError
        If the table does not fit the schema.
    ValueError
        If a method is not known, the cohort is too small, or `model` is no fit of it.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(90) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> wanted = ["K-means, K by silhouette", "Mean shift"]
    >>> found = cc.methods.compare_methods(
    ...     frame, cc.draft_schema(frame), methods=wanted, n_resamples=2, n_draws=20, progress=False
    ... )
    >>> found.table["n_clusters"].tolist()
    [2.0, 2.0, 2.0]
    """
    wanted, seed = _checked(frame, methods, n_resamples, n_draws), seed_of(random_state)
    if model is not None:
        require_search(model, "compare_methods")
    valid = schema.validate(frame) if model is None else cohort_of(model, frame, stacklevel=3).table
    with Progress(bool(progress)).stage("methods", 1 + len(wanted)) as advance:
        began = time.perf_counter()
        ours = MAPDP(schema, random_state=seed, progress=False).fit(valid) if model is None else model
        seconds = time.perf_counter() - began if model is None else np.nan
        measures = Measures(valid, ours, n_resamples, n_draws, seed)
        rows = [measures.row(OURS, ours, seconds)]
        models: dict[str, Any] = {OURS: ours}
        advance()
        for name in wanted:
            row, found = _run(name, measures)
            rows.append(row)
            if found is not None:
                models[name] = found
            advance()
    return MethodComparison(pd.DataFrame(rows), MappingProxyType(models))


def _checked(frame: pd.DataFrame, methods: Sequence[str] | None, n_resamples: int, n_draws: int) -> list[str]:
    wanted = list(CANDIDATES) if methods is None else list(dict.fromkeys(methods))
    unknown = [name for name in wanted if name not in CANDIDATES]
    problems = [f"methods: there is no {name!r}; there are {'; '.join(CANDIDATES)}" for name in unknown]
    problems += [f"n_resamples must be at least 1, not {n_resamples}"] if n_resamples < 1 else []
    problems += [f"n_draws must be at least 20, not {n_draws}"] if n_draws < 20 else []
    if len(frame) < FEWEST_SUBJECTS:
        problems.append(f"frame has {len(frame)} subjects; a comparison needs at least {FEWEST_SUBJECTS}")
    refuse(problems)
    return wanted


def _run(name: str, measures: Measures) -> tuple[dict[str, Any], Method | None]:
    method: Any = CANDIDATES[name](measures.schema, measures.ours.n_clusters_, measures.seed)
    began = time.perf_counter()
    try:
        with without_warnings():
            method.fit(measures.valid)
    except (MissingPackageError, InputError) as error:
        return {"method": name, "said": str(error)}, None  # numbers that are not there become NaN in the table
    return measures.row(name, method, time.perf_counter() - began), method


def _better(gain: float, error: float) -> str:
    if gain == 0.0 and error == 0.0:
        return f"as {OURS} does"
    size = f"{abs(gain):.3f} nats a subject {'better' if gain > 0 else 'worse'} than {OURS} (standard error {error:.3f}"
    return size + (", no clear difference)" if abs(gain) < 2.0 * error else ")")
