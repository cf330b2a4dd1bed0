"""The options of the search, and the estimator that they ask for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from clinclust.cli.options import add_jobs, number, number_or, whole_number

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.schema import FeatureSchema

__all__ = ["add_search", "model_asked_for", "search_problems"]

_PARAMETERS = {
    "concentration": "concentration",
    "hyperparameters": "hyperparameters",
    "coarsening": "coarsening",
    "select_features": "select_features",
    "restarts": "n_restarts",
    "max_sweeps": "max_sweeps",
    "max_seconds": "max_seconds",
    "jobs": "n_jobs",
    "seed": "random_state",
}
"""The parameter of `MAPDP` that each option sets."""


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add the options of the search."""
    group = parser.add_argument_group("the search")
    group.add_argument(
        "--concentration",
        type=number_or(("map", "cross-validation")),
        default=3.0,
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
        default=1.0,
        metavar="POWER",
        help="power of the likelihood, or 'auto' where features depend on each other inside subtypes (default: 1)",
    )
    group.add_argument(
        "--block-powers",
        choices=("auto", "none"),
        default="auto",
        help="count the features of a block of the schema for what they hold beside each other (auto), or each in full "
        "(none) (default: auto)",
    )
    group.add_argument(
        "--select-features", action="store_true", help="leave out features that do not differ between subtypes"
    )
    group.add_argument(
        "--restarts", type=whole_number, default=10, metavar="R", help="starts of the search (default: 10)"
    )
    group.add_argument(
        "--max-sweeps",
        type=whole_number,
        default=200,
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


def search_problems(options: argparse.Namespace) -> list[str]:
    """Return one sentence for each option of the search that cannot be used, or cannot be combined with others."""
    from clinclust.estimators.parameters import MAPDP_RULES, combined_searches

    problems = []
    for option, parameter in _PARAMETERS.items():
        problems += MAPDP_RULES[parameter].problems_of_option(_called(option), getattr(options, option))
    if problems:
        return problems
    clash = combined_searches(model_asked_for(options, None).get_params())
    given = [
        _called(option) + ("" if getattr(options, option) is True else f" {getattr(options, option)}")
        for option, parameter in _PARAMETERS.items()
        if parameter in clash
    ]
    return [f"{' and '.join(given)} cannot be combined in one fit; leave out all but one of them"] if given else []


def _called(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def model_asked_for(options: argparse.Namespace, schema: FeatureSchema | None) -> MAPDP:
    """Return the estimator that the options ask for, not fitted."""
    from clinclust.estimators.mapdp import MAPDP

    given = {parameter: getattr(options, option) for option, parameter in _PARAMETERS.items()}
    powers = None if options.block_powers == "none" else options.block_powers
    return MAPDP(schema, **given, block_powers=powers, progress=not options.quiet)
