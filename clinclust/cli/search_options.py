"""The options of the search, and the estimator that they ask for."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clinclust.cli.options import add_jobs, number, number_or, number_or_share, whole_number, whole_number_or

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.schema import FeatureSchema

__all__ = ["add_search", "model_asked_for", "number_asked_for", "search_problems"]

_PARAMETERS = {
    "n_clusters": "n_clusters",
    "min_size": "min_size",
    "concentration": "concentration",
    "hyperparameters": "hyperparameters",
    "coarsening": "coarsening",
    "block_weights": "block_weights",
    "select_features": "select_features",
    "restarts": "n_restarts",
    "max_sweeps": "max_sweeps",
    "max_seconds": "max_seconds",
    "jobs": "n_jobs",
    "seed": "random_state",
}
"""The parameter of `MAPDP` that each option sets. An option that is not given leaves its default."""
_DISTINCT, _FOUND, _NUMBER, _IN_FULL = "distinct", "found", "a whole number of at least 1", "none"
_NO_FLOOR = (
    "leave --min-size out to merge no small subtype; `clinclust report --min-size` says after the fit how small a "
    "subtype may be that is tested"
)


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add the options of the search."""
    group = parser.add_argument_group("the search")
    group.add_argument(
        "--n-clusters",
        type=whole_number_or((_DISTINCT, _FOUND)),
        metavar="K",
        help="number of subtypes: 'distinct' (those between which there is more than a continuum), 'found' (each "
        "cluster that the search found), or a number (clusters are merged until so many are left) (default: distinct)",
    )
    group.add_argument(
        "--min-size",
        type=number_or_share,
        metavar="N|SHARE",
        help="fewest subjects of a subtype that is tested, as a number (20) or a share of the cohort (0.02 or 2%%): a "
        "smaller one is merged with another where they are hardly distinct, and is else described only (default: no "
        "subtype is merged because it is small); reports test none of fewer than 3, unless `clinclust report "
        "--min-size` asks for it",
    )
    group.add_argument(
        "--as-published",
        action="store_true",
        help="search as Raykov et al. (2016) published: --n-clusters found --coarsening 1 --block-weights none",
    )
    group.add_argument(
        "--concentration",
        type=number_or(("map", "cross-validation")),
        metavar="N0",
        help="prior count of a new subtype, 'map' or 'cross-validation' (default: 3)",
    )
    group.add_argument(
        "--hyperparameters",
        choices=("empirical", "greedy"),
        help="estimate the other hyperparameters (default: weak priors set from the data)",
    )
    group.add_argument(
        "--coarsening",
        type=number_or(("auto",)),
        metavar="POWER",
        help="power of the likelihood; 'auto' finds it from how much features depend on each other inside subtypes, "
        "and sets outlying values aside (default: auto; --select-features, --hyperparameters and an estimated "
        "--concentration need a number)",
    )
    group.add_argument(
        "--block-weights",
        choices=("auto", "none"),
        help="count the features of a block of the schema for what they hold beside each other (auto), or each in full "
        "(none) (default: auto; none with --as-published)",
    )
    group.add_argument(
        "--block-powers", dest="block_weights", choices=("auto", "none"), action=_OldName, help=argparse.SUPPRESS
    )
    group.add_argument(
        "--select-features", action="store_true", help="leave out features that do not differ between subtypes"
    )
    group.add_argument("--restarts", type=whole_number, metavar="R", help="starts of the search (default: 10)")
    group.add_argument(
        "--max-sweeps",
        type=whole_number,
        metavar="S",
        help="sweeps after which a restart ends (default: 200)",
    )
    group.add_argument(
        "--max-seconds",
        type=number,
        metavar="S",
        help="seconds after which the search ends with the best it has found (default: no limit)",
    )
    group.add_argument(
        "--seed", type=whole_number, default=0, help="seed of the search, printed in the report (default: 0)"
    )
    add_jobs(group)


class _OldName(argparse.Action):
    """An option that was renamed to that of its `dest`; the old name works for one version."""

    def __call__(self, parser: object, options: argparse.Namespace, values: object, called: str | None = None) -> None:
        told = f"{called} is called {_called(self.dest)} now; the old name will be removed in the next version"
        warnings.warn(told, FutureWarning, stacklevel=2)
        setattr(options, self.dest, values)


def number_asked_for(options: argparse.Namespace) -> int | None:
    """Return the number of subtypes that somebody asked for; None if it is to follow from the data."""
    asked = model_asked_for(options, None).n_clusters
    return asked if isinstance(asked, int) else None


def search_problems(options: argparse.Namespace) -> list[str]:
    """Return one sentence for each option of the search that cannot be used, or cannot be combined with others."""
    from clinclust.estimators.parameters import MAPDP_RULES

    rule = MAPDP_RULES["n_clusters"]
    rules = {**MAPDP_RULES, "n_clusters": replace(rule, allowed=f"'{_DISTINCT}', '{_FOUND}' or {_NUMBER}")}
    given = _given(options)
    problems = [
        f"{problem}{_repair(option, given[parameter])}"
        for option, parameter in _PARAMETERS.items()
        if parameter in given
        for problem in rules[parameter].problems_of_option(_called(option), given[parameter])
    ]
    if problems:
        return problems
    return _clashes(model_asked_for(options, None).get_params(), given)


def _clashes(asked: dict[str, Any], given: dict[str, Any]) -> list[str]:
    """Return one sentence for options that cannot be combined with each other, or with a default."""
    from clinclust.estimators.parameters import combined_searches, published_searches

    if published_searches(asked) and asked["n_clusters"] == _DISTINCT:
        return [
            f"--hyperparameters {asked['hyperparameters']} reproduces a published search and cannot be combined with "
            f"--n-clusters {_DISTINCT} (the default); give --as-published as well"
        ]
    clash = combined_searches(asked)
    named = [
        _called(option)
        + ("" if given.get(parameter) is True else f" {asked[parameter]}")
        + ("" if parameter in given else " (the default)")
        for option, parameter in _PARAMETERS.items()
        if parameter in clash
    ]
    is_default = "coarsening" in clash and "coarsening" not in given
    repair = "give --coarsening 1 as well" if is_default else "leave out all but one of them"
    return [f"{' and '.join(named)} cannot be combined in one fit; {repair}"] if named else []


def _repair(option: str, value: object) -> str:
    """Return what to do where the values that an option takes do not say it: one subject is no floor."""
    return f"; {_NO_FLOOR}" if option == "min_size" and isinstance(value, int) else ""


def _called(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that the options set, by name."""
    values = {parameter: getattr(options, option) for option, parameter in _PARAMETERS.items()}
    given = {name: value for name, value in values.items() if value is not None and value is not False}
    return {name: None if value in (_FOUND, _IN_FULL) else value for name, value in given.items()}


def model_asked_for(options: argparse.Namespace, schema: FeatureSchema | None) -> MAPDP:
    """Return the estimator that the options ask for, not fitted."""
    from clinclust.estimators.mapdp import MAPDP

    make = MAPDP.as_published if options.as_published else MAPDP
    return make(schema, **_given(options), progress=not options.quiet)
