"""What a report says of the run: the rows analysed, what blocks counted for, and the settings of the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from clinclust.control_characters import on_one_line
from clinclust.disclosure.counts import are_small_rows
from clinclust.drafting.roles import looks_identifying
from clinclust.estimators.fit import STOPPED_EARLY, Fit
from clinclust.estimators.subtype_model import parameters_of
from clinclust.files.selection.condition import Comparison, Condition, Joined, compared_columns, is_order, parsed
from clinclust.files.selection.repeated_subjects import noted_several_rows
from clinclust.files.selection.row_choice import RowChoice, RowCounts, rows_taken
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Value, as_value
from clinclust.reporting.words import listed
from clinclust.schema import Feature, FeatureSchema


def sentences_on_rows(findings: Findings) -> list[str]:
    """Return which rows were analysed, and how many were left out for which reason; small numbers withheld."""
    choice, counts = _known(findings)
    words = _words(findings, choice)
    n_subjects = len(findings.cohort.table)
    if findings.sizes_of_all is not None:
        # A number that is withheld could be the difference of those of a sample and of all.
        sampled = "a sample" if findings.is_shared else f"a sample of {n_subjects:,}"
        return [
            f"Sizes, summaries and tests of features are of all {findings.n_subjects:,} rows of these subtypes, which "
            f"are in partitions; everything else is of {sampled} of them. A subtype without a subject in the sample "
            "is left out. Columns of many values are rounded to a thousandth of their interquartile range for tests."
        ]
    if findings.is_rounded or counts is None:
        # Whether any row was left out is a function of exact counts, unless the choice says so.
        unknown = f"is withheld {WITHHELD}" if findings.is_rounded else "was not recorded"
        taken = ", and ".join(words.values())
        return [f"The schema takes {taken}; how many rows were left out {unknown}."] if choice else []
    if counts.in_table == n_subjects and not choice:
        return [f"All {n_subjects:,} rows of the table were analysed."]
    shown = _shown(findings, counts)
    reasons = []
    if "rows" in words:
        reasons.append(f"{words['rows']} ({shown['outside']} left out by hand)")
    if "where" in words:
        reasons.append(f"{words['where']} ({shown['not meeting']} left out{shown['unknown']})")
    if "one_row_per" in words:
        reasons.append(f"{words['one_row_per']} ({shown['further']} left out)")
    if counts.taken > n_subjects:
        reasons.append(f"without others ({shown['after']}) that were left out after the table was read")
    return [f"Of {shown['in table']} rows of the table, {n_subjects:,} were analysed: {', and '.join(reasons)}."]


def sentences_on_visits(findings: Findings) -> list[str]:
    """Return that rows are not subjects, where that is known; a shared report gives no numbers."""
    found = noted_several_rows(findings.cohort.table)
    if found is None:
        return []
    if findings.is_shared:
        return ["ROWS ARE NOT PATIENTS: subjects have several rows, and each counts as a subject of its own."]
    return [f"{found.warning()}."]


def _known(findings: Findings) -> tuple[RowChoice, RowCounts | None]:
    schema = findings.cohort.schema
    if findings.fit is not None:
        return schema.rows, findings.fit.row_counts_
    taken = rows_taken(findings.cohort.table)
    return (schema.rows, None) if taken is None else (schema.rows or taken.choice, taken.counts)


def _shown(findings: Findings, counts: RowCounts) -> dict[str, str]:
    n_subjects = len(findings.cohort.table)
    numbers = {
        "in table": counts.in_table,
        "outside": counts.outside,
        "not meeting": counts.not_meeting,
        "further": counts.further,
        "after": counts.taken - n_subjects,
    }
    if findings.rule is not None and are_small_rows(counts, n_subjects, findings.rule.threshold):
        return {**dict.fromkeys(numbers, WITHHELD), "unknown": ""}
    unknown = f", {counts.unknown:,} of them without a value that could be compared" if counts.unknown else ""
    return {name: f"{number:,}" for name, number in numbers.items()} | {"unknown": unknown}


def _words(findings: Findings, choice: RowChoice) -> dict[str, str]:
    words = choice.phrases()
    if "rows" in words and findings.is_shared:
        words["rows"] = "rows of the sheet that were named by hand"
    if choice.where is not None and findings.is_shared:
        condition = parsed(choice.where)
        columns = compared_columns(condition)
        if not _holds_of_everybody(condition) or any(_names_subjects(findings.cohort.schema, name) for name in columns):
            on_columns = f" on {', '.join(map(on_one_line, columns))}" if columns else ""
            words["where"] = f"those that meet a condition{on_columns}, which is withheld {WITHHELD}"
    return words


def _holds_of_everybody(condition: Condition) -> bool:
    """Return whether all values in a condition are those of every subject analysed, or limits that all keep to."""
    # Other values, such as those that are excluded, may be those of few people.
    parts = condition.parts if isinstance(condition, Joined) and condition.word == "and" else (condition,)
    return all(isinstance(part, Comparison) and (part.sign == "==" or is_order(part.sign)) for part in parts)


def _names_subjects(schema: FeatureSchema, column: str) -> bool:
    if column in schema and not schema[column].is_ignored:
        return schema[column].is_id
    return looks_identifying(column)


_MOST_LISTED = 10


def worth_of_blocks(findings: Findings, fit: Fit) -> dict[str, str]:
    """Return the weight of each block in words, by name: "8 features count for 1.6"; withheld if shared and chosen."""
    clustered = [feature for feature in fit.schema_.clustered if feature.name not in fit.uninformative_]
    sizes = Counter(feature.block for feature in clustered)
    is_secret = findings.is_shared and _are_chosen(findings)
    return {
        block: f"{sizes[block]} features count for " + (WITHHELD if is_secret else f"{power * sizes[block]:.1f}")
        for block, power in fit.block_weights_.items()
        if sizes[block] > 1
    }


def but_for_blocks(clustered: Iterable[Feature]) -> str:
    """Return which features the model does not take for independent; empty if there are none."""
    blocks = sorted({feature.block for feature in clustered if feature.traits.is_chained and feature.block is not None})
    return f", but for those of one multivariate Gaussian block ({listed(blocks)})" if blocks else ""


def sentences_on_blocks(findings: Findings, fit: Fit) -> Iterator[str]:
    """Yield the sentence of the methods section on blocks, if any counted for less than its features."""
    if not any(power < 1.0 for power in fit.block_weights_.values()):
        return
    worth = worth_of_blocks(findings, fit)
    listed_ones = [f"{block}, {counted}" for block, counted in worth.items()]
    if len(worth) > _MOST_LISTED:
        listed_ones[_MOST_LISTED:] = [f"and {len(worth) - _MOST_LISTED} more, listed in the summary"]
    chosen = "taken from the dependence that the subtypes left between them"
    how = chosen if _are_chosen(findings) else "set in advance"
    yield (
        "Features that were declared as one block, because they depend on each other beyond the subtypes, did not "
        f"count as independent: the likelihood of each was raised to a power that was {how} ({'; '.join(listed_ones)})."
    )


def _are_chosen(findings: Findings) -> bool:
    return bool(parameters_of(findings.cohort.model)["block_weights"] == "auto")


FILLED_JOINT = "Log joint with filled values (nats)"
"""What the joint of a completed table is called, where the search filled missing values with modes."""

_OUTLYING = "Share of values expected to be outlying"


def search_facts(findings: Findings, fit: Fit) -> dict[str, Value]:
    """Return the settings and results of the search by name; see `clinclust.disclosure.released` for those shared."""
    restarts, filled = fit.restarts_, fit.completed_log_joint_
    refinements = restarts["start"].isin(("recombined", "perturbed"))
    near = restarts["log_joint"] >= restarts["log_joint"].max() - 1.0
    n_relevant = int((fit.feature_relevance_ > 0.0).sum())
    return {
        "Log joint (nats)": as_value(fit.log_joint_),
        **({} if filled is None else {FILLED_JOINT: as_value(filled)}),
        "Concentration": findings.setting(fit, "concentration"),
        "Concentrations tried": len(fit.tuning_),
        "Discount": as_value(fit.discount_),
        "Coarsening": findings.setting(fit, "coarsening"),
        **{f"Block {block}": worth for block, worth in worth_of_blocks(findings, fit).items()},
        _OUTLYING: as_value(fit.outlying_share_),
        "Values set aside as outlying": int(fit.outliers_.sum()),
        "Features with a relevance above 0 (descriptive)": n_relevant,
        "Random seed": as_value(fit.random_seed_),
        "Restarts": int((~refinements).sum()),
        "Recombinations and perturbations": int(refinements.sum()),
        **({"Search": STOPPED_EARLY} if fit.stopped_early_ else {}),
        "Partitions within 1 nat of the best": int(restarts["log_joint"].round(6)[near].nunique()),
    }
