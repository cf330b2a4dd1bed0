"""Mean, median, mode, quantiles and intervals of mixtures, for every likelihood, by looking at the whole mixture."""

import numpy as np
import pytest
from cohorts import mixed_cohort
from scored import few

from clinclust import Feature
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import probabilities
from clinclust.estimators.mixture import mixture_quantiles, mixture_values, shortest_intervals
from clinclust.likelihoods import REGISTRY
from clinclust.methods import PublishedMAPDP

N_PARTS, N_SUBJECTS = 3, 60
CASES = [(name, place) for name, likelihood in REGISTRY.items() for place in range(len(likelihood.examples()))]


def mixture(name, place):
    """Return feature, likelihood, the posteriors of different clusters, and weights of subjects."""
    example = REGISTRY[name].examples()[place]
    feature = Feature(name="x", likelihood=name, **example.fields)
    likelihood = REGISTRY[name].of(feature)
    rng = np.random.default_rng(place)
    prior = likelihood.from_dict(example.prior, np.full(likelihood.n_hyperparameters, np.nan))
    values = example.column(rng, np.repeat(np.arange(N_PARTS), 12), N_PARTS)
    sums = [likelihood.statistics(part).sum(axis=0) for part in values.reshape(N_PARTS, -1)]
    posteriors = np.array([likelihood.prior.posterior(prior, one) for one in sums])
    weights = rng.dirichlet(np.ones(N_PARTS), N_SUBJECTS)
    weights[:4] = 0.0
    weights[:4, :2] = [[0.5, 0.5], [0.01, 0.99], [0.25, 0.75], [0.999, 0.001]]
    return feature, likelihood, posteriors, weights


def points(likelihood, posteriors):
    """Return ascending values that cover the mixture, and the density of each part at each, (parts, points)."""
    parts = [likelihood.predictive(posterior) for posterior in posteriors]
    if likelihood.is_continuous:
        grid = np.unique([part.ppf(np.linspace(0, 0.9999, 20_001)[1:]) for part in parts])
        grid = np.append(max(parts[0].support()[0], grid[0]), grid)
        return grid, np.array([part.pdf(grid) for part in parts])
    levels = likelihood.levels(np.arange(3000.0))
    return levels, np.array([part.pmf(levels) for part in parts])


@pytest.mark.parametrize(("name", "place"), CASES)
def test_half_of_the_mixture_lies_at_or_below_its_median(name, place):
    feature, likelihood, posteriors, weights = mixture(name, place)
    if likelihood.is_nominal:
        return
    medians = mixture_values(feature, likelihood, posteriors, weights, "median")
    if likelihood.is_continuous:
        cumulated = np.array([likelihood.predictive(posterior).cdf(medians) for posterior in posteriors])
        np.testing.assert_allclose((weights * cumulated.T).sum(axis=1), 0.5, atol=1e-9)
        return
    levels, density = points(likelihood, posteriors)
    below = (weights @ density).cumsum(axis=1)
    assert medians.tolist() == levels[(below < 0.5 - 1e-9).sum(axis=1)].tolist()


@pytest.mark.parametrize(("name", "place"), CASES)
def test_nothing_is_more_probable_than_the_mode(name, place):
    feature, likelihood, posteriors, weights = mixture(name, place)
    grid, density = points(likelihood, posteriors)
    highest = (weights @ density).max(axis=1)
    modes = mixture_values(feature, likelihood, posteriors, weights, "mode")
    parts = [likelihood.predictive(posterior) for posterior in posteriors]
    at_mode = np.array([part.pdf(modes) if likelihood.is_continuous else part.pmf(modes) for part in parts])
    assert ((weights * at_mode.T).sum(axis=1) >= highest * (1 - 1e-3)).all()
    if likelihood.is_nominal:
        assert (mixture_values(feature, likelihood, posteriors, weights, "median") == modes).all()
        assert (mixture_values(feature, likelihood, posteriors, weights, "mean") == modes).all()
    assert set(modes) <= set(grid) or likelihood.is_continuous


