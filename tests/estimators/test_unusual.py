"""Unusual subjects: how often the model's own cohorts have one, and whether slips are found."""

import numpy as np
import pandas as pd
import pytest
from cohorts import mixed_cohort, quick_fit, schema_of
from reporting.stand_in import sections_of
from scored import few

import clinclust as cc
from clinclust.estimators.subtype_model import cohort_of

MISFIT = pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")


def test_slips_are_found_and_named():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(50.0, 5.0, (120, 4)), columns=["age", "weight", "pulse", "rate"])
    frame.loc[7, "age"], frame.loc[7, "pulse"], frame.loc[60, "weight"] = 85.0, 12.0, 91.0
    found = cc.unusual_subjects(quick_fit(frame), frame)
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
        schema = schema_of("abc", d="poisson")
        n_with += len(cc.unusual_subjects(quick_fit(frame, schema), frame)) > 0
    assert n_with <= 8


@MISFIT
@pytest.mark.parametrize("options", few([{"outlying_share": 0.02}, {"select_features": True}, {}], 2))
def test_the_density_is_that_of_a_cluster_without_its_subject(options):
    """With scipy's distributions, whose own draws it is compared with."""
    frame, schema, _, _ = mixed_cohort(1, n=60)
    frame.loc[[7, 12], "poisson_3"], frame.loc[7, "geometric_4"] = 60, 90
    model, rng = quick_fit(frame, schema, **options), np.random.default_rng(0)
    found, clusters, labels = cc.unusual_subjects(model, frame), model.clusters_, model.cluster_labels_
    assert len(found)
    encoding, values = clusters.encoding, cohort_of(model, frame).usual_values()
    for row in found[found["subtype"] == found["compared_with"]].itertuples():
        total, drawn = 0.0, np.zeros(20_000)
        for place, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
            column = (values[feature.name] - encoding.centres[place]) / encoding.scales[place]
            if np.isnan(column[row.subject]):
                continue
            others = (labels == labels[row.subject]) & (np.arange(60) != row.subject)
            sums = likelihood.statistics(column[others]).sum(axis=0) * clusters.included[place]
            law = likelihood.predictive(likelihood.prior.posterior(clusters.of_feature(place)[0], sums))
            density = law.logpdf if likelihood.is_continuous else law.logpmf
            total += density(column[row.subject])
            drawn += density(law.rvs(size=drawn.size, random_state=rng))
        assert row.log_density == pytest.approx(total, abs=1e-6)
        assert row.expected == pytest.approx(drawn.mean(), abs=10.0 * drawn.std() / drawn.size**0.5)


@pytest.mark.simulation
def test_the_report_lists_them_and_a_shared_one_says_nothing(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(50.0, 5.0, (120, 4)), columns=["age", "weight", "pulse", "rate"])
    frame.loc[60, ["weight", "age"]] = 72.0, 71.0
    frame["person"] = [f"P{row:03}" for row in range(120)]
    model = quick_fit(frame, schema_of(frame, person={"role": "id", "likelihood": None}))
    page = cc.write_report(model, frame, tmp_path / "own.html").read_text(encoding="utf-8")
    assert "1 subject has values too improbable in their subtype" in page
    book = sections_of(cc.write_report(model, frame, tmp_path / "own.xlsx"))
    sheet = book["Unusual subjects"]
    cells = [str(cell.value) for row in sheet.iter_rows() for cell in row]
    assert "P060" in cells
    assert {"weight 72; age 71", "age 71; weight 72"} & set(cells)
    shared = cc.write_report(model, frame, tmp_path / "shared.html", suppress=5).read_text(encoding="utf-8")
    assert "improbable" not in shared
