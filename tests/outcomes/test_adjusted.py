"""Adjusted differences in every feature: the regressions of statsmodels, and what has no p."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from cohorts import schema_of
from command_line import refused

import clinclust as cc
from clinclust.cli import main
from clinclust.errors import InputError


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(0)
    ill = rng.permutation(np.repeat([0, 1], [120, 80]))
    age, sex = rng.normal(60 + 8 * ill, 8).round(), np.where(rng.random(200) < 0.3 + 0.3 * ill, "male", "female")
    frame = pd.DataFrame({"a": rng.normal(5 * ill), "b": rng.normal(-5 * ill), "age": age, "sex": sex})
    frame["pressure"] = (100 + 0.8 * age + rng.normal(0, 8, 200)).round()
    frame["falls"] = rng.poisson(np.exp(-1 + 0.02 * age))
    frame["kind"] = rng.choice(["x", "y", "z"], 200)
    frame.loc[::11, "pressure"] = np.nan
    sexes, kinds = {"likelihood": "bernoulli", "levels": ("female", "male")}, ("x", "y", "z")
    described = {"age": {}, "sex": sexes, "pressure": {}, "falls": {"likelihood": "poisson"}}
    described["kind"] = {"likelihood": "categorical", "levels": kinds}
    schema = schema_of("ab", **{name: {"role": "describe", **fields} for name, fields in described.items()})
    return cc.methods.PublishedMAPDP(schema, random_state=0, progress=False).fit(frame), frame


def test_differences_of_a_measurement_are_those_of_statsmodels(cohort):
    model, frame = cohort
    assert model.n_clusters_ == 2
    found = cc.outcomes.adjusted_differences(model, frame, ["age", "sex"]).set_index("feature")
    design = pd.DataFrame({"one": 1.0, "second": model.labels_, "age": frame["age"], "male": frame["sex"] == "male"})
    known = frame["pressure"].notna()
    exact = sm.OLS(frame["pressure"][known], design[known].astype(float)).fit(cov_type="HC1")
    row = found.loc["pressure"]
    assert row["estimate"] == pytest.approx(exact.params["second"], rel=1e-6)
    assert row["se"] == pytest.approx(exact.bse["second"], rel=0.02)
    assert row["n"] == known.sum()
    assert row["p"] > 0.01  # age explains it; unadjusted it does not hold
    assert found.loc["falls", "measure"] == "rate ratio"
    assert found.loc[["a", "b"], "clustered_on"].all()
    assert not found.loc["pressure", "clustered_on"]
    assert found.loc[["a", "b"], "p"].isna().all()
    assert found.loc[["a", "b"], "estimate"].notna().all()
    assert "levels without order" in found.loc["kind", "remark"]
    assert not {"age", "sex"} & set(found.index)


def test_what_cannot_be_adjusted_for(cohort):
    model, frame = cohort
    with pytest.raises(InputError, match="name columns to adjust for"):
        cc.outcomes.adjusted_differences(model, frame, [])
    with pytest.raises(InputError, match=r"no column 'agee'.*"):
        cc.outcomes.adjusted_differences(model, frame, ["agee"])


def test_the_command_says_a_line_for_each_feature(cohort, tmp_path, monkeypatch, capsys):
    model, frame = cohort
    monkeypatch.chdir(tmp_path)
    model.save("subtypes")
    frame.to_csv("cohort.csv", index=False)
    given = ["outcomes", "cohort.csv", "--model", "subtypes", "--every-feature"]
    assert main([*given, "--covariates", "age", "sex", "--out", "adjusted.csv"]) == 0
    said = capsys.readouterr().out
    assert "pressure, subtype 2 against 1, mean difference: " in said
    assert "kind: outcome: 'kind' has levels without order" in said
    assert "a, subtype 2 against 1, mean difference: " in said
    assert set(pd.read_csv("adjusted.csv")["feature"]) == {"a", "b", "pressure", "falls", "kind"}
    assert "--every-feature needs --covariates" in refused(capsys, *given)
    assert "belong to --outcome, not to --every-feature" in refused(
        capsys, *given, "--covariates", "age", "--time", "age"
    )
