"""Other methods beside ours on one cohort: each column by an oracle, and what cannot run is left out with a reason."""

import sys
import warnings
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, quick_fit, schema_of
from reporting.stand_in import sections_of
from scipy import stats
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

import clinclust as cc
from clinclust import methods
from clinclust.estimators.subtype_model import FittedCohort
from clinclust.methods.compare import CANDIDATES, Measures, draft_refits, predict_density

YES_NO = {"likelihood": "bernoulli", "levels": ("no", "yes")}
SCHEMA = schema_of(["gait", "grip", "crp"], falls="poisson", fatigue=YES_NO)


def cohort(seed=0, n=60):
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    frame = pd.DataFrame(rng.normal(4.0 * group[:, None], 1.0, (n, 3)), columns=["gait", "grip", "crp"])
    frame["falls"] = rng.poisson(1 + 6 * group)
    frame["fatigue"] = np.where(rng.random(n) < 0.2 + 0.6 * group, "yes", "no")
    frame.loc[::11, "grip"] = np.nan
    return frame, group


def one_restart(frame):
    return quick_fit(frame, SCHEMA, n_restarts=1)


QUICK = ["K-means, K by silhouette", "K-harmonic means, K of MAP-DP", "DP-means, about K of MAP-DP"]


@pytest.fixture(scope="module")
def compared(request):
    """Return a comparison with a few methods, and with all in simulations."""
    frame, group = cohort()
    some = None if request.config.getoption("--simulations") else QUICK
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cc.methods.compare_methods(frame, SCHEMA, methods=some, n_resamples=2, progress=False)
    return found, frame, group


@pytest.mark.simulation
def test_every_method_finds_two_clear_groups_or_says_what_it_found(compared):
    found, _, group = compared
    table = found.table.set_index("method")
    assert list(table.index) == ["MAP-DP", *CANDIDATES]
    assert list(found.models) == list(table.index)
    assert adjusted_rand_score(group, found.models["MAP-DP"].labels_) > 0.95
    for name, model in found.models.items():
        assert table.loc[name, "n_clusters"] == model.n_clusters_
        assert table.loc[name, "said"] == model.made_by
        expected = adjusted_rand_score(found.models["MAP-DP"].labels_, model.labels_)
        assert table.loc[name, "agreement"] == pytest.approx(expected)
    for name in ("K-means, K by silhouette", "Latent classes, K by BIC"):
        assert table.loc[name, "n_clusters"] == 2
        assert table.loc[name, "agreement"] > 0.8
        assert table.loc[name, "stability"] > 0.8
        assert table.loc[name, "n_distinct"] == 2
    assert table.loc["MAP-DP", "held_out_gain"] == 0.0
    assert table.loc["MAP-DP", "held_out_gain_se"] == 0.0
    assert table.loc["K-means, K by BIC", "held_out_gain_se"] > 0.0
    np.testing.assert_allclose(table["held_out_gain"], table["held_out"] - table["held_out"].iloc[0])


@pytest.mark.simulation
@pytest.mark.parametrize("suffix", [pytest.param("html", marks=pytest.mark.simulation), "xlsx"])
def test_a_report_has_a_sheet_of_other_methods(compared, tmp_path, suffix):
    found, frame, _ = compared
    path = tmp_path / f"x.{suffix}"
    options = {"associations": None, "progress": False, "other_methods": found}
    cc.write_report(found.models["MAP-DP"], frame, path, **options)
    if suffix == "html":
        text = unescape(path.read_text(encoding="utf-8"))
        assert all(name in text for name in found.table["method"])
        assert "Distinct: how many of the clusters" in text
    else:
        sheet = sections_of(path)["Other methods"]
        cells = [[cell.value for cell in row] for row in sheet.iter_rows()]
        first = next(row for row in cells if row[0] == "MAP-DP")
        assert first[1:4] == [2, 2, 1]
    shared = tmp_path / f"shared.{suffix}"
    cc.write_report(found.models["MAP-DP"], frame, shared, suppress=5, **options)
    if suffix == "html":
        assert "K-harmonic means" not in shared.read_text(encoding="utf-8")
    else:
        assert "Other methods" not in sections_of(shared)


