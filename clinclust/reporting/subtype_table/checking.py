"""Check the arguments of `subtype_table`, and report all problems at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from clinclust.errors import InputError
from clinclust.reporting.subtype_table.compared import Compared
from clinclust.reporting.subtype_table.plan import Missing
from clinclust.reporting.subtype_table.summaries import Summary, possible_summaries

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["check_choices"]

_OF_AN_ASSOCIATION = ("feature", "method", "p", "q", "doubtful", "remark")


def check_choices(
    compared: Compared,
    *,
    associations: pd.DataFrame | None,
    names: Mapping[int, str] | None,
    features: Sequence[str] | str | None,
    subtypes: Sequence[int] | None,
    between: tuple[int, int] | None,
    summaries: Mapping[str, Summary] | Summary | None,
    missing: Missing,
) -> None:
    """Check the arguments of `subtype_table`.

    Raises
    ------
    ValueError
        If an argument cannot be used. The message lists all problems.
    """
    problems: list[str] = []
    if associations is not None:
        absent = [name for name in _OF_AN_ASSOCIATION if name not in getattr(associations, "columns", ())]
        if absent:
            problems.append(f"associations must be what validated_associations returns; it lacks {', '.join(absent)}")
    if isinstance(features, str):
        if features != "significant":
            problems.append(f'features must be a list of column names or "significant", not {features!r}')
    else:
        problems += _unknown("features", features or (), compared.features)
        problems += _repeated("features", features or ())
    if subtypes is not None and not len(subtypes):
        problems.append("subtypes must name at least one subtype")
    problems += _unknown("subtypes", subtypes or (), compared.subtypes)
    problems += _repeated("subtypes", subtypes or ())
    problems += _unknown("names", names or (), compared.subtypes)
    problems += _problems_of_a_pair(compared, between)
    problems += _problems_of_summaries(compared, summaries)
    if missing not in get_args(Missing):
        problems.append(f"missing must be one of {', '.join(get_args(Missing))}, not {missing!r}")
    if problems:
        raise InputError("\n".join(problems))


def _unknown(argument: str, given: Sequence[object] | Mapping[int, str], known: object) -> list[str]:
    found = list(known)  # type: ignore[call-overload]
    unknown = [repr(name) for name in given if name not in found]
    return [f"{argument}: the comparisons have no {', '.join(unknown)}; they have {_some(found)}"] if unknown else []


def _some(found: list[object]) -> str:
    return ", ".join(map(str, found[:10])) + (", ..." if len(found) > 10 else "")


def _repeated(argument: str, given: Sequence[object]) -> list[str]:
    twice = list(dict.fromkeys(repr(name) for name in given if list(given).count(name) > 1))
    return [f"{argument}: {', '.join(twice)} named more than once"] if twice else []


def _problems_of_a_pair(compared: Compared, between: tuple[int, int] | None) -> list[str]:
    if between is None:
        return []
    if len(between) != 2 or between[0] == between[1]:
        return [f"between must name two different subtypes, not {between!r}"]
    unknown = _unknown("between", between, compared.subtypes)
    a, b = sorted(between)
    if not unknown and not compared.are_tested(a, b):
        return [f"between: subtypes {a} and {b} were not tested against each other; see min_size of compare_subtypes"]
    return unknown


def _problems_of_summaries(compared: Compared, summaries: Mapping[str, Summary] | Summary | None) -> list[str]:
    every = get_args(Summary)
    if summaries is None or isinstance(summaries, str):
        wrong = summaries is not None and summaries not in every
        return [f"summaries must be one of {', '.join(every)}, not {summaries!r}"] if wrong else []
    problems = _unknown("summaries", list(summaries), compared.features)
    for name, summary in summaries.items():
        possible = possible_summaries(compared.features[name]) if name in compared.features else (summary,)
        if summary not in possible:
            problems.append(f"summaries: {name} can be shown by {' or '.join(possible)}, not {summary!r}")
    return problems
