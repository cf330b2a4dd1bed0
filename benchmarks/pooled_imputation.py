"""Analyses of imputed tables: how often a pooled 95% interval holds the truth, beside other imputers.

    python benchmarks/pooled_imputation.py --cohorts 20 --write   # what results/pooled_imputation.md holds

Cohorts of 400 subjects with measurements, yes/no findings, scales, counts, one two-part feature, and an outcome that is
only described: three subtypes with independent features, one continuum, or subtypes along a continuum. 30% of the
values are missing, completely at random (MCAR), or the more often the higher the outcome and a measurement that is
always observed (MAR). Estimates are means, shares, differences between two groups of an observed finding, and the
slopes of the outcome. The truth is that of 400,000 subjects. Ten imputations each, pooled by Rubin's rules.

The section on squares has y = .5 x + .27 x^2 + e, linear or logistic, in twice as many cohorts.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm
from commits import describe_commit
from scipy.special import expit
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from statsmodels.imputation.mice import MICEData

import clinclust as cc

RESULTS = Path(__file__).parent / "results" / "pooled_imputation.md"
N, M, SHAPES, MECHANISMS = 400, 10, ("subtypes", "continuum", "both"), ("MCAR", "MAR")
MEANS = np.random.default_rng(5).choice([-1.0, 0.0, 1.0], size=(3, 11))
LOADINGS = np.random.default_rng(6).choice([0.4, 0.7], size=11)
NAMES = ("m0", "m1", "m2", "m3", "yes0", "yes1", "scale0", "scale1", "count0", "count1", "dose")
FEATURES = [
    *(cc.Feature(name=name, likelihood="gaussian") for name in NAMES[:4]),
    *(cc.Feature(name=name, likelihood="bernoulli") for name in NAMES[4:6]),
    *(cc.Feature(name=name, likelihood="ordinal", trials=4) for name in NAMES[6:8]),
    *(cc.Feature(name=name, likelihood="poisson") for name in NAMES[8:10]),
    cc.Feature(name="dose", likelihood="gaussian", spike=[0]),
    cc.Feature(name="outcome", likelihood="gaussian", role="describe"),
]
ALWAYS = ["m3", "yes1", "outcome"]


def drawn(shape: str, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return a whole cohort."""
    latent = rng.normal(size=(n, 11))
    if shape != "subtypes":
        latent = LOADINGS * rng.normal(size=(n, 1)) + np.sqrt(1.0 - LOADINGS**2) * latent
    if shape != "continuum":
        latent += MEANS[rng.choice(3, n, p=(0.5, 0.3, 0.2))]
    z = latent.T
    frame = pd.DataFrame(dict(zip(NAMES[:4], z[:4], strict=True)))
    frame["yes0"], frame["yes1"] = (z[4] > 0.3).astype(float), (z[5] > 0.0).astype(float)
    for place, name in enumerate(("scale0", "scale1")):
        frame[name] = np.searchsorted([-1.0, -0.3, 0.4, 1.2], z[6 + place]).astype(float)
    for place, name in enumerate(("count0", "count1")):
        frame[name] = rng.poisson(np.exp(0.8 + 0.5 * z[8 + place])).astype(float)
    frame["dose"] = np.where(z[10] > 0.2, 5.0 + z[10] + rng.normal(size=n), 0.0)
    frame["outcome"] = 0.5 * frame["m0"] + 0.3 * frame["m1"] + 0.4 * frame["yes0"] + rng.normal(size=n)
    return frame


def with_gaps(frame: pd.DataFrame, mechanism: str, rng: np.random.Generator) -> pd.DataFrame:
    """Return the cohort without about 30% of the values."""
    chance = np.full(len(frame), 0.3)
    if mechanism == "MAR":
        above = (frame[["outcome", "m3"]] - frame[["outcome", "m3"]].mean()) / frame[["outcome", "m3"]].std()
        chance = expit(-1.1 + 1.1 * above.sum(axis=1).to_numpy())
    is_missing = pd.DataFrame(rng.random(frame.shape) < chance[:, None], columns=frame.columns)
    is_missing[ALWAYS] = False
    return frame.mask(is_missing)


