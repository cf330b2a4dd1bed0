"""Values that are drawn jointly share one draw of the parameters: as if each were drawn given those before it."""

import numpy as np
import pytest
from scipy import stats

from clinclust import Feature
from clinclust.likelihoods import REGISTRY

N_PAIRS = 3000
CASES = [(name, place) for name, likelihood in REGISTRY.items() for place in range(len(likelihood.examples()))]
law = pytest.mark.parametrize(("name", "place"), CASES)


def known(name, place):
    """Return a likelihood and its posterior given four values."""
    example = REGISTRY[name].examples()[place]
    likelihood = REGISTRY[name].of(Feature(name="x", likelihood=name, **example.fields))
    prior = likelihood.from_dict(example.prior, np.full(likelihood.n_hyperparameters, np.nan))
    values = example.draw(np.random.default_rng(place), prior, 4)
    return likelihood, likelihood.prior.posterior(prior, likelihood.statistics(values).sum(axis=0))


def one_after_the_other(likelihood, posterior, rng):
    """Return two values, the second drawn given the first."""
    first = likelihood.draw(posterior, 1, rng)
    return np.append(
        first, likelihood.draw(likelihood.prior.posterior(posterior, likelihood.statistics(first)[0]), 1, rng)
    )


# A scale of many levels draws one after the other slowly.
@pytest.mark.simulation
@pytest.mark.parametrize(
    ("name", "place"),
    [pytest.param(*case, marks=[pytest.mark.simulation] * (case == ("ordinal", 2))) for case in CASES],
)
def test_pairs_are_distributed_as_if_drawn_one_after_the_other(name, place):
    likelihood, posterior = known(name, place)
    rng = np.random.default_rng(1)
    jointly = likelihood.draw_jointly(posterior, 3 * N_PAIRS, 2, rng)
    in_turn = np.array([one_after_the_other(likelihood, posterior, rng) for _ in range(N_PAIRS // 8)])
    cuts = np.unique(np.quantile(in_turn, [0.25, 0.5, 0.75]))
    tables = [
        np.histogram2d(*np.searchsorted(cuts, pairs).T, bins=np.arange(cuts.size + 2) - 0.5)[0]
        for pairs in (jointly, in_turn)
    ]
    counts = np.array([table.ravel() for table in tables])
    assert stats.chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue > 1e-4
    if not likelihood.is_nominal:
        assert stats.spearmanr(*jointly.T).pvalue < 1e-3  # four values leave the parameters uncertain


@law
@pytest.mark.parametrize("are_joint", [True, False])
def test_each_value_alone_follows_the_predictive(name, place, are_joint):
    likelihood, posterior = known(name, place)
    rng = np.random.default_rng(2)
    jointly, alone = likelihood.draw_jointly(posterior, N_PAIRS, 1, rng)[:, 0], likelihood.draw(posterior, N_PAIRS, rng)
    drawn = jointly if are_joint else alone
    if likelihood.is_continuous:
        assert stats.kstest(drawn, likelihood.predictive(posterior).cdf).pvalue > 1e-4
        return
    levels = np.unique(drawn)
    expected = likelihood.predictive(posterior).pmf(levels) * N_PAIRS
    often = expected >= 5
    observed = np.array([(drawn == level).sum() for level in levels])
    counts = np.append(observed[often], N_PAIRS - observed[often].sum())
    rest = N_PAIRS - expected[often].sum()
    kept = np.append(expected[often], rest)
    assert (
        stats.chisquare(
            counts[kept > 1e-6], kept[kept > 1e-6] * counts[kept > 1e-6].sum() / kept[kept > 1e-6].sum()
        ).pvalue
        > 1e-4
    )


@law
def test_draws_are_possible_values_and_repeat_with_their_seed(name, place):
    likelihood, posterior = known(name, place)
    one, two = (likelihood.draw_jointly(posterior, 2, 50, np.random.default_rng(3)) for _ in range(2))
    assert one.dtype == np.float64
    assert one.tobytes() == two.tobytes()
    assert np.isfinite(one).all()
    if not likelihood.is_continuous:
        assert (likelihood.predictive(posterior).pmf(one) > 0).all()
    assert likelihood.draw_jointly(posterior, 3, 0, np.random.default_rng(3)).shape == (3, 0)


@law
@pytest.mark.parametrize("share", [0.03, 0.5, 0.9])
def test_a_quantile_is_the_first_value_that_reaches_its_share(name, place, share):
    likelihood, posterior = known(name, place)
    value = likelihood.quantile(posterior, share)
    reached, below = likelihood.predictive(posterior).cdf([value, max(value - 1.0, 0.0)])
    if likelihood.is_continuous:
        assert reached == pytest.approx(share, abs=1e-9)
        return
    assert reached >= share - 1e-9
    if value > 0:
        assert below < share + 1e-9
