"""The sheets Likelihoods and Model check: where the model does not describe its cohort."""

from __future__ import annotations

import numpy as np
import pandas as pd

from clinclust.check import ModelCheck
from clinclust.check.check import DEPENDENCE, VALUES, dependent_pairs, odd_values
from clinclust.estimators.likelihood_check import probably_too
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Column, Filled, Sheet, Table, tabulated
from clinclust.reporting.sheets.groups import groups_found

_MOST_PAIRS = 50
_PUT_LINES = (
    "put the lines in the place of those of these features in the schema, and fit again; a check of the model "
    "writes a copy of the schema with them."
)


def on_model_check(findings: Findings) -> list[str]:
    """Return the sentence of the first page; empty if nothing was found besides what the sheet Likelihoods says."""
    check = findings.model_check
    if check is None:
        return []
    n_dependent, n_odd = _how_many(check, DEPENDENCE), _how_many(check, VALUES)
    said = []
    if n_dependent:
        strongest = dependent_pairs(check.pairs, findings.cohort.schema).iloc[0]
        first, second = (_title(findings, strongest[end]) for end in ("first", "second"))
        # Divisions that were tested were compared with cohorts of the same dependence.
        is_tested = findings.fit is not None and findings.fit.tree_test_ is not None
        said.append(
            f"{n_dependent} features depend on each other, most of all {first} and {second} (correlation "
            f"{strongest['correlation']:.2f}){'' if is_tested else ', which can make more subtypes than there are'}"
        )
    if n_odd:
        said.append(f"{n_odd} {'feature scatters' if n_odd == 1 else 'features scatter'} otherwise than the model says")
    if not said:
        return []
    # With unions of the groups of the search, residuals are those of the groups.
    of_groups = findings.fit is None or groups_found(findings.fit) is not None
    where = "groups that the search found" if of_groups else "subtypes"
    return [f"Inside the {where}, {'; '.join(said)}: see Model check."]


def model_check_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if nothing was found besides what the sheet Likelihoods says."""
    check = findings.model_check
    if check is None or not _how_many(check, DEPENDENCE) + _how_many(check, VALUES):
        return []
    tables = [*_pairs(findings, check), *_values(findings, check), *_lines(findings, check)]
    return [Sheet("Model check", _notes(check), tables)]


def _pairs(findings: Findings, check: ModelCheck) -> list[Table]:
    pairs = dependent_pairs(check.pairs, findings.cohort.schema)
    if pairs.empty or not _how_many(check, DEPENDENCE):
        return []
    shown = f", the strongest {_MOST_PAIRS} of {len(pairs)}" if len(pairs) > _MOST_PAIRS else ""
    columns: list[Filled] = [
        (Column("Feature"), lambda row: _title(findings, row["first"])),
        (Column("And"), lambda row: _title(findings, row["second"])),
        (Column("Correlation", "0.00"), "correlation"),
        (Column("p", "p"), "p_of_largest"),
        (Column("n", "0"), "n"),
    ]
    return [tabulated(f"Features that depend on each other{shown}", pairs.head(_MOST_PAIRS), columns, stub=2)]


def _lines(findings: Findings, check: ModelCheck) -> list[Table]:
    is_said_here = check.advice["kind"].isin([DEPENDENCE, VALUES]) & check.advice["line"].notna()
    advice = check.advice[is_said_here].drop_duplicates("feature")
    columns: list[Filled] = [
        (Column("Feature"), lambda row: _title(findings, row["feature"])),
        (Column("Line for the schema", overflow=True), "line"),
    ]
    return [] if advice.empty else [tabulated("Lines that would mend it", advice, columns)]


def _values(findings: Findings, check: ModelCheck) -> list[Table]:
    named = check.advice.loc[check.advice["kind"] == VALUES, "feature"]
    odd = odd_values(check.checks)
    odd = odd[odd["feature"].isin(named)]
    columns: list[Filled] = [
        (Column("Feature"), lambda row: _title(findings, row["feature"])),
        (Column("Likelihood"), "likelihood"),
        (Column("Inside the groups", widest=60), "words"),
        (Column("Distance (SD)", "0.0"), "distance"),
        (Column("p", "p"), "p"),
    ]
    return [] if odd.empty else [tabulated("Features that scatter otherwise than the model says", odd, columns)]


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
            f"Features in a block count for fewer: {_PUT_LINES} Do so where features measure the same thing."
            if has_lines
            else "No block is advised: features in a block all have correlations of at least 0.5, and are at most half "
            "of all. Other dependence is allowed for by coarsening, which the fit estimates by default."
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
    return findings.cohort.schema[str(name)].title


def on_likelihoods(findings: Findings) -> list[str]:
    """Return the sentence of the first page; empty if no other likelihood is clearly better."""
    n = len(_misfits(findings))
    if not n:
        return []
    which, lines = ("1 feature is", "line") if n == 1 else (f"{n} features are", "lines")
    mend = "see Likelihoods" if findings.is_shared else f"change the schema {lines} in Likelihoods and fit again"
    better = "described clearly better by another likelihood than the schema declares"
    return [f"{which} {better}; this can invent subtypes: {mend}."]


def likelihoods_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if no other likelihood is clearly better."""
    misfits = _misfits(findings)
    if misfits.empty:
        return []
    columns: list[Filled] = [
        (Column("Feature"), lambda row: _title(findings, row["feature"])),
        (Column("Declared"), "declared"),
        (Column("Better"), "better"),
        (Column("Evidence (nats)", "0"), "evidence"),
        (Column("Groups as declared", "0"), "declared_groups"),
        (Column("Groups if better", "0"), "better_groups"),
        (Column("Line for the schema", overflow=True), "schema_line"),
    ]
    table = tabulated("Features to declare otherwise", misfits, columns)
    return [Sheet("Likelihoods", _likelihood_notes(findings), [table])]


def _misfits(findings: Findings) -> pd.DataFrame:
    # A shared report leaves out features with withheld numbers: what describes one better is a function of all counts.
    compared = findings.likelihoods
    is_shown = [not findings.is_withheld(findings.cohort.schema[name]) for name in compared["feature"]]
    return compared[compared["is_misfit"] & np.array(is_shown, dtype=np.bool_)]


def _likelihood_notes(findings: Findings) -> list[str]:
    notes = [
        "A likelihood says how the values of a feature scatter inside a subtype. Where it is wrong, the search buys "
        "subtypes to describe this scatter; they are clear and come again in every search, and are none. The features "
        "below are described clearly better by another likelihood, mostly in fewer groups."
    ]
    if findings.is_shared:
        return [*notes, "Features with withheld numbers are not listed, whatever describes them better."]
    return [
        *notes,
        f"P{_PUT_LINES[1:]} Do so only if a line says what the column is: two kinds of patients in one subtype scatter "
        "more, too.",
        "Evidence: by how many nats (log marginal likelihood) the better one describes the values better, each in as "
        "many groups of the tree as suit it best, after its part of what dividing the subjects into these groups costs "
        "in the log joint.",
        *filter(None, [probably_too(findings.likelihoods)]),
    ]
