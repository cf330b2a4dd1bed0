"""Make the proposals of findings true in a schema, and say which of them a schema does not follow yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from clinclust.drafting.look import LOOK, SEE, Look
from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.files.listed import limited, listed
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["applied", "looks"]


def applied(schema: FeatureSchema, redundancies: Iterable[Redundancy]) -> FeatureSchema:
    """Return the schema with the proposals of these findings, and the reason for each in its comments.

    Blocks that the schema declares, and roles other than cluster, stay as they are. At least one feature stays in the
    clustering.
    """
    changes: dict[str, dict[str, Any]] = {}
    comments = dict(schema.comments)
    left = {feature.name for feature in schema.clustered}
    said: dict[Redundancy, str] = {}
    for finding in redundancies:
        if _is_dealt_with(finding, schema):
            continue
        for name, change in _changes(finding, schema).items():
            if name in changes or (change.get("role") == "describe" and left <= {name}):
                continue
            changes[name] = change
            left -= {name} if "role" in change else set()
            comments[name] = "\n".join(filter(None, (comments.get(name), f"{LOOK}{_told(finding, name, said)}")))
            said.setdefault(finding, name)
    features = [Feature(**(feature.content() | changes.get(feature.name, {}))) for feature in schema]
    changed = FeatureSchema(
        features,
        title=schema.title,
        missing_codes=schema.missing_codes,
        other_columns=schema.other_columns,
        rows=schema.rows,
    ).with_extras(schema.extras)
    changed.comments.update(comments)
    return changed


def _told(finding: Redundancy, name: str, said: Mapping[Redundancy, str]) -> str:
    """Return what the comment of a feature says of a finding: all of it at the first feature, then where that is."""
    if finding in said:
        return f"{SEE}{said[finding]}"
    done = f"one block: {finding.block}" if finding.proposal == "block" else "described only"
    if finding.kind == "outcome":
        done += " (write `role: cluster` to search for subtypes with it)"
    return f"{finding.reason}; {done}"


def looks(redundancies: Iterable[Redundancy], schema: FeatureSchema) -> list[Look]:
    """Return what deserves a look: the findings that the schema does not deal with, with the lines to write."""
    found = [finding for finding in redundancies if not _is_dealt_with(finding, schema)]
    return [Look(finding.columns, limited(finding.reason), _repair(finding, schema)) for finding in found]


def _is_dealt_with(finding: Redundancy, schema: FeatureSchema) -> bool:
    """Return whether at most one of the columns is clustered, or all that are form one block.

    A formula is dealt with as soon as any of its columns is not clustered: the others do not follow from each other.
    """
    clustered = [name for name in finding.columns if name in schema and schema[name].role == "cluster"]
    if finding.kind == "arithmetic" and len(clustered) < len(finding.columns):
        return True
    if finding.proposal != "block" and not set(finding.described) & set(clustered):
        return True
    if finding.kind == "outcome":
        return False
    blocks = {schema[name].block for name in clustered}
    return len(clustered) < 2 or (len(blocks) == 1 and None not in blocks)


def _changes(finding: Redundancy, schema: FeatureSchema) -> Mapping[str, dict[str, Any]]:
    """Return the fields that the finding changes in each feature."""
    clustered = [name for name in finding.columns if schema[name].role == "cluster"]
    if finding.proposal == "block":
        return {name: {"block": finding.block} for name in clustered if schema[name].block is None}
    return {name: {"role": "describe"} for name in finding.described if name in clustered}


def _repair(finding: Redundancy, schema: FeatureSchema) -> str:
    names = [name for name in finding.columns if schema[name].role == "cluster"]
    if finding.proposal == "block":
        return f"write block: {finding.block} on the lines of {listed(names)}"
    described = [name for name in finding.described if name in names]
    lines = f"write role: describe on the line{'s' if len(described) > 1 else ''} of {listed(described)}"
    return f"{lines}, and keep {finding.keep}" if finding.keep is not None else lines
