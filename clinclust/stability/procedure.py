"""The whole procedure of a fit, from scratch, on some subjects of its cohort."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.search.stopping import Budget
from clinclust.errors import InputError
from clinclust.estimators.cut import as_asked
from clinclust.estimators.fitting import fit_by
from clinclust.estimators.preparation import Prepared
from clinclust.estimators.settings import Settings
from clinclust.estimators.subtype_tree import FEWEST_DRAWS
from clinclust.progress import SILENT
from clinclust.schema.informative import kept_out

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
        settings, schema, frame = self._with(seed), self.model.schema_, self.cohort.iloc[rows]
        try:
            problem = settings.problem_of(frame, schema)
        except InputError:
            if len(kept_out(frame, schema)) < len(schema.clustered):
                raise
            return np.zeros(rows.size, dtype=np.int64)  # nothing differs between these subjects
        plan = replace(settings.search_plan(problem, self.cancelled, Budget(), SILENT), refine=False)
        cohort = Prepared(frame, schema, problem)
        fit = fit_by(plan, cohort, is_tested=settings.is_tested, n_draws=FEWEST_DRAWS, with_unimodal=False)
        asked = settings.n_clusters
        if isinstance(asked, Integral):
            asked = min(int(asked), fit.subtype_of_.size)  # a search that finds fewer shows that they are not stable
        return as_asked(fit, asked, self._floor(rows.size)).labels_

    def _with(self, seed: int) -> Settings:
        """Return the settings of another search."""
        settings = Settings.of(self.model.get_params())
        return replace(
            settings,
            random_state=seed,
            n_jobs=1,
            progress=False,
            max_seconds=None,
            n_restarts=min(self.n_restarts, settings.n_restarts),
            init=settings.init if isinstance(settings.init, str) else "search",
        )

    def _floor(self, n_subjects: int) -> float | None:
        """Return `MAPDP.min_size` for a part of the cohort: the same share of its subjects."""
        floor = self.model.min_size
        if not isinstance(floor, Integral):
            return floor
        return max(2, math.ceil(int(floor) * n_subjects / len(self.cohort)))
