"""Multiple imputations, and Rubin's rules."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from cohorts import EVERY_LIKELIHOOD, mixed_cohort
from scipy import stats
from statsmodels.imputation.mice import MICE, MICEData

import clinclust as cc
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.problem import pose
from clinclust.errors import CohortError, InputError

QUICK = {"n_restarts": 2, "random_state": 0, "progress": False}


@pytest.fixture(scope="module")
def cohort():
    frame, schema, _, _ = mixed_cohort(7, n=80, likelihoods=EVERY_LIKELIHOOD, missing=0.25)
    return frame, schema, cc.MAPDP.as_published(schema, **QUICK).fit(frame)


def test_observed_values_stay_and_all_others_are_valid(cohort):
    frame, schema, model = cohort
    frame = frame.set_axis([i // 2 for i in range(80)], axis="index")  # labels of rows may repeat
    seen = schema.validate(frame, warn=False)
    tables = model.multiple_imputations(frame, m=4, n_sweeps=2, random_state=0)
    assert len(tables) == 4
    for table in tables:
        assert not table.isna().any(axis=None)
        pd.testing.assert_frame_equal(schema.validate(table, warn=False), table)
        pd.testing.assert_frame_equal(table.where(seen.notna().to_numpy()), seen)
        assert table.index.equals(frame.index)
    missing = seen.isna()
    for name in schema.names:
        drawn = pd.concat([table.loc[missing[name].to_numpy(), name] for table in tables], axis=1)
        assert any(len(set(row)) > 1 for row in drawn.to_numpy()), name


def test_draws_repeat_with_their_seed(cohort):
    frame, _, model = cohort
    first = model.multiple_imputations(frame, m=2, n_sweeps=1, random_state=3)
    again = model.multiple_imputations(frame, m=2, n_sweeps=1, random_state=np.random.default_rng(3))
    other = model.multiple_imputations(frame, m=2, n_sweeps=1, random_state=4)
    for one, two, three in zip(first, again, other, strict=True):
        pd.testing.assert_frame_equal(one, two, check_exact=True)
        assert not one.equals(three)


def test_rows_stay_in_the_order_in_which_they_were_given(cohort):
    frame, schema, model = cohort
    mixed = frame.sample(frac=1.0, random_state=1)
    seen = schema.validate(mixed, warn=False)
    ordered = model.multiple_imputations(frame, m=2, n_sweeps=1, random_state=5)
    for table, other in zip(model.multiple_imputations(mixed, m=2, n_sweeps=1, random_state=5), ordered, strict=True):
        assert table.index.equals(mixed.index)
        pd.testing.assert_frame_equal(table.where(seen.notna()), seen)
        # The same partitions are drawn, but values in the order of the rows.
        assert set(table.loc[~seen.isna().any(axis=1)].index) == set(other.loc[~seen.isna().any(axis=1)].index)


def test_a_whole_table_is_returned_as_it_is():
    frame, schema, _, _ = mixed_cohort(8, n=30, missing=0.0)
    model = cc.MAPDP.as_published(schema, **QUICK).fit(frame)
    for table in model.multiple_imputations(frame, m=2, n_sweeps=1, random_state=0):
        pd.testing.assert_frame_equal(table, schema.validate(frame, warn=False))


def test_described_columns_and_outlying_values_stay():
    rng = np.random.default_rng(9)
    X = rng.normal(np.repeat([0.0, 6.0], 40)[:, None], 1.0, (80, 4))
    X[3, 0], X[::4, 1], X[::7, 2] = 300.0, np.nan, np.nan
    frame = pd.DataFrame(X, columns=list("abcd")).assign(age=np.where(np.arange(80) % 3, 50.0, np.nan))
    schema = cc.FeatureSchema(
        [
            cc.Feature(name=name, likelihood="gaussian", role="describe" if name == "age" else "cluster")
            for name in frame
        ]
    )
    model = cc.MAPDP.as_published(schema, outlying_share=0.01, **QUICK).fit(frame)
    assert model.outliers_[3, 0]
    for table in model.multiple_imputations(frame, m=3, n_sweeps=2, random_state=0):
        assert table.loc[3, "a"] == 300.0
        pd.testing.assert_series_equal(table["age"], frame["age"])
        assert not table[list("abcd")].isna().any(axis=None)
        assert table[list("bc")].abs().to_numpy().max() < 20.0


def test_features_that_were_not_selected_are_drawn_from_all_subjects():
    rng = np.random.default_rng(10)
    groups = np.repeat([0.0, 8.0], 40)
    X = np.column_stack([rng.normal(groups), rng.normal(groups), rng.permutation(np.linspace(98.0, 102.0, 80))])
    X[::3, 2] = np.nan
    model = cc.MAPDP.as_published(select_features=True, **QUICK).fit(X)
    assert model.n_clusters_ == 2
    assert model.selected_features_ == ["x0", "x1"]
    tables = model.multiple_imputations(X, m=40, n_sweeps=1, random_state=0)
    drawn = np.array([table["x2"].to_numpy()[::3] for table in tables])
    assert drawn.mean() == pytest.approx(np.nanmean(X[:, 2]), abs=0.15)
    assert drawn.std() == pytest.approx(np.nanstd(X[:, 2]), rel=0.15)


def every_partition(n_subjects):
    """All partitions as labels in the order of their first subjects."""
    found = [[0]]
    for _ in range(n_subjects - 1):
        found = [[*labels, new] for labels in found for new in range(max(labels) + 2)]
    return np.array(found)


@pytest.mark.simulation
def test_draws_are_those_of_the_exact_posterior():
    """Five subjects, two of whom miss the same finding: P(first), P(second) and P(both), summed over all partitions."""
    frame = pd.DataFrame(
        {"x": [0.0, 2.3, 2.4, 2.1, 1.2], "y": [0.2, 2.4, 1.9, 2.6, 0.9], "finding": [1.0, None, 0.0, None, 1.0]}
    )
    prior = {"a": 0.2, "b": 0.3}
    schema = cc.FeatureSchema(
        [
            cc.Feature(name="x", likelihood="gaussian"),
            cc.Feature(name="y", likelihood="gaussian"),
            cc.Feature(name="finding", likelihood="bernoulli", prior=prior),
        ]
    )
    model = cc.MAPDP.as_published(schema, concentration=1.0, **QUICK).fit(frame)
    problem = pose(schema.validate(frame, warn=False), schema, model.hyperparameters_, 1.0)
    partitions = every_partition(5)
    joints = [log_joint(problem, new_partition(problem.cohort.arrays, one[problem.cohort.order])) for one in partitions]
    weights = np.exp(joints - np.max(joints))
    expected = (
        weights
        / weights.sum()
        @ np.array([chances(one, frame["finding"].to_numpy(float), prior) for one in partitions])
    )

    m, n_batches = 3000, 30
    tables = model.multiple_imputations(frame, m=m, n_sweeps=2, random_state=0)
    drawn = np.array([table["finding"].to_numpy(dtype=float)[[1, 3]] for table in tables])
    hits = np.column_stack([drawn, drawn.prod(axis=1)]).reshape(n_batches, -1, 3).mean(axis=1)
    errors = hits.std(axis=0, ddof=1) / np.sqrt(n_batches)
    assert np.abs((hits.mean(axis=0) - expected) / errors).max() < 4.0
    assert abs(expected[2] - expected[0] * expected[1]) > 4.0 * errors[2]  # independent draws would be told apart


def chances(labels, finding, prior):
    """Return P(first), P(second) and P(both) of subjects 1 and 3 have the finding, given the partition."""
    posteriors = []
    for subject in (1, 3):
        members = finding[(labels == labels[subject]) & ~np.isnan(finding)]
        posteriors.append((prior["a"] + members.sum(), prior["b"] + (1.0 - members).sum()))
    (a, b), (c, d) = posteriors
    together = a * (a + 1.0) / ((a + b) * (a + b + 1.0)) if labels[1] == labels[3] else a / (a + b) * c / (c + d)
    return a / (a + b), c / (c + d), together


def test_only_the_cohort_of_the_fit_is_imputed(cohort):
    frame, _, model = cohort
    with pytest.raises(InputError, match="rows"):
        model.multiple_imputations(frame.head(10), m=2)
    with pytest.raises(InputError, match="other values"):
        model.multiple_imputations(frame.assign(gaussian_8=frame["gaussian_8"] + 1.0), m=2)
    with pytest.raises(CohortError, match="gaussian_8"):
        model.multiple_imputations(frame.drop(columns="gaussian_8"), m=2)
    with pytest.raises(InputError, match=r"m must be at least 1, not 0; n_sweeps must be at least 1, not -1"):
        model.multiple_imputations(frame, m=0, n_sweeps=-1)
    with pytest.raises(InputError, match="m must be a whole number"):
        model.multiple_imputations(frame, m=2.5)


def test_a_saved_model_draws_the_same(cohort, tmp_path):
    frame, _, model = cohort
    again = cc.MAPDP.load(model.save(tmp_path / "model"))
    one, two = (each.multiple_imputations(frame, m=1, n_sweeps=1, random_state=0)[0] for each in (model, again))
    pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_a_mean_has_a_larger_error_after_pooling_than_if_drawn_values_were_observed(cohort):
    frame, schema, model = cohort
    name = next(feature.name for feature in schema if feature.likelihood == "gaussian")
    tables = model.multiple_imputations(frame, m=10, n_sweeps=2, random_state=1)
    n = len(frame)
    pooled = cc.pool_estimates(
        [table[name].mean() for table in tables], [table[name].var() / n for table in tables], df_complete=n - 1
    ).iloc[0]
    assert pooled["between"] > 0.0
    assert pooled["se"] > np.sqrt(pooled["within"])
    assert 0.0 < pooled["fmi"] < 1.0


# R> imp <- mice(mammalsleep, maxit = 10); fit1 <- with(imp, lm(sws ~ log10(bw) + odi)); pool(fit1); summary(pool(fit1))
# (vignette "Convergence and pooling" of mice): m = 5, dfcom = 59.
MICE_PRINTED = pd.DataFrame(
    [
        [10.0739157, 0.71206627, 0.83964136, 1.7196359, 7.805051, 0.5859203, 0.6625659, 7.682102, 6.666925e-05],
        [-1.4513424, 0.10052200, 0.30175131, 0.4626236, 4.277824, 0.7827132, 0.8424252, -2.133811, 9.530451e-02],
        [-0.5504494, 0.08902854, 0.01146902, 0.1027914, 40.480414, 0.1338909, 0.1737299, -1.716876, 9.364526e-02],
    ],
    columns=["estimate", "within", "between", "total", "df", "lambda", "fmi", "t", "p"],
    index=["(Intercept)", "log10(bw)", "odi"],
)


def with_variance(centre, variance, m):
    """Return m numbers with this mean and variance (divisor m - 1)."""
    places = np.arange(m) - (m - 1) / 2.0
    return centre + places / places.std(ddof=1) * np.sqrt(variance)


def test_the_numbers_are_those_that_mice_prints():
    estimates = pd.DataFrame(
        {name: with_variance(row["estimate"], row["between"], 5) for name, row in MICE_PRINTED.iterrows()}
    )
    variances = pd.DataFrame([MICE_PRINTED["within"]] * 5)
    pooled = cc.pool_estimates(estimates, variances, df_complete=59)
    pd.testing.assert_frame_equal(pooled[list(MICE_PRINTED)], MICE_PRINTED, rtol=2e-6, check_names=False)
    assert pooled.index.tolist() == MICE_PRINTED.index.tolist()
    expected = stats.t(pooled["df"]).ppf(0.975) * pooled["se"]
    np.testing.assert_allclose(pooled["upper"] - pooled["estimate"], expected, rtol=1e-12)
    np.testing.assert_allclose(pooled["estimate"] - pooled["lower"], expected, rtol=1e-12)


def test_the_standard_errors_are_those_of_statsmodels():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["x", "z", "y"])
    frame["y"] += frame["x"]
    frame = frame.mask(rng.random(frame.shape) < 0.2)
    analysis = MICE("y ~ x + z", sm.OLS, MICEData(frame))
    theirs = analysis.fit(n_burnin=2, n_imputations=6)
    fits = analysis.results_list
    ours = cc.pool_estimates(
        [pd.Series(np.asarray(fit.params)) for fit in fits],
        [pd.Series(np.diag(fit.cov_params())) for fit in fits],
    )
    np.testing.assert_allclose(ours["estimate"], theirs.params, rtol=1e-12)
    np.testing.assert_allclose(ours["se"], theirs.bse, rtol=1e-12)
    np.testing.assert_allclose(ours["lambda"], theirs.frac_miss_info, rtol=1e-12)


def test_equal_estimates_have_no_variance_between_and_lose_nothing():
    pooled = cc.pool_estimates([3.0] * 4, [1.0, 2.0, 3.0, 2.0]).iloc[0]
    assert (pooled["between"], pooled["lambda"], pooled["fmi"], pooled["relative_efficiency"]) == (0.0, 0.0, 0.0, 1.0)
    assert (pooled["total"], pooled["df"]) == (2.0, np.inf)
    assert pooled["p"] == pytest.approx(2.0 * stats.norm.sf(3.0 / np.sqrt(2.0)))
    small = cc.pool_estimates([3.0] * 4, [1.0] * 4, df_complete=10).iloc[0]
    assert small["df"] == pytest.approx(11 / 13 * 10)  # Barnard and Rubin (1999), eq. 3, without missing values


def test_without_complete_degrees_of_freedom_they_are_those_of_rubin():
    large = cc.pool_estimates([1.0, 2.0, 4.0], [0.5, 0.6, 0.7]).iloc[0]
    within, between = 0.6, np.var([1.0, 2.0, 4.0], ddof=1)
    assert large["df"] == pytest.approx(2 * (1 + within / (4 / 3 * between)) ** 2)  # Rubin (1987), eq. 3.1.6
    nearly = cc.pool_estimates([1.0, 2.0, 4.0], [0.5, 0.6, 0.7], df_complete=1e9).iloc[0]
    assert nearly["df"] == pytest.approx(large["df"], rel=1e-6)
    few = cc.pool_estimates([1.0, 2.0, 4.0], [0.5, 0.6, 0.7], df_complete=5).iloc[0]
    assert few["df"] < min(large["df"], 5)
    assert few["upper"] - few["lower"] > large["upper"] - large["lower"]


def test_an_estimate_is_pooled_the_same_alone_and_beside_others():
    rng = np.random.default_rng(1)
    estimates, variances = rng.normal(size=(7, 3)), rng.gamma(2.0, size=(7, 3))
    together = cc.pool_estimates(estimates, variances, df_complete=30, level=0.8)
    for place in range(3):
        alone = cc.pool_estimates(estimates[:, place], variances[:, place], df_complete=30, level=0.8)
        pd.testing.assert_frame_equal(alone, together.iloc[[place]].reset_index(drop=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [1.0]), "at least two imputations"),
        (([1.0, 2.0], [1.0, 2.0, 3.0]), "one shape"),
        (([1.0, np.nan], [1.0, 1.0]), "estimates must be finite"),
        (([1.0, 2.0], [1.0, 0.0]), "variances must be above 0"),
        ((["a", "b"], [1.0, 1.0]), "estimates must be numbers"),
        ((np.ones((2, 2, 2)), np.ones((2, 2, 2))), "shape"),
        (([pd.Series([1.0], index=["a"]), pd.Series([1.0], index=["b"])], [1.0, 1.0]), "same index"),
    ],
)
def test_what_cannot_be_pooled_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        cc.pool_estimates(*arguments)


def test_all_problems_are_told_at_once():
    with pytest.raises(InputError, match=r"df_complete must be above 0, not -1.*level must be above 0"):
        cc.pool_estimates([1.0, 2.0], [1.0, 1.0], df_complete=-1, level=1.5)
