"""What scikit-learn expects of every estimator: its parameters by name, its repr, and its tags."""

from __future__ import annotations

from inspect import signature
from typing import Any, Self

import numpy as np

from clinclust.errors import InputError
from clinclust.estimators.renamed import under_new_names

__all__ = ["Parameterised"]


class Parameterised:
    """An estimator whose parameters are the arguments of its constructor, kept unchanged as attributes."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as estimators of scikit-learn do; `deep` has no effect."""
        return {name: getattr(self, name) for name in _defaults(self)}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name, as estimators of scikit-learn do.

        Raises
        ------
        ValueError
            If a parameter does not exist. The message names all such parameters.
        """
        known, parameters = _defaults(self), under_new_names(parameters, stacklevel=3)
        unknown = sorted(set(parameters) - set(known))
        if unknown:
            raise InputError(f"{type(self).__name__} has no parameter {', '.join(unknown)}; it has {', '.join(known)}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = _defaults(self)
        changed = {name: value for name, value in self.get_params().items() if not _is_same(value, defaults[name])}
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in changed.items())})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            input_tags=InputTags(allow_nan=True, string=True, categorical=True),
        )


def _defaults(estimator: Parameterised) -> dict[str, Any]:
    """Return the default of each parameter of the constructor, by name."""
    return {parameter.name: parameter.default for parameter in signature(type(estimator)).parameters.values()}


def _is_same(value: object, default: object) -> bool:
    """Return whether a value is the default, or equal to it as a copy or an unpickled one is."""
    return value is default or (
        type(value) is type(default) and isinstance(value, int | float | str) and value == default
    )


def _shown(value: object) -> str:
    """Return the repr of a parameter, without the address in memory of a generator."""
    return str(value) if isinstance(value, np.random.Generator) else repr(value)
