"""What a table that fits its schema holds: the use of each column, missing values, and what is left to decide.

cohort.csv fits schema.yaml: 40 subjects, 4 features to cluster on (3.1% of their values missing), 1 to describe.
The 4 features are worth about 4 that do not depend on each other.
to cluster on (4): tremor, stage, falls, crp
to decide (1); read each, and edit schema.yaml where that is wrong:
  - stage: 38 of 40 subjects have the same value
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from clinclust.control_characters import on_one_line
from clinclust.drafting.column import LOOK, Look
from clinclust.drafting.propose import looks_of
from clinclust.drafting.redundancy import looks, redundancies
from clinclust.engine.joint_estimates.dependence import independent_features
from clinclust.files.cell_text import shortened
from clinclust.files.selection.repeated_subjects import noted_several_rows

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.preparation import Prepared
    from clinclust.schema import FeatureSchema

_MUCH_MISSING = 0.2
_MUCH_DEPENDENCE = 0.6
"""Share of independent features below which the effect of dependence is explained."""
_NARROWEST, _WIDEST = 40, 120
_MOST_LOOKS, _MOST_LINES = 10, 3
"""Number of remarks, and of lines of names per use, that fit on one screen."""


def look_at_draft(schema: FeatureSchema) -> list[Look]:
    """Return what `draft_schema` left to be decided, largest effect on the result first; one `Look` per remark."""
    columns: dict[str, list[str]] = {}
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
            columns.setdefault(remark, []).append(feature.name)
            weight = 0.0 if feature.is_ignored else float(probability) if "; otherwise " in remark else 1.0
            weights[remark] = weight + (2.0 if feature.is_described else 0.0)
    return [Look(tuple(columns[remark]), remark, "") for remark in sorted(columns, key=lambda remark: weights[remark])]


def look_at_table(cohort: Prepared, table: pd.DataFrame) -> list[Look]:
    """Return properties of the table that may make spurious subtypes: ties, odd numbers, repetitions."""
    pairs = redundancies(cohort.frame, cohort.schema) if len(cohort.schema.clustered) > 1 else []
    return [*looks_of(table, cohort.schema), *looks(pairs, cohort.schema)]


def facts_of_check(cohort: Prepared, table: pd.DataFrame, looks: Sequence[Look]) -> dict[str, Any]:
    """Return the facts about a table that fits its schema, for a program."""
    missing = cohort.frame.isna().mean()
    return {
        "subjects": len(cohort.frame),
        **_uses(cohort, table),
        "described": [feature.name for feature in cohort.schema.described],
        "cannot_be_clustered": dict(cohort.problem.kept_out),
        "missing": {str(name): float(share) for name, share in missing.items() if share > 0.0},
        "to_decide": [asdict(look) for look in looks],
    }


def _uses(cohort: Prepared, table: pd.DataFrame) -> dict[str, list[str]]:
    """Return the columns of each use, by the name of the use in a summary."""
    schema, uninformative = cohort.schema, cohort.problem.kept_out
    return {
        "clustered": [feature.name for feature in schema.clustered if feature.name not in uninformative],
        "cannot_be_clustered": list(uninformative),
        "identifiers": [feature.name for feature in schema.ids],
        "not_in_schema": [str(name) for name in table.columns if name not in schema],
    }


_HEADINGS = {
    "clustered": "to cluster on",
    "cannot_be_clustered": "cannot be clustered on",
    "identifiers": "identifiers",
    "not_in_schema": "not in the schema, so ignored",
}


def render_check(
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
    frame, schema, uses = cohort.frame, cohort.schema, _uses(cohort, table)
    visits = noted_several_rows(frame)
    n_subjects = f"{len(frame)} subjects" if visits is None else f"{len(frame)} rows of {visits.n_subjects} subjects"
    # The same features as in the report: those that the fit clusters on.
    missing = frame[uses["clustered"]].isna().to_numpy().mean() if uses["clustered"] else 0.0
    lines = [
        f"{names[0]} fits {names[1]}: {n_subjects}, {len(schema.clustered)} features to cluster on "
        f"({missing:.1%} of their values missing), {len(schema.described)} to describe.",
        *textwrap.wrap(_describe_dependence(cohort), width),
    ]
    shares = frame.isna().mean().sort_values(ascending=False, kind="stable")
    sections = {_HEADINGS[use]: [_show_name(name) for name in columns] for use, columns in uses.items()}
    sections[f"more than {_MUCH_MISSING:.0%} missing"] = [
        f"{_show_name(name)} {share:.0%}" for name, share in shares[shares > _MUCH_MISSING].items()
    ]
    for heading, items in sections.items():
        section = _wrap_names(f"{heading} ({len(items)}):", items, width)
        lines += section if is_all or len(section) <= _MOST_LINES else [*section[: _MOST_LINES - 1], "  ..."]
    if looks:
        shown = looks if is_all else looks[:_MOST_LOOKS]
        to_do = "; what follows `to do` is not in it yet" if any(look.repair for look in looks) else ""
        lines.append(f"to decide ({len(looks)}); read each, and edit {names[1]} where that is wrong{to_do}:")
        lines += [line for look in shown for line in _wrap_look(look, width)]
        if len(shown) < len(looks):
            lines.append(f"  and {len(looks) - len(shown)} more, which change less: --all")
    return lines


def _width() -> int:
    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


def wrap_item(text: str, width: int | None = None) -> list[str]:
    """Return an item of a list in lines of the terminal; options stay in one piece."""
    text, width = on_one_line(text), width or _width()
    return textwrap.wrap(text, width, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)


def _wrap_look(look: Look, width: int) -> list[str]:
    names = ", ".join(map(_show_name, look.columns))
    about = "" if not names or look.what.startswith(names) else f"{names}: "
    return wrap_item(f"{about}{look.what}" + (f"; to do: {look.repair}" if look.repair else ""), width)


def _describe_dependence(cohort: Prepared) -> str:
    """Return how many independent features the clustered ones are worth, in words; empty for a single one."""
    n_features = len(cohort.problem.cohort.encoding.features)
    if n_features < 2:
        return ""
    n_worth = independent_features(cohort.problem)
    both = " (both parts of one with a spike or a limit count)" if len(cohort.schema.parts) > len(cohort.schema) else ""
    sentence = f"The {n_features} features{both} are worth about {n_worth:.0f} that do not depend on each other"
    if n_worth > _MUCH_DEPENDENCE * n_features:
        return f"{sentence}."
    return (
        f"{sentence}: subtypes explain some of that, and what measures the same thing, and is in no block, makes more "
        "subtypes than there are."
    )


def _wrap_names(heading: str, items: Sequence[str], width: int) -> list[str]:
    """Return names between commas below a heading, which no line break divides."""
    lines, line = [], heading
    for place, name in enumerate(items):
        item = name if place == len(items) - 1 else f"{name},"
        if len(line) + 1 + len(item) > width:
            lines.append(line)
            line = " " * 3
        line += f" {item}"
    return [*lines, line] if items else []


def _show_name(name: object) -> str:
    text = shortened(on_one_line(str(name)))
    return repr(text) if "," in text or text != text.strip() or not text else text
