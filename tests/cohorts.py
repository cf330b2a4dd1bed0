"""Mixed cohorts for the tests: every likelihood, clusters, missing values."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd

from clinclust import Feature, FeatureSchema
from clinclust.engine.search.settle import groups_by_decreasing_size
from clinclust.likelihoods import REGISTRY
from clinclust.methods import PublishedMAPDP

LIKELIHOODS = ("bernoulli", "binomial", "categorical", "poisson", "geometric", "exponential", "gaussian")
EVERY_LIKELIHOOD = tuple(REGISTRY)
TRIALS = REGISTRY["binomial"].examples()[0].fields["trials"]
LEVELS = REGISTRY["categorical"].examples()[0].fields["levels"]


def feature(name, likelihood, **fields):
    """Return a feature that declares what the first example of its likelihood declares."""
    return Feature(name=name, likelihood=likelihood, **{**REGISTRY[likelihood].examples()[0].fields, **fields})


def gaussian_schema(names, block=None, **settings):
    """Return a schema in which every feature is Gaussian."""
    return FeatureSchema([Feature(name=name, likelihood="gaussian", block=block) for name in names], **settings)


def schema_of(names, /, **others):
    """Return a schema of Gaussian features, and of others: by name, the likelihood or all fields that differ."""
    fields = {name: others.get(name, {}) for name in [*names, *others]}
    fields = {name: own if isinstance(own, dict) else {"likelihood": own} for name, own in fields.items()}
    return FeatureSchema([Feature(**{"name": name, "likelihood": "gaussian", **own}) for name, own in fields.items()])


def quick_fit(frame, schema=None, **options):
    """Return a fit of two restarts; without a schema, every column is Gaussian."""
    options = {"n_restarts": 2, "random_state": 0, "progress": False} | options
    return PublishedMAPDP(schema or gaussian_schema(frame), **options).fit(frame)


def mixed_cohort(seed, n, likelihoods=LIKELIHOODS, n_groups=3, missing=0.1):
    """Return (frame, schema, columns for the oracle, groups); constant and empty columns are left out.

    The schema is None when no column is left.
    """
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=n)
    features, frame, columns = [], {}, {}
    for index, likelihood in enumerate(likelihoods):
        values = REGISTRY[likelihood].examples()[0].column(rng, groups, n_groups)
        values[rng.random(n) < missing] = np.nan
        if np.unique(values[~np.isnan(values)]).size < 2:
            continue
        name = f"{likelihood}_{index}"
        features.append(feature(name, likelihood))
        columns[name] = (likelihood, features[-1].n_trials, values)
        frame[name] = in_table(features[-1], values)
    return pd.DataFrame(frame), FeatureSchema(features) if features else None, columns, groups


def severity_cohort(seed, n=160, n_groups=1, separation=4.0, missing=0.0):
    """Return (frame, schema, groups): one severity runs through eight measurements, groups differ in four beside it."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % n_groups
    centres = separation * np.array([[0] * 8, [1] * 4 + [0] * 4, [0] * 4 + [1] * 4])[:n_groups]
    X = centres[groups] + 0.7 * rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, 8))
    X[rng.random(X.shape) < missing] = np.nan
    schema = gaussian_schema([f"x{column}" for column in range(8)])
    return pd.DataFrame(X, columns=schema.names), schema, groups


def wild_cohort(times):
    """Return two subtypes, two subjects far away, and values so many times too large that make up small clusters."""
    rng = np.random.default_rng(0)
    values = np.vstack([rng.normal(mean, 1, (n, 5)) for mean, n in ((0, 120), (3, 60), (12, 2))])
    values[rng.random(values.shape) < 0.01] *= times
    return pd.DataFrame(values, columns=list("abcde"))


def with_groups(model, groups):
    """Return a fitted model whose clusters are merged to these groups."""
    merged = copy.copy(model)
    subtype_of = groups_by_decreasing_size(np.asarray(groups), model.fit_.clusters_.sizes.astype(np.int64))
    merged.n_clusters, merged.fit_ = None, replace(model.fit_, subtype_of_=subtype_of)
    return merged


def with_blocks(schema, n_blocks=2):
    """Return the schema with every third feature in no block, the others in blocks in turn.

    A block of multivariate Gaussian features has no power, so these stay by themselves.
    """
    blocks = [
        None if place % 3 == 2 or one.traits.is_chained else f"block {place % n_blocks}"
        for place, one in enumerate(schema)
    ]
    return FeatureSchema(
        [Feature(**{**one.content(), "block": block}) for one, block in zip(schema, blocks, strict=True)]
    )


def every_example(name, place, rng, n, levels, **fields):
    """Return a feature and its column: the examples of all likelihoods in turn, levels with these texts."""
    examples = [(likelihood, example) for likelihood in REGISTRY for example in REGISTRY[likelihood].examples()]
    likelihood, example = examples[place % len(examples)]
    declared = dict(example.fields)
    if "levels" in declared:
        declared["levels"] = tuple(levels[: len(declared["levels"])])
    made = Feature(name=name, likelihood=likelihood, **declared, **fields)
    return made, in_table(made, example.column(rng, np.arange(n) % 2, 2))


def in_table(declared, values):
    """Return values as a table holds them: levels as texts."""
    if declared.levels is None:
        return values
    texts = np.array([*declared.levels, None], dtype=object)
    return texts[np.where(np.isnan(values), len(declared.levels), values).astype(int)]


def random_hyperparameters(rng, columns):
    """Return a random prior for every feature, by name."""
    return {
        name: REGISTRY[likelihood].examples()[0].random_prior(rng, values)
        for name, (likelihood, _, values) in columns.items()
    }