@pytest.mark.parametrize(("name", "place"), CASES)
def test_the_mean_is_the_mean_of_the_means(name, place):
    feature, likelihood, posteriors, weights = mixture(name, place)
    if likelihood.is_nominal:
        return
    means = np.array([likelihood.predictive(posterior).mean() for posterior in posteriors])
    expected = weights @ means
    if not np.isfinite(means).all():
        expected = mixture_values(feature, likelihood, posteriors, weights, "median")
    np.testing.assert_allclose(mixture_values(feature, likelihood, posteriors, weights, "mean"), expected, rtol=1e-12)


@pytest.mark.parametrize("how", ["median", "mean", "mode"])
@pytest.mark.parametrize(("name", "place"), CASES)
def test_a_mixture_of_one_distribution_is_this_distribution(name, place, how):
    feature, likelihood, posteriors, weights = mixture(name, place)
    same = np.repeat(posteriors[:1], N_PARTS, axis=0)
    found = mixture_values(feature, likelihood, same, weights, how)
    alone = {"mean": likelihood.predictive(same[0]).mean, "median": lambda: likelihood.median(same[0])}
    expected = likelihood.mode(same[0]) if how == "mode" or likelihood.is_nominal else alone[how]()
    if not np.isfinite(expected):
        expected = likelihood.median(same[0])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [name for name, likelihood in REGISTRY.items() if not likelihood.is_continuous])
def test_the_distribution_function_adds_up_the_probabilities(name):
    _, likelihood, posteriors, _ = mixture(name, 0)
    levels = likelihood.levels(np.arange(60.0))
    expected = likelihood.predictive(posteriors[0]).pmf(levels).cumsum()
    np.testing.assert_allclose(likelihood.cumulative(posteriors[0], levels), expected, atol=2e-4)


# --- imputed values of a cut ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    frame, schema, _, _ = mixed_cohort(3, n=120, n_groups=4, missing=0.2)
    model = PublishedMAPDP(schema, n_restarts=3, random_state=0, progress=False).fit(frame)
    assert model.n_clusters_ >= 4
    return model, frame


def test_a_cut_draws_what_its_fit_draws(fitted):
    model, frame = fitted
    drawn = [one.impute(frame, how="draw", random_state=0) for one in (model, model.cut(2), model.cut(1))]
    assert drawn[0].equals(drawn[1])
    assert drawn[0].equals(drawn[2])


@pytest.mark.parametrize("how", ["median", "mean", "mode"])
def test_what_is_imputed_in_a_cut_is_of_the_mixture_of_its_subtype(how, fitted):
    model, frame = fitted
    cut = model.cut(2)
    filled, seen = cut.impute(frame, how=how, within_subtype=True), model.schema_.validate(frame, warn=False)
    finer = probabilities(model.cluster_scores(frame))[:, :-1]
    subtypes = cut.predict(frame)
    clusters = cut.clusters_
    for index, feature in enumerate(clusters.encoding.features):
        likelihood = clusters.encoding.likelihoods[index]
        rows = np.flatnonzero(seen[feature.name].isna() & (subtypes >= 0))[:8]
        found = model_values(filled, (feature,))[feature.name][rows]
        found = (found - clusters.encoding.centres[index]) / clusters.encoding.scales[index]
        for row, value in zip(rows, found, strict=True):
            weights = np.where(cut.subtype_of_ == subtypes[row], finer[row], 0.0)
            weights = weights[None, :] / weights.sum()
            expected = mixture_values(feature, likelihood, clusters.posteriors(index)[:-1], weights, how)[0]
            expected = expected if likelihood.is_continuous else np.rint(expected)
            assert value == pytest.approx(expected, rel=1e-6, abs=1e-6), feature.name


def test_a_cut_imputes_what_its_fit_imputes(fitted):
    model, frame = fitted
    cut = model.cut(2)
    assert cut.impute(frame).equals(model.impute(frame))
    assert cut.impute(frame, interval=0.8).equals(model.impute(frame, interval=0.8))


