"""What subtypes are for: outcomes, predictors, imputations and another cohort, where the truth is known.

``python examples/outcomes/run.py`` simulates two hospitals with two kinds of patients, finds the subtypes of the first,
and prints what is found beside the truth. It writes ``survival.png`` into its folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm

import clinclust as cc

HERE = Path(__file__).parent
MEASUREMENTS = {
    "gait": 1.1,
    "grip": 32.0,
    "albumin": 40.0,
    "haemoglobin": 13.2,
    "filtration": 75.0,
    "six_minutes": 430.0,
}
SPREADS = {"gait": 0.2, "grip": 7.0, "albumin": 4.0, "haemoglobin": 1.4, "filtration": 18.0, "six_minutes": 90.0}
APART = -1.2  # standard deviations between the two kinds in each measurement
LOG_HAZARD_RATIO, MEAN_DIFFERENCE, LOG_ODDS_A_YEAR = np.log(2.0), -10.0, 0.08
SCHEMA = cc.FeatureSchema(
    [
        *(cc.Feature(name=name, likelihood="gaussian") for name in MEASUREMENTS),
        cc.Feature(name="falls", likelihood="poisson"),
        cc.Feature(name="age", likelihood="gaussian", role="describe", unit="years"),
        cc.Feature(name="quality", likelihood="gaussian", role="outcome", label="Quality of life"),
        cc.Feature(name="died", likelihood="bernoulli", levels=("no", "yes"), role="outcome", label="Death"),
        cc.Feature(name="days", likelihood="exponential", role="time", label="Days of follow-up"),
    ]
)


def hospital(n_patients: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Return the table of a hospital, the same without gaps, and whether each patient is frail, bool (N,)."""
    rng = np.random.default_rng(seed)
    age = rng.normal(70.0, 9.0, n_patients).round()
    frail = rng.random(n_patients) < 1.0 / (1.0 + np.exp(0.4 - LOG_ODDS_A_YEAR * (age - 70.0)))
    frame = pd.DataFrame(
        {
            name: mean + SPREADS[name] * (APART * frail + rng.normal(size=n_patients))
            for name, mean in MEASUREMENTS.items()
        }
    ).round(2)
    frame["falls"], frame["age"] = rng.poisson(0.4 + 1.2 * frail), age
    frame["quality"] = (60.0 + MEAN_DIFFERENCE * frail + rng.normal(0.0, 12.0, n_patients)).round()
    death = rng.exponential(2000.0 * np.exp(-LOG_HAZARD_RATIO * frail))
    end = rng.uniform(300.0, 2500.0, n_patients)
    frame["died"], frame["days"] = np.where(death <= end, "yes", "no"), np.minimum(death, end).round() + 1.0
    whole = frame.copy()
    # Who feels worse walks six minutes less often, and everybody lacks some measurement.
    frame.loc[rng.random(n_patients) < 1.0 / (1.0 + np.exp(0.1 * (frame["quality"] - 45.0))), "six_minutes"] = np.nan
    return frame.mask(rng.random(frame.shape) < 0.05 * frame.columns.isin(list(MEASUREMENTS))), whole, frail


def found(table: pd.DataFrame, method: str, **where: object) -> str:
    """Return an estimate with its interval."""
    rows = table[table["method"] == method]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    row = rows.iloc[0]
    return f"{row['estimate']:.2f} ({row['lower']:.2f} to {row['upper']:.2f})"


def slopes(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the pooled regression of the quality of life on the distance walked and age."""
    columns = [table[["six_minutes", "age"]].assign(six_minutes=table["six_minutes"] / 100.0) for table in tables]
    fits = [sm.OLS(table["quality"], sm.add_constant(x)).fit() for table, x in zip(tables, columns, strict=True)]
    return cc.pool_estimates([fit.params for fit in fits], [fit.bse**2 for fit in fits])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to")
    parser.add_argument("--patients", type=int, default=800)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    frame, whole, frail = hospital(given.patients, 0)
    model = cc.MAPDP(SCHEMA, random_state=0, progress=False).fit(frame)
    print(f"{model.n_clusters_} subtypes of {model.cluster_sizes_.tolist()}; {frail.sum()} patients are frail")
    place = int(frail[model.labels_ == 1].mean() > 0.5)
    second, other = model.codes_[place], model.codes_[1 - place]  # the frail and the other subtype

    print("\nfrail against others: corrected | as assigned | truth")
    quality = cc.compare_outcomes(model, frame, "quality", versus=other)
    death = cc.compare_outcomes(model, frame, "died", time="days", event="yes", covariates=["age"], versus=other)
    age = cc.subtype_predictors(model, frame, ["age"], versus=other)
    for name, table, truth, best in (
        ("quality of life, difference", quality, MEAN_DIFFERENCE, "bch"),
        ("death, hazard ratio", death, np.exp(LOG_HAZARD_RATIO), "bch"),
        ("a year of age, odds ratio", age, np.exp(LOG_ODDS_A_YEAR), "ml"),
    ):
        where = {"subtype": second, "versus": other} | ({"term": "age"} if name.startswith("a year") else {})
        print(f"{name}: {found(table, best, **where)} | {found(table, 'naive', **where)} | {truth:.2f}")
    test = death[death["measure"] == "hazards proportional"].iloc[0]
    print(f"hazards proportional: p = {test['p']:.2f}")
    curves = cc.outcomes.survival_curves(model, frame, "died", "days", event="yes")
    ax = cc.plots.plot_survival(curves, names={second: "Frail", other: "Others"}, unit="days")
    ax.figure.savefig(given.out / "survival.png", dpi=120, bbox_inches="tight")

    drawn = model.multiple_imputations(frame, m=20, random_state=0)
    guess = model.impute(frame)
    print("\nquality of life for 100 m more in six minutes: drawn 20 times | best guesses | complete rows | no gaps")
    rows = [slopes(tables).loc["six_minutes"] for tables in (drawn, [guess] * 2, [frame.dropna()] * 2, [whole] * 2)]
    print(" | ".join(f"{row['estimate']:.2f} ({row['lower']:.2f} to {row['upper']:.2f})" for row in rows))

    elsewhere, *_ = hospital(given.patients // 2, 1)
    validation = cc.stability.validate_subtypes(model, frame, elsewhere, progress=False)
    print(f"\n{validation.summary}")


if __name__ == "__main__":
    main()
