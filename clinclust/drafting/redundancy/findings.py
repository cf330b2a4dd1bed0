"""What was found of a drafted schema, how the schema is changed by it, and which of it a schema leaves open."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from clinclust.drafting.column import Look
from clinclust.files.listed import limited, listed
from clinclust.schema.feature import Feature, block_key
from clinclust.schema.feature_schema import FeatureSchema


@dataclass(frozen=True)
class Redundancy:
    """A column that others determine, or columns that measure nearly the same."""

    columns: tuple[str, ...]  # all that it concerns, in the order of the table
    kind: Literal["determined", "computed", "nearly the same"]  # by one other column, by several, or not exactly
    reason: str  # a sentence without a full stop and without a value of the table
    target: str | None = None  # the column that the others determine; None if they measure nearly the same
    role: str = "describe"  # of the target, or that of the outcome, arm, time or site that determines it
    block: str | None = None  # that all columns get instead of a role

    @property
    def described(self) -> tuple[str, ...]:
        """The column that is no longer clustered on; none if it is a block."""
        return () if self.block is not None or self.target is None else (self.target,)


def applied(schema: FeatureSchema, redundancies: Iterable[Redundancy]) -> FeatureSchema:
    """Return the schema with roles and blocks of these findings where it declares none; one feature stays clustered."""
    changes: dict[str, dict[str, Any]] = {}
    comments = dict(schema.comments)
    left = {feature.name for feature in schema.clustered}
    for finding in redundancies:
        if _is_dealt_with(finding, schema, left):
            continue
        given: dict[str, Any] = {"role": finding.role} if finding.block is None else {"block": finding.block}
        for name in finding.described or finding.columns:
            feature = schema[name]
            if name in changes or name not in left or (finding.block and feature.block) or left == {name}:
                continue
            changes[name] = given
            left -= {name} if "role" in given else set()
            comments[name] = "\n".join(filter(None, (comments.get(name), f"{finding.reason}{_done(finding)}")))
    features = [Feature(**(feature.content() | changes.get(feature.name, {}))) for feature in schema]
    changed = schema.with_changed(features)
    changed.comments.update(comments)
    return changed


def _done(finding: Redundancy) -> str:
    if finding.block is not None:
        return ", so they are one block"
    if finding.role == "describe":
        return ", so it is described and not clustered on"
    return f", so its role is {finding.role} too"


def looks(redundancies: Iterable[Redundancy], schema: FeatureSchema) -> list[Look]:
    """Return what deserves a look: the findings that the schema does not deal with, with the lines to write."""
    clustered = {feature.name for feature in schema.clustered}
    found = [finding for finding in redundancies if not _is_dealt_with(finding, schema, clustered)]
    return [Look(finding.columns, limited(finding.reason), _repair(finding, clustered)) for finding in found]


def _is_dealt_with(finding: Redundancy, schema: FeatureSchema, clustered: Collection[str]) -> bool:
    """Return whether the target is not clustered, at most one column is, or all that are form one block.

    What several determine is dealt with as soon as any of them is not clustered: the others do not determine it.
    """
    names = [name for name in finding.columns if name in schema and name in clustered]
    if finding.target is not None and finding.target not in names:
        return True
    if finding.role != "describe":
        return False
    if finding.kind == "computed" and len(names) < len(finding.columns):
        return True
    blocks = {schema[name].block for name in names}
    return len(names) < 2 or (len(blocks) == 1 and None not in blocks)


def _repair(finding: Redundancy, clustered: Collection[str]) -> str:
    if finding.block is not None:
        names = [name for name in finding.columns if name in clustered]
        return f"write block: {finding.block} on the lines of {listed(names)}"
    return f"write role: {finding.role} on the line of {listed(finding.described)}"


def block_name(names: Sequence[str], taken: set[str]) -> str:
    """Return a name for a block that none has yet, with what the names begin with in common; `taken` gets it."""
    same = [len(set(letters)) == 1 for letters in zip(*names, strict=False)]
    common = names[0][: [*same, False].index(False)].rstrip("0123456789 _.-:").strip()
    base = common if sum(map(str.isalpha, common)) > 1 else "block"
    name, number = common if base == common else "block 1", 2
    while block_key(name) in taken:
        name, number = f"{base} {number}", number + 1
    taken.add(block_key(name))
    return name
