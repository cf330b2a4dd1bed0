"""Whether the model fits its features, another cohort has the subtypes, and what a shared report withholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clinclust.check import ModelCheck
from clinclust.check.check import DEPENDENCE, VALUES, dependent_pairs, odd_values
from clinclust.comparisons.frame import ALL_SUBJECTS, is_missing
from clinclust.data import data
from clinclust.estimators.likelihood_check import probably_too
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Column, Filled, Sheet, tabulated
from clinclust.reporting.sheets.subtypes import groups_found
from clinclust.schema import Feature

if TYPE_CHECKING:
    from clinclust.stability import Validation


# The sheets Likelihoods and Model check: where the model does not describe its cohort.

_TEXTS = data("report")["model_check"]
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
    sentences = []
    if n_dependent:
        strongest = dependent_pairs(check.pairs, findings.cohort.schema).iloc[0]
        first, second = (_title(findings, strongest[end]) for end in ("first", "second"))
        # Divisions that were tested were compared with cohorts of the same dependence.
        is_tested = findings.fit is not None and findings.fit.tree_test_ is not None
        sentences.append(
            f"{n_dependent} features depend on each other, most of all {first} and {second} (correlation "
            f"{strongest['correlation']:.2f}){'' if is_tested else ', which can make more subtypes than there are'}"
        )
    if n_odd:
        sentences.append(
            f"{n_odd} {'feature scatters' if n_odd == 1 else 'features scatter'} otherwise than the model says"
        )
    if not sentences:
        return []
    # With unions of the groups of the search, residuals are those of the groups.
    of_groups = findings.fit is None or groups_found(findings.fit) is not None
    where = "groups that the search found" if of_groups else "subtypes"
    return [f"Inside the {where}, {'; '.join(sentences)}: see Model check."]


def model_check_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if nothing was found besides what the sheet Likelihoods says."""
    check = findings.model_check
    if check is None or not _how_many(check, DEPENDENCE) + _how_many(check, VALUES):
        return []
    tables = []
    pairs = dependent_pairs(check.pairs, findings.cohort.schema)
    if not pairs.empty and _how_many(check, DEPENDENCE):
        shown = f", the strongest {_MOST_PAIRS} of {len(pairs)}" if len(pairs) > _MOST_PAIRS else ""
        columns: list[Filled] = [
            (Column("Feature"), lambda row: _title(findings, row["first"])),
            (Column("And"), lambda row: _title(findings, row["second"])),
            (Column("Correlation", "0.00"), "correlation"),
            (Column("p", "p"), "p_of_largest"),
            (Column("n", "0"), "n"),
        ]
        caption = f"Features that depend on each other{shown}"
        tables.append(tabulated(caption, pairs.head(_MOST_PAIRS), columns, stub=2))
    odd = odd_values(check.checks)
    odd = odd[odd["feature"].isin(check.advice.loc[check.advice["kind"] == VALUES, "feature"])]
    title: Filled = (Column("Feature"), lambda row: _title(findings, row["feature"]))
    if not odd.empty:
        columns = [
            title,
            (Column("Likelihood"), "likelihood"),
            (Column("Inside the groups", widest=60), "words"),
            (Column("Distance (SD)", "0.0"), "distance"),
            (Column("p", "p"), "p"),
        ]
        tables.append(tabulated("Features that scatter otherwise than the model says", odd, columns))
    is_said_here = check.advice["kind"].isin([DEPENDENCE, VALUES]) & check.advice["line"].notna()
    advice = check.advice[is_said_here].drop_duplicates("feature")
    if not advice.empty:
        columns = [title, (Column("Line for the schema", overflow=True), "line")]
        tables.append(tabulated("Lines that would mend it", advice, columns))
    return [Sheet("Model check", _notes(check), tables)]


def _notes(check: ModelCheck) -> list[str]:
    notes = []
    if _how_many(check, DEPENDENCE):
        has_lines = bool((check.advice["line"].notna() & (check.advice["kind"] == DEPENDENCE)).any())
        advice = f"Features in a block count for fewer: {_PUT_LINES} Do so where features measure the same thing."
        notes += [_TEXTS["dependence"], advice if has_lines else _TEXTS["no_block"]]
    return [*notes, *([_TEXTS["values"]] if _how_many(check, VALUES) else [])]


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
    if findings.is_shared:
        unlisted = "Features with withheld numbers are not listed, whatever describes them better."
        return [_TEXTS["likelihoods"], unlisted]
    return [
        _TEXTS["likelihoods"],
        f"P{_PUT_LINES[1:]} Do so only if a line says what the column is: two kinds of patients in one subtype scatter "
        "more, too.",
        _TEXTS["evidence"],
        *filter(None, [probably_too(findings.likelihoods)]),
    ]


