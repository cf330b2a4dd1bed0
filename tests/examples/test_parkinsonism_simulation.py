"""The simulated parkinsonism cohort is what its README and the paper say that it is."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import read_beside
from separability import error_rates
from simulate import MISSING, simulate, write_cohort
from truth import GROUP_SIZES, GROUPS, SCHEMA, differing, outcome_table, published, read_truth

import clinclust as cc

EXAMPLE = Path(__file__).parents[2] / "examples" / "parkinsonism"

TABLE_3, TABLE_4 = (read_beside(__file__)[f"table_{number}"] for number in (3, 4))


@pytest.fixture(scope="module")
def schema():
    return cc.FeatureSchema.from_yaml(SCHEMA)


@pytest.fixture(scope="module")
def truth():
    return read_truth()


@pytest.fixture(scope="module")
def cohort():
    return simulate()


def test_group_sizes_are_the_published_percentages_of_527(cohort):
    rounded = [round(527 * percent / 100 + 1e-9) for percent in (50, 43, 5, 1.6, 0.4)]
    assert rounded == list(GROUP_SIZES)
    assert sum(GROUP_SIZES) == 527
    frame, groups = cohort
    assert len(frame) == 527
    assert groups.value_counts().sort_index().tolist() == rounded
    assert not groups.is_monotonic_increasing


def test_215_features_of_the_four_kinds(schema, truth):
    kinds = Counter(feature.likelihood for feature in schema.clustered)
    assert kinds.total() == 215
    assert set(kinds) == {"bernoulli", "binomial", "categorical", "poisson"}
    assert truth.index.tolist() == [feature.name for feature in schema.clustered]
    assert truth.index.is_unique
    assert [feature.name for feature in schema.ids] == ["patient_id"]
    assert [feature.name for feature in schema.described] == ["probability_of_pd"]


def test_labels_tell_the_features_apart(schema):
    titles = [feature.title for feature in schema.clustered]
    assert len(set(titles)) == len(titles)
    assert all(feature.label and feature.section for feature in schema.clustered)


def test_61_features_truly_differ_between_the_two_largest_groups(truth):
    names = differing(truth, "group_1", "group_2")
    assert len(names) == 61
    assert set(published(truth).index) <= set(names)


def test_every_parameter_is_a_distribution(schema, truth):
    for feature in schema.clustered:
        values, probability = outcome_table(feature, truth)
        assert probability.shape == (len(GROUPS), len(values)), feature.name
        assert (probability >= 0).all(), feature.name
        np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-12, err_msg=feature.name)
        if feature.likelihood == "categorical":
            for parameter in truth.loc[feature.name, list(GROUPS)]:
                assert math.isclose(sum(map(float, parameter.split("/"))), 1), feature.name


def test_published_parameters_are_the_truth_to_the_printed_digit(schema, truth):
    by_title = {schema[name].title: row for name, row in published(truth).iterrows()}
    assert set(by_title) == set(TABLE_3) | set(TABLE_4)
    for title, printed in TABLE_3.items():
        assert by_title[title][list(GROUPS[:4])].tolist() == printed, title
        assert by_title[title]["source"] == "Table 3"
        assert schema[by_title[title].name].likelihood == "bernoulli"
    for title, (lowest, highest, *printed) in TABLE_4.items():
        assert by_title[title][list(GROUPS[:4])].tolist() == printed, title
        assert by_title[title]["source"] == "Table 4"
        feature = schema[by_title[title].name]
        assert (feature.likelihood, feature.lowest, feature.n_trials) == ("binomial", lowest, highest - lowest), title


def test_hoehn_and_yahr_stages_are_mapped_as_in_the_paper(schema):
    assert schema["hoehn_yahr"].levels == ("0", "1", "1.5", "2", "2.5", "3", "4", "5")


def test_missing_share_is_within_sampling_error(cohort, schema):
    frame, groups = cohort
    missing = frame[[feature.name for feature in schema.clustered]] == ""
    values = missing.size
    assert abs(missing.to_numpy().mean() - MISSING) < 4 * math.sqrt(MISSING * (1 - MISSING) / values)
    # Completely at random: neither the group nor the feature matters. Four standard errors, about 220
    # comparisons.
    for share, number in (
        (missing.groupby(groups).mean().mean(axis=1), np.array(GROUP_SIZES) * 215),
        (missing.mean(), 527),
    ):
        assert (abs(share - MISSING) < 4 * np.sqrt(MISSING * (1 - MISSING) / number)).all()
    assert (frame[["patient_id", "probability_of_pd"]] != "").all(axis=None)


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    write_cohort(tmp_path)
    for name in ("cohort.csv", "true_groups.csv"):
        assert (tmp_path / name).read_bytes() == (EXAMPLE / name).read_bytes()


def test_another_seed_gives_another_cohort(cohort):
    frame, _ = simulate(seed=1)
    assert not frame.equals(cohort[0])


def test_the_schema_validates_the_cohort_as_written(schema, cohort):
    frame = schema.validate(cc.read_cohort(EXAMPLE / "cohort.csv"))
    assert frame.shape == (527, 217)
    drawn = cohort[0]
    for feature in schema.clustered:
        observed = (drawn[feature.name] != "").to_numpy()
        assert (~np.isnan(feature.scores(frame[feature.name])) == observed).all(), feature.name


def test_the_specialist_is_as_sure_as_the_paper_says(cohort):
    frame, groups = cohort
    rating = frame["probability_of_pd"].astype(int)
    assert rating[groups <= 2].between(90, 100).all()
    assert (rating[groups == 5] < 50).all()


@pytest.mark.simulation
def test_a_large_cohort_agrees_with_the_truth(schema, truth):
    size = 4000
    frame, groups = simulate(seed=7, sizes=[size] * 5, missing=0.0)
    z = []
    for feature in schema.clustered:
        values, probability = outcome_table(feature, truth)
        codes = pd.Series(pd.Index(values).get_indexer(frame[feature.name]))
        assert (codes >= 0).all()
        for group in range(5):
            expected = size * probability[group]
            seen = np.bincount(codes[groups == group + 1], minlength=len(values))
            assert (seen[probability[group] == 0] == 0).all()
            spread = np.sqrt(expected * (1 - probability[group]))
            common = expected * (1 - probability[group]) > 10
            z.extend((seen - expected)[common] / spread[common])
            if feature.likelihood != "categorical":
                score = np.arange(len(values))
                mean = float(truth.loc[feature.name, GROUPS[group]]) - (feature.lowest or 0)
                sd = math.sqrt(probability[group] @ (score - score @ probability[group]) ** 2)
                assert abs(seen @ score / size - mean) <= 4.5 * sd / math.sqrt(size) + 1e-9, (feature.name, group)
    # Thousands of nearly standard normal deviations: none wild, and neither too large nor too small as a
    # whole.
    assert np.abs(z).max() < 5
    assert 0.95 < np.std(z) < 1.05


@pytest.mark.simulation
def test_the_groups_can_be_told_apart():
    assert (error_rates([1000] * 5) < 0.01).all()
