"""The first sentence of a report whose subtypes are hardly more than one column, or two."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clinclust.comparisons.dominance import NEARLY
from clinclust.comparisons.frame import is_missing

if TYPE_CHECKING:
    from clinclust.reporting.findings import Findings

__all__ = ["SHOWN", "fit_without", "in_words", "on_dominant_columns"]

SHOWN = 3


def on_dominant_columns(findings: Findings) -> list[str]:
    """Return a sentence for each of the columns that tell the most, with the options that fit without it.

    A shared report names only described levels of which every count is shown: the sentence then follows from them.
    """
    if findings.dominant is None:
        return []
    rows = findings.dominant.to_dict("records")
    if findings.is_shared:
        rows = [row for row in rows if _follows_from_the_table(findings, row)]
    return [f"{in_words(row, _title(findings), findings.name)} {_refit(row)}" for row in rows[:SHOWN]]


def in_words(row: dict[Any, Any], title: Callable[[str], str], name: Callable[[int], str]) -> str:
    """Return a row of `dominant_columns` as sentences.

    Parameters
    ----------
    row : dict
    title : function of the name of a column
    name : function of the number of a subtype
    """
    columns = " and ".join(map(title, _names(row)))
    groups = row["groups"]
    is_whole = all(len(group) == 1 for group in groups)
    united = " | ".join(", ".join(map(name, group)) for group in groups)
    what, kind = ("These subtypes are", "subtype") if is_whole else (f"The division {united} is", "side")
    alone = "both alone give" if len(_names(row)) > 1 else "it alone gives"
    right = f"{alone} {row['named_right']:.0%} of the subjects to their {kind} ({row['largest']:.0%} in the largest)"
    if row["told_by"] == "missing":
        more = f" (as {row['alike']} more columns)" if row["alike"] else ""
        return f"{what} nearly whether {columns} has a value{more}: {right}."
    if is_missing(row["others"]):
        return f"{what} nearly {columns}: {right}, though it was not clustered on; features follow it."
    others = f"all other features that were clustered on {1 - (1 - row['others']) * (1 - row['largest']):.0%} together"
    how = "hardly more than" if _is_alone(row) else "nearly"
    return f"{what} {how} {columns}: {right}, {others}."


def fit_without(row: dict[Any, Any]) -> tuple[str, list[str]]:
    """Return what a fit needs that is not made by the columns of a row: their new role, or a condition on the rows.

    It is ``describe`` with the names of the columns, or ``where`` with a condition; no condition if none can be given.
    Where other features follow a column, a fit without it finds the same again.
    """
    if _is_alone(row):
        return "describe", _names(row)
    return "where", [] if is_missing(row["part"]) else [row["part"]]


def _names(row: dict[Any, Any]) -> list[str]:
    """Return the one or two columns of a row."""
    return [row["column"]] if is_missing(row["second"]) else [row["column"], row["second"]]


def _is_alone(row: dict[Any, Any]) -> bool:
    """Return whether the other features that were clustered on do not make the division too."""
    return bool(row["others"] < NEARLY)  # NaN of columns that were not clustered on


def _refit(row: dict[Any, Any]) -> str:
    how, given = fit_without(row)
    if how == "where":
        such_as = f", such as those where {given[0]}" if given else ""
        return f"To see what else there is, fit one part of the subjects at a time{such_as}."
    roles = dict.fromkeys(given, "describe")
    by_name = all(map(str.isidentifier, roles))
    in_python = ", ".join(f"{name}='describe'" for name in roles) if by_name else repr(roles)
    return f"To fit without: `role: describe` in the schema, or in Python schema.with_roles({in_python})."


def _follows_from_the_table(findings: Findings, row: dict[Any, Any]) -> bool:
    """Return whether a row is a function of counts that are all shown."""
    if findings.is_rounded or row["told_by"] != "value" or not is_missing(row["others"]):
        return False
    found = [feature for feature in findings.features if feature.name == row["column"]]
    return all(feature.traits.is_share and not findings.is_withheld(feature) for feature in found) and bool(found)


def _title(findings: Findings) -> Callable[[str], str]:
    schema = findings.model.schema_
    return lambda name: schema[name].title if name in schema else name
