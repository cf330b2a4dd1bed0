"""Old names of public attributes and parameters; they work for one version, with a FutureWarning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_PARAMETERS = {"block_powers": "block_weights"}
RENAMED = {
    "finer_labels_": "cluster_labels_",
    "finer_membership_": "cluster_membership_",
    "described_only_": "untested_",
    "kept_out_": "uninformative_",
    "outlying_": "outliers_",
    "block_powers_": "block_weights_",
    **_PARAMETERS,
}
"""New name of each renamed attribute, by the old one."""


class RenamedAttributes:
    """Gives access to renamed attributes by their old names."""

    if not TYPE_CHECKING:  # else type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            if name in RENAMED:
                return value_of_renamed(self, name, stacklevel=3)
            return object.__getattribute__(self, name)  # again, for the error that it raises


def value_of_renamed(owner: object, name: str, *, stacklevel: int) -> Any:
    """Return the attribute of an old name, with a warning; `stacklevel` is as in `warnings.warn`."""
    value = getattr(owner, RENAMED[name])
    _warn(name, RENAMED[name], stacklevel=stacklevel)
    return value


def renamed_parameters(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function take renamed parameters by their old names as well."""

    @wraps(function)
    def taking_both(*args: P.args, **parameters: P.kwargs) -> R:
        if _PARAMETERS.keys().isdisjoint(parameters):
            return function(*args, **parameters)
        return function(*args, **under_new_names(parameters, stacklevel=3))

    return taking_both


def under_new_names(parameters: Mapping[str, Any], *, stacklevel: int) -> dict[str, Any]:
    """Return parameters by their new names, and warn of old ones; `stacklevel` is as in `warnings.warn`."""
    for name in _PARAMETERS.keys() & parameters.keys():
        _warn(name, _PARAMETERS[name], stacklevel=stacklevel)
    return {_PARAMETERS.get(name, name): value for name, value in parameters.items()}


def _warn(old: str, new: str, *, stacklevel: int) -> None:
    told = f"`{old}` is called `{new}` now; the old name will be removed in the next version"
    warnings.warn(told, FutureWarning, stacklevel=stacklevel + 1)
