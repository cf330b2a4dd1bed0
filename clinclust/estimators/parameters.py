"""What the parameters of `MAPDP` may be, so that everything wrong with them is said at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.schema import FeatureSchema

__all__ = [
    "cluster_codes",
    "concentration_problems",
    "hyperparameter_problems",
    "is_number",
    "model_problems",
    "parameter_problems",
    "resolution_problems",
    "searched_beside",
    "seed_of",
    "share_problems",
    "switch_problems",
]


def parameter_problems(parameters: Mapping[str, Any]) -> list[str]:
    """Return a sentence for every parameter of `MAPDP` that cannot be used, whatever the cohort."""
    given = dict(parameters)
    problems = []
    if given["schema"] is not None and not isinstance(given["schema"], FeatureSchema):
        problems.append(f"schema must be a FeatureSchema, not {type(given['schema']).__name__}")
    concentration, coarsening = given["concentration"], given["coarsening"]
    problems += [] if is_number(concentration) else concentration_problems(concentration)
    if isinstance(coarsening, str) and coarsening != "auto":
        problems.append(f"coarsening must be 'auto' or a number above 0 and at most 1, not {coarsening!r}")
    problems += model_problems(
        concentration if is_number(concentration) else 1.0,
        given["discount"],
        1.0 if isinstance(coarsening, str) else coarsening,
    )
    if given["outlying_share"] is not None:
        problems += share_problems(given["outlying_share"])
    for name in ("n_restarts", "max_sweeps"):
        if not _is_whole(given[name], 1):
            problems.append(f"{name} must be a whole number of at least 1, not {given[name]!r}")
    n_jobs = given["n_jobs"]
    if n_jobs is not None and not (_is_whole(n_jobs, -1) and n_jobs != 0):
        problems.append(f"n_jobs must be a whole number of at least 1, or None or -1 for all, not {n_jobs!r}")
    init = given["init"]
    if init not in ("search", "single") if isinstance(init, str) else np.ndim(init) != 1:
        problems.append(f"init must be 'search', 'single' or one label for each subject, not {init!r}")
    hyperparameters = given["hyperparameters"]
    if isinstance(hyperparameters, str):
        if hyperparameters not in ("empirical", "greedy"):
            problems.append(f"hyperparameters must be 'empirical', 'greedy' or a dictionary, not {hyperparameters!r}")
    elif hyperparameters is not None:
        problems += hyperparameter_problems(hyperparameters)
    random_state = given["random_state"]
    if not (random_state is None or isinstance(random_state, np.random.Generator) or _is_whole(random_state, 0)):
        problems.append(f"random_state must be a whole number from 0, a numpy Generator or None, not {random_state!r}")
    for name in ("select_features", "progress"):
        problems += switch_problems(name, given[name])
    return problems or _combination_problems(given)


_SEARCHES = (
    "estimated hyperparameters",
    "an estimated concentration",
    "select_features",
    "coarsening='auto'",
    "outlying_share above 0",
)


def searched_beside(given: Mapping[str, Any]) -> list[str]:
    """Return what the parameters of `MAPDP` ask to search for beside the partition."""
    share = given["outlying_share"]
    wanted = (
        isinstance(given["hyperparameters"], str),
        not is_number(given["concentration"]),
        given["select_features"],
        isinstance(given["coarsening"], str),
        share is not None and share > 0.0,
    )
    return [name for name, is_wanted in zip(_SEARCHES, wanted, strict=True) if is_wanted]


def _combination_problems(given: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with parameters that can be used, but not together.

    Each of these searches for something beside the partition, in turns with it; only one such search runs in a fit.
    """
    asked = searched_beside(given)
    # Two pairs are one search.
    if len(asked) < 2 or asked in (list(_SEARCHES[:2]), list(_SEARCHES[3:])):
        return []
    return [
        f"{', '.join(asked[:-1])} and {asked[-1]} cannot be combined in one fit; what one fit found "
        "(`hyperparameters_`, `concentration_`, `selected_features_`, `coarsening_`) can be stated in the next"
    ]


