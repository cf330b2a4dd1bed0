"""Sentences on the results of `compare_outcomes`, `subtype_predictors` and `adjusted_differences`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

_NOT_PROPORTIONAL = 0.05
"""p below which hazards are called not proportional."""


def summarise_outcomes(results: pd.DataFrame) -> list[str]:
    """Return each difference, odds ratio or adjusted difference as a sentence."""
    return list(_lines_of_features(results) if "feature" in results else _lines_of_outcomes(results))


def _lines_of_outcomes(found: pd.DataFrame) -> Iterator[str]:
    """Yield each difference between subtypes, or each odds ratio of a predictor, and the one as assigned."""
    best = "bch" if "outcome" in found else "ml"
    measures = found["measure"] if "measure" in found else pd.Series("", index=found.index)
    of_periods = measures.str.contains("until|after", na=False)
    rows = found[found["versus"].notna() & ~of_periods]
    for place, row in enumerate(rows[rows["method"] == "naive"].to_dict("records")):
        corrected = rows[rows["method"] == best].to_dict("records")
        what = row.get("measure") or f"odds ratio of {row['term']}"
        what = f"{what} of {row['event']!r}" if isinstance(row.get("event"), str) else what
        who = f"Subtype {row['subtype']} against {row['versus']}, {what}"
        best_of_it = _ratio(corrected[place]) if corrected else "not corrected"
        yield f"{who}: {best_of_it}; as assigned {_ratio(row)}"
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
            yield f"{row['feature']}, subtype {row['subtype']} against {row['versus']}, {row['measure']}: {_ratio(row)}"


def _on_periods(of_periods: pd.DataFrame, found: pd.DataFrame) -> Iterator[str]:
    """Yield whether hazards are proportional, and the ratios of the two periods where they are not."""
    tests = found[(found["measure"] == "hazards proportional") & found["p"].notna()]
    for method in ("bch", "naive"):
        for p in tests.loc[tests["method"] == method, "p"]:
            yield f"Hazards proportional? {'No' if p < _NOT_PROPORTIONAL else 'Nothing speaks against it'}, p = {p:.2g}"
            if p < _NOT_PROPORTIONAL:
                for row in of_periods[of_periods["method"] == method].to_dict("records"):
                    yield f"Subtype {row['subtype']} against {row['versus']}, {row['measure']}: {_ratio(row)}"
            return


def _ratio(row: dict[Any, Any]) -> str:
    if not math.isfinite(row["estimate"]):
        return "too large a unit"
    if math.isnan(row["p"]):
        return f"{row['estimate']:.3g} ({row['lower']:.3g} to {row['upper']:.3g})"
    p = "< .001" if row["p"] < 0.001 else f"= {row['p']:.3f}".replace("0.", ".", 1)
    return f"{row['estimate']:.3g} ({row['lower']:.3g} to {row['upper']:.3g}), p {p}"
