"""The sheets Stability and Other methods: whether the subtypes come out again."""

from __future__ import annotations

import math

from clinclust.estimators.few_subjects import FEW_SUBJECTS
from clinclust.methods.compare import OURS, MethodComparison
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Column, Filled, Sheet, Table, Value, tabulated
from clinclust.stability import Stability
from clinclust.stability.assess import BANDS, DISSOLVED, RECOVERED, TOO_FEW

_SAMPLES = {"half-sample": "half of the subjects", "bootstrap": "bootstrap sample", "permuted": "columns permuted"}


def stability_column(findings: Findings) -> list[Column]:
    """Return the column of the first page; none if stability was not assessed."""
    return [] if findings.stability is None else [Column("Comes out again", widest=20)]


def stability_cell(findings: Findings, subtype: int) -> list[Value]:
    """Return the cell of a subtype under `stability_column`."""
    if findings.stability is None:
        return []
    row = findings.stability.subtypes.set_index("subtype").loc[subtype].to_dict()
    band = str(row["band"])
    return [band if band == TOO_FEW.name else f"{band} ({row['jaccard']:.2f})"]


def on_stability(findings: Findings) -> list[str]:
    """Return how the column of the first page is read; empty if there is none."""
    if findings.stability is None:
        return []
    bands = "; ".join(f"{band.name}: {band.words}" for band in BANDS)
    return [
        f"Comes out again: the subtypes were searched for again in {findings.stability.n_bootstraps} halves of the "
        "cohort, drawn at random. In parentheses the mean Jaccard similarity of a subtype with the most similar one "
        f"found there: subjects in both, of those in either; 1 = the same subjects. {bands[0].upper()}{bands[1:]}. "
        f"What comes out again need not be a kind of disease: slices of one severity do as well.{_on_choices(findings)}"
    ]


def _on_choices(findings: Findings) -> str:
    fit, stability = findings.fit, findings.stability
    if fit is None or stability is None or stability.is_of_whole_procedure:
        return ""
    if fit.tree_test_ is None and fit.resolution_path_ is None:  # nothing was chosen
        return ""
    return (
        " What the fit chose from the data (how strongly features count, and how many subtypes are distinct) was kept, "
        "so that subtypes look somewhat more stable than they are."
    )