@pytest.mark.simulation
def test_a_report_runs_the_other_methods_where_it_is_asked_to(compared, tmp_path, monkeypatch):
    found, frame, _ = compared
    models = []
    monkeypatch.setattr(
        "clinclust.reporting.report.run_methods", lambda measures, **options: models.append(measures.ours) or found
    )
    model, quick = found.models["MAP-DP"], {"associations": None, "progress": False}
    page = cc.write_report(model, frame, tmp_path / "x.html", other_methods=True, **quick)
    assert models == [model]
    assert "Distinct: how many of the clusters" in unescape(page.read_text(encoding="utf-8"))
    cc.write_report(model, frame, tmp_path / "y.html", other_methods=True, suppress=5, **quick)
    few = frame.head(12)
    with pytest.raises(ValueError, match=r"at least 20 subjects.* 12"):
        cc.write_report(one_restart(few), few, tmp_path / "x.html", other_methods=True, **quick)
    clinician = cc.Partition(model.labels_, SCHEMA, made_by="a clinician")
    cc.write_report(clinician, frame, tmp_path / "z.html", other_methods=True, **quick)
    assert len(models) == 1


def test_methods_of_another_cohort_are_refused(compared, tmp_path):
    found, frame, _ = compared
    some = frame.head(40)
    model = one_restart(some)
    with pytest.raises(ValueError, match="other_methods were compared on other subjects than the 40 of the model"):
        cc.write_report(model, some, tmp_path / "x.html", associations=None, other_methods=found)


@pytest.mark.simulation
def test_the_same_seed_gives_the_same_table(compared):
    found, frame, _ = compared
    some = [QUICK[0], QUICK[2]]
    again = cc.methods.compare_methods(
        frame, SCHEMA, model=found.models["MAP-DP"], methods=some, n_resamples=2, progress=False
    )
    wanted = found.table[found.table["method"].isin(["MAP-DP", *some])]
    pd.testing.assert_frame_equal(
        again.table.drop(columns="seconds"), wanted.drop(columns="seconds").reset_index(drop=True)
    )


def measures(frame, schema):
    """Return the measures in the model of a schema, without a fit of ours."""
    return Measures(FittedCohort(SimpleNamespace(schema_=schema, block_weights_={}), frame), 1, 0)


def test_the_held_out_density_is_that_of_scipy():
    rng = np.random.default_rng(1)
    values, labels = rng.normal(size=40), np.arange(40) % 2
    values += 5.0 * labels
    inside, outside = pd.DataFrame({"x": values}), pd.DataFrame({"x": [0.3, 4.0, np.nan]})
    schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian")])
    density = predict_density(measures(inside, schema).encode(inside), labels, outside)
    mean, variance = values.mean(), values.var()

    def t_of(part):
        kappa, shape, n = 10.0 / 40, 1.0, part.size
        rate = variance
        if n:
            rate += 0.5 * ((part - part.mean()) ** 2).sum() + 0.5 * kappa * n * (part.mean() - mean) ** 2 / (kappa + n)
        centre = (kappa * mean + part.sum()) / (kappa + n)
        kappa, shape = kappa + n, shape + 0.5 * n
        return stats.t(2 * shape, centre, np.sqrt(rate * (kappa + 1) / (shape * kappa)))

    weights = np.array([20.0, 20.0, 3.0]) / 43.0
    parts = [t_of(values[labels == 0]), t_of(values[labels == 1]), t_of(values[:0])]
    densities = [np.log(sum(w * part.pdf(x) for w, part in zip(weights, parts, strict=True))) for x in (0.3, 4.0)]
    np.testing.assert_allclose(density, [*densities, 0.0], atol=1e-9)


