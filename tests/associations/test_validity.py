"""P-values that should not be believed: missing values that depend on the subtype, and dependence."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import clinclust as cc
from clinclust.associations.tested_association import Part, TestRules
from clinclust.associations.validity import p_whatever_is_missing


def test_values_missing_by_their_size_in_one_subtype_are_told():
    wrong = []
    for seed in range(8):
        rng = np.random.default_rng([6, seed])
        half = np.repeat([0.0, 1.0], 150)
        frame = pd.DataFrame(rng.normal(size=(300, 5)) + 3.0 * half[:, None]).rename(columns="x{}".format)
        noise = rng.normal(size=300)
        frame["noise"] = np.where((half == 1) & (noise > 0.3), np.nan, noise)
        schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
        model = cc.MAPDP.as_published(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
        row = cc.validated_associations(model, frame, progress=False).set_index("feature").loc["noise"]
        assert row["p"] < 1e-3
        assert row["p_whatever_is_missing"] > 0.05
        assert row["remark"].startswith("doubtful: its values are missing more often in some subtypes; whatever they")
        wrong.append(not row["doubtful"])
    assert not any(wrong)


def test_whatever_is_missing_p_is_at_least_that_of_every_completion():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 40)
    values = rng.normal(size=120) + 0.8 * labels
    holes = values.copy()
    holes[rng.random(120) < 0.1 * (labels + 1)] = np.nan
    parts, rules = [Part(np.arange(120), labels, np.eye(3)[labels], 3)], TestRules(3)
    bound = p_whatever_is_missing(holes, parts, rules, is_nominal=False)
    cuts = np.quantile(holes[~np.isnan(holes)], (0.25, 0.5, 0.75), method="lower")
    for _ in range(200):
        filled = np.where(np.isnan(holes), rng.choice([-9.0, 9.0, *cuts, *(cuts + 0.01)], 120), holes)
        p = [stats.chi2_contingency(pd.crosstab(filled > cut, labels), correction=False).pvalue for cut in cuts]
        assert bound >= min(1.0, 3 * min(p)) * (1 - 1e-3)
    full = p_whatever_is_missing(values, parts, rules, is_nominal=False)
    cuts = np.quantile(values, (0.25, 0.5, 0.75), method="lower")
    p = [stats.chi2_contingency(pd.crosstab(values > cut, labels), correction=False).pvalue for cut in cuts]
    assert full == pytest.approx(3 * min(p), rel=0.01)  # nothing is missing: Pearson's chi-squared


def test_a_described_feature_that_depends_on_others_inside_subtypes_is_told():
    rng = np.random.default_rng(3)
    half = np.repeat([0.0, 1.0], 150)
    table = rng.normal(size=(300, 6))
    table[:, :4] += 2.0 * half[:, None]
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    frame["copy"] = 0.8 * frame["x5"] + 0.6 * rng.normal(size=300)
    frame["outcome"] = half + rng.normal(size=300)

    def found(block):
        features = [cc.Feature(name=f"x{i}", likelihood="gaussian", block=block if i == 5 else None) for i in range(6)]
        features += [cc.Feature(name="copy", likelihood="gaussian", role="describe", block=block)]
        features += [cc.Feature(name="outcome", likelihood="gaussian", role="describe")]
        schema = cc.FeatureSchema(features)
        model = cc.MAPDP.as_published(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
        return cc.validated_associations(model, frame, progress=False).set_index("feature")

    alone = found(None)
    assert alone["method"][["copy", "outcome"]].tolist() == ["direct", "direct"]
    assert alone["doubtful"][["copy", "outcome"]].tolist() == [True, False]
    assert "most on x5" in alone.loc["copy", "remark"]
    together = found("both")
    assert together["method"][["copy", "outcome"]].tolist() == ["refit", "direct"]
    assert together.loc["copy", "left_out"] == "x5"
    assert not together.loc["copy", "doubtful"]


def test_dependence_between_all_features_is_told_of_all():
    rng = np.random.default_rng(8)
    table = np.sqrt(0.3) * rng.normal(size=(400, 1)) + np.sqrt(0.7) * rng.normal(size=(400, 10))
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    model = cc.MAPDP.as_published(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
    found = cc.validated_associations(model, frame, progress=False)
    assert model.n_clusters_ > 1
    assert (found["p"] < 0.05).all()
    assert found["doubtful"].all()


def test_slices_of_what_the_tree_found_to_be_one_continuum_are_told():
    rng = np.random.default_rng(9)
    table = np.sqrt(0.5) * rng.normal(size=(300, 1)) + np.sqrt(0.5) * rng.normal(size=(300, 8))
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    model = cc.MAPDP.as_published(schema, n_clusters="distinct", n_restarts=2, random_state=0, progress=False).fit(
        frame
    )
    assert model.n_clusters_ == 1
    found = cc.validated_associations(model.cut(2), frame, progress=False)
    assert found["doubtful"].all()
    assert found["remark"].str.startswith("doubtful: by the test of the tree these subtypes are slices of one").all()
