"""The sheet Model check: features that depend on each other inside subtypes, or scatter otherwise than they should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.model_check.advice import DEPENDENCE, VALUES, odd_values
from clinclust.model_check.dependence import dependent_pairs
from clinclust.reporting.findings import as_value
from clinclust.reporting.layout import Column, Sheet, Table, Value
from clinclust.reporting.sheets.unions import groups_found

if TYPE_CHECKING:
    from clinclust.model_check import ModelCheck
    from clinclust.reporting.findings import Findings

__all__ = ["model_check_sheets", "on_model_check"]

_MOST_PAIRS = 50


def on_model_check(findings: Findings) -> list[str]:
    """Return the sentence of the first page; empty if nothing was found beside what the sheet Likelihoods says."""
    check = findings.model_check
    if check is None:
        return []
    n_dependent, n_odd = _how_many(check, DEPENDENCE), _how_many(check, VALUES)
    said = []
    if n_dependent:
        strongest = dependent_pairs(check.pairs, findings.model.schema_).iloc[0]
        first, second = (_title(findings, strongest[end]) for end in ("first", "second"))
        said.append(
            f"{n_dependent} features depend on each other, most of all {first} and {second} (correlation "
            f"{strongest['correlation']:.2f}){_what_it_does(findings)}"
        )
    if n_odd:
        said.append(f"{n_odd} {'feature scatters' if n_odd == 1 else 'features scatter'} otherwise than the model says")
    if not said:
        return []
    # With unions of the groups of the search, residuals are those of the groups.
    is_finer = findings.fit is None or groups_found(findings.fit) is not None
    where = "groups that the search found" if is_finer else "subtypes"
    return [f"Inside the {where}, {'; '.join(said)}: see Model check."]


def _what_it_does(findings: Findings) -> str:
    """Return what dependence does, unless the divisions were tested against cohorts with the same dependence."""
    if findings.fit is not None and findings.fit.tree_test_ is not None:
        return ""
    return ", which can make more subtypes than there are"


def model_check_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if nothing was found beside what the sheet Likelihoods says."""
    check = findings.model_check
    if check is None or not _how_many(check, DEPENDENCE) + _how_many(check, VALUES):
        return []
    tables = [*_pairs(findings, check), *_values(findings, check), *_lines(findings, check)]
    return [Sheet("Model check", _notes(check), tables)]


def _pairs(findings: Findings, check: ModelCheck) -> list[Table]:
    pairs = dependent_pairs(check.pairs, findings.model.schema_)
    if pairs.empty or not _how_many(check, DEPENDENCE):
        return []
    columns = [Column("Feature"), Column("And"), Column("Correlation", "0.00"), Column("p", "p"), Column("n", "0")]
    rows: list[list[Value]] = [
        [
            _title(findings, row["first"]),
            _title(findings, row["second"]),
            *(as_value(row[name]) for name in ("correlation", "p_of_largest", "n")),
        ]
        for row in pairs.head(_MOST_PAIRS).to_dict("records")
    ]
    shown = f", the strongest {_MOST_PAIRS} of {len(pairs)}" if len(pairs) > _MOST_PAIRS else ""
    return [Table(f"Features that depend on each other{shown}", columns, rows, stub=2)]


def _lines(findings: Findings, check: ModelCheck) -> list[Table]:
    is_said_here = check.advice["kind"].isin([DEPENDENCE, VALUES]) & check.advice["line"].notna()
    advice = check.advice[is_said_here].drop_duplicates("feature")
    if advice.empty:
        return []
    columns = [Column("Feature"), Column("Line for the schema", overflow=True)]
    rows: list[list[Value]] = [
        [_title(findings, row["feature"]), str(row["line"])] for row in advice.to_dict("records")
    ]
    return [Table("Lines that would mend it", columns, rows)]


def _values(findings: Findings, check: ModelCheck) -> list[Table]:
    named = check.advice.loc[check.advice["kind"] == VALUES, "feature"]
    odd = odd_values(check.checks)
    odd = odd[odd["feature"].isin(named)]
    if odd.empty:
        return []
    columns = [
        Column("Feature"),
        Column("Likelihood"),
        Column("Inside the groups", widest=60),
        Column("Distance (SD)", "0.0"),
        Column("p", "p"),
    ]
    rows: list[list[Value]] = [
        [
            _title(findings, row["feature"]),
            str(row["likelihood"]),
            str(row["words"]),
            as_value(row["distance"]),
            as_value(row["p"]),
        ]
        for row in odd.to_dict("records")
    ]
    return [Table("Features that scatter otherwise than the model says", columns, rows)]


def _notes(check: ModelCheck) -> list[str]:
    notes = []
    if _how_many(check, DEPENDENCE):
        has_lines = bool((check.advice["line"].notna() & (check.advice["kind"] == DEPENDENCE)).any())
        notes.append(
            "The model takes features for independent inside a subtype. Where they are not, because they measure "
            "nearly the same thing, the search may buy subtypes to describe what they share. Correlation: that of the "
            "ranks inside the subtypes. p: how often the strongest of all pairs would be as strong by chance. Listed "
            "are correlations of at least 0.3 in size with p of at most 0.01."
        )
        notes.append(
            "A block tells the search that its features are worth fewer: put the lines in the place of those of these "
            "features in the schema, and fit again; a check of the model writes a copy of the schema with them. Do so "
            "where features measure the same thing."
            if has_lines
            else "No block is advised: features in a block all have correlations of at least 0.5, and are at most half "
            "of all. Other dependence is allowed for by coarsening, which the recommended fit estimates."
        )
    if _how_many(check, VALUES):
        notes.append(
            "Values were drawn from the fitted model as often as they were observed, again and again. Distance: how "
            "far the observed number lies from the drawn ones, in their standard deviations; p: how often they lie as "
            "far out. The model has seen the observed values, so that p is rather too large than too small. No other "
            "likelihood of this package describes these features clearly better: look at their values. A line that "
            "states a dispersion has that inside the groups; the default is that of all subjects together, which holds "
            "the differences between groups too."
        )
    return notes


def _how_many(check: ModelCheck, kind: str) -> int:
    return int(check.advice.loc[check.advice["kind"] == kind, "feature"].nunique())


def _title(findings: Findings, name: object) -> str:
    return findings.model.schema_[str(name)].title
