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
