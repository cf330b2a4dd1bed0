"""`clinclust outcomes`: outcomes and predictors of the subtypes of a fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinclust.cli.inputs import ModelOptions, about_table, read_model, read_table_of_model
from clinclust.cli.options import Commands, add_command, number, option, path_given, whole_number
from clinclust.cli.outputs import OutputOptions, spare_file
from clinclust.cli.sharing import SuppressOptions, refuse_to_share, say_what_is_withheld
from clinclust.cli.streams import say
from clinclust.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


_CLEAR = 0.05
"""p below which hazards are called not proportional."""


@dataclass(kw_only=True)
class _Options(SuppressOptions, ModelOptions, OutputOptions):
    outcome: str | None = option("column to compare between subtypes", either=True, metavar="COLUMN")
    predictors: tuple[str, ...] = option(
        "columns that may predict who is in which subtype", (), either=True, nargs="+", metavar="COLUMN"
    )
    every_feature: bool = option("compare every feature, adjusted for --covariates", False, either=True)
    time: str | None = option("column with the end of follow-up, for hazard ratios", metavar="COLUMN")
    entry: str | None = option("column with the begin of follow-up (default: 0)", metavar="COLUMN")
    event: str | None = option("value of the outcome that is the event", metavar="VALUE")
    covariates: tuple[str, ...] = option("columns to adjust for", (), nargs="+", metavar="COLUMN")
    versus: int = option("subtype that others are compared with (default: 1)", 1, type=whole_number, metavar="N")
    level: float = option("of the confidence intervals (default: 0.95)", 0.95, type=number, metavar="SHARE")
    out: Path | None = option("table to write: .csv (default: only say it)", type=path_given, metavar="FILE")


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "outcomes", "outcomes by subtype, and predictors of subtypes", run, _Options)


def run(options: _Options) -> int:
    """Compare an outcome between the subtypes of a fit, or regress the subtypes on predictors.

    Some subjects are assigned to the wrong subtype, which makes differences too small. The errors of assignment are
    carried through (BCH, and maximum likelihood in three steps); the answer as assigned is given too.
    """
    from clinclust.outcomes import adjusted_differences, compare_outcomes, subtype_predictors
    from clinclust.reporting.assignments import write_inert_csv

    spare_file(options, (".csv",), called="a table of outcomes")
    of_outcome: dict[str, Any] = {"time": options.time, "entry": options.entry, "event": options.event}
    given = [f"--{name}" for name, value in of_outcome.items() if value is not None]
    if options.every_feature and not options.covariates:
        raise InputError("--every-feature needs --covariates, such as age and sex")
    given += ["--covariates"] * bool(options.covariates and options.predictors)
    if options.outcome is None and given:
        other = "--predictors" if options.predictors else "--every-feature"
        raise InputError(f"{', '.join(given)} belong to --outcome, not to {other}")
    options = refuse_to_share(options, options.model, "outcomes")
    model = read_model(options)
    table = read_table_of_model(options, model)
    shared: dict[str, Any] = {"versus": options.versus, "level": options.level}
    with about_table(options):
        if options.outcome is not None:
            shared |= of_outcome | {"covariates": list(options.covariates)}
            found = compare_outcomes(model, table, options.outcome, **shared)
        elif options.every_feature:
            found = adjusted_differences(model, table, list(options.covariates), **shared)
        else:
            found = subtype_predictors(model, table, list(options.predictors), **shared)
    for line in _lines_of_features(found) if options.every_feature else _lines(found):
        say(line)
    if options.out is not None:
        write_inert_csv(found, options.out)
        say(f"Wrote {options.out}: {len(found)} rows")
    say_what_is_withheld(options)
    return 0


def _lines(found: pd.DataFrame) -> Iterator[str]:
    """Yield each difference between subtypes, or each odds ratio of a predictor, and the one as assigned."""
    import pandas as pd

    best = "bch" if "outcome" in found else "ml"
    measures = found["measure"] if "measure" in found else pd.Series("", index=found.index)
    of_periods = measures.str.contains("until|after", na=False)
    rows = found[found["versus"].notna() & ~of_periods]
    for place, row in enumerate(rows[rows["method"] == "naive"].to_dict("records")):
        corrected = rows[rows["method"] == best].to_dict("records")
        what = row.get("measure") or f"odds ratio of {row['term']}"
        what = f"{what} of {row['event']!r}" if isinstance(row.get("event"), str) else what
        who = f"Subtype {row['subtype']} against {row['versus']}, {what}"
        best_of_it = _shown(corrected[place]) if corrected else "not corrected"
        yield f"{who}: {best_of_it}; as assigned {_shown(row)}"
    if of_periods.any():
        yield from _on_periods(found[of_periods], found)
    for why in dict.fromkeys(found["remark"].dropna()):
        of = sorted(set(found.loc[found["remark"] == why, "method"].dropna()))
        yield f"{', '.join(of).upper() or 'Subtypes'}: {why}"


def _lines_of_features(found: pd.DataFrame) -> Iterator[str]:
    """Yield each adjusted difference of a feature."""
    for row in found.to_dict("records"):
        if isinstance(row["remark"], str):
            yield f"{row['feature']}: {row['remark']}"
        else:
            yield f"{row['feature']}, subtype {row['subtype']} against {row['versus']}, {row['measure']}: {_shown(row)}"


def _on_periods(of_periods: pd.DataFrame, found: pd.DataFrame) -> Iterator[str]:
    """Yield whether hazards are proportional, and the ratios of the two periods where they are not."""
    tests = found[(found["measure"] == "hazards proportional") & found["p"].notna()]
    for method in ("bch", "naive"):
        for p in tests.loc[tests["method"] == method, "p"]:
            yield f"Hazards proportional? {'No' if p < _CLEAR else 'Nothing speaks against it'}, p = {p:.2g}"
            if p < _CLEAR:
                for row in of_periods[of_periods["method"] == method].to_dict("records"):
                    yield f"Subtype {row['subtype']} against {row['versus']}, {row['measure']}: {_shown(row)}"
            return


def _shown(row: dict[Any, Any]) -> str:
    if not math.isfinite(row["estimate"]):
        return "too large a unit"
    if math.isnan(row["p"]):
        return f"{row['estimate']:.3g} ({row['lower']:.3g} to {row['upper']:.3g})"
    p = "< .001" if row["p"] < 0.001 else f"= {row['p']:.3f}".replace("0.", ".", 1)
    return f"{row['estimate']:.3g} ({row['lower']:.3g} to {row['upper']:.3g}), p {p}"
