"""The joint distribution test of Geweke (2004, Journal of the American Statistical Association 99, 799-804).

Cohorts are drawn from the model in two ways: all at once, from the prior; and by turns, where the sampler makes a step
given the values, and new values are drawn given what it drew. If the sampler is right, both have the same distribution:
the partition, the concentration and the values.
"""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.engine.kernels.sweep import sweep
from clinclust.engine.problem import problem as posing
from clinclust.engine.sampling import chains
from clinclust.engine.sampling.chains import Chain

N, N_PRIOR = 8, 20_000
LEVELS = ("a", "b", "c")
CENTRE = {
    "gaussian": {"mean": 0.0, "kappa": 0.5, "shape": 8.0, "rate": 4.0},
    "bernoulli": {"a": 0.8, "b": 1.2},
    "categorical": {"concentrations": [0.7, 1.0, 0.5]},
    "poisson": {"shape": 4.0, "rate": 2.0},
    "exponential": {"shape": 20.0, "rate": 10.0},
}
SCHEMA = cc.FeatureSchema(
    [
        cc.Feature(name="gaussian", likelihood="gaussian", prior={"mean": 0.0}),  # its unit would depend on the values
        cc.Feature(name="bernoulli", likelihood="bernoulli"),
        cc.Feature(name="categorical", likelihood="categorical", levels=LEVELS),
        cc.Feature(name="poisson", likelihood="poisson"),
        cc.Feature(name="exponential", likelihood="exponential"),
    ]
)
MISSING = np.random.default_rng(0).random((N, len(CENTRE))) < 0.2


def drawn_values(labels, rng):
    """Draw a cohort given its clusters."""
    columns = {name: np.empty(N) for name in CENTRE}
    for cluster in np.unique(labels):
        rows = labels == cluster
        n = int(rows.sum())
        theta = CENTRE["gaussian"]
        precision = rng.gamma(theta["shape"], 1.0 / theta["rate"])
        centre = rng.normal(theta["mean"], 1.0 / math.sqrt(theta["kappa"] * precision))
        columns["gaussian"][rows] = rng.normal(centre, 1.0 / math.sqrt(precision), n)
        columns["bernoulli"][rows] = rng.random(n) < rng.beta(**CENTRE["bernoulli"])
        shares = rng.dirichlet(CENTRE["categorical"]["concentrations"])
        columns["categorical"][rows] = rng.choice(3, n, p=shares)
        theta = CENTRE["poisson"]
        columns["poisson"][rows] = rng.poisson(rng.gamma(theta["shape"], 1.0 / theta["rate"]), n)
        theta = CENTRE["exponential"]
        columns["exponential"][rows] = rng.exponential(1.0 / rng.gamma(theta["shape"], 1.0 / theta["rate"]), n)
    for name, is_missing in zip(CENTRE, MISSING.T, strict=True):
        columns[name][is_missing] = np.nan
    return columns


def drawn_partition(concentration, rng):
    labels = np.zeros(N, dtype=np.int64)
    for i in range(1, N):
        sizes = np.bincount(labels[:i]).astype(float)
        weights = np.append(sizes, concentration)
        labels[i] = rng.choice(weights.size, p=weights / weights.sum())
    return labels


def statistics(labels, concentration, columns):
    """What is compared: of the partition, the concentration and the values; all have moments."""
    sizes = np.bincount(labels)
    gaussian, poisson = np.arctan(columns["gaussian"]), np.log1p(columns["poisson"])
    exponential = np.log(columns["exponential"])
    same = labels[0] == labels[1:]
    unit = np.array([1.0])
    found = {
        "clusters": sizes.size,
        "largest": sizes.max(),
        "singletons": np.sum(sizes == 1),
        "together": same.mean(),
        "log concentration": math.log(concentration),
        "square of it": math.log(concentration) ** 2,
        "clusters x log concentration": sizes.size * math.log(concentration),
        "size of values": np.nanmean(np.abs(gaussian)),
        "spread of counts": np.nanstd(poisson),
        "counts": np.nanmean(poisson),
        "yes": np.nanmean(columns["bernoulli"]),
        "yes, squared": np.nanmean(columns["bernoulli"]) ** 2,
        "spread of times": np.nanstd(exponential),
        "likeness": np.nanmean(np.append(gaussian[0] * gaussian[1:][same], 0.0 * unit)),
    }
    return np.array(list(found.values()), dtype=float), list(found)


