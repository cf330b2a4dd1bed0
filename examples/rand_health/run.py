"""Find kinds of patients in the RAND Health Insurance Experiment, from health and use of care.

``python examples/rand_health/run.py`` loads the data that statsmodels ships (20,190 person-years, public
domain) and writes ``subtypes.xlsx`` and ``subtypes.html`` into ``reports/rand_health``.
``schemas/rand_health.yaml`` says for each column what was seen in it and why its likelihood was chosen. What
the experiment assigned by lot (the insurance plan) is described but not clustered on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.datasets import randhie

import clinclust as cc

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "schemas" / "rand_health.yaml"
REPORTS = ROOT / "reports" / "rand_health"

# Lengths of the two checklists of chronic conditions; `disea` is the percentage ticked, to one decimal.
CHECKLISTS = (29, 23)


def person_years() -> pd.DataFrame:
    """Load the ten columns of statsmodels and make those of the schema, NaN where missing."""
    raw = randhie.load_pandas().data
    incentive, limit = np.exp(raw["lpi"]).round(2), np.exp(raw["fmde"]).round(2)
    return pd.DataFrame(
        {
            "mdvis": raw["mdvis"],
            "chronic_conditions": conditions_ticked(raw["disea"]),
            # A fraction is a mean filled in for somebody whose limitation is not known.
            "physlm": raw["physlm"].where(raw["physlm"].isin([0, 1])),
            "self_rated_health": self_rated_health(raw),
            "coinsurance": np.expm1(raw["lncoins"]).round().astype(int).astype(str),
            "idp": raw["idp"],
            # max(1, dollars) before the logarithm: exactly 0 stands for nothing at all.
            "incentive_paid": (raw["lpi"] > 0).astype(int),
            "incentive": incentive.where(raw["lpi"] > 0),
            "limit_set": (raw["fmde"] > 0).astype(int),
            "limit": limit.where(raw["fmde"] > 0),
        }
    )


def conditions_ticked(percentage: pd.Series) -> pd.Series:
    """Turn the percentage of a checklist back into the number ticked; NaN if no list gives it."""
    number = pd.Series(np.nan, index=percentage.index)
    for length in CHECKLISTS:
        ticked = (percentage * length / 100).round()
        on_grid = np.isclose(percentage, (100 * ticked / length).round(1), atol=1e-6)
        number = number.where(~(on_grid & number.isna()), ticked)
    return number


def self_rated_health(raw: pd.DataFrame) -> pd.Series:
    """Combine the three indicators of one question into its answer.

    Raises
    ------
    ValueError
        If some row has more than one indicator set.
    """
    indicators = raw[["hlthg", "hlthf", "hlthp"]]
    if (indicators.sum(axis=1) > 1).any():
        raise ValueError("self-rated health: some rows have more than one of hlthg, hlthf, hlthp set")
    answer = indicators.to_numpy() @ np.array([1, 2, 3])
    return pd.Series(np.array(["excellent", "good", "fair", "poor"])[answer], index=raw.index)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=REPORTS, help="folder to write to")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)

    schema = cc.FeatureSchema.from_yaml(SCHEMA)
    frame = schema.validate(person_years())
    # The seed is fixed so that the report can be made again; other seeds differ in the small subtypes.
    model = cc.MAPDP(schema, concentration=3.0, n_restarts=10, random_state=0).fit(frame)
    associations = cc.validated_associations(model, frame)
    for name in ("subtypes.xlsx", "subtypes.html"):
        cc.write_report(model, frame, out / name, associations=associations, overwrite=True)
    print(f"Person-years in each subtype: {', '.join(map(str, model.cluster_sizes_))}; see {out}")


if __name__ == "__main__":
    main()
