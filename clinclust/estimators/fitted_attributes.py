"""The attributes that a model has after its fit: every field of `Fit`, under the same name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from clinclust.errors import not_fitted
from clinclust.estimators.renamed import RENAMED, value_of_renamed

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

    _Attributes = Fit  # for type checkers: `__getattr__` makes every field of `fit_` an attribute of a fitted model
else:
    _Attributes = object

__all__ = ["FittedAttributes"]


class FittedAttributes(_Attributes):
    """An estimator that shows what its fit found."""

    fit_: Fit

    @property
    def made_by(self) -> str:
        """The method that made the subtypes, as reports name it."""
        return "a MAP-DP search"

    @property
    def names_(self) -> Mapping[int, str]:
        """Empty: subtypes that the search found have no default names."""
        return {}

    @property
    def index_(self) -> pd.Index | None:
        """None: a fit does not store the index of the cohort."""
        return None

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of `fit_` of this name, which must end in an underscore.

        Raises
        ------
        NotFittedError
            If the model is not fitted, and a fitted one may have the attribute. It is an AttributeError too.
        AttributeError
            If the fit has no such attribute, or it is None.
        """
        if name in RENAMED:
            return value_of_renamed(self, name, stacklevel=3)
        found = vars(self).get("fit_")
        is_fitted_attribute = name.endswith("_") and not name.startswith("_")
        value = getattr(found, name, None) if is_fitted_attribute and found is not None else None
        if value is not None:
            return value
        if is_fitted_attribute and found is None:
            raise not_fitted(f"{name!r} is no attribute of this MAPDP, which is not fitted yet: call fit first")
        raise AttributeError(f"{name!r} is no attribute of this MAPDP")

    def __dir__(self) -> list[str]:
        from clinclust.estimators.fit import FITTED_ATTRIBUTES

        return [*super().__dir__(), *(name for name in FITTED_ATTRIBUTES if hasattr(self, name))]

    def __sklearn_is_fitted__(self) -> bool:
        return "fit_" in vars(self)

    def _require_fit(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise not_fitted("This MAPDP is not fitted yet: call fit first")
