"""The options of the search, and the estimator with them."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clinclust.cli.options import (
    Command,
    Options,
    called,
    declared,
    number,
    number_or,
    number_or_share,
    option,
    whole_number,
    whole_number_or,
)

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.schema import FeatureSchema

_DISTINCT, _FOUND, _NUMBER, _IN_FULL = "distinct", "found", "a whole number of at least 1", "none"
_NO_FLOOR = (
    "leave --min-size out to merge no small subtype; `clinclust report --min-size` says after the fit how small a "
    "subtype may be that is tested"
)


class _OldName(argparse.Action):
    """The old name of ``--block-weights``, which works for one version."""

    def __call__(self, parser: object, options: argparse.Namespace, values: object, given: str | None = None) -> None:
        told = f"{given} is called --block-weights now; the old name will be removed in the next version"
        warnings.warn(told, FutureWarning, stacklevel=2)
        options.block_weights = values


@dataclass(kw_only=True)
class JobOptions(Options):
    """The number of threads."""

    jobs: int | None = option(
        "threads (default: one for each processor)", type=whole_number, metavar="J", parameter="n_jobs"
    )


@dataclass(kw_only=True)
class SearchOptions(JobOptions, Command):
    """The search: all options but three set the parameter of `MAPDP` of their name."""

    TITLE = "the search"
    n_clusters: int | str | None = option(
        "number of subtypes: 'distinct' (those between which there is more than a continuum), 'found' (each "
        "cluster that the search found), or a number (clusters are merged until so many are left) (default: distinct)",
        type=whole_number_or(_DISTINCT, _FOUND),
        metavar="K",
    )
    min_size: float | None = option(
        "fewest subjects of a subtype that is tested, as a number (20) or a share of the cohort (0.02 or 2%%): a "
        "smaller one is merged with another where they are hardly distinct, and is else untested (default: no "
        "subtype is merged because it is small); reports test none of fewer than 3, unless `clinclust report "
        "--min-size` asks for it",
        type=number_or_share,
        metavar="N|SHARE",
    )
    as_published: bool = option(
        "search as Raykov et al. (2016) published: --n-clusters found --coarsening 1 --block-weights none",
        False,
        parameter=None,
    )
    concentration: float | str | None = option(
        "prior count of a new subtype, 'map' or 'cross-validation' (default: 3)",
        type=number_or("map", "cross-validation"),
        metavar="N0",
    )
    hyperparameters: str | None = option(
        "estimate the other hyperparameters (default: weak priors set from the data)", choices=("empirical", "greedy")
    )
    coarsening: float | str | None = option(
        "power of the likelihood; 'auto' finds it from how much features depend on each other inside subtypes, "
        "and sets outlying values aside (default: auto; --select-features, --hyperparameters and an estimated "
        "--concentration need a number)",
        type=number_or("auto"),
        metavar="POWER",
    )
    block_weights: str | None = option(
        "count the features of a block of the schema for what they hold together (auto), or each in full "
        "(none) (default: auto; none with --as-published)",
        choices=("auto", "none"),
    )
    block_powers: str | None = option(argparse.SUPPRESS, action=_OldName, choices=("auto", "none"), parameter=None)
    select_features: bool = option("leave out features that do not differ between subtypes", False)
    restarts: int | None = option(
        "starts of the search (default: 10)", type=whole_number, metavar="R", parameter="n_restarts"
    )
    max_sweeps: int | None = option("sweeps after which a restart ends (default: 200)", type=whole_number, metavar="S")
    max_seconds: float | None = option(
        "seconds after which the search ends with the best it has found (default: no limit)", type=number, metavar="S"
    )
    seed: int = option(
        "seed of the search, printed in the report (default: 0)", 0, type=whole_number, parameter="random_state"
    )


def _given(options: SearchOptions) -> dict[str, tuple[str, Any]]:
    given = {}
    for _, one in declared(SearchOptions):
        parameter, value = one.metadata.get("parameter", one.name), getattr(options, one.name)
        if parameter is not None and value is not None and value is not False:
            given[parameter] = called(one.name), None if value in (_FOUND, _IN_FULL) else value
    return given


def model_asked_for(options: SearchOptions, schema: FeatureSchema | None) -> MAPDP:
    """Return the estimator with these options, not fitted."""
    from clinclust.estimators.mapdp import MAPDP, PublishedMAPDP

    make = PublishedMAPDP if options.as_published else MAPDP
    parameters = {name: value for name, (_, value) in _given(options).items()}
    return make(schema, **parameters, progress=not options.quiet)


def number_asked_for(options: SearchOptions) -> int | None:
    """Return the number of subtypes asked for, or None."""
    asked = model_asked_for(options, None).n_clusters
    return asked if isinstance(asked, int) else None


def search_problems(options: SearchOptions) -> list[str]:
    """Return one sentence for each option of the search that cannot be used or combined."""
    from clinclust.estimators.parameters import MAPDPParameters, PublishedParameters, rules_of

    rules = rules_of(PublishedParameters if options.as_published else MAPDPParameters)
    rule = rules["n_clusters"]
    rules = {**rules, "n_clusters": replace(rule, allowed=f"'{_DISTINCT}', '{_FOUND}' or {_NUMBER}")}
    given = _given(options)
    problems = [
        f"{problem}{_repair(parameter, value)}"
        for parameter, (name, value) in given.items()
        for problem in rules[parameter].problems_of_option(name, value)
    ]
    if problems:
        return problems
    return _clashes(model_asked_for(options, None).get_params(), given)


def _clashes(asked: dict[str, Any], given: dict[str, tuple[str, Any]]) -> list[str]:
    from clinclust.estimators.parameters import combined_searches, published_searches

    if published_searches(asked) and asked["n_clusters"] == _DISTINCT:
        return [
            f"--hyperparameters {asked['hyperparameters']} reproduces a published search and cannot be combined with "
            f"--n-clusters {_DISTINCT} (the default); give --as-published as well"
        ]
    clash = combined_searches(asked)
    named = [
        called(one.name) + ("" if asked[at] is True else f" {asked[at]}") + ("" if at in given else " (the default)")
        for _, one in declared(SearchOptions)
        if (at := one.metadata.get("parameter", one.name)) in clash
    ]
    is_default = "coarsening" in clash and "coarsening" not in given
    repair = "give --coarsening 1 as well" if is_default else "leave out all but one of them"
    return [f"{' and '.join(named)} cannot be combined in one fit; {repair}"] if named else []


def _repair(parameter: str, value: object) -> str:
    return f"; {_NO_FLOOR}" if parameter == "min_size" and isinstance(value, int) else ""
