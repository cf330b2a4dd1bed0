"""The base of the estimators: parameters by name, attributes of the fit, and defaults of subtypes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.errors import InputError, not_fitted
from clinclust.estimators.subtype_model import CLEAR, SubtypeModel, own_membership

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

    _Attributes = Fit  # for type checkers: `__getattr__` makes every field of `fit_` an attribute of a fitted model
else:
    _Attributes = object


class Parameterised:
    """An estimator whose parameters are the arguments of its constructor, kept unchanged as attributes."""

    if TYPE_CHECKING:

        @property
        def labels_(self) -> NDArray[np.int64]:
            """Subtype of each subject, int64 (N,), 0 .. K - 1 by decreasing size."""

        def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
            """Find the subtypes of a cohort."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `deep` has no effect."""
        return {name: getattr(self, name) for name in _defaults(self)}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name; raise InputError that names all unknown ones."""
        names = _defaults(self)
        unknown = sorted(set(parameters) - set(names))
        if unknown:
            raise InputError(f"{type(self).__name__} has no parameter {', '.join(unknown)}; it has {', '.join(names)}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def fit_predict(self, X: pd.DataFrame | ArrayLike, y: object = None) -> NDArray[np.int64]:
        """Fit the model and return `labels_`, int64 (N,)."""
        return self.fit(X).labels_

    def __repr__(self) -> str:
        defaults = _defaults(self)
        changed = {name: value for name, value in self.get_params().items() if not _is_same(value, defaults[name])}
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in changed.items())})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]) if hasattr(type(self), "transform") else None,
            input_tags=InputTags(allow_nan=True, string=True, categorical=True),
        )


def _defaults(estimator: Parameterised) -> dict[str, Any]:
    """Return the default of each parameter of the constructor, by name."""
    return {parameter.name: parameter.default for parameter in signature(type(estimator)).parameters.values()}


def _is_same(value: object, default: object) -> bool:
    """Return whether a value is the default, or equals it as a copy does."""
    return value is default or (
        type(value) is type(default) and isinstance(value, int | float | str) and value == default
    )


def _shown(value: object) -> str:
    """Return the repr of a parameter, without memory addresses."""
    return str(value) if isinstance(value, np.random.Generator) else repr(value)


def _in_words(labels: pd.Series[Any], called: pd.Index[Any]) -> pd.Series[Any]:
    return pd.Series(pd.Categorical.from_codes(labels.to_numpy(), called), index=labels.index, name="subtype")


class BaseSubtypes:
    """The base of `MAPDP`, `GibbsDP` and `Partition` (`SubtypeModel`)."""

    if TYPE_CHECKING:

        @property
        def labels_(self) -> NDArray[np.int64]:
            """Subtype of each subject, int64 (N,), 0 .. K - 1 by decreasing size."""

    index_: pd.Index | None = None
    """Index of the cohort; None if it is not stored."""
    _rows: pd.Index | None = None
    """Index of the table of a fit, which is not saved: it may hold names of patients."""

    @property
    def names_(self) -> Mapping[int, str]:
        """Default names of the subtypes in reports, by number from 1; empty if there are none."""
        return MappingProxyType({})

    @property
    def labels(self) -> pd.Series[Any]:
        """Subtype of each subject, numbered 1 .. K or named as in reports: categories, with the index of the cohort.

        A model that was loaded has no index. For a table in partitions, a Dask series.
        """
        if isinstance(self.labels_, np.ndarray):
            return _in_words(pd.Series(self.labels_, self.index_ if self._rows is None else self._rows), self._called)
        of_all: Any = self.labels_
        in_words = partial(_in_words, called=self._called)
        return cast("pd.Series[Any]", of_all.map_partitions(in_words, meta=in_words(of_all._meta)))

    @property
    def _called(self) -> pd.Index[Any]:
        return pd.Index([self.names_.get(k, k) for k in range(1, self.n_clusters_ + 1)], name="subtype")

    def summary(self) -> pd.DataFrame:
        """Return one row for each subtype: n, percent, and the percent of its members whose subtype is clear.

        Clear is a probability of at least 0.95 (`membership_`); NaN without probabilities.
        """
        sizes, own = self.cluster_sizes_, own_membership(cast(SubtypeModel, self))
        clear = np.nan if own is None else 100.0 * np.bincount(self.labels_, own >= CLEAR, sizes.size) / sizes
        columns = {"n": sizes, "percent": 100.0 * sizes / sizes.sum(), "clear": clear}
        return pd.DataFrame(columns, index=self._called)

    @property
    def cluster_sizes_(self) -> NDArray[np.int64]:
        """Number of subjects in each subtype, int64 (K,)."""
        return np.bincount(self.labels_)

    @property
    def n_clusters_(self) -> int:
        """Number of subtypes, K."""
        return int(self.cluster_sizes_.size)


class FittedAttributes(BaseSubtypes, _Attributes):
    """An estimator with the attributes of its fit."""

    fit_: Fit
    _of_paper: ClassVar[frozenset[str]] = frozenset({"leave_one_out_nll_", "completed_log_joint_"})
    """Results of the paper's search, which only `PublishedMAPDP` shows."""

    @property
    def made_by(self) -> str:
        """The method that made the subtypes, for reports."""
        return "a MAP-DP search"

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of `fit_` of this name, which must end in an underscore.

        NotFittedError is raised without a fit, AttributeError if the attribute is None or unknown.
        """
        fit, estimator = vars(self).get("fit_"), type(self).__name__
        is_fitted_attribute = name.endswith("_") and not name.startswith("_") and name not in self._of_paper
        value = getattr(fit, name, None) if is_fitted_attribute and fit is not None else None
        if value is not None:
            return value
        if fit is None and (is_fitted_attribute or name == "labels"):
            raise not_fitted(f"{name!r} is no attribute of this {estimator}, which is not fitted yet: call fit first")
        raise AttributeError(f"{name!r} is no attribute of this {estimator}")

    def __dir__(self) -> list[str]:
        from clinclust.estimators.fit import FITTED_ATTRIBUTES

        return [*super().__dir__(), *(name for name in FITTED_ATTRIBUTES if hasattr(self, name))]

    def __sklearn_is_fitted__(self) -> bool:
        return "fit_" in vars(self)

    def _require_fit(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(f"This {type(self).__name__} is not fitted yet: call fit first")
