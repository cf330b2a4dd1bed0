"""Sentences on the rows of the table that were analysed, and on those that were left out and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.control_characters import on_one_line
from clinclust.files.selection.condition import Comparison, Condition, Joined, compared_columns, is_order, parsed
from clinclust.files.selection.repeated_subjects import noted_several_rows
from clinclust.files.selection.row_choice import RowCounts, rows_taken
from clinclust.reporting.layout import WITHHELD

if TYPE_CHECKING:
    from clinclust.files.selection.row_choice import RowChoice
    from clinclust.reporting.findings import Findings
    from clinclust.schema import FeatureSchema

__all__ = ["sentences_on_rows", "sentences_on_visits"]


def sentences_on_rows(findings: Findings) -> list[str]:
    """Return which rows of the table were analysed, and how many were left out for which reason.

    There is no sentence if nothing is known of the file. In a shared report small numbers are withheld, and so is a
    condition with values that few subjects may have.
    """
    choice, counts = _known(findings)
    words = _words(findings, choice)
    if findings.is_rounded:
        # Whether any row was left out is a function of exact counts, unless the choice says so.
        taken = ", and ".join(words.values())
        return [f"The schema takes {taken}; how many rows were left out is withheld {WITHHELD}."] if choice else []
    n_subjects = len(findings.frame)
    if counts is None:
        taken = ", and ".join(words.values())
        return [f"The schema takes {taken}; how many rows were left out was not recorded."] if choice else []
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
    found = noted_several_rows(findings.frame)
    if found is None:
        return []
    if findings.is_shared:
        return ["ROWS ARE NOT PATIENTS: subjects have several rows, and each counts as a subject of its own."]
    return [f"{found.warning()}."]


def _known(findings: Findings) -> tuple[RowChoice, RowCounts | None]:
    """Return which rows were chosen, and how many, as far as the fit knows it or, without one, the table."""
    schema = findings.model.schema_
    if findings.fit is not None:
        return schema.rows, findings.fit.row_counts_
    taken = rows_taken(findings.frame)
    return (schema.rows, None) if taken is None else (schema.rows or taken.choice, taken.counts)


def _shown(findings: Findings, counts: RowCounts) -> dict[str, str]:
    """Return the numbers of rows as they are shown, by name: withheld, if one of them is small in a shared report."""
    n_subjects = len(findings.frame)
    numbers = {
        "in table": counts.in_table,
        "outside": counts.outside,
        "not meeting": counts.not_meeting,
        "further": counts.further,
        "after": counts.taken - n_subjects,
    }
    if findings.rule is not None:
        from clinclust.disclosure.rule import are_small_rows

        if are_small_rows(counts, n_subjects, findings.rule.threshold):
            return {**dict.fromkeys(numbers, WITHHELD), "unknown": ""}
    unknown = f", {counts.unknown:,} of them without a value that could be compared" if counts.unknown else ""
    return {name: f"{number:,}" for name, number in numbers.items()} | {"unknown": unknown}


def _words(findings: Findings, choice: RowChoice) -> dict[str, str]:
    """Return the words for each part of a choice; a shared report withholds what may name or count few subjects."""
    words = choice.phrases()
    if "rows" in words and findings.is_shared:
        words["rows"] = "rows of the sheet that were named by hand"
    if choice.where is not None and findings.is_shared:
        condition = parsed(choice.where)
        columns = compared_columns(condition)
        if not _holds_of_everybody(condition) or any(_names_subjects(findings.model.schema_, name) for name in columns):
            on_columns = f" on {', '.join(map(on_one_line, columns))}" if columns else ""
            words["where"] = f"those that meet a condition{on_columns}, which is withheld {WITHHELD}"
    return words


def _holds_of_everybody(condition: Condition) -> bool:
    """Return whether all values in a condition are those of every subject analysed, or limits that all keep to.

    Other values, such as those that are excluded, may be those of few people.
    """
    parts = condition.parts if isinstance(condition, Joined) and condition.word == "and" else (condition,)
    return all(isinstance(part, Comparison) and (part.sign == "==" or is_order(part.sign)) for part in parts)


def _names_subjects(schema: FeatureSchema, column: str) -> bool:
    """Return whether the values of a column name single subjects."""
    from clinclust.drafting.roles import looks_identifying

    if column in schema and not schema[column].is_ignored:
        return schema[column].is_id
    return looks_identifying(column)
