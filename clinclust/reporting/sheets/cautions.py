"""What the first page says of how far to trust the subtypes, in words for a clinician."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isnan
from typing import Any

from clinclust.comparisons.dominance import NEARLY
from clinclust.comparisons.frame import is_missing
from clinclust.engine.continuum.null_cohorts import UNIMODAL
from clinclust.estimators.fit import Fit
from clinclust.reporting.divisions import n_distinct, shows_distinct_subtypes
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import number_text
from clinclust.reporting.sheets.divisions import SKEWED, p_in_words
from clinclust.reporting.sheets.groups import groups_found
from clinclust.reporting.sheets.validated import grades_of

_SMALL = 10  # subjects, below which a subtype may be a few unusual subjects
_SHOWN = 5
_MANY = 8  # distinct subtypes, above which the report doubts that they are as many kinds
_CLEAR = 0.005  # p of a division, from which on the report warns that it is not clear


def cautions(findings: Findings) -> list[str]:
    """Return what speaks against taking the subtypes of a search for kinds of a disease; empty if they were given."""
    if findings.fit is None:
        return []
    if len(findings.sizes) < 2:
        if n_distinct(findings.fit) == 1:
            return ["These features give no evidence of subtypes, which is no evidence that there are none."]
        if groups_found(findings.fit) is not None:
            return []  # one group was asked for
        return ["One group means that these features give no evidence of subtypes, not that there are none."]
    found = [
        f"Subtypes describe how these subjects differ. {_on_kinds(findings, findings.fit)}",
        *([] if shows_distinct_subtypes(findings.fit) else _on_dependence(findings)),
        *_on_small_ones(findings),
    ]
    return [f"How far to trust it: {' '.join(found)}"]


def _on_kinds(findings: Findings, fit: Fit) -> str:
    if shows_distinct_subtypes(fit):
        root = findings.divisions[0]
        continuum = "one continuum, if its severity is not skewed" if root.may_be_skewed else "one continuum"
        return (
            f"By the test, they are more than the milder and the more severe part of {continuum}"
            f"{_on_the_weakest(findings)}. {_on_skewed_severity(findings, fit)}{_on_many(findings)}Whether they are "
            "kinds of a disease, only other data can tell, such as causes, course or treatment."
        )
    if fit.tree_test_ is not None:
        return (
            "Divisions tested says which of them were not shown to be more than slices of a continuum; whether the "
            "others are kinds of a disease, only other data can tell."
        )
    return (
        "Whether they are kinds of a disease, or the milder and the more severe part of one, only other data can tell."
    )


def _on_the_weakest(findings: Findings) -> str:
    p = max((division.p for division in findings.divisions if division.is_distinct), default=0.0)
    if p < _CLEAR or findings.is_shared:
        return ""
    said = f"p is {number_text(p, 'p', 0)}: {p_in_words(p)} continua would be divided as clearly"
    return f" (where this is least clear, {said})"


def _on_skewed_severity(findings: Findings, fit: Fit) -> str:
    distinct = [division for division in findings.divisions if division.is_distinct]
    open_ones = [division for division in distinct if division.may_be_skewed]
    if open_ones:
        named = "; ".join(f"{division.number}: {division.title}" for division in open_ones[:_SHOWN])
        more = f"; {len(open_ones) - _SHOWN} more" if len(open_ones) > _SHOWN else ""
        where = "At every division" if len(open_ones) == len(distinct) > 1 else f"At division {named}{more}"
        return (
            f"{where}, one continuum with {SKEWED}, would be divided as clearly: the two may be degrees of one "
            "condition. "
        )
    if any(isnan(division.p_skewed) for division in distinct):
        is_allowed_for = fit.tree_test_ is not None and fit.tree_test_.null == UNIMODAL
        return "" if is_allowed_for else f"One continuum with {SKEWED}, can be divided all the same. "
    return f"One continuum with {SKEWED}, would not be divided as clearly either. "


def _on_many(findings: Findings) -> str:
    if len(findings.sizes) <= _MANY:
        return ""
    return (
        f"More than {_MANY} distinct subtypes can come from columns that are computed from others, or that depend on "
        "each other in a curved way; look for such columns before you name the subtypes. "
    )


def _on_dependence(findings: Findings) -> Iterator[str]:
    found = grades_of(findings, found_from=True)
    if found is not None and found.differs:
        how_many = "Some" if findings.is_shared else f"{found.differs} of {found.differing}"
        yield (
            f"{how_many} features that differ may do so only through others (Associations); where features depend on "
            "others inside the subtypes, the search may have cut one group of subjects into several."
        )


def _on_small_ones(findings: Findings) -> Iterator[str]:
    named_before = [] if findings.is_shared else findings.untested
    sizes = {subtype: findings.shown_sizes[subtype] for subtype in findings.sizes if subtype not in named_before}
    small = [subtype for subtype, size in sizes.items() if size is not None and size < _SMALL]
    if small:
        named = ", ".join(findings.name(subtype) for subtype in small[:_SHOWN])
        more = f" and {len(small) - _SHOWN} more" if len(small) > _SHOWN else ""
        yield f"Fewer than {_SMALL} subjects ({named}{more}) may be unusual subjects rather than a subtype."


SHOWN = 3


def on_dominant_columns(findings: Findings) -> list[str]:
    """Return a sentence for each dominant column; a shared report names described levels with all counts shown."""
    if findings.dominant is None:
        return []
    rows = findings.dominant.to_dict("records")
    if findings.is_shared:
        rows = [row for row in rows if _follows_from_the_table(findings, row)]
    schema = findings.model.schema_

    def title(name: str) -> str:
        return schema[name].title if name in schema else name

    return [f"{in_words(row, title, findings.name)} {_refit(row)}" for row in rows[:SHOWN]]


def in_words(row: dict[Any, Any], title: Callable[[str], str], name: Callable[[int], str]) -> str:
    """Return a row of `dominant_columns` as sentences, given the titles of columns and the names of subtypes."""
    columns = " and ".join(map(title, _names(row)))
    groups = row["groups"]
    is_whole = all(len(group) == 1 for group in groups)
    united = " | ".join(", ".join(map(name, group)) for group in groups)
    what, kind = ("These subtypes are", "subtype") if is_whole else (f"The division {united} is", "branch")
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
    """Return the option of a fit without the columns of a row: ``describe`` and names, or ``where`` and a condition."""
    if _is_alone(row):
        return "describe", _names(row)
    return "where", [] if is_missing(row["part"]) else [row["part"]]


def _names(row: dict[Any, Any]) -> list[str]:
    return [row["column"]] if is_missing(row["second"]) else [row["column"], row["second"]]


def _is_alone(row: dict[Any, Any]) -> bool:
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
    if findings.is_rounded or row["told_by"] != "value" or not is_missing(row["others"]):
        return False
    found = [feature for feature in findings.features if feature.name == row["column"]]
    return all(feature.traits.is_share and not findings.is_withheld(feature) for feature in found) and bool(found)
