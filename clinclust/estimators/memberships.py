"""Memberships of new subjects as a table of named columns, for a next step of a pipeline of scikit-learn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clinclust.arrays import Array
from clinclust.data_frames import in_pandas
from clinclust.errors import InputError

NONE_COLUMN = "none_of_these"
"""Name of the probability of belonging to no subtype."""


def subtype_columns(n_subtypes: int) -> list[str]:
    """Return the names of the probabilities of the subtypes, ``subtype_1`` .. ``subtype_K``."""
    return [f"subtype_{subtype}" for subtype in range(1, n_subtypes + 1)]


class Memberships(ABC):
    """A transformer: new subjects in, the columns of `predict_proba` out."""

    if TYPE_CHECKING:

        @property
        def n_clusters_(self) -> int:
            """Number of subtypes, K."""

        def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
            """Find the subtypes of a cohort."""

    @abstractmethod
    def predict_proba(self, X: pd.DataFrame | ArrayLike) -> Array:
        """Return the probability of each subtype for new subjects, float64 (n, K + 1); last, of none of these."""

    def transform(self, X: pd.DataFrame | ArrayLike) -> pd.DataFrame:
        """Return the probabilities of `predict_proba` with the index of `X` and named columns.

        The columns are ``subtype_1`` .. ``subtype_K`` and ``none_of_these``, as in the table of ``clinclust assign``; a
        row sums to 1, so that a regression takes all but one. Subjects of the fit are taken for new ones, and count
        themselves: `membership_`, of K columns, judges each by all others.

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        NotFittedError
            If the model is not fitted.

        Examples
        --------
        >>> import clinclust as cc
        >>> import numpy as np
        >>> import pandas as pd
        >>> from sklearn.linear_model import LinearRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> rng = np.random.default_rng(0)
        >>> frail = rng.random(200) < 0.4
        >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
        >>> falls = rng.poisson(0.5 + 2 * frail)
        >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False)
        >>> pipeline = make_pipeline(model, LinearRegression()).fit(frame, falls)
        >>> pipeline[0].transform(frame.head(2)).round(2)
           subtype_1  subtype_2  none_of_these
        0        1.0        0.0            0.0
        1        0.0        1.0            0.0
        >>> pipeline.predict(frame.head(2)).round(1)
        array([0.5, 2.6])
        """
        probabilities = self.predict_proba(X)
        if not isinstance(probabilities, np.ndarray):  # a Dask DataFrame, with these names
            return probabilities
        table = in_pandas(X)
        index = table.index if isinstance(table, pd.DataFrame) else None
        return pd.DataFrame(probabilities, index=index, columns=self.get_feature_names_out())

    def fit_transform(self, X: pd.DataFrame | ArrayLike, y: object = None) -> pd.DataFrame:
        """Return ``fit(X).transform(X)``."""
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray[Any, np.dtype[np.object_]]:
        """Return the names of the columns of `transform`, object (K + 1,)."""
        return np.array([*subtype_columns(self.n_clusters_), NONE_COLUMN], dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Return the model: `transform` gives a pandas DataFrame, whatever a pipeline asks of all its steps.

        Raises
        ------
        ValueError
            If another kind of table is asked for.
        """
        if transform not in (None, "default", "pandas"):
            raise InputError(f"transform returns a pandas DataFrame; transform must be 'pandas', not {transform!r}")
        return self
