"""The log joint of any partition in forty digits, from the definitions, with mpmath: no formula of the package."""

import mpmath
import numpy as np
from mpmath import mpf

mpmath.mp.dps = 40
_log_gamma = mpmath.loggamma


def exact_log_joint(columns, labels, hyperparameters, concentration):
    """Return ln p(X_obs, z), an mpf; columns are (likelihood, trials or levels above the first, values) by name."""
    members = [np.flatnonzero(labels == cluster) for cluster in np.unique(labels)]
    total = _log_prior([rows.size for rows in members], mpf(float(concentration)))
    for name, (likelihood, steps, values) in columns.items():
        stated = {
            key: [mpf(float(item)) for item in value] if isinstance(value, list) else mpf(float(value))
            for key, value in hyperparameters[name].items()
        }
        for rows in members:
            observed = [mpf(float(value)) for value in values[rows] if not np.isnan(value)]
            total += _MARGINALS[likelihood](observed, steps, **stated)
    return total


def _log_prior(sizes, concentration):
    """The seating rule: the first of a table sits down with weight N0, each other with weight n."""
    total = -(_log_gamma(concentration + sum(sizes)) - _log_gamma(concentration))
    for size in sizes:
        total += mpmath.log(concentration) + _log_gamma(size)
    return total


def _log_beta(a, b):
    return _log_gamma(a) + _log_gamma(b) - _log_gamma(a + b)


def _binomial(values, trials, a, b):
    ways = sum(_log_gamma(trials + 1) - _log_gamma(x + 1) - _log_gamma(trials - x + 1) for x in values)
    return ways + _log_beta(a + sum(values), b + trials * len(values) - sum(values)) - _log_beta(a, b)


def _negative_binomial(values, _, a, b, dispersion):
    ways = sum(_log_gamma(x + dispersion) - _log_gamma(dispersion) - _log_gamma(x + 1) for x in values)
    return ways + _log_beta(a + dispersion * len(values), b + sum(values)) - _log_beta(a, b)


def _geometric(values, steps, a, b):
    return _negative_binomial(values, steps, a, b, mpf(1))


def _poisson(values, _, shape, rate):
    after = _log_gamma(shape + sum(values)) - (shape + sum(values)) * mpmath.log(rate + len(values))
    return after - _log_gamma(shape) + shape * mpmath.log(rate) - sum(_log_gamma(x + 1) for x in values)


def _exponential(values, _, shape, rate):
    after = _log_gamma(shape + len(values)) - (shape + len(values)) * mpmath.log(rate + sum(values))
    return after - _log_gamma(shape) + shape * mpmath.log(rate)


def _categorical(values, _, concentrations):
    total = sum(concentrations)
    return (
        sum(_log_gamma(c + sum(x == level for x in values)) - _log_gamma(c) for level, c in enumerate(concentrations))
        + _log_gamma(total)
        - _log_gamma(total + len(values))
    )


def _ordinal(values, _, lower, upper):
    def below(first, last):
        if last - first < 2:
            return mpf(0)
        middle = (first + last) // 2
        a, b = lower[middle - 1], upper[middle - 1]
        s, t = sum(first <= x < middle for x in values), sum(middle <= x < last for x in values)
        return _log_beta(a + s, b + t) - _log_beta(a, b) + below(first, middle) + below(middle, last)

    return below(0, len(lower) + 1)


def _gaussian(values, _, mean, kappa, shape, rate):
    total = mpf(0)
    for x in values:  # the chain of Student's predictives
        scale = rate * (kappa + 1) / (shape * kappa)
        total += _log_gamma(shape + mpf(1) / 2) - _log_gamma(shape) - mpmath.log(2 * shape * mpmath.pi * scale) / 2
        total -= (shape + mpf(1) / 2) * mpmath.log1p((x - mean) ** 2 / (2 * shape * scale))
        rate += kappa * (x - mean) ** 2 / (2 * (kappa + 1))
        mean, kappa, shape = (kappa * mean + x) / (kappa + 1), kappa + 1, shape + mpf(1) / 2
    return total


def _alone_in_a_block(values, _, mean, kappa, degrees, scatter):
    return _gaussian(values, _, mean, kappa, degrees / 2, scatter[0] / 2)


_MARGINALS = {
    "bernoulli": _binomial,
    "binomial": _binomial,
    "categorical": _categorical,
    "ordinal": _ordinal,
    "poisson": _poisson,
    "geometric": _geometric,
    "negative_binomial": _negative_binomial,
    "exponential": _exponential,
    "gaussian": _gaussian,
    "multivariate_gaussian": _alone_in_a_block,
}