@pytest.mark.simulation
def test_the_standard_error_is_that_of_the_differences_of_the_same_subjects(monkeypatch):
    def density(problem, labels, outside):
        return outside["gait"].to_numpy() * (1.0 if labels.max() else -1.0)

    monkeypatch.setattr("clinclust.methods.compare.predict_density", density)
    monkeypatch.setattr(
        "clinclust.methods.compare.CANDIDATES",
        {"one": lambda k, **start: methods.KMeans(start["schema"], n_clusters=1)},
    )
    frame, _ = cohort()
    found = cc.methods.compare_methods(frame, SCHEMA, model=one_restart(frame), n_resamples=1, progress=False).table
    assert found["held_out_gain"].tolist() == pytest.approx([0.0, -2.0 * frame["gait"].mean()])
    assert found["held_out_gain_se"].tolist() == pytest.approx([0.0, 2.0 * stats.sem(frame["gait"])])


def test_slices_of_one_severity_are_one_continuum():
    rng = np.random.default_rng(2)
    severity = rng.normal(size=300)
    frame = pd.DataFrame(severity[:, None] + 0.6 * rng.normal(size=(300, 6)), columns=list("abcdef"))
    schema = gaussian_schema(frame)
    slices = methods.KMeans(schema, n_clusters=4, random_state=0).fit(frame)
    assert measures(frame, schema).count_distinct(slices.labels_) == 1
    groups = frame + 6.0 * (np.arange(300) % 2)[:, None] * np.array([1, -1, 1, -1, 1, -1])
    two = methods.KMeans(schema, n_clusters=2, random_state=0).fit(groups)
    assert measures(groups, schema).count_distinct(two.labels_) == 2


def test_one_cluster_is_one():
    frame, _ = cohort()
    assert measures(SCHEMA.validate(frame), SCHEMA).count_distinct(np.zeros(len(frame), dtype=np.int64)) == 1


@pytest.mark.simulation
def test_a_package_that_is_not_installed_is_left_out_with_the_line_that_installs_it(monkeypatch):
    for known in [known for known in sys.modules if known.partition(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, known, None)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    frame, _ = cohort(n=40)
    options = {"model": one_restart(frame), "methods": ["Mean shift"], "progress": False}
    found = cc.methods.compare_methods(frame, SCHEMA, n_resamples=1, **options)
    row = found.table.iloc[1]
    assert np.isnan(row["n_clusters"])
    assert "pip install scikit-learn" in row["said"]
    assert list(found.models) == ["MAP-DP"]
    assert "Mean shift: left out." in found.summary


def test_half_samples_of_dp_means_are_divided_as_the_cohort_is():
    # At the penalty of the whole cohort, most of these half-samples stay one cluster beside a single subject.
    wines = load_wine().data
    whole = methods.DPMeans(n_clusters=3, n_restarts=5, random_state=0).fit(wines)
    rng = np.random.default_rng(0)
    halves = [np.sort(rng.choice(len(wines), 89, replace=False)) for _ in range(6)]
    agreements = [
        adjusted_rand_score(whole.labels_[rows], whole.with_number_kept(0).fit(wines[rows]).labels_) for rows in halves
    ]
    assert np.mean(agreements) > 0.3  # measured: .45, and .13 at the penalty of the whole cohort


def test_refits_of_ours_try_its_number_first():
    frame, _ = cohort(n=60)
    model = quick_fit(frame, SCHEMA, n_restarts=9)
    assert [refit.n_clusters for refit in draft_refits(model, 3)] == [model.n_clusters_, None]
    assert [refit.n_restarts for refit in draft_refits(model, 3)] == [5, 5]


def test_what_cannot_be_used_is_all_told():
    frame, _ = cohort()
    with pytest.raises(ValueError, match=r"there is no 'K-modes'.*n_resamples must be at least 1"):
        cc.methods.compare_methods(frame, SCHEMA, methods=["K-modes"], n_resamples=0)
    with pytest.raises(ValueError, match="frame has 10 subjects; a comparison needs at least 20"):
        cc.methods.compare_methods(frame.head(10), SCHEMA)
    model = one_restart(frame.head(40))
    with pytest.raises(ValueError, match="the table has 60 rows, but the model was fitted on 40 subjects"):
        cc.methods.compare_methods(frame, SCHEMA, model=model, methods=[])
