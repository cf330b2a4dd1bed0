"""Whether the model fits its features, another cohort has the subtypes, and what a shared report withholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clinclust.check import ModelCheck
from clinclust.check.check import DEPENDENCE, VALUES, dependent_pairs, odd_values
from clinclust.comparisons.frame import ALL_SUBJECTS, is_missing
from clinclust.data import data
from clinclust.disclosure.counts import Rule
from clinclust.estimators.likelihood_check import probably_too
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Filled, Sheet, Table, Value, as_value, tabulated
from clinclust.reporting.sheets.subtypes import groups_found
from clinclust.schema import Feature

if TYPE_CHECKING:
    from clinclust.stability import Validation


# The sheets Likelihoods and Model check: where the model does not describe its cohort.

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


# The page that says whether subtypes are found again in another cohort.

_COLUMNS = {
    "subtype": Column("Subtype", "0"),
    "share": Column("Cohort (%)", "0.0", ("Share of subjects", "")),
    "share_assigned": Column("Other, assigned (%)", "0.0", ("Share of subjects", "")),
    "share_found": Column("Other, nearest found (%)", "0.0", ("Share of subjects", "")),
    "band": Column("Found again"),
    "jaccard": Column("Jaccard", "0.00"),
    "jaccard_by_chance": Column("By chance", "0.00"),
    "jaccard_in_cohort": Column("Jaccard in the cohort", "0.00"),
    "profile_correlation": Column("Correlation of profiles", "0.00"),
}
_TEXTS = data("report")["model_check"]
_EXPLANATIONS = tuple(_TEXTS["explanations"])


def validation_sheet(found: Validation) -> Sheet:
    """Return the section: the answer first, then a row for each subtype."""
    shares = [name for name in _COLUMNS if name.startswith("share")]
    table = found.subtypes.assign(**{name: 100.0 * found.subtypes[name] for name in shares})
    rows = [[as_value(cell) for cell in row] for row in table[list(_COLUMNS)].astype(object).to_numpy()]
    answer, *_ = found.summary.split("\n")
    tables = [Table("The subtypes in the other cohort", list(_COLUMNS.values()), rows)]
    return Sheet("Another cohort", [answer], tables, explanations=list(_EXPLANATIONS))


# The sheet Withheld of a shared report: what was withheld, by which rule, and what was tried to find it.

_COUNTS, _MEANS = ("n", "missing", "count"), ("mean", "sd", "median")


def withheld(findings: Findings) -> Sheet:
    """Return the sheet: the rule in words, and one row for each feature of which a number is withheld."""
    features = [feature for feature in findings.features if findings.is_withheld(feature)]
    groups = (Column(title, widest=40) for title in ("Counts withheld in", "Means or SDs withheld in"))
    columns = [Column("Feature", widest=60), *groups, Column("Tests and effect sizes")]
    rows: list[list[Value]] = [
        [each.title, *(_groups(findings, each, names) for names in (_COUNTS, _MEANS)), _tests(findings, each)]
        for each in features
    ]
    return Sheet("Withheld", _rule(findings), [Table("Features of which numbers are withheld", columns, rows)])


def _rule(findings: Findings) -> list[str]:
    if findings.rule is None:
        return []
    sizes = [findings.name(subtype) for subtype in findings.sizes if findings.shown_sizes[subtype] is None]
    notes = _of_rounding(findings.rule) if findings.is_rounded else _of_withholding(findings, findings.rule)
    if sizes:
        notes.insert(1, f"The sizes of {', '.join(sizes)} and all that belongs to these subtypes are withheld.")
    notes.append(
        f"A level of which every number is withheld or 0 is called {WITHHELD}, and the ends of a scale are withheld "
        f"unless more than {findings.rule.threshold} subjects are at each: a schema that was drafted has both from the "
        "data. Left out are other words of the table, the fingerprints, priors and settings made of the data, how sure "
        "the subtypes of subjects are, and how far the searches agree."
    )
    notes.append("That one column nearly is the subtypes is said only of levels of which all counts are shown.")
    if findings.rule.missing_is_harmless:
        notes.append(
            "Numbers of missing values are declared harmless: they are withheld only where a small count would follow "
            "from them."
        )
    return notes


def _of_withholding(findings: Findings, rule: Rule) -> list[str]:
    n_all = len(findings.features)
    n_withheld = sum(map(findings.is_withheld, findings.features))
    return [
        f"Of {n_withheld} of {n_all} features a number is withheld, shown as {WITHHELD}. Withheld are counts of 1 to "
        f"{rule.threshold - 1}, totals of so few events or steps of a score, means of fewer than {rule.fewest_values} "
        "values, further numbers from which these would follow, and tests and effect sizes made from any of them.",
        "Which of the numbers withheld are small, and which only go with them, is not said. Nothing is reported of "
        "single subjects.",
        "Medians and quartiles are rounded to at most a quarter of the distance between the quartiles. Each q is "
        "adjusted over the tests shown, and in the order by relevance, features with withheld numbers come last.",
        "Subtypes of few subjects, or with weak evidence, are not marked here as in other reports: a mark would "
        "disclose sizes and counts that are withheld.",
        f"The rule was applied until a reader of all counts, shares, means and sizes shown finds no interval shorter "
        f"than {rule.threshold} for any small count. Other knowledge is not covered: another report of nearly the same "
        "people, or of a person in the cohort.",
    ]


def _of_rounding(rule: Rule) -> list[str]:
    return [
        f"Every count is rounded to the nearest multiple of {rule.rounding}: subjects, sizes of subtypes, observed and "
        "missing values, levels and totals of events. Percentages, and means of counts of events, are computed from "
        "the rounded counts. Rounded counts need not add up.",
        f"Withheld, shown as {WITHHELD}, are sizes that may be below {rule.threshold}, means of values that may be "
        f"fewer than {rule.fewest_values}, totals that may be below {rule.threshold}, and rounded counts where their "
        f"sums would narrow a count that may be below {rule.threshold} to an interval shorter than {rule.width}. Which "
        "numbers are withheld follows from the rounded ones.",
        "Left out, because exact counts could be found from them by trial: tests, effect sizes, validated "
        "associations, the relevance of features, the log joint and other evidence, settings that the search chose "
        "itself, the continuum score, and numbers of rows that were left out.",
        "Reported are results that are no counts: the subtypes, their number, which divisions were found distinct or "
        "may be of degree, and that subjects have several rows. “Clustered on” says what the schema asks "
        "for. Nothing is reported of single subjects.",
        "Means and SDs of measurements in subtypes are those of the exact values, with no more digits than every n "
        "allows that is rounded to the same; those of all subjects are pooled from them with the rounded n. Medians "
        "and quartiles are rounded to at most a quarter of the distance between the quartiles, and those of whole "
        "numbers to whole numbers. Other knowledge is not covered: another report of nearly the same people, or of a "
        "person in the cohort.",
    ]


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
