"""Numbers from one end of the stated ranges to the other: is the joint right?"""

import warnings

import numpy as np
import pandas as pd
from cohorts import in_table
from exact_joint import exact_log_joint

import clinclust as cc
from attack.attempts import Attack
from clinclust.estimators.parameters import LEAST_CONCENTRATION, MOST_CONCENTRATION
from clinclust.likelihoods import REGISTRY

_MOST_SUBJECTS = 24
_RELATIVE_ERROR = 1e-10


def _values(name, rng, n, steps, size):
    """Return values of a column: of any size that is allowed, in two groups that differ, some equal."""
    traits, groups = REGISTRY[name], rng.integers(2, size=n)
    if steps is not None:
        values = rng.binomial(steps, rng.beta(0.7, 0.7, 2)[groups]).astype(float)
    elif traits.is_count:
        values = np.floor(rng.exponential(size, n) * np.array([1.0, 0.2])[groups]).clip(0, traits.largest)
    elif traits.is_real:
        values = (rng.normal(0, 10 ** rng.uniform(-1, 4), 2)[groups] + rng.normal(size=n)) * size
        values += rng.choice([0.0, 100.0]) * size
        values = np.round(values / size) * size if rng.random() < 0.3 else values  # ties
    else:
        values = rng.exponential(1, n) * np.array([1.0, 0.1])[groups] * size
    values[rng.random(n) < 0.15] = np.nan
    return values


def _size(name, rng):
    """Return the scale of the values of a column, from the smallest to the largest that are modelled."""
    traits = REGISTRY[name]
    if traits.is_count:
        return 10 ** rng.uniform(-1, np.log10(traits.largest))
    return 10 ** rng.uniform(-90, 90)


def _prior(feature, values, rng):
    """Return hyperparameters from one end of their bounds to the other."""
    traits = feature.traits
    default = traits.of(feature).default_hyperparameters(values)
    theta = traits.of(feature).as_dict(default)
    for name, value in theta.items():
        low, high = traits.bounds.get(name, traits.usual_bounds)
        if name == "mean":
            spread = np.nanstd(values)
            theta[name] = value + spread * rng.choice([-1, 1]) * 10 ** rng.uniform(-3, 5)
        elif name in traits.with_unit:
            theta[name] = np.multiply(value, 10 ** rng.uniform(np.log10(low) + 0.5, np.log10(high) - 0.5)).tolist()
        elif isinstance(value, list):
            theta[name] = (10 ** rng.uniform(np.log10(low), np.log10(high), len(value))).clip(low, high).tolist()
        else:
            theta[name] = float(np.clip(10 ** rng.uniform(np.log10(low), np.log10(high)), low, high))
    return theta


def _cohort(rng):
    """Return a frame, its schema, the columns for the exact joint, and stated hyperparameters."""
    n = int(rng.integers(2, _MOST_SUBJECTS))
    names = rng.choice(list(REGISTRY), size=int(rng.integers(1, 4)))
    features, frame, columns, stated = [], {}, {}, {}
    for place, name in enumerate(names):
        example = REGISTRY[name].examples()[int(rng.integers(len(REGISTRY[name].examples())))]
        declared = dict(example.fields)
        if "trials" in declared and rng.random() < 0.5:
            declared["trials"] = int(rng.integers(2, REGISTRY[name].most_steps))
        feature = cc.Feature(name=f"x{place}", likelihood=name, **declared)
        steps = feature.n_trials if feature.levels is None or feature.traits.is_scale else len(feature.levels) - 1
        values = _values(name, rng, n, steps, _size(name, rng))
        if np.unique(values[~np.isnan(values)]).size < 2:
            continue
        features.append(feature)
        columns[feature.name] = (name, steps, values)
        frame[feature.name] = in_table(feature, values + feature.lowest)
        stated[feature.name] = _prior(feature, values, rng)
    return pd.DataFrame(frame), cc.FeatureSchema(features) if features else None, columns, stated


def _joints(count, rng, folder):
    """The joint of a random partition beside the same in forty digits."""
    done = 0
    while done < count:
        seed = int(rng.integers(2**32))
        own = np.random.default_rng(seed)
        frame, schema, columns, stated = _cohort(own)
        if schema is None:
            continue
        done += 1
        labels = own.integers(int(own.integers(1, 5)), size=len(frame))
        concentration = float(10 ** own.uniform(np.log10(LEAST_CONCENTRATION), np.log10(MOST_CONCENTRATION)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.CohortWarning)
            try:
                found = cc.log_joint(frame, labels, schema, stated, concentration)
            except Exception as error:
                yield f"cohort {seed}: {type(error).__name__}: {error}"
                continue
        exact = exact_log_joint(columns, labels, stated, concentration)
        wrong = float(abs(found - exact) / max(abs(exact), 1))
        yield None if wrong <= _RELATIVE_ERROR else f"cohort {seed}: {found!r} is off by {wrong:.1e}: {stated}"


ATTACKS = (Attack("numbers: the joint of random cohorts in forty digits", _joints, smoke=20, full=10_000),)
