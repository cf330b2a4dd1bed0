"""Unusual subjects: how often the model's own cohorts have one, and whether slips are found."""

import numpy as np
import pandas as pd
import pytest
from cohorts import mixed_cohort
from reporting.stand_in import sections_of
from scored import few

import clinclust as cc
from clinclust.errors import InputError
from clinclust.estimators.explanation import _read_columns
from clinclust.estimators.subtype_model import cohort_of

MISFIT = pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")


def fitted(frame, schema=None, **options):
    schema = schema or cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    return cc.methods.PublishedMAPDP(schema, n_restarts=2, random_state=0, progress=False, **options).fit(frame)


def test_slips_are_found_and_named():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(50.0, 5.0, (120, 4)), columns=["age", "weight", "pulse", "rate"])
    frame.loc[7, "age"], frame.loc[7, "pulse"], frame.loc[60, "weight"] = 85.0, 12.0, 91.0
    found = cc.unusual_subjects(fitted(frame), frame)
    assert set(found["subject"]) == {7, 60}
    about = found.set_index("subject")
    assert (about["subtype"] > 1).all()  # each has a cluster of its own
    assert (about["compared_with"] == 1).all()
    assert about.loc[7, "features"].startswith("age 85; pulse 12") or about.loc[7, "features"].startswith(
        "pulse 12; age"
    )
    assert about.loc[60, "features"].startswith("weight 91")
    assert (found["log_density"] < found["expected"]).all()
    assert (found["p"] * len(frame) <= 0.05).all()


@pytest.mark.simulation
def test_few_cohorts_of_the_model_have_an_unusual_subject():
    """One in twenty at most: 60 cohorts have at most 8, which is three standard errors above."""
    n_with = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
        frame["d"] = rng.poisson(2.0, 60).astype(float)
        frame = frame.mask(rng.random(frame.shape) < 0.05)
        schema = cc.FeatureSchema(
            [cc.Feature(name=name, likelihood="poisson" if name == "d" else "gaussian") for name in frame]
        )
        n_with += len(cc.unusual_subjects(fitted(frame, schema), frame)) > 0
    assert n_with <= 8


@MISFIT
@pytest.mark.parametrize("seed", few(range(3), 1))
@pytest.mark.parametrize("options", [{}, {"select_features": True}, {"outlying_share": 0.02}])
def test_the_density_is_that_of_a_cluster_without_its_subject(seed, options):
    """Beside the engine's: the paper's E without coarsening is made of the same leave-one-out predictives."""
    frame, schema, _, _ = mixed_cohort(seed, n=60)
    model = fitted(frame, schema, **options)
    cohort = schema.validate(frame, warn=False)
    labels, clusters = model.cluster_labels_, model.clusters_
    columns = _read_columns(cohort_of(model, cohort), labels)
    for place, column in enumerate(columns):
        found = column.logs(column.posterior_without(), column.values)
        likelihood = clusters.encoding.likelihoods[place]
        theta, _ = clusters.of_feature(place)
        for subject in range(0, 60, 7):
            if np.isnan(column.values[subject]):
                assert found[subject] == 0.0
                continue
            others = labels == labels[subject]
            others[subject] = False
            sums = likelihood.statistics(column.values[others]).sum(axis=0) * clusters.included[place]
            law = likelihood.predictive(likelihood.prior.posterior(theta, sums))
            density = law.logpdf if likelihood.is_continuous else law.logpmf
            assert found[subject] == pytest.approx(density(column.values[subject]), abs=1e-6)


def test_the_order_of_the_table_and_other_models():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    frame.loc[3] = 9.0
    model = fitted(frame)
    shuffled = frame.sample(frac=1.0, random_state=1)
    with pytest.warns(cc.CohortWarning, match="another order"):
        found = cc.unusual_subjects(model, shuffled)
    pd.testing.assert_frame_equal(found, cc.unusual_subjects(model, frame))
    with pytest.raises(InputError, match="unusual_subjects needs a fitted MAPDP"):
        cc.unusual_subjects(cc.Partition(model.labels_, model.schema_, made_by="a clinician"), frame)


@pytest.mark.simulation
def test_the_report_lists_them_and_a_shared_one_says_nothing(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(50.0, 5.0, (120, 4)), columns=["age", "weight", "pulse", "rate"])
    frame.loc[60, ["weight", "age"]] = 72.0, 71.0
    frame["person"] = [f"P{row:03}" for row in range(120)]
    features = [cc.Feature(name=name, likelihood="gaussian") for name in list(frame)[:4]]
    schema = cc.FeatureSchema([*features, cc.Feature(name="person", role="id")])
    model = fitted(frame, schema)
    said = "1 subject has values too improbable in their subtype"
    page = cc.write_report(model, frame, tmp_path / "own.html").read_text(encoding="utf-8")
    assert said in page
    book = sections_of(cc.write_report(model, frame, tmp_path / "own.xlsx"))
    sheet = book["Unusual subjects"]
    cells = [str(cell.value) for row in sheet.iter_rows() for cell in row]
    assert "P060" in cells
    assert {"weight 72; age 71", "age 71; weight 72"} & set(cells)
    shared = cc.write_report(model, frame, tmp_path / "shared.html", suppress=5).read_text(encoding="utf-8")
    assert "improbable" not in shared


@MISFIT
def test_the_log_predictives_are_those_of_values_drawn_from_the_predictive():
    """Within six standard errors."""
    frame, schema, _, _ = mixed_cohort(0, n=60)
    model, rng = fitted(frame, schema), np.random.default_rng(0)
    for column in _read_columns(cohort_of(model, frame), model.cluster_labels_):
        subject = int(np.flatnonzero(~np.isnan(column.values))[0])
        drawn = column.draws(column.posterior_without(subject), 4_000, rng)
        own = column.likelihood.statistics(column.values[[subject]])[0] * column.is_counted[subject]
        sums = column.sums[column.labels[subject]] - own
        law = column.likelihood.predictive(column.likelihood.prior.posterior(column.theta, sums))
        values = law.rvs(size=4_000, random_state=rng)
        expected = law.logpdf(values) if column.likelihood.is_continuous else law.logpmf(values)
        error = np.sqrt((drawn.var() + expected.var()) / 4_000)
        assert drawn.mean() == pytest.approx(expected.mean(), abs=6.0 * error + 1e-12)
