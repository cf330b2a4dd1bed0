"""Rules for the values of parameters; a check reports all invalid ones together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.arrays import RandomState
from clinclust.errors import InputError, refuse
from clinclust.files.listed import listed, quoted
from clinclust.schema import FeatureSchema

DISTINCT = "distinct"
"""The value of `MAPDP.n_clusters` for the distinct subtypes."""
LEAST_CONCENTRATION, MOST_CONCENTRATION = 1e-12, 1e12
"""Bounds of the concentration. Within them the log joint is accurate to ten digits."""
_LONGEST_SHOWN = 200
"""Longest value, in characters, that an error shows."""


@dataclass(frozen=True)
class Rule:
    """The values that a parameter accepts.

    Attributes
    ----------
    allowed : str
        Completes the sentence "n_jobs must be ...".
    accepts : callable
        Whether a value can be used.
    in_python : str
        Further values, which options of the command line cannot have.
    """

    allowed: str
    accepts: Callable[[Any], bool]
    in_python: str = ""

    def problems(self, name: str, value: object) -> list[str]:
        """Return one sentence for each problem of a value; empty if it can be used."""
        if self.accepts(value):
            return []
        shown = repr(value)
        shown = shown if len(shown) <= _LONGEST_SHOWN else type(value).__name__
        return [f"{name} must be {self.allowed}{self.in_python}, not {shown}"]

    def problems_of_option(self, name: str, value: object) -> list[str]:
        """Return the same for an option of the command line."""
        return replace(self, in_python="").problems(name, value)

    def or_none(self) -> Rule:
        """Return this rule with None accepted as well."""
        return replace(
            self, accepts=lambda value: value is None or self.accepts(value), in_python=f"{self.in_python} or None"
        )


@dataclass(frozen=True)
class _DictionaryOfDictionaries(Rule):
    """A rule for stated hyperparameters, by feature and name; their values are checked with the cohort."""

    def problems(self, name: str, value: object) -> list[str]:
        if not isinstance(value, Mapping):
            return super().problems(name, value)
        return [
            f"{name} of {feature} must be a dictionary by name, not {named!r}"
            for feature, named in value.items()
            if not isinstance(named, Mapping)
        ]


@dataclass(frozen=True)
class _Powers(Rule):
    """A rule for block weights by block."""

    def problems(self, name: str, value: object) -> list[str]:
        if not isinstance(value, Mapping):
            return super().problems(name, value)
        wrong = [f"{quoted(block)}: {quoted(power)}" for block, power in value.items() if not _is_power(power)]
        if not wrong:
            return []
        return [f"{name} must be a number above 0 and at most 1 for each block, not {listed(wrong)}"]


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number of Python or NumPy, and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _whole(lowest: int) -> Rule:
    return Rule(f"a whole number of at least {lowest}", lambda value: _is_whole(value, lowest))


def _is_whole(value: object, lowest: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= lowest


def _is_concentration(value: object) -> bool:
    return is_number(value) and LEAST_CONCENTRATION <= value <= MOST_CONCENTRATION


def _is_power(value: object) -> bool:
    return is_number(value) and 0.0 < value <= 1.0


def _is_grid(value: object) -> bool:
    values = list(value) if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim) else []
    return len(values) > 0 and all(map(_is_concentration, values))


def _is_one_dimensional(value: Any) -> bool:
    try:
        return np.ndim(value) == 1
    except (ValueError, TypeError):  # lists of different lengths
        return False


def _fall(values: object) -> bool:
    coarsenings = list(values) if isinstance(values, Iterable) else []
    in_range = len(coarsenings) > 0 and all(map(_is_power, coarsenings))
    return in_range and all(finer > coarser for finer, coarser in pairwise(coarsenings))


def _is_floor(value: object) -> bool:
    return _is_whole(value, 2) or (is_number(value) and not isinstance(value, Integral) and 0.0 < value <= 0.5)


_SHARE = Rule("a number from 0 to below 1", lambda value: is_number(value) and 0.0 <= value < 1.0)
_ON_OR_OFF = Rule("True or False", lambda value: isinstance(value, bool | np.bool_))

RULES: dict[str, Rule] = {
    "schema": Rule("a FeatureSchema", lambda value: isinstance(value, FeatureSchema)),
    "concentration": Rule(f"a number from {LEAST_CONCENTRATION:g} to {MOST_CONCENTRATION:g}", _is_concentration),
    "discount": _SHARE,
    "coarsening": Rule("a number above 0 and at most 1", _is_power),
    "coarsenings": Rule("falling numbers, each above 0 and at most 1", _fall),
    "block_weights": _Powers("a dictionary by block or None", lambda value: value is None),
    "outlying_share": _SHARE,
    "select_features": _ON_OR_OFF,
    "calibrate": _ON_OR_OFF,
    "n_restarts": _whole(1),
    "n_fresh": _whole(1),
    "min_size": _whole(1),
    "init": Rule(
        "'search', 'single' or one label for each subject",
        lambda value: value in ("search", "single") if isinstance(value, str) else _is_one_dimensional(value),
    ),
    "hyperparameters": _DictionaryOfDictionaries("a dictionary by feature or None", lambda value: value is None),
    "max_sweeps": _whole(1),
    "max_seconds": Rule(
        "a number of seconds above 0",
        lambda value: value is None or (is_number(value) and 0.0 < value < np.inf),
        " or None",
    ),
    "n_jobs": Rule(
        "a whole number of at least 1",
        lambda value: value is None or (_is_whole(value, -1) and value != 0),
        ", or None or -1 for all",
    ),
    "random_state": Rule(
        "a whole number from 0",
        lambda value: (
            value is None or isinstance(value, np.random.Generator | np.random.RandomState) or _is_whole(value, 0)
        ),
        ", a numpy Generator or RandomState, or None",
    ),
    "progress": _ON_OR_OFF,
}
"""Rules by parameter for all functions other than `MAPDP`."""

MAPDP_RULES: dict[str, Rule] = {
    **RULES,
    "schema": RULES["schema"].or_none(),
    "n_clusters": Rule(
        "'distinct' or a whole number of at least 1",
        lambda value: value == "distinct" if isinstance(value, str) else value is None or _is_whole(value, 1),
        ", or None",
    ),
    "min_size": Rule(
        "a whole number of at least 2 (subjects), or a number above 0 and at most 0.5 (share of the cohort)",
        lambda value: value is None or _is_floor(value),
        ", or None",
    ),
    "concentration": Rule(
        f"'map', 'cross-validation' or a number from {LEAST_CONCENTRATION:g} to {MOST_CONCENTRATION:g}",
        lambda value: (
            value in ("map", "cross-validation")
            if isinstance(value, str)
            else _is_concentration(value) or _is_grid(value)
        ),
        ", or a sequence of such numbers",
    ),
    "coarsening": Rule(
        "'auto' or a number above 0 and at most 1",
        lambda value: value == "auto" if isinstance(value, str) else _is_power(value),
    ),
    "block_weights": _Powers(
        "'auto', a dictionary by block or None",
        lambda value: value is None or (isinstance(value, str) and value == "auto"),
    ),
    "outlying_share": _SHARE.or_none(),
    "missing": Rule("'marginal' or 'mode'", lambda value: isinstance(value, str) and value in ("marginal", "mode")),
    "hyperparameters": _DictionaryOfDictionaries(
        "'empirical', 'greedy', a dictionary by feature or None",
        lambda value: value is None or (isinstance(value, str) and value in ("empirical", "greedy")),
    ),
}
"""Rules of `MAPDP` by parameter, with further values for estimated ones."""


GIBBS_RULES: dict[str, Rule] = {
    **RULES,
    "schema": RULES["schema"].or_none(),
    "concentration": Rule(
        f"'drawn' or a number from {LEAST_CONCENTRATION:g} to {MOST_CONCENTRATION:g}",
        lambda value: value == "drawn" if isinstance(value, str) else _is_concentration(value),
    ),
    "hyperparameters": _DictionaryOfDictionaries(
        "'drawn', a dictionary by feature or None",
        lambda value: value is None or (isinstance(value, str) and value == "drawn"),
    ),
    "loss": Rule(
        "'variation-of-information' or 'binder'",
        lambda value: isinstance(value, str) and value in ("variation-of-information", "binder"),
    ),
    "n_chains": _whole(2),
}
"""Rules of `GibbsDP` by parameter."""


def parameter_problems(given: Mapping[str, Any], rules: Mapping[str, Rule] = RULES) -> list[str]:
    """Return one sentence for each problem of the parameters by name; no cohort is needed."""
    return [problem for name, value in given.items() for problem in rules[name].problems(name, value)]


def check_parameters(rules: Mapping[str, Rule] = RULES, /, **given: Any) -> None:
    """Check parameters by name against rules; raise InputError with all problems."""
    refuse(parameter_problems(given, rules))


_SEARCHES = {
    "hyperparameters": "estimated hyperparameters",
    "concentration": "an estimated concentration",
    "select_features": "select_features",
    "coarsening": "coarsening='auto'",
    "outlying_share": "outlying_share above 0",
}


def combined_searches(given: Mapping[str, Any]) -> list[str]:
    """Return the parameters in `_SEARCHES` that cannot be combined in one fit."""
    searches, asked = list(_SEARCHES), _searches_asked(given)
    # The first two form one search, and so do the last two.
    return [] if len(asked) < 2 or asked in (searches[:2], searches[3:]) else asked


def _searches_asked(given: Mapping[str, Any]) -> list[str]:
    """Return the parameters in `_SEARCHES` that ask for an additional search."""
    share = given["outlying_share"]
    wanted = (
        isinstance(given["hyperparameters"], str),
        not is_number(given["concentration"]),
        given["select_features"],
        isinstance(given["coarsening"], str),
        share is not None and share > 0.0,
    )
    return [name for name, is_wanted in zip(_SEARCHES, wanted, strict=True) if is_wanted]


def combination_problems(given: Mapping[str, Any]) -> list[str]:
    """Return the problems of a combination of `MAPDP` parameters, each of which can be used alone."""
    published = published_searches(given)
    if published and given["n_clusters"] == DISTINCT:
        return [
            f"{' and '.join(f'{name}={given[name]!r}' for name in published)} cannot be combined with "
            "n_clusters='distinct', the default: it reproduces a published search. Use MAPDP.as_published(...), or "
            "state n_clusters as a number or None"
        ]
    problems = _problems_of_filling(given)
    clash = combined_searches(given)
    if clash:
        asked = [_SEARCHES[name] for name in clash]
        problems.append(
            f"{', '.join(asked[:-1])} and {asked[-1]} cannot be combined in one fit; what one fit found "
            "(`hyperparameters_`, `concentration_`, `selected_features_`, `coarsening_`) can be stated in the next"
        )
        if isinstance(given["coarsening"], str):
            problems[-1] += ". coarsening='auto' is the default: state a number, such as coarsening=1"
    return problems


def published_searches(given: Mapping[str, Any]) -> list[str]:
    """Return the parameters of `MAPDP` whose values reproduce a published search."""
    return [name for name, value in _PUBLISHED.items() if isinstance(given[name], str) and given[name] == value]


_PUBLISHED = {"missing": "mode", "init": "single", "hyperparameters": "greedy"}


def _problems_of_filling(given: Mapping[str, Any]) -> list[str]:
    """Return what cannot be combined with the paper's search with modes."""
    asked = [_SEARCHES[name] for name in _searches_asked(given)]
    if given["missing"] != "mode" or not asked:
        return []
    return [
        f"missing='mode' cannot be combined with {', '.join(asked)}: these would take filled values for observed ones; "
        "leave them out, or integrate missing values out (missing='marginal', the default)"
    ]


def seed_of(random_state: RandomState) -> int:
    """Return the seed of a `random_state`: the number, a draw of the generator, or system entropy for None."""
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(np.random.default_rng(random_state).integers(2**31))


def cluster_codes(labels: ArrayLike, n_subjects: int, *, called: str) -> NDArray[np.int64]:
    """Return labels (N,) of any type as codes 0, 1, ... in order of first appearance, int64 (N,).

    InputError, which names the argument `called`, is raised if a label is missing or their number is wrong.
    """
    # A Series may hold labels of a nullable type, which np.asarray would convert to objects.
    given = labels.to_numpy() if isinstance(labels, pd.Series) else np.asarray(labels)
    if given.shape != (n_subjects,):
        raise InputError(f"{called} must be {n_subjects} labels, one for each subject; these have shape {given.shape}")
    codes = pd.factorize(given)[0].astype(np.int64)
    if (codes < 0).any():
        raise InputError(f"{called}: the label of {int((codes < 0).sum())} subject(s) is missing")
    return codes
