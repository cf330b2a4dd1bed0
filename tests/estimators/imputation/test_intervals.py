"""Imputation over all clusters, and the interval of each imputed cell."""

import numpy as np
import oracles
import pandas as pd
import pytest
from cohorts import LIKELIHOODS, mixed_cohort
from scipy import stats
from scored import few

from clinclust import Feature, FeatureSchema
from clinclust.methods import PublishedMAPDP

COLUMNS = ["row", "feature", "value", "lower", "upper", "probability"]


@pytest.fixture(scope="module")
def cohort():
    frame, schema, columns, _ = mixed_cohort(13, n=60, missing=0.2)
    return frame, schema, columns, PublishedMAPDP(schema, n_restarts=6, random_state=0, progress=False).fit(frame)


def parts_of(model, columns, name, subject):
    """Return the weight and scipy's predictive of each cluster, and of a new one, for one subject."""
    likelihood, trials, values = columns[name]
    groups = [values[(model.labels_ == k) & ~np.isnan(values)] for k in range(model.n_clusters_)]
    stated = model.hyperparameters_[name]
    parts = [oracles.predictive(likelihood, stated, group, trials) for group in [*groups, []]]
    return model.predict_proba(subject)[0], parts


@pytest.mark.parametrize("name", [f"{likelihood}_{index}" for index, likelihood in enumerate(LIKELIHOODS)])
def test_intervals_are_those_of_the_mixture_over_clusters(name, cohort, some):
    frame, schema, columns, model = cohort
    feature = schema[name]
    for row in some(range(6), few=3):
        subject = frame.iloc[[row]].assign(**{name: None})
        cell = model.impute(subject, interval=0.8).set_index("feature").loc[name]
        weights, parts = parts_of(model, columns, name, subject)

        def cumulated(x, weights=weights, parts=parts):
            return sum(weight * part.cdf(x) for weight, part in zip(weights, parts, strict=True))

        if feature.likelihood in ("gaussian", "exponential"):
            assert cumulated(cell["lower"]) == pytest.approx(0.1, abs=1e-6)
            assert cumulated(cell["upper"]) == pytest.approx(0.9, abs=1e-6)
            assert np.isnan(cell["probability"])
            continue
        scores = feature.levels.index if feature.levels is not None else float
        value = scores(cell["value"])
        mass = sum(weight * part.pmf(value) for weight, part in zip(weights, parts, strict=True))
        assert cell["probability"] == pytest.approx(mass, abs=1e-7)
        if feature.likelihood == "categorical":
            assert (cell["lower"], cell["upper"]) == (None, None)
            continue
        lower, upper = scores(cell["lower"]), scores(cell["upper"])
        assert cumulated(upper) - cumulated(lower - 1) >= 0.8 - 1e-7
        for ends in ((lower + 1, upper), (lower, upper - 1)):  # it is the shortest
            assert cumulated(ends[1]) - cumulated(ends[0] - 1) < 0.8


@pytest.mark.parametrize("name", ["gaussian_6", "exponential_5", "poisson_3", "binomial_1"])
def test_the_mean_is_that_of_all_clusters(name, cohort, some):
    frame, _, columns, model = cohort
    for row in some(range(6), few=2):
        subject = frame.iloc[[row]].assign(**{name: None})
        weights, parts = parts_of(model, columns, name, subject)
        expected = sum(weight * part.mean() for weight, part in zip(weights, parts, strict=True))
        expected = expected if name.startswith(("gaussian", "exponential")) else np.rint(expected)
        assert model.impute(subject, how="mean")[name].iloc[0] == pytest.approx(expected, rel=1e-6)


def test_each_missing_cell_has_one_row_in_the_order_of_the_table(cohort):
    frame, schema, _, model = cohort
    frame = frame.set_axis([f"p{i}" for i in range(60)], axis="index")
    cells = model.impute(frame, interval=0.9)
    missing = schema.validate(frame, warn=False).isna()
    assert list(cells) == COLUMNS
    assert list(zip(cells["row"], cells["feature"], strict=True)) == [
        (row, name) for row in frame.index for name in schema.names if missing.loc[row, name]
    ]
    filled = model.impute(frame)
    assert all(filled.loc[cell.row, cell.feature] == cell.value for cell in cells.itertuples())


@pytest.mark.parametrize("level", few([0.999, 0.01, 0.5, 0.9], 2))
def test_values_and_ends_are_valid_under_the_schema_and_in_order(level, cohort):
    frame, schema, _, model = cohort
    cells = model.impute(frame, how="median", interval=level)
    for name, part in cells.groupby("feature"):
        feature = schema[name]
        alone, scores = FeatureSchema([feature]), {}
        for column in ("value", "lower", "upper"):
            given = part[[column]].set_axis([name], axis=1)
            if column == "value" or feature.likelihood != "categorical":
                scores[column] = feature.scores(alone.validate(given, warn=False)[name])
        if feature.likelihood == "categorical":
            assert part[["lower", "upper"]].isna().all(axis=None)
            continue
        assert (scores["lower"] <= scores["upper"]).all()
        if level >= 0.5:  # an interval with half of the distribution holds its median
            assert (scores["lower"] <= scores["value"]).all()
            assert (scores["value"] <= scores["upper"]).all()


def test_higher_levels_have_longer_intervals(cohort):
    frame, schema, _, model = cohort
    numbers = [feature.name for feature in schema if feature.likelihood in ("gaussian", "exponential", "poisson")]
    ends = [model.impute(frame, interval=level) for level in (0.5, 0.9, 0.99)]
    ends = [one[one["feature"].isin(numbers)] for one in ends]
    widths = [(one["upper"] - one["lower"]).to_numpy(dtype=float) for one in ends]
    assert (widths[0] <= widths[1]).all()
    assert (widths[1] <= widths[2]).all()
    assert widths[0].mean() < widths[1].mean() < widths[2].mean()