def hyperparameter_problems(hyperparameters: object) -> list[str]:
    """Return what keeps `hyperparameters` from being dictionaries by feature and name; values are checked later."""
    if not isinstance(hyperparameters, Mapping):
        return [f"hyperparameters must be a dictionary by feature, not {type(hyperparameters).__name__}"]
    return [
        f"hyperparameters of {feature} must be a dictionary by name, not {named!r}"
        for feature, named in hyperparameters.items()
        if not isinstance(named, Mapping)
    ]


def concentration_problems(concentration: object) -> list[str]:
    """Return what keeps a concentration that is no number from being a way to choose one."""
    if isinstance(concentration, str) and concentration in ("map", "cross-validation"):
        return []
    if isinstance(concentration, list | tuple | np.ndarray):
        given = list(concentration)
        if given and all(is_number(value) and 0.0 < value < np.inf for value in given):
            return []
    return [
        "concentration must be a finite number above 0, a sequence of such numbers, 'map' or 'cross-validation', "
        f"not {concentration!r}"
    ]


def switch_problems(name: str, value: object) -> list[str]:
    """Return what is wrong with a parameter that is on or off."""
    return [] if isinstance(value, bool | np.bool_) else [f"{name} must be True or False, not {value!r}"]


def model_problems(concentration: object, discount: object, coarsening: object) -> list[str]:
    """Return a sentence for each number of the model that cannot be used."""
    problems = []
    if not (is_number(concentration) and 0.0 < concentration < np.inf):
        problems.append(f"concentration must be a finite number above 0, not {concentration!r}")
    if not (is_number(discount) and 0.0 <= discount < 1.0):
        problems.append(f"discount must be a number from 0 to below 1, not {discount!r}")
    if not (is_number(coarsening) and 0.0 < coarsening <= 1.0):
        problems.append(f"coarsening must be a number above 0 and at most 1, not {coarsening!r}")
    return problems


def share_problems(outlying_share: object) -> list[str]:
    """Return a sentence if this cannot be the probability that a value is outlying."""
    if is_number(outlying_share) and 0.0 <= outlying_share < 1.0:
        return []
    return [f"outlying_share must be a number from 0 to below 1, not {outlying_share!r}"]


def resolution_problems(
    coarsenings: object, outlying_share: object, n_restarts: object, n_fresh: object, max_sweeps: object
) -> list[str]:
    """Return a sentence for each parameter of a resolution path that cannot be used."""
    problems = share_problems(outlying_share)
    if coarsenings is not None:
        values = list(coarsenings) if isinstance(coarsenings, Iterable) else []
        falling = all(is_number(value) and 0.0 < value <= 1.0 for value in values)
        falling = falling and all(finer > coarser for finer, coarser in pairwise(values))
        if not values or not falling:
            problems.append(f"coarsenings must fall, each above 0 and at most 1, not {coarsenings!r}")
    for name, value, lowest in (("n_restarts", n_restarts, 1), ("n_fresh", n_fresh, 1), ("max_sweeps", max_sweeps, 1)):
        if not _is_whole(value, lowest):
            problems.append(f"{name} must be a whole number of at least {lowest}, not {value!r}")
    return problems


def seed_of(random_state: int | np.random.Generator | None) -> int:
    """Return the seed that a `random_state` stands for; a generator moves on, None draws one."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(np.random.default_rng(random_state).integers(2**31))


def cluster_codes(labels: ArrayLike, n_subjects: int, *, called: str) -> NDArray[np.int64]:
    """Return labels of any kind, equal for subjects of the same cluster, as 0, 1, ... in order of appearance.

    Raises
    ------
    ValueError
        If there is not one label for each subject.
    """
    # A Series may hold labels of a nullable type, which NumPy would take for objects.
    given = labels.to_numpy() if isinstance(labels, pd.Series) else np.asarray(labels)
    if given.shape != (n_subjects,):
        raise ValueError(f"{called} must be {n_subjects} labels, one for each subject; these have shape {given.shape}")
    codes = pd.factorize(given)[0].astype(np.int64)
    if (codes < 0).any():
        raise ValueError(f"{called}: the label of {int((codes < 0).sum())} subject(s) is missing")
    return codes


def is_number(value: object) -> TypeGuard[float]:
    """Return whether this is a real number, of Python or NumPy, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: object, lowest: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= lowest
