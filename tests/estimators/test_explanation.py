"""The explanation of a subtype: terms of features that add up to the log odds."""

import numpy as np
import pandas as pd
import pytest
from cohorts import mixed_cohort

import clinclust as cc
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.predictives import log_predictives
from clinclust.estimators.explanation import SIZE, WITHIN


def fitted(seed, **options):
    frame, schema, _, _ = mixed_cohort(seed, n=80)
    return cc.MAPDP.as_published(schema, n_restarts=3, random_state=0, progress=False, **options).fit(frame), frame


@pytest.mark.parametrize(
    "options",
    [{}, {"discount": 0.3}, {"coarsening": 0.6}, {"outlying_share": 0.02}, {"select_features": True}],
)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")
def test_the_terms_of_a_subject_add_up_to_its_log_odds(seed, options):
    model, frame = fitted(seed, **options)
    told = model.explain(frame)
    probabilities = np.log(model.predict_proba(frame))
    total = told.groupby("subject", sort=False)["log_odds"].sum()
    first = told.groupby("subject", sort=False).first()
    assert first.index.equals(frame.index)
    rows = np.arange(len(frame))
    best, other = (np.where(first[name] == 0, model.n_clusters_, first[name] - 1) for name in ("subtype", "against"))
    np.testing.assert_allclose(total, probabilities[rows, best] - probabilities[rows, other], atol=1e-6)
    assert (best == probabilities.argmax(axis=1)).all()
    assert not (told["feature"] == WITHIN).any()
    assert told["value"].notna().equals(told["feature"] != SIZE)


@pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")
def test_of_unions_the_other_clusters_have_a_row():
    rng = np.random.default_rng(1)
    means = np.repeat([0.0, 5.0, 30.0], [60, 50, 8])
    frame = pd.DataFrame(rng.normal(means[:, None], 1.0, (118, 4)), columns=list("abcd"))
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    whole = cc.MAPDP.as_published(schema, random_state=0, n_restarts=3, progress=False).fit(frame)
    model = whole.cut(2)
    assert whole.n_clusters_ == 3
    told = model.explain(frame)
    probabilities = np.log(model.predict_proba(frame))
    odds = np.abs(probabilities[:, 0] - probabilities[:, 1])
    np.testing.assert_allclose(told.groupby("subject", sort=False)["log_odds"].sum(), odds, atol=1e-6)
    assert (told["feature"] == WITHIN).sum() == 118


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")
def test_single_predictives_are_those_of_scipy(seed):
    model, frame = fitted(seed)
    clusters = model.clusters_
    values = model_values(model.schema_.validate(frame), clusters.encoding.features)
    everybody = np.ones(len(frame), dtype=np.int64)
    found = np.stack([log_predictives(clusters, values, k * everybody) for k in range(clusters.sizes.size + 1)], axis=2)
    for place, likelihood in enumerate(clusters.encoding.likelihoods):
        name, scale = clusters.encoding.features[place].name, clusters.encoding.scales[place]
        column = (values[name] - clusters.encoding.centres[place]) / scale
        for k, posterior in enumerate(clusters.posteriors(place)):
            law = likelihood.predictive(posterior)
            density = law.logpdf if likelihood.is_continuous else law.logpmf
            expected = np.where(np.isnan(column), 0.0, density(np.nan_to_num(column, nan=1.0)))
            np.testing.assert_allclose(found[place, :, k], expected, atol=1e-7)


def test_words_say_for_whom_a_value_speaks():
    rng = np.random.default_rng(0)
    frail = np.arange(200) % 5 < 2
    frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    model = cc.MAPDP.as_published(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    new = pd.DataFrame({"gait": [0.62, 1.2, np.nan], "grip": [33.0, 34.0, 21.0]}, index=["p", "q", "r"])
    told = model.explain(new).set_index(["subject", "feature"])
    assert told.loc[("p", "gait"), "subtype"] == 2
    assert told.loc[("p", "gait"), "words"].startswith("speaks for Subtype 2, ")
    assert told.loc[("p", "grip"), "words"].startswith("speaks for Subtype 1, ")
    assert ("r", "gait") not in told.index
    odd = model.explain(pd.DataFrame({"gait": [40.0], "grip": [900.0]}))
    assert (odd["subtype"] == 0).all()
    assert odd["words"].iloc[0] == "speaks for none of these, over 1,000,000 : 1"
    with pytest.raises(cc.CohortError):
        model.explain(new.drop(columns="gait"))


def test_the_figure_has_a_bar_for_each_term_of_one_subject():
    rng = np.random.default_rng(0)
    frail = np.arange(200) % 5 < 2
    frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    model = cc.MAPDP.as_published(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    told = model.explain(frame.head(4))
    ax = cc.plot_explanation(told, subject=2)
    rows = told[told["subject"] == 2]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], rows["log_odds"])
    assert ax.get_yticklabels()[0].get_text().startswith(rows["label"].iloc[0])
    assert f"{rows['log_odds'].sum():+.1f} nats" in ax.get_xlabel()
    assert len(cc.plot_explanation(told, at_most=1).patches) == 1
    with pytest.raises(ValueError, match="subject is not in the explanation"):
        cc.plot_explanation(told, subject=99)
