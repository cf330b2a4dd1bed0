"""What `clinclust check` prints about a table that fits its schema."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from clinclust.control_characters import on_one_line
from clinclust.drafting.column import LOOK, Look
from clinclust.engine.joint_estimates.dependence import independent_features
from clinclust.files.cell_text import shortened
from clinclust.files.selection.repeated_subjects import noted_several_rows
from clinclust.schema.changed_roles import on_unused

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.preparation import Prepared
    from clinclust.schema import FeatureSchema

_MUCH_MISSING = 0.2
_MUCH_DEPENDENCE = 0.6
"""Share of independent features below which the effect of dependence is explained."""
_NARROWEST, _WIDEST = 40, 120
_USE_ONE = "Use one with --cluster NAME."
_MOST_LOOKS, _MOST_LINES = 10, 3
"""Number of remarks, and of lines of names per use, that fit on one screen."""


def looks_at_draft(schema: FeatureSchema) -> list[Look]:
    """Return what `draft_schema` left to be decided, largest effect on the result first; one `Look` per remark."""
    by_remark: dict[str, list[str]] = {}
    weights: dict[str, float] = {}
    for feature in schema:
        first, *lines = schema.comments.get(feature.name, "").splitlines() or [""]
        probability = first.rpartition("probability ")[2]
        for line in lines:
            if not line.startswith(LOOK):
                continue
            remark = line.removeprefix(LOOK)
            if remark.startswith("otherwise "):
                remark = f"{first}; {remark}"
            by_remark.setdefault(remark, []).append(feature.name)
            weight = 0.0 if feature.is_ignored else float(probability) if "; otherwise " in remark else 1.0
            weights[remark] = weight + (2.0 if feature.is_described else 0.0)
    in_order = sorted(by_remark, key=lambda remark: weights[remark])
    return [Look(tuple(by_remark[remark]), remark, "") for remark in in_order]


def looks_at_table(cohort: Prepared, table: pd.DataFrame) -> list[Look]:
    """Return properties of the table that may make spurious subtypes: ties, odd numbers, repetitions."""
    from clinclust.drafting.propose import looks_of
    from clinclust.drafting.redundancy import looks, redundancies

    found = redundancies(cohort.frame, cohort.schema) if len(cohort.schema.clustered) > 1 else []
    return [*looks_of(table, cohort.schema), *looks(found, cohort.schema)]


def facts_of_check(cohort: Prepared, table: pd.DataFrame, looks: Sequence[Look]) -> dict[str, Any]:
    """Return the facts about a table that fits its schema, for a program."""
    schema, kept_out = cohort.schema, cohort.problem.kept_out
    missing = cohort.frame.isna().mean()
    return {
        "subjects": len(cohort.frame),
        "clustered": [feature.name for feature in schema.clustered if feature.name not in kept_out],
        "cannot_be_clustered": dict(kept_out),
        "described": [feature.name for feature in schema.described],
        "identifiers": [feature.name for feature in schema.ids],
        "not_in_schema": [str(name) for name in table.columns if name not in schema],
        "missing": {str(name): float(share) for name, share in missing.items() if share > 0.0},
        "to_decide": [asdict(look) for look in looks],
    }


def unused_lines(schema: FeatureSchema, width: int | None = None) -> list[str]:
    """Return the lines on columns that form no subtypes, with the reasons."""
    return textwrap.wrap(
        on_unused(schema, repair=_USE_ONE), width or _width(), break_long_words=False, break_on_hyphens=False
    )


def check_lines(
    cohort: Prepared,
    table: pd.DataFrame,
    *,
    names: tuple[str, str],
    looks: Sequence[Look],
    is_all: bool = False,
    width: int | None = None,
) -> list[str]:
    """Return the lines to print about a table that fits its schema; `is_all` prints more than one screen of `looks`."""
    width = width or _width()
    lines = [_verdict(cohort, names), *textwrap.wrap(_worth(cohort), width)]
    missing = _much_missing(cohort.frame)
    uses = [*_uses(cohort, table), (f"more than {_MUCH_MISSING:.0%} missing", missing)]
    for heading, columns in uses:
        told = _wrapped(f"{heading} ({len(columns)})", columns, width)
        lines += told if is_all or len(told) <= _MOST_LINES else [*told[: _MOST_LINES - 1], "  ..."]
    if looks:
        shown = looks if is_all else looks[:_MOST_LOOKS]
        lines.append(f"to decide ({len(looks)}); {_who_acts(looks, names[1])}:")
        lines += [line for look in shown for line in _item(look, width)]
        if len(shown) < len(looks):
            lines.append(f"  and {len(looks) - len(shown)} more, which change less: --all")
    return lines


def _width() -> int:
    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


def _who_acts(looks: Sequence[Look], schema: str) -> str:
    left = "; what follows `to do` is not in it yet" if any(look.repair for look in looks) else ""
    return f"read each, and edit {schema} where that is wrong{left}"


def _item(look: Look, width: int) -> list[str]:
    names = ", ".join(map(_name, look.columns))
    about = "" if not names or look.what.startswith(names) else f"{names}: "
    said = on_one_line(f"{about}{look.what}" + (f"; to do: {look.repair}" if look.repair else ""))
    return textwrap.wrap(  # options stay in one piece
        said, width, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False
    )


def _verdict(cohort: Prepared, names: tuple[str, str]) -> str:
    frame, schema = cohort.frame, cohort.schema
    visits = noted_several_rows(frame)
    n_subjects = f"{len(frame)} subjects" if visits is None else f"{len(frame)} rows of {visits.n_subjects} subjects"
    # The same features as in the report: those that the fit clusters on.
    used = [feature.name for feature in schema.clustered if feature.name not in cohort.problem.kept_out]
    missing = frame[used].isna().to_numpy().mean() if used else 0.0
    return (
        f"{names[0]} fits {names[1]}: {n_subjects}, {len(schema.clustered)} features to cluster on "
        f"({missing:.1%} of their values missing), {len(schema.described)} to describe."
    )


def _worth(cohort: Prepared) -> str:
    """Return the number of independent features that the clustered ones are worth; empty for one."""
    n_features = len(cohort.problem.cohort.encoding.features)
    if n_features < 2:
        return ""
    n_worth = independent_features(cohort.problem)
    both = " (both parts of one with a spike or a limit count)" if len(cohort.schema.parts) > len(cohort.schema) else ""
    said = f"The {n_features} features{both} are worth about {n_worth:.0f} that do not depend on each other"
    if n_worth > _MUCH_DEPENDENCE * n_features:
        return f"{said}."
    return (
        f"{said}: subtypes explain some of that, and what measures the same thing, and is in no block, makes more "
        "subtypes than there are."
    )


def _uses(cohort: Prepared, table: pd.DataFrame) -> Iterator[tuple[str, list[str]]]:
    schema, kept_out = cohort.schema, cohort.problem.kept_out
    yield "to cluster on", [feature.name for feature in schema.clustered if feature.name not in kept_out]
    yield "cannot be clustered on", list(kept_out)
    yield "identifiers", [feature.name for feature in schema.ids]
    yield "not in the schema, so ignored", [str(name) for name in table.columns if name not in schema]


def _much_missing(frame: pd.DataFrame) -> list[str]:
    shares = frame.isna().mean().sort_values(ascending=False, kind="stable")
    return [f"{_name(name)} {share:.0%}" for name, share in shares[shares > _MUCH_MISSING].items()]


def _wrapped(heading: str, names: Iterable[str], width: int) -> list[str]:
    lines: list[str] = []
    line = f"{heading}:"
    items = [_name(name) for name in names]
    for place, item in enumerate(items):
        item += "," if place < len(items) - 1 else ""
        if len(line) + 1 + len(item) > width:
            lines.append(line)
            line = " " * 3
        line += f" {item}"
    return [*lines, line] if items else []


def _name(name: object) -> str:
    shown = shortened(on_one_line(str(name)))
    return repr(shown) if "," in shown or shown != shown.strip() or not shown else shown
