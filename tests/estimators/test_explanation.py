"""Which features speak for a subtype: terms that add up, and words."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from cohorts import mixed_cohort, quick_fit, schema_of
from scored import few

import clinclust as cc
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import log_predictives
from clinclust.estimators.explanation import SIZE, WITHIN, find_terms, left_out_scores, name_reasons
from clinclust.estimators.subtype_model import cohort_of


@cache
def fit_once(seed, options):
    frame, schema, _, _ = mixed_cohort(seed, n=60)
    options = {"n_restarts": 2, "random_state": 0, "progress": False, **dict(options)}
    return cc.methods.PublishedMAPDP(schema, **options).fit(frame), frame


def fitted(seed, **options):
    return fit_once(seed, tuple(options.items()))


@pytest.mark.parametrize("options", [{}, {"coarsening": 0.6}, {"outlying_share": 0.02}, {"select_features": True}])
@pytest.mark.parametrize("seed", few(range(3), 1))
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
    whole = quick_fit(frame, n_restarts=3)
    model = whole.cut(2)
    assert whole.n_clusters_ == 3
    told = model.explain(frame)
    probabilities = np.log(model.predict_proba(frame))
    odds = np.abs(probabilities[:, 0] - probabilities[:, 1])
    np.testing.assert_allclose(told.groupby("subject", sort=False)["log_odds"].sum(), odds, atol=1e-6)
    assert (told["feature"] == WITHIN).sum() == 118


@pytest.mark.parametrize("seed", few(range(3), 1))
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


def walking():
    rng = np.random.default_rng(0)
    frail = np.arange(200) % 5 < 2
    return pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})


def test_the_sign_says_for_whom_a_value_speaks():
    frame = walking()
    model = cc.methods.PublishedMAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    new = pd.DataFrame({"gait": [0.62, 1.2, np.nan], "grip": [33.0, 34.0, 21.0]}, index=["p", "q", "r"])
    told = model.explain(new).set_index(["subject", "feature"])
    assert told.loc[("p", "gait"), "subtype"] == 2
    assert told.loc[("p", "gait"), "log_odds"] > 0.0 > told.loc[("p", "grip"), "log_odds"]
    assert ("r", "gait") not in told.index
    odd = model.explain(pd.DataFrame({"gait": [40.0], "grip": [900.0]}))
    assert (odd["subtype"] == 0).all()
    with pytest.raises(cc.CohortError):
        model.explain(new.drop(columns="gait"))


MISFIT = pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")
ODDS = re.compile(r" \(([0-9.]+) nats, ([0-9.,]+|over 1,000,000) : 1\)")


def fitted_model(seed, **options):
    model, frame = fitted(seed, **options)
    return model, model.schema_.validate(frame, warn=False)


@MISFIT
@pytest.mark.parametrize("options", [{}, {"coarsening": 0.6}, {"outlying_share": 0.02}, {"select_features": True}])
def test_left_out_scores_are_those_of_clusters_without_the_subject(options):
    model, cohort = fitted_model(0, **options)
    fit, found = model.fit_, left_out_scores(cohort_of(model, cohort))
    clusters, encoding = fit.clusters_, fit.clusters_.encoding
    names = model.schema_.names
    for subject in range(0, len(cohort), 9):
        own = fit.cluster_labels_[subject]
        if clusters.sizes[own] == 1:
            continue
        values = model_values(cohort.iloc[[subject]], encoding.features)
        taken = []
        for place, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
            column = (values[feature.name] - encoding.centres[place]) / encoding.scales[place]
            kept = clusters.included[place] and not fit.outliers_[subject, names.index(feature.name)]
            taken.append(kept * likelihood.statistics(column)[0])
        sizes, statistics = clusters.sizes.copy(), clusters.statistics.copy()
        sizes[own] -= 1.0
        statistics[own] -= np.concatenate(taken)
        without = replace(clusters, sizes=sizes, statistics=statistics)
        if not clusters.included.all():  # the others are the same in all clusters, and cancel
            lengths = [likelihood.n_statistics for likelihood in encoding.likelihoods]
            statistics[:, ~np.repeat(clusters.included, lengths)] = 0.0
        expected = without.scores(values, coarsened=True)[0]
        np.testing.assert_allclose(found[subject] - found[subject][-1], expected - expected[-1], atol=1e-6)


@MISFIT
@pytest.mark.parametrize("options", [{}, {"coarsening": 0.6}, {"select_features": True}, {"n_clusters": 2}])
@pytest.mark.parametrize("seed", few(range(2), 1))
def test_the_terms_of_a_member_add_up_to_the_odds_of_its_membership(seed, options):
    model, cohort = fitted_model(seed, **options)
    terms = find_terms(model.fit_, cohort, cohort_of(model, cohort))
    assert (terms.subtype == model.labels_ + 1).all()
    rows = np.arange(len(cohort))
    with np.errstate(divide="ignore"):
        log_membership = np.log(model.membership_)
    own = log_membership[rows, model.labels_]
    found = terms.against > 0
    expected = own[found] - log_membership[rows[found], terms.against[found] - 1]
    assert model.n_clusters_ == 1 or found.all()
    np.testing.assert_allclose(terms.total[found], expected, atol=1e-6)
    np.testing.assert_allclose(terms.of_features.sum(axis=0) + terms.of_size + terms.within, terms.total)
    if model.n_clusters_ == model.subtype_of_.size:
        np.testing.assert_allclose(terms.within, 0.0, atol=1e-6)


def test_a_subject_alone_in_its_cluster_is_judged_as_by_a_new_one():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(0.0, 1.0, (60, 4)), columns=list("abcd"))
    frame.loc[59] = 30.0
    model = quick_fit(frame)
    alone = int(np.flatnonzero(model.cluster_sizes_[model.labels_] == 1)[0])
    cohort = model.schema_.validate(frame, warn=False)
    scores = left_out_scores(cohort_of(model, cohort))[alone]
    np.testing.assert_allclose(scores[model.labels_[alone]], scores[-1], atol=1e-6)


def test_the_three_strongest_are_named_with_value_unit_and_odds():
    frame = walking()
    gait = {"label": "Gait; speed", "unit": "m/s"}
    model = cc.methods.PublishedMAPDP(schema_of(frame, gait=gait), random_state=0, progress=False).fit(frame)
    new = pd.DataFrame({"gait": [0.62, 0.5, np.nan, np.nan], "grip": [33.0, 21.0, 21.0, np.nan]})
    found = name_reasons(model.fit_, model.schema_.validate(new, warn=False))
    told = model.explain(new)
    for subject, text in enumerate(found):
        rows = told[(told["subject"] == subject) & ~told["feature"].str.startswith("(") & (told["log_odds"] > 0.05)]
        named = [f"{'Gait; speed' if name == 'gait' else name} " for name in rows["feature"]]
        places = [text.index(name) for name in named]
        assert places == sorted(places)
        assert [float(nats) for nats, _ in ODDS.findall(text)] == rows["log_odds"].round(1).tolist()
    assert found[0].startswith("against Subtype 1: Gait; speed 0.62 m/s (")
    assert "grip" not in found[0], "it speaks for the other subtype"
    assert found[1].count(" nats, ") == 2
    assert found[3] == "against Subtype 2: no feature"


@MISFIT
def test_no_more_than_three_are_named_and_batches_change_nothing(monkeypatch):
    model, cohort = fitted_model(1)
    whole = name_reasons(model.fit_, cohort)
    assert max(len(ODDS.findall(text)) for text in whole) == 3
    monkeypatch.setattr("clinclust.estimators.explanation._AT_ONCE", 7)
    assert name_reasons(model.fit_, cohort) == whole
    assert len(name_reasons(model.fit_, cohort, cohort_of(model, cohort))) == len(cohort)
