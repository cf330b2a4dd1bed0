"""Old names of attributes, parameters and an option: they work, with a warning at the line that uses them."""

import argparse
import copy
import pickle

import numpy as np
import pytest
from cohorts import mixed_cohort, with_blocks

from clinclust import MAPDP, GibbsDP, Partition
from clinclust.cli.options import add_options
from clinclust.cli.search_options import SearchOptions
from clinclust.errors import InputError
from clinclust.estimators.estimator import RENAMED
from clinclust.methods import KMeans


@pytest.fixture(scope="module")
def fitted():
    frame, schema, _, _ = mixed_cohort(3, n=40)
    schema = with_blocks(schema)
    return MAPDP.as_published(schema, n_restarts=1, random_state=0, progress=False).fit(frame), frame, schema


@pytest.mark.parametrize("old", list(RENAMED))
def test_an_old_attribute_is_the_new_one(fitted, old):
    model, _, _ = fitted
    with pytest.warns(FutureWarning, match=f"`{old}` is called `{RENAMED[old]}` now") as told:
        value = getattr(model, old)
    assert value is getattr(model, RENAMED[old]) or np.array_equal(value, getattr(model, RENAMED[old]))
    assert [each.filename for each in told] == [__file__]


def test_other_models_have_the_old_names_that_concern_them(fitted):
    _, frame, schema = fitted
    partition = Partition(np.arange(40) % 2, schema, made_by="a clinician")
    means = KMeans(schema, n_clusters=2, random_state=0).fit(frame)
    for model in (partition, means):
        with pytest.warns(FutureWarning, match="kept_out_") as told:
            assert model.kept_out_ == model.uninformative_
        assert [each.filename for each in told] == [__file__]
        assert not hasattr(model, "outlying_")
        assert copy.copy(model).uninformative_ == pickle.loads(pickle.dumps(model)).uninformative_


def test_old_parameters_are_taken_for_the_new_ones(fitted):
    _, _, schema = fitted
    weights = {"block 0": 0.5}
    made = (
        lambda: MAPDP(schema, block_powers=weights).block_weights,
        lambda: GibbsDP(schema, block_powers=weights).block_weights,
        lambda: MAPDP(schema).set_params(block_powers=weights).block_weights,
    )
    for make in made:
        with pytest.warns(FutureWarning, match="`block_powers` is called `block_weights` now") as told:
            assert make() == weights
        assert [each.filename for each in told] == [__file__]
    with pytest.raises(TypeError, match="power_of_blocks"):
        MAPDP(schema, power_of_blocks=weights)
    with pytest.raises(InputError, match="has no parameter power_of_blocks"):
        MAPDP(schema).set_params(power_of_blocks=weights)


def test_the_old_option_is_taken_and_not_shown():
    parser = argparse.ArgumentParser()
    add_options(parser, SearchOptions)
    with pytest.warns(FutureWarning, match="--block-powers is called --block-weights now"):
        assert parser.parse_args(["--block-powers", "none"]).block_weights == "none"
    assert "--block-powers" not in parser.format_help()
