"""Cohorts in which tests after clustering go wrong, or should find what is there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from clinclust import Feature

__all__ = ["SCENARIOS", "Drawn"]

N_SUBJECTS, N_FEATURES = 400, 10
N_PERSONS = 100


class Drawn(NamedTuple):
    """One cohort: its columns, what each is declared to be, and the features that are counted."""

    columns: dict[str, np.ndarray]
    features: list[Feature]
    counted: list[str]
    given: np.ndarray | None = None
    """(N,) a given partition; None: subtypes are searched."""
    n_clusters: int | None = None
    """The number of subtypes asked for; None: as the fit finds."""


def gaussian_noise(rng: np.random.Generator) -> Drawn:
    """Draw normal noise."""
    return _alike(rng.normal(size=(N_SUBJECTS, N_FEATURES)), "gaussian")


def exponential_noise(rng: np.random.Generator) -> Drawn:
    """Draw exponential noise."""
    return _alike(rng.exponential(size=(N_SUBJECTS, N_FEATURES)), "exponential")


def misdeclared(rng: np.random.Generator) -> Drawn:
    """Draw exponential noise that is declared Gaussian, which is split into many subtypes."""
    return _alike(rng.exponential(size=(N_SUBJECTS, N_FEATURES)), "gaussian")


def yes_no_noise(rng: np.random.Generator) -> Drawn:
    """Draw yes/no noise."""
    return _alike((rng.random((N_SUBJECTS, N_FEATURES)) < rng.uniform(0.1, 0.9, N_FEATURES)).astype(float), "bernoulli")


def mixed_noise(rng: np.random.Generator, shift: float = 0.0, n_informative: int = 0) -> Drawn:
    """Draw independent features of every likelihood, 10% missing; half of the cohort is shifted in some normal ones."""
    half = np.repeat([0.0, 1.0], N_SUBJECTS // 2)
    columns: dict[str, np.ndarray] = {
        f"informative{i}": rng.normal(size=N_SUBJECTS) + shift * half for i in range(n_informative)
    }
    features = [Feature(name=name, likelihood="gaussian") for name in columns]
    noise: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
        "normal": (rng.normal(size=N_SUBJECTS), {"likelihood": "gaussian"}),
        "tailed": (rng.exponential(size=N_SUBJECTS), {"likelihood": "gaussian"}),
        "lognormal": (np.exp(rng.normal(size=N_SUBJECTS)), {"likelihood": "gaussian", "transform": "log"}),
        "duration": (rng.exponential(size=N_SUBJECTS), {"likelihood": "exponential"}),
        "count": (rng.poisson(2.0, N_SUBJECTS), {"likelihood": "poisson"}),
        "long_count": (rng.geometric(0.3, N_SUBJECTS) - 1, {"likelihood": "geometric"}),
        "scale": (rng.binomial(4, 0.3, N_SUBJECTS), {"likelihood": "binomial", "trials": 4}),
        "rare": (rng.random(N_SUBJECTS) < 0.05, {"likelihood": "bernoulli"}),
        "kind": (
            rng.choice(4, N_SUBJECTS, p=[0.6, 0.2, 0.15, 0.05]),
            {"likelihood": "categorical", "levels": list("0123")},
        ),
    }
    for name, (values, declared) in noise.items():
        values = np.where(rng.random(N_SUBJECTS) < 0.1, np.nan, values.astype(float))
        columns[name] = values
        features.append(Feature(name=name, **declared))
    return Drawn(columns, features, list(noise))


def beside_informative(rng: np.random.Generator) -> Drawn:
    """Draw noise of every kind beside five normal features that differ by 1.5 SD between the halves of the cohort."""
    return mixed_noise(rng, 1.5, 5)


def one_driver(rng: np.random.Generator) -> Drawn:
    """Draw normal noise beside one feature that alone makes the subtypes: its two halves are 6 SD apart."""
    drawn = gaussian_noise(rng)
    drawn.columns["x0"] = drawn.columns["x0"] + 6.0 * (rng.random(N_SUBJECTS) < 0.5)
    return drawn._replace(counted=[name for name in drawn.counted if name != "x0"])


def pairs(rng: np.random.Generator, *, declared: bool) -> Drawn:
    """Draw exponential features, declared Gaussian, in pairs whose ranks correlate at .7, as blocks or undeclared."""
    from scipy.special import ndtr

    shared = np.repeat(rng.normal(size=(N_SUBJECTS, N_FEATURES // 2)), 2, axis=1)
    normal = np.sqrt(0.7) * shared + np.sqrt(0.3) * rng.normal(size=(N_SUBJECTS, N_FEATURES))
    drawn = _alike(-np.log(ndtr(-normal)), "gaussian")
    if not declared:
        return drawn
    blocks = [f"pair {place // 2}" for place in range(N_FEATURES)]
    named = zip(drawn.features, blocks, strict=True)
    return drawn._replace(features=[Feature(**{**feature.content(), "block": block}) for feature, block in named])


def correlated_noise(rng: np.random.Generator, r: float = 0.3, n_clusters: int | None = None) -> Drawn:
    """Draw normal noise in which all pairs of features correlate at r, by one common factor."""
    factor, own = rng.normal(size=(N_SUBJECTS, 1)), rng.normal(size=(N_SUBJECTS, N_FEATURES))
    return _alike(np.sqrt(r) * factor + np.sqrt(1 - r) * own, "gaussian")._replace(n_clusters=n_clusters)


def informative(rng: np.random.Generator, shift: float) -> Drawn:
    """Draw ten normal features of which five differ by so many SD between the halves of the cohort: these count."""
    drawn = gaussian_noise(rng)
    half = np.repeat([0.0, 1.0], N_SUBJECTS // 2)
    for place in range(5):
        drawn.columns[f"x{place}"] = drawn.columns[f"x{place}"] + shift * half
    return drawn._replace(counted=drawn.counted[:5])


def missing_by_size(rng: np.random.Generator) -> Drawn:
    """Draw noise whose high values are missing in one half only, beside five normal features that make the halves."""
    drawn = informative(rng, 1.5)
    half = np.repeat([False, True], N_SUBJECTS // 2)
    noise = drawn.features[5:]
    for feature in noise:
        values = drawn.columns[feature.name]
        drawn.columns[feature.name] = np.where(half & (values > 0.5), np.nan, values)
    return drawn._replace(counted=[feature.name for feature in noise])


def missing_in_equal_shares(rng: np.random.Generator) -> Drawn:
    """Draw noise of which 12% are missing in each half, high values in one and low ones in the other."""
    drawn = informative(rng, 1.5)
    half = np.repeat([-1.0, 1.0], N_SUBJECTS // 2)
    noise = drawn.features[5:]
    for feature in noise:
        values = drawn.columns[feature.name]
        drawn.columns[feature.name] = np.where(half * values > 1.175, np.nan, values)
    return drawn._replace(counted=[feature.name for feature in noise])


def unequal_spread(rng: np.random.Generator) -> Drawn:
    """Draw a given subtype of 10% with three times the spread and equal means; no feature made it."""
    small = np.arange(N_SUBJECTS) < N_SUBJECTS // 10
    table = rng.normal(size=(N_SUBJECTS, N_FEATURES)) * np.where(small, 3.0, 1.0)[:, None]
    return _given(table, small)


def by_sex(rng: np.random.Generator, shift: float) -> Drawn:
    """Draw normal features that differ by so many SD between the sexes, which are the given partition."""
    sex = rng.random(N_SUBJECTS) < 0.5
    return _given(rng.normal(size=(N_SUBJECTS, N_FEATURES)) + shift * sex[:, None], sex)


def _given(table: np.ndarray, labels: np.ndarray) -> Drawn:
    drawn = _alike(table, "gaussian")
    features = [Feature(name=feature.name, likelihood="gaussian", role="describe") for feature in drawn.features]
    return drawn._replace(features=features, given=labels.astype(np.int64))


def known_labels(rng: np.random.Generator, r: float = 0.0) -> Drawn:
    """Draw two halves by 2 SD in five of ten features, and described labels that agree with them in 80% to 95%."""
    drawn = dependent_beside_informative(rng, r)
    half = np.repeat([0, 1], N_SUBJECTS // 2)
    labels = {f"diagnosis{i}": np.where(rng.random(N_SUBJECTS) < i, half, 1 - half) for i in (0.8, 0.9, 0.95)}
    labels["hospital"] = half + 2 * (rng.random(N_SUBJECTS) < 0.4) * (rng.random(N_SUBJECTS) < 0.5 + 0.4 * half)
    features = [
        Feature(name=name, likelihood="categorical", levels=["0", "1", "2", "3"], role="describe") for name in labels
    ]
    columns = drawn.columns | {name: values.astype(float) for name, values in labels.items()}
    return drawn._replace(columns=columns, features=[*drawn.features, *features], counted=list(labels))


def described_copy(rng: np.random.Generator, *, beside: bool) -> Drawn:
    """Draw noise with t tails (3 df), declared Gaussian, and a described copy (r = .8) of one noise feature.

    The copy is counted. `beside`: five further features make two halves.
    """
    drawn = informative(rng, 1.5) if beside else _alike(rng.standard_t(3, size=(N_SUBJECTS, N_FEATURES)), "gaussian")
    source = drawn.columns["x9"]
    drawn.columns["copy"] = 0.8 * source / source.std() + 0.6 * rng.normal(size=N_SUBJECTS)
    features = [*drawn.features, Feature(name="copy", likelihood="gaussian", role="describe")]
    return drawn._replace(features=features, counted=["copy"])


def repeated_rows(rng: np.random.Generator) -> Drawn:
    """Draw persons with four rows each: five features make two kinds of persons, five differ between persons only."""
    person = np.repeat(np.arange(N_PERSONS), N_SUBJECTS // N_PERSONS)
    own = rng.normal(size=(N_PERSONS, N_FEATURES))[person]
    table = 0.8 * own + 0.6 * rng.normal(size=(N_SUBJECTS, N_FEATURES))
    table[:, :5] += 3.0 * (person % 2)[:, None]
    drawn = _alike(table, "gaussian")
    drawn.columns["person"] = person.astype(str)
    drawn.columns["row"] = np.arange(N_SUBJECTS).astype(str)
    ids = [Feature(name=name, role="id") for name in ("person", "row")]
    return drawn._replace(features=[*drawn.features, *ids], counted=drawn.counted[5:])


def dependent_beside_informative(rng: np.random.Generator, r: float = 0.3) -> Drawn:
    """Draw ten normal features of which all pairs correlate at r, and five differ by 2 SD; the others are counted."""
    drawn = correlated_noise(rng, r)
    half = np.repeat([0.0, 1.0], N_SUBJECTS // 2)
    for place in range(5):
        drawn.columns[f"x{place}"] = drawn.columns[f"x{place}"] + 2.0 * half
    return drawn._replace(counted=drawn.counted[5:])


def rare_events_of_rare_kinds(rng: np.random.Generator) -> Drawn:
    """Draw three kinds of 4 or 5 subjects, 8 SD apart in five normal features, and six counts of rare events."""
    kind = np.zeros(N_SUBJECTS)
    kind[:13] = np.repeat([1.0, 2.0, 3.0], [4, 4, 5])
    drawn = _alike(rng.normal(size=(N_SUBJECTS, 5)) + 8.0 * kind[:, None], "gaussian")
    events = {f"events{place}": rng.poisson(0.05, N_SUBJECTS).astype(float) for place in range(6)}
    features = [Feature(name=name, likelihood="poisson") for name in events]
    return Drawn(drawn.columns | events, drawn.features + features, list(events))


def only_together(rng: np.random.Generator) -> Drawn:
    """Draw 14 normal features of which four differ by 1.5 SD, so that three of them alone make no subtypes."""
    drawn = _alike(rng.normal(size=(N_SUBJECTS, 14)), "gaussian")
    half = np.repeat([0.0, 1.0], N_SUBJECTS // 2)
    for place in range(4):
        drawn.columns[f"x{place}"] = drawn.columns[f"x{place}"] + 1.5 * half
    return drawn._replace(counted=drawn.counted[:4])


RELATIONS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "yes/no, a cut-off of one feature": lambda x, noise, u: x[:, 0] > 0,
    "yes/no, a cut-off of either of two features": lambda x, noise, u: (x[:, 0] > 0.5) | (x[:, 1] > 0.5),
    "yes/no, logistic in two features": lambda x, noise, u: u < _sigmoid(1.5 * (x[:, 0] + x[:, 1])),
    "yes/no, logistic in the mean of the features": lambda x, noise, u: u < _sigmoid(2.0 * x[:, :5].mean(axis=1)),
    "a sigmoid of the mean of the features": lambda x, noise, u: _sigmoid(2.0 * x[:, :5].mean(axis=1)) + 0.1 * noise,
    "exponential in the mean": lambda x, noise, u: np.exp(x[:, :5].mean(axis=1)) + 0.5 * noise,
    "linear in the mean": lambda x, noise, u: x[:, :5].mean(axis=1) + 0.7 * noise,
    "the product of two features": lambda x, noise, u: x[:, 0] * x[:, 1] + noise,
}
"""Columns that follow from features (N, 10), around 0 where the groups meet, normal noise and uniform draws (N,)."""
STEPS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "yes/no, a step of the mean of the features": lambda x, noise, u: x[:, :5].mean(axis=1) > 0,
    "a step of the mean of the features": lambda x, noise, u: (x[:, :5].mean(axis=1) > 0) + 0.1 * noise,
}
"""Further columns that follow from features, as steep as a border between groups: of three groups only."""
OF_THREE = [name for name in RELATIONS if "mean" in name]


def related(rng: np.random.Generator, relation: str, n: int) -> Drawn:
    """Draw two halves by 1.5 SD in five of ten features, and a described column that follows from the features only.

    Everybody is in the half that is more probable by the features.
    """
    half = rng.random(n) < 0.5
    table = rng.normal(size=(n, N_FEATURES)) + np.where(np.arange(N_FEATURES) < 5, half[:, None] * 1.5 - 0.75, 0.0)
    values = RELATIONS[relation](table, rng.normal(size=n), rng.random(n))
    return _beside_halves(table, values)


def related_of_three(rng: np.random.Generator, relation: str, n: int) -> Drawn:
    """Draw three groups, two of them by 2.5 SD in three of ten features each, and a column of the features only."""
    groups = rng.integers(3, size=n)
    far = np.zeros((3, N_FEATURES))
    far[1, :3], far[2, 3:6] = 2.5, 2.5
    table = rng.normal(size=(n, N_FEATURES)) + far[groups] - far.mean(axis=0)
    values = (RELATIONS | STEPS)[relation](table, rng.normal(size=n), rng.random(n))
    return _beside_groups(table, values, groups)


def of_subtype(rng: np.random.Generator, n: int, likelihood: str) -> Drawn:
    """Draw the same features, and a column of the half only: a yes/no label right in 90%, or a shift by 1 SD."""
    half = rng.random(n) < 0.5
    table = rng.normal(size=(n, N_FEATURES)) + np.where(np.arange(N_FEATURES) < 5, half[:, None] * 1.5 - 0.75, 0.0)
    is_right = rng.random(n) < 0.9
    values = half == is_right if likelihood == "bernoulli" else half + rng.normal(size=n)
    return _beside_halves(table, values)


def _beside_halves(table: np.ndarray, values: np.ndarray) -> Drawn:
    return _beside_groups(table, values, (table[:, :5].sum(axis=1) > 0).astype(np.int64))


def _beside_groups(table: np.ndarray, values: np.ndarray, given: np.ndarray) -> Drawn:
    drawn = _alike(table, "gaussian")
    likelihood = "bernoulli" if values.dtype == np.bool_ else "gaussian"
    column = Feature(name="column", likelihood=likelihood, role="describe")
    columns = drawn.columns | {"column": values.astype(float)}
    return Drawn(columns, [*drawn.features, column], ["column"], given)


def _sigmoid(values: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-values))


def _alike(table: np.ndarray, likelihood: str) -> Drawn:
    names = [f"x{place}" for place in range(table.shape[1])]
    features = [Feature(name=name, likelihood=likelihood) for name in names]
    return Drawn(dict(zip(names, table.T, strict=True)), features, names)


SCENARIOS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    "noise, normal": gaussian_noise,
    "noise, exponential": exponential_noise,
    "noise, exponential declared Gaussian": misdeclared,
    "noise, yes/no": yes_no_noise,
    "noise, of every likelihood, 10% missing": mixed_noise,
    "noise features beside five informative ones (1.5 SD)": beside_informative,
    "noise features beside one that alone makes the subtypes": one_driver,
    "noise pairs, r = .7, declared as blocks": partial(pairs, declared=True),
    "noise pairs, r = .7, undeclared": partial(pairs, declared=False),
    "noise, all pairs r = .3, undeclared": correlated_noise,
    "noise, all pairs r = .3, beside five informative features (2 SD)": dependent_beside_informative,
    "weak common factor, all pairs r = .2, cut into two subtypes": partial(correlated_noise, r=0.2, n_clusters=2),
    "weak common factor, r = .2, beside five informative features (2 SD)": partial(dependent_beside_informative, r=0.2),
    "given subtype of 10% with three times the spread": unequal_spread,
    "noise, 12% missing in each subtype, high values in one, low in the other": missing_in_equal_shares,
    "sex as the given partition, unrelated features": partial(by_sex, shift=0.0),
    "sex as the given partition, features that differ by 0.5 SD: power": partial(by_sex, shift=0.5),
    "known labels: power": known_labels,
    "known labels, all pairs of features r = .2: power": partial(known_labels, r=0.2),
    "noise, high values missing in one subtype only": missing_by_size,
    "described copy (r = .8) of noise with t tails": partial(described_copy, beside=False),
    "described copy (r = .8) of noise beside five informative features": partial(described_copy, beside=True),
    "noise of persons with four rows each": repeated_rows,
    "rare events beside three kinds of 4 or 5 subjects each": rare_events_of_rare_kinds,
    "four informative features of 14, 1.5 SD: power": only_together,
    "informative features, 0.7 SD: power": partial(informative, shift=0.7),
    "informative features, 1.5 SD: power": partial(informative, shift=1.5),
    **{f"{name}, N {n}": partial(related, relation=name, n=n) for name in RELATIONS for n in (400, 1500)},
    **{
        f"{name} by the subtype only, N {n}: power": partial(of_subtype, n=n, likelihood=likelihood)
        for name, likelihood in (("yes/no", "bernoulli"), ("a measurement", "gaussian"))
        for n in (400, 1500)
    },
    **{
        f"three groups: {name}, N {n}": partial(related_of_three, relation=name, n=n)
        for name in [*OF_THREE, *(name for name in (RELATIONS | STEPS) if name not in OF_THREE)]
        for n in (400, 1500)
    },
}