def estimates(table: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return the estimates of one table and their variances."""
    table = table.astype(float)
    q, u = {}, {}
    for name in ("m0", "yes0", "scale0", "count0", "dose"):
        q[f"mean {name}"], u[f"mean {name}"] = table[name].mean(), table[name].var() / table[name].count()
        one, other = (table.loc[table["yes1"] == value, name].dropna() for value in (1.0, 0.0))
        q[f"difference {name}"] = one.mean() - other.mean()
        u[f"difference {name}"] = one.var() / len(one) + other.var() / len(other)
    names = ["m0", "m1", "yes0", "count0"]
    whole = table[[*names, "outcome"]].dropna()
    fit = sm.OLS(whole["outcome"], sm.add_constant(whole[names])).fit()
    for name in names:
        q[f"slope {name}"], u[f"slope {name}"] = fit.params[name], fit.bse[name] ** 2
    return pd.Series(q), pd.Series(u)


def ours(make: Callable[..., cc.MAPDP]) -> Callable[[pd.DataFrame, int], list[pd.DataFrame]]:
    """Return a method: a fit of this kind, and its imputations."""

    def method(seen: pd.DataFrame, seed: int) -> list[pd.DataFrame]:
        model = make(cc.FeatureSchema(FEATURES), random_state=0, progress=False).fit(seen)
        began = time.process_time()
        tables = model.multiple_imputations(seen, m=M, random_state=seed)
        method.seconds = time.process_time() - began
        return tables

    return method


def iterative(seen: pd.DataFrame, seed: int) -> list[pd.DataFrame]:
    """Draw from the posterior of each regression."""
    imputers = [IterativeImputer(sample_posterior=True, random_state=M * seed + number) for number in range(M)]
    return [pd.DataFrame(imputer.fit_transform(seen), columns=seen.columns) for imputer in imputers]


def chained(seen: pd.DataFrame, seed: int) -> list[pd.DataFrame]:
    """Predictive mean matching of statsmodels."""
    np.random.seed(seed)  # noqa: NPY002 - the only one that statsmodels takes
    data, tables = MICEData(seen), []
    data.update_all(10)
    for _ in range(M):
        data.update_all(3)
        tables.append(data.data.copy())
    return tables


METHODS = {
    "clinclust": ours(cc.MAPDP),
    "clinclust, as published": ours(cc.methods.PublishedMAPDP),
    "IterativeImputer, draws": iterative,
    "statsmodels MICE": chained,
    "observed values alone": lambda seen, _: [seen, seen + 0.0],
}


def runs(n_cohorts: int) -> pd.DataFrame:
    """Return one row for each cohort, method and estimate."""
    rows = []
    for shape, mechanism in product(SHAPES, MECHANISMS):
        truth, _ = estimates(drawn(shape, 400_000, np.random.default_rng(0)))
        for seed in range(n_cohorts):
            rng = np.random.default_rng([seed, SHAPES.index(shape), MECHANISMS.index(mechanism)])
            seen = with_gaps(drawn(shape, N, rng), mechanism, rng)
            for name, method in METHODS.items():
                began = time.process_time()
                tables = method(seen, seed)
                seconds = getattr(method, "seconds", time.process_time() - began)
                q, u = zip(*map(estimates, tables), strict=True)
                found = cc.pool_estimates(list(q), list(u), df_complete=N - 5)
                held = (found["lower"] <= truth) & (truth <= found["upper"])
                off = (found["estimate"] - truth) / np.sqrt(found["within"])
                about = {"shape": shape, "mechanism": mechanism, "seed": seed, "method": name, "s": seconds}
                rows += [
                    about | {"estimate": one, "held": bool(held[one]), "off": off[one], "width": width}
                    for one, width in (found["upper"] - found["lower"]).items()
                ]
        print(shape, mechanism, "done", file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def page(rows: pd.DataFrame, n_cohorts: int) -> str:
    """Return the page of results."""
    rows["kind"] = rows["estimate"].str.partition(" ")[0]
    lines = ["# Analyses of imputed tables", "", " ".join((__doc__ or "").split("\n\n")[2].split()), ""]
    lines += [f"{n_cohorts} cohorts of each kind.", ""]
    lines += ["## Held by 95% intervals (mean error in standard errors of a whole table)", ""]
    heads = list(product(SHAPES, MECHANISMS))
    for kind, of_kind in rows.groupby("kind", sort=False):
        lines += ["", f"| {kind} | {' | '.join(' '.join(head) for head in heads)} | all |"]
        lines += ["| --- |" + " --- |" * (len(heads) + 1)]
        for method in METHODS:
            part = of_kind[of_kind["method"] == method]
            cells = [part[(part["shape"] == shape) & (part["mechanism"] == how)] for shape, how in heads]
            # Of each estimate the bias is a mean over cohorts; the cell is the mean size of these.
            shown = [f"{c['held'].mean():.2f} ({c.groupby('estimate')['off'].mean().abs().mean():.2f})" for c in cells]
            error = part.groupby("seed")["held"].mean().sem()
            lines.append(f"| {method} | {' | '.join(shown)} | {part['held'].mean():.3f} ± {error:.3f} |")
    widths = rows.groupby("method", sort=False)["width"].mean()
    seconds = rows.groupby("method", sort=False)["s"].mean()
    lines += ["", "## Mean width, and seconds of the processors for ten tables (without the fit)", ""]
    lines += [f"- {method}: {widths[method]:.3f}, {seconds[method]:.1f} s" for method in METHODS]
    return "\n".join(lines)


def squares(n_cohorts: int, *, is_logistic: bool) -> str:
    """Return the table of y = .5 x + .27 x^2 + e, or of the log odds of y, with five features and two groups.

    x is missing in about 40% of the subjects, the more often the higher y.
    """
    truth, found = pd.Series({"x": 0.5, "I(x ** 2)": 0.27}), []
    features = [cc.Feature(name=name, likelihood="gaussian") for name in ("x", "z", "w0", "w1", "w2")]
    likelihood, regress = ("bernoulli", sm.Logit) if is_logistic else ("gaussian", sm.OLS)
    schema = cc.FeatureSchema([*features, cc.Feature(name="y", likelihood=likelihood, role="describe")])
    for seed in range(n_cohorts):
        rng = np.random.default_rng(seed)
        group = rng.integers(2, size=N)
        x = rng.normal(size=N) + group
        z, w = 0.6 * (x - 0.5) + 0.8 * rng.normal(size=N), rng.normal(size=(N, 3)) + 2.0 * group[:, None]
        whole = pd.DataFrame({"x": x, "z": z, "w0": w[:, 0], "w1": w[:, 1], "w2": w[:, 2]})
        eta = 0.5 * x + 0.27 * x**2
        whole["y"] = (rng.random(N) < expit(eta - 1.0)).astype(float) if is_logistic else eta + rng.normal(size=N)
        chance = expit(-0.6 + (whole["y"] - whole["y"].mean()) / whole["y"].std())
        seen = whole.assign(x=whole["x"].mask(rng.random(N) < chance))
        model = cc.MAPDP(schema, random_state=0, progress=False, n_restarts=3).fit(seen)
        options = {"as drawn": {}, "formula named": {"formula": "y ~ x + I(x ** 2)"}}
        tables = {how: model.multiple_imputations(seen, M, random_state=seed, **more) for how, more in options.items()}
        tables |= {"observed values alone": [seen.dropna()] * 2, "whole table": [whole] * 2}
        for how, of_cohort in tables.items():
            fits = [regress.from_formula("y ~ x + I(x ** 2)", table.astype(float)) for table in of_cohort]
            fits = [fit.fit(**({"disp": 0} if is_logistic else {})) for fit in fits]
            pooled = cc.pool_estimates([f.params for f in fits], [f.bse**2 for f in fits], df_complete=N - 3)
            pooled = pooled.loc[truth.index]
            if how in ("observed values alone", "whole table"):
                half = 1.97 * np.sqrt(pooled["within"])
                pooled = pooled.assign(lower=pooled["estimate"] - half, upper=pooled["estimate"] + half)
            held = (pooled["lower"] <= truth) & (truth <= pooled["upper"])
            found += [(how, name, pooled.loc[name, "estimate"], bool(held[name])) for name in truth.index]
    rows = pd.DataFrame(found, columns=["how", "slope", "estimate", "held"]).groupby(["how", "slope"], sort=False)
    lines = ["| values | slope | mean (error) | 95% intervals that hold it |", "| --- | --- | --- | --- |"]
    for (how, slope), row in rows:
        mean, error = row["estimate"].mean(), row["estimate"].sem()
        lines.append(f"| {how} | {slope}: {truth[slope]:g} | {mean:.3f} ({error:.3f}) | {row['held'].mean():.2f} |")
    return "\n".join(lines)


def section_on_squares(n_cohorts: int) -> str:
    """Return the section on squares, linear and logistic."""
    about = f"""
## A square, with its regression named or not

y = .5 x + .27 x² + e in {N} subjects of two groups, or the log odds of y (less 1), x missing in about 40% of them, the
more often the higher y; {n_cohorts} cohorts, {M} imputations each."""
    linear, logistic = (squares(n_cohorts, is_logistic=is_logistic) for is_logistic in (False, True))
    return f"{about} Linear:\n\n{linear}\n\nLogistic:\n\n{logistic}\n\n{describe_commit()}\n"


def main() -> None:
    """Run, print and perhaps write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="write results/pooled_imputation.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    text = page(runs(options.cohorts), options.cohorts) + "\n" + section_on_squares(2 * options.cohorts)
    print(text)
    if options.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