# --- quantiles and intervals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", few([0.02, 0.95, 0.5], 2))
@pytest.mark.parametrize(("name", "place"), CASES)
def test_quantiles_of_a_mixture_are_where_its_whole_distribution_reaches_them(name, place, share):
    _, likelihood, posteriors, weights = mixture(name, place)
    if likelihood.is_nominal:
        return
    found = mixture_quantiles(likelihood, posteriors, weights, share)
    if likelihood.is_continuous:
        cumulated = np.array([likelihood.predictive(posterior).cdf(found) for posterior in posteriors])
        np.testing.assert_allclose((weights * cumulated.T).sum(axis=1), share, atol=1e-9)
        return
    levels = likelihood.levels(np.arange(3000.0))
    up_to = weights @ np.array([likelihood.cumulative(posterior, levels) for posterior in posteriors])
    assert found.tolist() == levels[(up_to < share - 1e-12).sum(axis=1)].tolist()


@pytest.mark.parametrize("level", [0.3, 0.9])
@pytest.mark.parametrize(("name", "place"), CASES)
def test_no_shorter_interval_holds_as_much(name, place, level):
    feature, likelihood, posteriors, weights = mixture(name, place)
    if likelihood.is_nominal or likelihood.is_continuous:
        return
    highest = None if feature.n_trials is None else float(feature.n_trials)
    lower, upper = shortest_intervals(likelihood, posteriors, weights, level, highest)
    levels = np.arange(600.0) if highest is None else np.arange(highest + 1.0)
    masses = weights @ np.array([likelihood.predictive(posterior).pmf(levels) for posterior in posteriors])
    tolerance = 5e-4 if name == "negative_binomial" else 1e-9  # its distribution function is approximate
    for row, mass in enumerate(masses):
        first, last = int(lower[row]), int(upper[row])
        if last >= levels.size:  # too long to look at every interval
            continue
        assert mass[first : last + 1].sum() >= level - tolerance
        sums = np.append(0.0, mass.cumsum())
        shorter = last - first
        held = sums[shorter:] - sums[: sums.size - shorter]
        assert held.max() < level + tolerance
        same = sums[shorter + 1 :] - sums[: sums.size - shorter - 1]
        assert mass[first : last + 1].sum() >= same.max() - tolerance


def test_intervals_of_large_counts_hold_what_they_must():
    likelihood = REGISTRY["geometric"].of(Feature(name="x", likelihood="geometric"))
    posteriors, weights = np.array([[30.0, 29e5], [40.0, 39e3]]), np.array([[0.5, 0.5], [0.99, 0.01]])
    lower, upper = shortest_intervals(likelihood, posteriors, weights, 0.9, None)
    for row in range(2):
        ends = np.array([lower[row] - 1.0, upper[row]])
        before, reached = weights[row] @ np.array([likelihood.cumulative(one, ends) for one in posteriors])
        assert 0.9 <= reached - (before if lower[row] > 0 else 0.0) < 0.902
        equal_tails = [mixture_quantiles(likelihood, posteriors, weights, share)[row] for share in (0.05, 0.95)]
        assert upper[row] - lower[row] < equal_tails[1] - equal_tails[0]


def test_a_far_and_improbable_cluster_hardly_moves_a_quantile():
    likelihood = REGISTRY["gaussian"].of(Feature(name="x", likelihood="gaussian"))
    near, far = [0.0, 50.0, 50.0, 50.0], [0.0, 1e-6, 0.02, 1.0]  # the second has nearly no scale
    alone = mixture_quantiles(likelihood, np.array([near]), np.ones((1, 1)), 0.05)
    mixed = mixture_quantiles(likelihood, np.array([near, far]), np.array([[1.0 - 1e-8, 1e-8]]), 0.05)
    assert likelihood.quantile(np.array(far), 0.05) < -1e6
    assert mixed == pytest.approx(alone, abs=1e-6)
