"""An independent computation of the model with scipy's distributions, one subject after the other.

Nothing here uses the package's formulas: a cluster's density is the chain of the predictives that the textbooks give
for each pair of likelihood and prior, and the partition's is the seating rule of the Chinese restaurant.
"""

import numpy as np
from scipy import special, stats


def predictive(likelihood, hyperparameters, values, trials=None):
    """Return scipy's frozen predictive of the next value after `values`, and the hyperparameters as they were."""
    h, x = hyperparameters, np.asarray(values, dtype=float)
    n = x.size
    if likelihood == "bernoulli":
        a, b = h["a"] + x.sum(), h["b"] + (1 - x).sum()
        return stats.bernoulli(a / (a + b))
    if likelihood == "binomial":
        return stats.betabinom(trials, h["a"] + x.sum(), h["b"] + n * trials - x.sum())
    if likelihood == "categorical":
        weights = np.array(h["concentrations"]) + np.bincount(x.astype(int), minlength=len(h["concentrations"]))
        return stats.rv_discrete(values=(np.arange(weights.size), weights / weights.sum()))
    if likelihood == "poisson":
        shape, rate = h["shape"] + x.sum(), h["rate"] + n
        return stats.nbinom(shape, rate / (rate + 1))
    if likelihood == "geometric":
        return stats.betanbinom(1, h["a"] + n, h["b"] + x.sum())
    if likelihood == "negative_binomial":
        return _Mixed(h["a"] + n * h["dispersion"], h["b"] + x.sum(), h["dispersion"])
    if likelihood == "ordinal":
        return _Halved(h["lower"], h["upper"], x)
    if likelihood == "exponential":
        return stats.lomax(h["shape"] + n, scale=h["rate"] + x.sum())
    if likelihood == "multivariate_gaussian":  # a feature that is a block by itself
        h = {**h, "shape": h["degrees"] / 2, "rate": h["scatter"][0] / 2}
    mean, kappa, shape, rate = h["mean"], h["kappa"], h["shape"], h["rate"]
    for value in x:  # one observation after the other, so that no sum of squares is shared with the package
        rate = rate + kappa * (value - mean) ** 2 / (2 * (kappa + 1))
        mean = (kappa * mean + value) / (kappa + 1)
        kappa, shape = kappa + 1, shape + 0.5
    return stats.t(2 * shape, loc=mean, scale=np.sqrt(rate * (kappa + 1) / (shape * kappa)))


class _Halved:
    """Ordered levels, halved and halved again; which half, is one trial of a beta-binomial at each boundary."""

    def __init__(self, lower, upper, values):
        self.lower, self.upper, self.values = lower, upper, values

    def pmf(self, level):
        first, last, probability = 0, len(self.lower) + 1, 1.0
        while last - first > 1:
            middle = (first + last) // 2
            n_lower = ((self.values >= first) & (self.values < middle)).sum()
            n_upper = ((self.values >= middle) & (self.values < last)).sum()
            is_upper = level >= middle
            split = stats.betabinom(1, self.upper[middle - 1] + n_upper, self.lower[middle - 1] + n_lower)
            probability *= split.pmf(int(is_upper))
            first, last = (middle, last) if is_upper else (first, middle)
        return probability

    def logpmf(self, level):
        return np.log(self.pmf(level))

    def cdf(self, levels):
        return np.array([sum(self.pmf(x) for x in range(int(level) + 1)) for level in levels])


class _Mixed:
    """Negative binomials of one dispersion r, their probability p integrated over Beta(a, b) by Gauss's rule.

    With the weight p^(a + r - 1) (1 - p)^(b - 1) what is left to integrate is a polynomial, so that the rule is exact.
    """

    def __init__(self, a, b, dispersion):
        self.a, self.b, self.dispersion = a, b, dispersion

    def pmf(self, count):
        a, r = self.a, self.dispersion
        nodes, weights = special.roots_sh_jacobi(int(count) // 2 + 2, a + r + self.b - 1, a + r)
        ways = stats.nbinom.pmf(count, r, 0.5) / 0.5 ** (r + count)
        return ways * (weights * (1 - nodes) ** count).sum() / special.beta(a, self.b)

    def logpmf(self, count):
        return np.log(self.pmf(count))

    def cdf(self, counts):
        return np.array([sum(self.pmf(x) for x in range(int(count) + 1)) for count in counts])


def log_predictive(likelihood, hyperparameters, values, new, trials=None):
    """Return ln p(new | values)."""
    if likelihood == "categorical":  # scipy's rv_discrete rounds its probabilities
        h = hyperparameters["concentrations"]
        counts = np.bincount(np.asarray(values, dtype=int), minlength=len(h))
        return float(np.log((h[int(new)] + counts[int(new)]) / (sum(h) + len(values))))
    distribution = predictive(likelihood, hyperparameters, values, trials)
    continuous = likelihood in ("exponential", "gaussian", "multivariate_gaussian")
    return float(distribution.logpdf(new) if continuous else distribution.logpmf(new))


def log_joint(columns, labels, hyperparameters, concentration, coarsening=1.0):
    """Return ln p(z) + coarsening ln p(X_obs | z), seated one by one; columns are (likelihood, trials, values)."""
    labels = np.asarray(labels)
    total = 0.0
    for i, label in enumerate(labels):
        seated = np.flatnonzero(labels[:i] == label)
        total += np.log(seated.size if seated.size else concentration) - np.log(i + concentration)
        for name, (likelihood, trials, values) in columns.items():
            if not np.isnan(values[i]):
                before = values[seated][~np.isnan(values[seated])]
                total += coarsening * log_predictive(likelihood, hyperparameters[name], before, values[i], trials)
    return total


def partitions(n):
    """Yield every partition of n subjects as labels."""

    def extend(labels, highest):
        if len(labels) == n:
            yield np.array(labels)
            return
        for label in range(highest + 2):
            yield from extend([*labels, label], max(highest, label))

    yield from extend([0], 0)


def log_weights(columns, labels, hyperparameters, concentration, subject, left_out=None):
    """Return ln p(z = k) + ln p(x | cluster k) of one subject for every cluster and, last, for a new one.

    The row `left_out` is taken out of the cohort first; a cluster that it leaves empty is weighed as a new one.
    """
    labels = np.asarray(labels)
    here = np.arange(labels.size) != left_out
    weights = []
    for k in [*range(labels.max() + 1), None]:
        members = np.flatnonzero(here & (labels == k)) if k is not None else np.zeros(0, dtype=int)
        weight = np.log(members.size if members.size else concentration) - np.log(here.sum() + concentration)
        for name, (likelihood, trials, values) in columns.items():
            if not np.isnan(subject[name]):
                before = values[members][~np.isnan(values[members])]
                weight += log_predictive(likelihood, hyperparameters[name], before, subject[name], trials)
        weights.append(weight)
    return np.array(weights)
