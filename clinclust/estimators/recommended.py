"""The recommended way to fit: the parameters in which it differs from the defaults of `MAPDP`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clinclust.estimators.cut import DISTINCT
from clinclust.estimators.parameters import MAPDP_RULES, combined_searches, parameter_problems

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP

__all__ = ["recommended_parameters"]

_RECOMMENDED: Mapping[str, Any] = {"coarsening": "auto", "n_clusters": DISTINCT}


def recommended_parameters(estimator: type[MAPDP], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are given, with the recommended values of those that are not.

    A recommended search that cannot be combined with one that is asked for gives way.

    Parameters
    ----------
    estimator : type
        `MAPDP`, whose defaults tell what can be combined.
    given : mapping
        Parameters by name, which need not be valid: the fit lists what cannot be used.

    Raises
    ------
    TypeError
        If the estimator has no such parameter.
    """
    parameters = {**_RECOMMENDED, **given}
    settled = estimator(**parameters).get_params()
    if "coarsening" not in given and not parameter_problems(settled, MAPDP_RULES) and combined_searches(settled):
        del parameters["coarsening"]
    if given.get("missing") == "mode":  # the paper's search, to which nothing is added
        parameters = {name: value for name, value in parameters.items() if name in given}
    return parameters
