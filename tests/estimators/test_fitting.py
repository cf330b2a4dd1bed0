"""Powers of blocks rise where distinct subtypes explain the dependence inside a block, and stay where none does."""

import numpy as np
import pandas as pd
import pytest

from clinclust import MAPDP, Feature, FeatureSchema
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.estimators import fitting

ITEMS = [f"item_{number}" for number in range(1, 11)]
SCHEMA = FeatureSchema([Feature(name=name, likelihood="ordinal", trials=4, block="scale") for name in ITEMS])


def fitted(values, schema=SCHEMA, **options):
    frame = pd.DataFrame(values, columns=schema.names)
    return MAPDP(schema, **{"n_restarts": 4, "random_state": 0, "progress": False, **options}).fit(frame)


def answers(centres, severity, n=300, seed=1):
    """Return answers 0 to 4 of n people to ten items, int (n, 10), and their groups."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, len(centres), n)
    shared = severity * rng.normal(size=(n, 1))
    return np.clip(np.round(2 + centres[groups] + shared + 0.9 * rng.normal(size=(n, 10))), 0, 4), groups


@pytest.mark.simulation
def test_groups_that_differ_in_the_items_of_one_block_are_found():
    centres = np.random.default_rng(7).choice([-1.2, 1.2], size=(3, 10))
    values, groups = answers(centres, 0.0)
    model = fitted(values)
    assert model.n_clusters_ == 3
    assert adjusted_rand_index(model.labels_, groups) > 0.9
    assert model.block_weights_["scale"] > 0.8
    assert fitted(values, n_clusters=None).block_weights_["scale"] < 0.4  # nothing was tested


@pytest.mark.simulation
def test_of_as_many_subtypes_those_that_explain_the_items_of_a_block_are_kept():
    """Two measurements alone divide these people in two as well, but not into the classes."""
    rng = np.random.default_rng(1)
    groups = rng.choice(3, 1000, p=[0.5, 0.3, 0.2])
    means = np.where(np.arange(8) < 4, [[0.0], [1.6], [0.8]], [[0.0], [1.6], [1.8]])
    items = np.digitize(rng.normal(means[groups], 1.0), [0.2, 1.0, 1.8])
    others = (groups[:, None] == [1, 2]) + rng.normal(size=(1000, 2))
    smokes = rng.random(1000) < 0.2 + 0.3 * (groups == 1)
    schema = [Feature(name=name, likelihood="ordinal", trials=3, block="scale") for name in ITEMS[:8]]
    schema += [Feature(name=name, likelihood="gaussian") for name in ("crp", "hb")]
    schema += [Feature(name="smokes", likelihood="bernoulli")]
    model = fitted(np.column_stack([items, others, smokes]), FeatureSchema(schema))
    assert adjusted_rand_index(model.labels_, groups) > 0.6


@pytest.mark.simulation
def test_a_block_that_measures_one_severity_keeps_its_power():
    values, _ = answers(np.zeros((1, 10)), 1.2)
    model = fitted(values)
    assert model.n_clusters_ == 1
    assert model.block_weights_["scale"] < 0.4


@pytest.mark.simulation
def test_powers_that_were_given_are_kept(monkeypatch):
    quick = {"calibrate": False, "n_restarts": 2}
    monkeypatch.setattr(fitting, "_searched", lambda *_: pytest.fail("a search was made"))
    values, _ = answers(np.random.default_rng(7).choice([-1.2, 1.2], size=(3, 10)), 0.0, n=90)
    assert fitted(values, block_weights={"scale": 0.3}, **quick).block_weights_ == {"scale": 0.3}
    assert fitted(values, block_weights=None, **quick).n_clusters_ == 3
