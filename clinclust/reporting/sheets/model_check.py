"""Whether the model fits its features, another cohort has the subtypes, and what a shared report withholds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from clinclust.check import ModelCheck
from clinclust.check.check import DEPENDENCE, VALUES, dependent_pairs
from clinclust.comparisons.frame import ALL_SUBJECTS, is_missing
from clinclust.disclosure.counts import Rule
from clinclust.estimators.fitting import probably_too
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, WORDS, Sheet, tabulate, translate
from clinclust.reporting.sheets.subtypes import groups_found
from clinclust.schema import Feature

if TYPE_CHECKING:
    from clinclust.stability import Validation


# Where the model does not describe its cohort: a sentence, and the sheet Likelihoods.

_TEXTS = WORDS["model_check"]


def on_model_check(findings: Findings) -> list[str]:
    """Return the sentence of Trust; empty if nothing was found besides what the sheet Likelihoods says."""
    check = findings.model_check
    if check is None:
        return []
    n_dependent, n_odd, parts = _how_many(check, DEPENDENCE), _how_many(check, VALUES), []
    if n_dependent:
        strongest = dependent_pairs(check.pairs, findings.cohort.schema).iloc[0]
        first, second = (_title(findings, dict(strongest), end) for end in ("first", "second"))
        # Divisions that were tested were compared with cohorts of the same dependence.
        is_tested = findings.fit is not None and findings.fit.tree_test_ is not None
        fields = {"n": n_dependent, "first": first, "second": second, "correlation": strongest["correlation"]}
        parts.append(_TEXTS["dependent" if is_tested else "dependent_untested"].format(**fields))
    if n_odd:
        parts.append(_TEXTS["odd" if n_odd == 1 else "odds"].format(n=n_odd))
    # With unions of the groups of the search, residuals are those of the groups.
    of_groups = findings.fit is None or groups_found(findings.fit) is not None
    name = "inside_groups" if of_groups else "inside_subtypes"
    return [_TEXTS[name].format(what="; ".join(parts))] if parts else []


def _how_many(check: ModelCheck, kind: str) -> int:
    return int(check.advice.loc[check.advice["kind"] == kind, "feature"].nunique())


def _title(findings: Findings, row: Mapping[str, Any], end: str = "feature") -> str:
    return findings.cohort.schema[str(row[end])].title


def on_likelihoods(findings: Findings) -> list[str]:
    """Return the sentence of the first page; empty if no other likelihood is clearly better."""
    n = len(_misfits(findings))
    return [findings.texts["model_check"]["misfit" if n == 1 else "misfits"].format(n=n)] if n else []


def likelihoods_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if no other likelihood is clearly better."""
    misfits, texts = _misfits(findings), findings.texts["model_check"]
    if misfits.empty:
        return []
    table = tabulate("likelihoods", misfits, feature=partial(_title, findings))
    names, too = ("likelihoods", "not_listed", "put_lines", "evidence", "probably"), probably_too(findings.likelihoods)
    notes = (texts[name].format(too=translate(too)) for name in names)
    return [Sheet("Likelihoods", list(filter(None, notes)), [table])]


def _misfits(findings: Findings) -> pd.DataFrame:
    return findings.likelihoods[findings.likelihoods["is_misfit"]]


# The page that says whether subtypes are found again in another cohort.


def validation_sheet(found: Validation) -> Sheet:
    """Return the section: the answer first, then a row for each subtype."""
    names = ("share", "share_assigned", "share_found")
    shares: Any = {name: lambda row, name=name: 100.0 * row[name] for name in names}
    answer, *_ = found.summary.split("\n")
    table = tabulate("another_cohort", found.subtypes, **shares)
    return Sheet("Another cohort", [answer], [table], explanations=_TEXTS["explanations"])


# The sheet Withheld of a shared report: what was withheld, by which rule, and what was tried to find it.

_COUNTS, _MEANS = ("n", "missing", "count"), ("mean", "sd", "median")


def withheld_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet: the rule in words, and one row for each feature of which a number is withheld."""
    if findings.rule is None:
        return []
    table = tabulate(
        "withheld",
        filter(findings.is_withheld, findings.features),
        counts=lambda feature: _groups(findings, feature, _COUNTS),
        means=lambda feature: _groups(findings, feature, _MEANS),
        tests=lambda feature: _tests(findings, feature),
    )
    return [Sheet("Withheld", _rule(findings, findings.rule), [table])]


def _rule(findings: Findings, rule: Rule) -> list[str]:
    n_all, n_withheld = len(findings.features), sum(map(findings.is_withheld, findings.features))
    named = {"rule": rule, "most": rule.threshold - 1, "n_all": n_all, "n_withheld": n_withheld}
    notes = [text.format(**named) for text in findings.texts["model_check"]["withholding"]]
    if sizes := [findings.name(subtype) for subtype, size in findings.sizes.items() if size == WITHHELD]:
        notes.insert(1, _TEXTS["sizes"].format(subtypes=", ".join(sizes)))
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
    of_all = WORDS["formed"]["all_subjects"]
    return ", ".join(findings.name(group) if group != ALL_SUBJECTS else of_all for group in sorted(groups)) or None


def _tests(findings: Findings, feature: Feature) -> str:
    """Return whether results of a feature are withheld: all of them, some, or none."""
    rows = [row for kind in ("test", "contrast", "effect") for row in findings.read.rows(kind)]
    lost = [bool(row["suppressed"]) for row in rows if row["feature"] == feature.name]
    how = "all" if lost and all(lost) else "some" if any(lost) else "shown" if lost else "none"
    return str(findings.texts["model_check"]["tests"][how])