def drawn_from_prior(rng):
    concentration = max(rng.exponential(3.0), 1e-12)
    labels = drawn_partition(concentration, rng)
    return labels, concentration, drawn_values(labels, rng)


@cache
def of_prior():
    rng = np.random.default_rng(0)
    return np.array([statistics(*drawn_from_prior(rng))[0] for _ in range(N_PRIOR)])


def z_scores(n_steps, seed=0):
    """Return the difference of each statistic between both ways, in standard errors."""
    rng = np.random.default_rng(seed)
    prior = of_prior()
    labels, concentration, columns = drawn_from_prior(rng)
    steps = []
    for _ in range(n_steps):
        problem = posed(columns, concentration)
        own = Chain(problem, labels[problem.cohort.order], rng, draws_concentration=True)
        own.sweeps_a_proposal = 1
        own.step()
        labels, concentration = problem.cohort.in_table_order(own.partition.labels), own.problem.model.concentration
        columns = drawn_values(labels, rng)
        steps.append(statistics(labels, concentration, columns)[0])
    names = statistics(labels, concentration, columns)[1]
    steps = np.array(steps)
    batches = np.array([batch.mean(axis=0) for batch in np.array_split(steps, 40)])
    error = np.hypot(prior.std(axis=0) / math.sqrt(N_PRIOR), batches.std(axis=0, ddof=1) / math.sqrt(len(batches)))
    return pd.Series((steps.mean(axis=0) - prior.mean(axis=0)) / error, index=names)


def posed(columns, concentration):
    frame = pd.DataFrame(columns)
    frame["categorical"] = pd.Categorical(frame["categorical"].map(dict(enumerate(LEVELS))), LEVELS)
    return posing.pose(frame, SCHEMA, CENTRE, concentration)


@pytest.fixture(autouse=True)
def _all_draws_stay(monkeypatch):
    """A column that is constant by chance, or narrow beside its prior, is part of the model like any other."""
    monkeypatch.setattr(posing, "uninformative", lambda _: {})
    monkeypatch.setattr(posing, "_out_of_bounds", lambda *_: [])


@pytest.mark.simulation
def test_the_sampler_has_the_joint_distribution_of_the_model():
    found = z_scores(2_400, seed=5)
    assert len(found) >= 10
    assert found.abs().max() < 4.0


def _with_model(**changes):
    def plant(monkeypatch):
        def moved(arrays, model, *rest):
            return sweep(arrays, model._replace(**{name: change(model) for name, change in changes.items()}), *rest)

        monkeypatch.setattr(chains, "sweep", moved)

    return plant


def _another_hyperprior(monkeypatch):
    monkeypatch.setattr(chains, "SHAPE", 2.0)


def _every_merger(monkeypatch):
    ratio = chains._log_ratio
    monkeypatch.setattr(chains, "_log_ratio", lambda *given: ratio(*given) - 2.0)


def _small_uniforms(monkeypatch):
    def moved(arrays, model, partition, order, visit):
        return sweep(arrays, model, partition, order, visit._replace(uniforms=0.8 * visit.uniforms))

    monkeypatch.setattr(chains, "sweep", moved)


BUGS = {
    "more new clusters": _with_model(concentration=lambda model: 2.0 * model.concentration),
    "values counted three times": _with_model(coarsening=lambda _: 3.0),
    "another hyperprior of the concentration": _another_hyperprior,
    "mergers too often": _every_merger,
    "uniforms that are not uniform": _small_uniforms,
}


@pytest.mark.simulation
@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_found(bug, monkeypatch):
    BUGS[bug](monkeypatch)
    assert z_scores(800, seed=6).abs().max() > 6.0