@pytest.mark.parametrize(("transform", "undone"), few([("log1p", np.expm1), ("log", np.exp)], 1))
def test_quantiles_of_a_transformed_feature_are_the_transformed_quantiles(transform, undone):
    rng = np.random.default_rng(3)
    groups = np.repeat([0.0, 3.0], 40)
    logs, other = rng.normal(groups), rng.normal(groups)
    logs[::5] = np.nan
    names = {"x": {"transform": transform}, "y": {}}
    models = {}
    for kind, column in (("plain", logs), ("transformed", undone(logs))):
        fields = names if kind == "transformed" else {"x": {}, "y": {}}
        schema = FeatureSchema([Feature(name=name, likelihood="gaussian", **more) for name, more in fields.items()])
        frame = pd.DataFrame({"x": column, "y": other})
        model = PublishedMAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
        models[kind] = model.impute(frame, how="median", interval=0.9)
    for column in ("value", "lower", "upper"):
        plain, transformed = (models[kind][column].to_numpy(dtype=float) for kind in ("plain", "transformed"))
        np.testing.assert_allclose(transformed, undone(plain), rtol=1e-6)


def test_intervals_hold_values_that_were_erased():
    """Two groups as the model says: of 90% intervals, 90% hold the value, within four standard errors."""
    rng = np.random.default_rng(4)
    groups = rng.integers(2, size=300)
    truth = pd.DataFrame(
        {
            **{f"x{place}": rng.normal(2.0 * groups * (place % 2 * 2 - 1)) for place in range(6)},
            **{f"n{place}": rng.poisson(2.0 + 6.0 * groups) for place in range(3)},
        }
    )
    schema = FeatureSchema(
        [Feature(name=name, likelihood="gaussian" if name[0] == "x" else "poisson") for name in truth]
    )
    frame = truth.mask(rng.random(truth.shape) < 0.3)
    model = PublishedMAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
    cells = model.impute(frame, interval=0.9)
    true = np.array([truth.loc[cell.row, cell.feature] for cell in cells.itertuples()])
    held = ((cells["lower"] <= true) & (true <= cells["upper"])).to_numpy(dtype=bool)
    numbers = cells["feature"].str.startswith("x").to_numpy()
    assert abs(held[numbers].mean() - 0.9) < 4 * np.sqrt(0.09 / numbers.sum())
    assert held[~numbers].mean() > 0.9 - 4 * np.sqrt(0.09 / (~numbers).sum())  # whole numbers hold a little more


@pytest.mark.filterwarnings("ignore:.*no observed value in any feature", "ignore:.*values lie beyond")
def test_limits_of_the_schema_hold_for_intervals():
    rng = np.random.default_rng(5)
    schema = FeatureSchema(
        [
            Feature(name="share", likelihood="gaussian", minimum=0, maximum=1),
            Feature(name="count", likelihood="poisson", minimum=1, maximum=3),
            Feature(name="area", likelihood="gaussian", transform="sqrt"),
        ]
    )
    frame = pd.DataFrame(
        {"share": rng.uniform(0, 1, 30), "count": rng.integers(1, 4, 30), "area": rng.uniform(0, 0.1, 30)}
    )
    model = PublishedMAPDP(schema, n_restarts=1, random_state=0, progress=False).fit(frame)
    cells = model.impute(pd.DataFrame({name: [None] for name in frame}, dtype=object), interval=0.999)
    ends = cells.set_index("feature")[["lower", "upper"]]
    assert ends.loc["share"].tolist() == [0.0, 1.0]
    assert ends.loc["count"].tolist() == [1, 3]
    assert isinstance(ends.loc["count", "lower"], int)
    assert ends.loc["area", "lower"] == 0.0


def test_nothing_missing_leaves_the_table_as_it_is_and_has_no_intervals(cohort):
    frame, schema, _, model = cohort
    whole = model.impute(frame)
    pd.testing.assert_frame_equal(model.impute(whole), whole)
    cells = model.impute(whole, interval=0.9)
    assert list(cells) == COLUMNS
    assert cells.empty
    assert schema.validate(whole, warn=False).equals(whole)


def test_one_normal_group_has_the_interval_of_students_t():
    values = np.random.default_rng(6).normal(10.0, 2.0, 50)
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in "xy"])
    frame = pd.DataFrame({"x": np.append(values, np.nan), "y": 1.0 * np.arange(51)})
    model = PublishedMAPDP(
        schema, init=np.zeros(51), n_restarts=1, concentration=1e-9, random_state=0, progress=False
    ).fit(frame)
    assert model.n_clusters_ == 1
    cell = model.impute(frame, interval=0.95).iloc[0]
    exact = oracles.predictive("gaussian", model.hyperparameters_["x"], values)
    assert isinstance(exact.dist, type(stats.t))
    np.testing.assert_allclose([cell["lower"], cell["upper"]], exact.ppf([0.025, 0.975]), rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"interval": 0.0}, "interval must be a probability above 0 and below 1"),
        ({"interval": 90}, "interval must be a probability above 0 and below 1"),
        ({"interval": "wide"}, "interval must be a number"),
        ({"interval": 0.9, "how": "draw"}, "has no interval"),
        ({"within_subtype": "yes"}, "within_subtype must be True or False"),
    ],
)
def test_intervals_that_cannot_be_are_refused(arguments, message, cohort):
    frame, _, _, model = cohort
    with pytest.raises(ValueError, match=message):
        model.impute(frame, **arguments)
