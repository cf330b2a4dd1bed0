"""Ready schemas of instruments, and schemas put together."""

import re
from pathlib import Path

import pytest

from clinclust import FeatureSchema
from clinclust.cli import main
from clinclust.errors import InputError
from clinclust.schema.feature_schema import instruments, schema_of_instrument

SUMS = {"phq9": 27, "gad7": 21, "hads": 42, "nihss": 42}


@pytest.mark.parametrize("name", instruments())
def test_an_instrument_names_its_source_and_comes_back_from_yaml(name):
    schema = FeatureSchema.of_instrument(name)
    comments = [line for line in schema_of_instrument(name).splitlines() if line.startswith("#")]
    source = re.search(r"\b[12]\d{3}, [\w ]+ \d+, \d+-\d+", comments[-1])[0]  # year, journal, volume, pages
    listed = (Path(__file__).parents[2] / "schemas" / "README.md").read_text(encoding="utf-8")
    assert source in next(line for line in listed.splitlines() if line.startswith(f"| `{name}` |"))
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema
    assert all(feature.is_clustered and feature.label for feature in schema)


@pytest.mark.parametrize("name", SUMS)
def test_the_sum_of_the_items_has_the_published_range(name):
    assert sum(feature.trials for feature in FeatureSchema.of_instrument(name)) == SUMS[name]


def test_an_unknown_instrument_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"no instrument 'phq8'.*phq9"):
        FeatureSchema.of_instrument("phq8")


def test_what_is_no_schema_and_no_name_is_refused():
    with pytest.raises(InputError, match="no instrument None"):
        FeatureSchema.of_instrument(None)


def test_the_features_of_all_instruments_make_one_schema():
    together = FeatureSchema([feature for name in instruments() for feature in FeatureSchema.of_instrument(name)])
    assert len(together) == sum(len(FeatureSchema.of_instrument(name)) for name in instruments())


def test_the_command_lists_and_prints_them(capsys):
    assert main(["schemas"]) == 0
    listed = capsys.readouterr().out
    assert "phq9: PHQ-9, depression (9 columns)" in listed
    assert main(["schemas", "phq9"]) == 0
    assert FeatureSchema.from_yaml(capsys.readouterr().out) == FeatureSchema.of_instrument("phq9")
    assert main(["schemas", "phq8"]) == 2
    assert "there is no instrument" in capsys.readouterr().err