def stability_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if stability was not assessed."""
    stability = findings.stability
    if stability is None:
        return []
    tables = [_subtypes(findings, stability), _numbers(stability), _sensitivity(stability)]
    return [Sheet("Stability", _notes(findings, stability), tables)]


def _subtypes(findings: Findings, stability: Stability) -> Table:
    halves, share = ("Half-samples", ""), ("Share of half-samples (%)", "")
    columns: list[Filled] = [
        (Column("Subtype"), lambda row: findings.name(int(row["subtype"]))),
        (Column("Subjects", "0"), "size"),
        (Column("Stability"), "band"),
        (Column("Jaccard", "0.00", halves), "jaccard"),
        (Column("Jaccard by chance", "0.00", halves), "jaccard_by_chance"),
        (Column("Dissolved", "0", share), lambda row: 100 * float(row["dissolved"])),
        (Column("Found again", "0", share), lambda row: 100 * float(row["found_again"])),
        (Column("Jaccard in bootstraps", "0.00"), "bootstrap_jaccard"),
    ]
    return tabulated("Do the subtypes come out again?", stability.subtypes, columns)


def _numbers(stability: Stability) -> Table:
    return tabulated(
        "How many clusters were found",
        stability.numbers,
        [
            (Column("Sample"), lambda row: _SAMPLES[str(row["sample"])]),
            (Column("Clusters found", "0"), "n_found"),
            (Column("Share of the samples (%)", "0"), lambda row: 100 * float(row["share"])),
        ],
    )


def _sensitivity(stability: Stability) -> Table:
    columns: list[Filled] = [
        (Column("Changed"), "change"),
        (Column("Subtypes", "0"), "n_subtypes"),
        (Column("Agreement", "0.00"), "agreement"),
    ]
    return tabulated("The whole cohort under other settings", stability.sensitivity, columns)


def _notes(findings: Findings, stability: Stability) -> list[str]:
    fit = findings.fit
    found = [
        f"Every search began from scratch, in {stability.n_bootstraps} random halves of the cohort, and in as many "
        "bootstrap samples (as many draws as subjects, with replacement; each subject counts once, because copies "
        "would make clusters of their own). Jaccard: subjects in the subtype and in the most similar one found, of "
        "those in either; its mean over the samples. By chance: the same if the "
        "labels found had been dealt out at random; large subtypes reach it by their size. Dissolved: Jaccard at most "
        f"{DISSOLVED:g}; found again: at least {RECOVERED:g} (Hennig 2007). The halves decide on the band."
    ]
    if stability.is_of_whole_procedure:
        found.append(
            "In each sample everything that the fit chose from the data was chosen anew, and the tree was tested "
            "again; “clusters found” are then subtypes. Permuted columns and other settings keep what the fit chose."
        )
    elif fit is not None and fit.subtypes_.is_merged:
        found.append(
            "The subtypes are made of clusters. In each sample, the clusters found were merged along their own tree to "
            f"as many subtypes; the test of the tree was not repeated.{_on_choices(findings)}"
        )
    permuted = (
        f"there, no two clusters of at least {FEW_SUBJECTS} subjects were found"
        if math.isnan(stability.permuted_jaccard)
        else f"clusters of at least {FEW_SUBJECTS} subjects there come out again with a Jaccard of "
        f"{stability.permuted_jaccard:.2f}"
    )
    found.append(
        "Columns permuted: each column was shuffled by itself, so that features are independent of each other, and "
        f"only the shape of single columns, such as two peaks, can make clusters; {permuted}. Agreement: adjusted Rand "
        "index with the reported subtypes (1 = the same, 0 = as by chance). Prior strength: how many subjects the "
        f"prior weighs as. The searches of the fit agree with the best of them to {stability.restart_agreement:.2f} on "
        "average."
    )
    return found


_EXPLANATIONS = (
    "No labels are known in a cohort, so that nothing here says which method is right. Subtypes that several methods "
    "find depend less on the method.",
    "Distinct: how many of the clusters are distinct from one continuous population with the same margins and "
    "correlations; 1 means that one continuum explains all of them, so that they are slices of it.",
    "Agreement: adjusted Rand index with the reported subtypes; 1 = the same, 0 = as by chance.",
    "Prediction: each fifth of the subjects was held out; the log density of its values, in nats a subject (0.69 nats "
    "are a factor of two), under the clusters that the method finds among the others, by the likelihoods of the schema "
    f"for all methods alike. Above 0, the clusters predict new subjects better than those of {OURS}; less than two "
    "standard errors (SE) from 0 is no clear difference. The SE takes the subjects for independent, and is rather too "
    "small, since each has a part in four of the five fits.",
    "Half-samples: mean adjusted Rand index of the clusters with those of refits of random halves of the cohort, with "
    "the same number of clusters. Slices of one severity come again as well.",
)


def other_methods_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if no methods were compared, or the report is shared."""
    if findings.other_methods is None or findings.is_shared:
        return []
    notes = ["Other methods of clustering in the same cohort, each as it is usually asked."]
    tables = [_table(findings.other_methods)]
    return [Sheet("Other methods", notes, tables, explanations=_EXPLANATIONS)]


def _table(found: MethodComparison) -> Table:
    return tabulated(
        "What each method finds",
        found.table,
        [
            (Column("Method"), "method"),
            (Column("Clusters", "0"), "n_clusters"),
            (Column("Distinct", "0"), "n_distinct"),
            (Column("Agreement", "0.00"), "agreement"),
            (Column("Prediction", "0.000"), "held_out_gain"),
            (Column("SE", "0.000"), "held_out_gain_se"),
            (Column("Half-samples", "0.00"), "stability"),
            (Column("What was done, or why it was left out", widest=60), "said"),
        ],
    )
