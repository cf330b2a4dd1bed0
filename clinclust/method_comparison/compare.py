"""Run what reviewers ask for beside MAP-DP, and say of each what it found, by measures that hold for all."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import FRAME, MODEL, NOTHING, ON_OR_OFF, SCHEMA, SEED, TEXTS, WHOLE, accepting, either
from clinclust.comparisons import compare_partitions
from clinclust.errors import InputError, MissingPackageError
from clinclust.estimators.fitted_cohort import cohort_of
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.subtype_model import require_search
from clinclust.method_comparison.candidates import CANDIDATES, FEWEST_SUBJECTS, OURS, refits_of
from clinclust.method_comparison.result import MethodComparison
from clinclust.method_comparison.under_the_model import held_out_density, n_distinct
from clinclust.progress import Progress

if TYPE_CHECKING:
    from clinclust.methods.method import Method
    from clinclust.schema import FeatureSchema

__all__ = ["compare_methods"]

Labels = NDArray[np.int64]

_FOLDS = 5


@accepting(
    frame=FRAME,
    schema=SCHEMA,
    model=either(MODEL, NOTHING),
    methods=either(TEXTS, NOTHING),
    n_resamples=WHOLE,
    n_draws=WHOLE,
    random_state=SEED,
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
    random_state: int = 0,
    progress: bool = True,
) -> MethodComparison:
    """Cluster one cohort by MAP-DP and by what reviewers ask for beside it: K-means, mixtures, latent classes and more.

    Each method gets the table as it needs it (encoded, missing values filled; `said` tells how), and chooses its number
    of clusters by its own criterion where it has one. No labels are known in a cohort, so that no column says which
    method is right; together they say which subtypes do not depend on the method, which come again, which predict new
    subjects, and which are no more than slices of one continuum.

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
    random_state : int
    progress : bool

    Returns
    -------
    MethodComparison
        Its table has a row for each method:

        - n_clusters; NaN if the method could not run, and `said` says why (an optional package, or the table).
        - n_distinct: how many of its clusters the test against one continuum tells apart (`distinct_subtypes`), along
          the tree of the clusters under the model of the schema; 1 means that one continuous population explains them.
        - held_out: mean log density in nats of each fifth of the subjects under the clusters of the method among the
          other four fifths, by the likelihoods of the schema: one scale for all methods, the higher the better.
          held_out_gain: the same less ours. The number of clusters is that of the whole cohort here, too.
          held_out_gain_se: standard error of the gain, from the differences of the same subjects under both: the
          sample deviation of the N differences over sqrt(N). It takes the N for independent, though each subject has a
          part in four of the five fits: rather too small (Bengio and Grandvalet 2004, J. Mach. Learn. Res. 5: 1089).
        - stability: mean adjusted Rand index of the clusters with those of refits of half-samples with the same number
          of clusters (of ours, where the search of a half-sample finds as many).
        - agreement: adjusted Rand index with our subtypes.
        - seconds: of the fit.
        - said: what the method made of the table, or why it was left out.

    Raises
    ------
    CohortError
        If the table does not fit the schema.
    ValueError
        If a method is not known, the cohort is too small, or `model` is no fit of it.

    Notes
    -----
    A method that chose its number of clusters in the whole cohort keeps it in refits, so that `stability` does not see
    how sure this choice is; `assess_stability` repeats the whole procedure. DP-means sets its penalty
    anew, for the same number of clusters.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(90) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> wanted = ["K-means, K by silhouette", "Mean shift"]
    >>> found = cc.compare_methods(
    ...     frame, cc.draft_schema(frame), methods=wanted, n_resamples=2, n_draws=20, progress=False
    ... )
    >>> found.table["n_clusters"].tolist()
    [2.0, 2.0, 2.0]
    """
    wanted = _checked(frame, methods, n_resamples, n_draws)
    if model is not None:
        require_search(model, "compare_methods")
    valid = schema.validate(frame) if model is None else cohort_of(model, frame, stacklevel=3)
    telling = Progress(bool(progress))
    ours = model
    with telling.stage("methods", 1 + len(wanted)) as advance:
        began = time.perf_counter()
        if ours is None:
            ours = MAPDP(schema, random_state=random_state, progress=False).fit(valid)
        seconds = time.perf_counter() - began if model is None else np.nan
        at_hand = _AtHand(valid, ours, n_resamples, n_draws, random_state)
        rows = [at_hand.row(OURS, ours, seconds)]
        models: dict[str, Any] = {OURS: ours}
        advance()
        for name in wanted:
            row, found = _run(name, at_hand)
            rows.append(row)
            if found is not None:
                models[name] = found
            advance()
    return MethodComparison(pd.DataFrame(rows), MappingProxyType(models))


def _checked(frame: pd.DataFrame, methods: Sequence[str] | None, n_resamples: int, n_draws: int) -> list[str]:
    """Return the names of the methods to run; raise one error that lists all that cannot be used."""
    wanted = list(CANDIDATES) if methods is None else list(dict.fromkeys(methods))
    problems = [
        f"methods: there is no {name!r}; there are {'; '.join(CANDIDATES)}" for name in wanted if name not in CANDIDATES
    ]
    problems += [f"n_resamples must be at least 1, not {n_resamples}"] if n_resamples < 1 else []
    problems += [f"n_draws must be at least 20, not {n_draws}"] if n_draws < 20 else []
    if len(frame) < FEWEST_SUBJECTS:
        problems.append(f"frame has {len(frame)} subjects; a comparison needs at least {FEWEST_SUBJECTS}")
    if problems:
        raise InputError("; ".join(problems))
    return wanted


def _run(name: str, at_hand: _AtHand) -> tuple[dict[str, Any], Method | None]:
    """Return the row of a method, and its fitted model if it could run."""
    method: Any = CANDIDATES[name](at_hand.schema, at_hand.ours.n_clusters_, at_hand.seed)
    began = time.perf_counter()
    try:
        with _in_silence():
            method.fit(at_hand.valid)
    except (MissingPackageError, InputError) as error:
        return {"method": name, "said": str(error)}, None  # numbers that are not there become NaN in the table
    return at_hand.row(name, method, time.perf_counter() - began), method


@dataclass(frozen=True)
class _AtHand:
    """The cohort, our fit of it, and how the measures are computed."""

    valid: pd.DataFrame
    ours: MAPDP
    n_resamples: int
    n_draws: int
    seed: int

    @property
    def schema(self) -> FeatureSchema:
        """The schema of our fit."""
        return self.ours.schema_

    def row(self, name: str, model: MAPDP | Method, seconds: float) -> dict[str, Any]:
        """Return the row of a fitted model."""
        with _in_silence():
            density = self._our_density if model is self.ours else self._held_out(model)
            gain = density - self._our_density
            return {
                "method": name,
                "n_clusters": float(model.n_clusters_),
                "n_distinct": float(
                    n_distinct(self.valid, model.labels_, self.schema, self._powers, self.seed, self.n_draws)
                ),
                "held_out": float(density.mean()),
                "held_out_gain": float(gain.mean()),
                "held_out_gain_se": float(gain.std(ddof=1) / np.sqrt(gain.size)),
                "stability": self._stability(model),
                "agreement": float(compare_partitions(self.ours.labels_, model.labels_)["adjusted_rand"]),
                "seconds": seconds,
                "said": model.made_by,
            }

    @property
    def _powers(self) -> dict[str, float]:
        return dict(self.ours.block_weights_)

    @cached_property
    def _our_density(self) -> NDArray[np.float64]:
        return self._held_out(self.ours)

    def _held_out(self, model: MAPDP | Method) -> NDArray[np.float64]:
        """Return the log density of each subject under the clusters of the other folds, float64 (N,)."""
        rng = np.random.default_rng([self.seed, 0])
        fold_of = rng.permutation(np.arange(len(self.valid)) % _FOLDS)
        density = np.empty(len(self.valid))
        for fold in range(_FOLDS):
            inside, outside = self.valid.iloc[fold_of != fold], self.valid.iloc[fold_of == fold]
            labels = self._refitted(model, inside, fold)
            density[fold_of == fold] = held_out_density(inside, labels, outside, self.schema, self._powers)
        return density

    def _stability(self, model: MAPDP | Method) -> float:
        rng = np.random.default_rng([self.seed, 1])
        n = len(self.valid)
        agreements = []
        for resample in range(self.n_resamples):
            rows = np.sort(rng.choice(n, n // 2, replace=False))
            again = self._refitted(model, self.valid.iloc[rows], resample)
            agreements.append(float(compare_partitions(model.labels_[rows], again)["adjusted_rand"]))
        return float(np.mean(agreements))

    def _refitted(self, model: MAPDP | Method, some: pd.DataFrame, number: int) -> Labels:
        """Return the clusters of some subjects by the same method; one cluster if it cannot find any among them."""
        seed = self.seed + 1 + number
        tried: Sequence[MAPDP | Method]
        tried = refits_of(model, self.schema, seed) if isinstance(model, MAPDP) else [model.with_number_kept(seed)]
        for again in tried:
            with suppress(InputError):
                return np.asarray(again.fit(some).labels_, dtype=np.int64)
        return np.zeros(len(some), dtype=np.int64)


@contextmanager
def _in_silence() -> Iterator[None]:
    """Keep the warnings of refits to ourselves: those of the table were told when it was validated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
