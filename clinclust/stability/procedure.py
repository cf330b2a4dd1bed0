"""The whole procedure of a fit, from scratch, on some subjects of its cohort."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from numbers import Integral
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.search.stopping import Budget
from clinclust.errors import InputError
from clinclust.estimators.cut import DISTINCT, as_asked
from clinclust.estimators.fitting import fit_by
from clinclust.estimators.from_parameters import problem_of, search_plan_of
from clinclust.estimators.preparation import Prepared
from clinclust.estimators.tree_test import FEWEST_DRAWS
from clinclust.progress import SILENT
from clinclust.schema.validation import kept_out

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP

__all__ = ["Procedure"]

Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Procedure:
    """How the subtypes of a model were found, to be done again.

    All parameters of the model hold: what it chose from the data is chosen anew. Only the search is shorter. It ends
    with its restarts, and partitions are neither recombined nor perturbed; a join of a tree is tested with the fewest
    draws; no time limit applies. A search that was told where to begin begins anywhere: from the labels of the model it
    would find them again.

    Attributes
    ----------
    model : MAPDP
    cohort : DataFrame, N rows
        As `cohort_of` returns it.
    n_restarts : int
    cancelled : threading.Event
        Ends every search when it is set.
    """

    model: MAPDP
    cohort: pd.DataFrame
    n_restarts: int
    cancelled: Event

    def labels(self, rows: Labels, seed: int) -> Labels:
        """Return the subtype of some subjects of the cohort, int64 (n,), 0, 1, ... by decreasing size.

        Parameters
        ----------
        rows : int64 (n,)
            Their rows in the cohort, none twice.
        seed : int

        Raises
        ------
        SearchCancelled
            If `cancelled` is set before the search has ended.
        """
        again, schema, frame = self._with(seed), self.model.schema_, self.cohort.iloc[rows]
        try:
            problem = problem_of(again, frame, schema)
        except InputError:
            if len(kept_out(frame, schema)) < len(schema.clustered):
                raise
            return np.zeros(rows.size, dtype=np.int64)  # nothing differs between these subjects
        plan = replace(search_plan_of(again, problem, self.cancelled, Budget(), SILENT), refine=False)
        cohort, is_tested = Prepared(frame, schema, problem), again.n_clusters == DISTINCT
        fit = fit_by(plan, cohort, is_tested=is_tested, n_draws=FEWEST_DRAWS, with_unimodal=False)
        asked = again.n_clusters
        if isinstance(asked, Integral):
            asked = min(int(asked), fit.subtype_of_.size)  # a search that finds fewer shows that they are not stable
        return as_asked(fit, asked, self._floor(rows.size)).labels_

    def _with(self, seed: int) -> MAPDP:
        """Return the model with the parameters of another search; the given model is not changed."""
        again = copy.copy(self.model)
        again.random_state, again.n_jobs, again.progress, again.max_seconds = seed, 1, False, None
        again.n_restarts = min(self.n_restarts, self.model.n_restarts)
        again.init = self.model.init if isinstance(self.model.init, str) else "search"
        return again

    def _floor(self, n_subjects: int) -> float | None:
        """Return `MAPDP.min_size` for a part of the cohort: the same share of its subjects."""
        floor = self.model.min_size
        if not isinstance(floor, Integral):
            return floor
        return max(2, math.ceil(int(floor) * n_subjects / len(self.cohort)))
