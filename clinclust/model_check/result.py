"""ModelCheck: what a check of a model found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from clinclust.schema import Feature, FeatureSchema

__all__ = ["ModelCheck"]


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
    >>> found = cc.check_model(model, frame)
    >>> isinstance(found, cc.ModelCheck), found.summary
    (True, 'Nothing speaks clearly against the model.')
    """

    likelihoods: pd.DataFrame
    checks: pd.DataFrame
    pairs: pd.DataFrame
    advice: pd.DataFrame
    mended: Mapping[str, Feature]

    def applied_to(self, schema: FeatureSchema) -> FeatureSchema:
        """Return a copy of the schema in which every line of the advice replaces that of its feature.

        Fit again with it and check again: a first mistake can hide others.

        Raises
        ------
        KeyError
            If the schema lacks a feature of the advice.
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