# The page that says whether subtypes are found again in another cohort.


def validation_sheet(found: Validation) -> Sheet:
    """Return the section: the answer first, then a row for each subtype."""
    shares = ("Share of subjects", "")
    columns: list[Filled] = [
        (Column("Subtype", "0"), "subtype"),
        (Column("Cohort (%)", "0.0", shares), lambda row: 100.0 * row["share"]),
        (Column("Other, assigned (%)", "0.0", shares), lambda row: 100.0 * row["share_assigned"]),
        (Column("Other, nearest found (%)", "0.0", shares), lambda row: 100.0 * row["share_found"]),
        (Column("Found again"), "band"),
        (Column("Jaccard", "0.00"), "jaccard"),
        (Column("By chance", "0.00"), "jaccard_by_chance"),
        (Column("Jaccard in the cohort", "0.00"), "jaccard_in_cohort"),
        (Column("Correlation of profiles", "0.00"), "profile_correlation"),
    ]
    answer, *_ = found.summary.split("\n")
    table = tabulated("The subtypes in the other cohort", found.subtypes, columns)
    return Sheet("Another cohort", [answer], [table], explanations=_TEXTS["explanations"])


# The sheet Withheld of a shared report: what was withheld, by which rule, and what was tried to find it.

_COUNTS, _MEANS = ("n", "missing", "count"), ("mean", "sd", "median")


def withheld(findings: Findings) -> Sheet:
    """Return the sheet: the rule in words, and one row for each feature of which a number is withheld."""
    columns: list[Filled] = [
        (Column("Feature", widest=60), lambda feature: feature.title),
        (Column("Counts withheld in", widest=40), lambda feature: _groups(findings, feature, _COUNTS)),
        (Column("Means or SDs withheld in", widest=40), lambda feature: _groups(findings, feature, _MEANS)),
        (Column("Tests and effect sizes"), lambda feature: _tests(findings, feature)),
    ]
    table = tabulated(
        "Features of which numbers are withheld", filter(findings.is_withheld, findings.features), columns
    )
    return Sheet("Withheld", _rule(findings), [table])


def _rule(findings: Findings) -> list[str]:
    rule = findings.rule
    if rule is None:
        return []
    n_all, n_withheld = len(findings.features), sum(map(findings.is_withheld, findings.features))
    named = {"rule": rule, "most": rule.threshold - 1, "n_all": n_all, "n_withheld": n_withheld}
    notes = [text.format(**named) for text in _TEXTS["rounding" if findings.is_rounded else "withholding"]]
    sizes = [findings.name(subtype) for subtype in findings.sizes if findings.shown_sizes[subtype] is None]
    if sizes:
        notes.insert(1, f"The sizes of {', '.join(sizes)} and all that belongs to these subtypes are withheld.")
    notes += [text.format(**named) for text in _TEXTS["withheld"]]
    return [*notes, *([_TEXTS["harmless"]] if rule.missing_is_harmless else [])]


def _groups(findings: Findings, feature: Feature, names: tuple[str, ...]) -> str | None:
    groups = {
        subtype
        for level, rows in findings.read.summaries[feature.name].items()
        for subtype, row in rows.items()
        for name in names
        if row["suppressed"] and is_missing(row[name]) and name != ("median" if level is not None else "count")
    }
    titles = ["All subjects" if subtype == ALL_SUBJECTS else findings.name(subtype) for subtype in sorted(groups)]
    return ", ".join(titles) or None


def _tests(findings: Findings, feature: Feature) -> str:
    """Return whether results of a feature are withheld: all of them, some, or none."""
    if findings.is_rounded:
        return "withheld"
    rows = [row for kind in ("test", "contrast", "effect") for row in findings.read.rows(kind)]
    lost = [bool(row["suppressed"]) for row in rows if row["feature"] == feature.name]
    return "withheld" if lost and all(lost) else "some withheld" if any(lost) else "shown" if lost else "none made"
