"""The schemas of the cohorts of the tests, a YAML file for each."""

from pathlib import Path

from clinclust import FeatureSchema


def stored_text(name):
    return Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8")


def stored_schema(name):
    return FeatureSchema.from_yaml(stored_text(name))
