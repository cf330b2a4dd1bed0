"""The sentences on columns that nearly are the partition, and what a shared report says of them."""

import numpy as np
import pandas as pd

import clinclust as cc
from clinclust.reporting.gathering import gathered_findings
from clinclust.reporting.options import ReportOptions
from clinclust.reporting.sheets.dominant_columns import fit_without, on_dominant_columns

IN_WOMEN = '`a sex` == "female"'


def findings_of(columns, labels, roles, **options):
    frame = pd.DataFrame(columns)

    def feature(name):
        if pd.api.types.is_numeric_dtype(frame[name]):
            return cc.Feature(name=name, likelihood="gaussian", role=roles.get(name, "cluster"))
        levels = tuple(sorted(set(frame[name])))
        role = roles.get(name, "cluster")
        return cc.Feature(name=name, likelihood="categorical", levels=levels, role=role, label=f"The {name}")

    model = cc.Partition(labels, cc.FeatureSchema(list(map(feature, frame))), made_by="a rule")
    return gathered_findings(model, frame, ReportOptions(associations=None, **options))


def cohort(n_mistaken, n=400):
    rng = np.random.default_rng(0)
    labels = (np.arange(n) >= n // 2).astype(int)
    mistaken = labels.copy()
    mistaken[:n_mistaken] = 1
    mistaken[n - n_mistaken :] = 0
    columns = {f"x{place}": rng.normal(2.0 * labels, 1.0) for place in range(4)}
    return columns | {"a sex": np.where(mistaken, "male", "female")}, labels


def test_a_described_column_comes_with_the_fit_of_a_part():
    columns, labels = cohort(4)
    findings = findings_of(columns, labels, {"a sex": "describe"})
    assert on_dominant_columns(findings) == [
        "These subtypes are nearly The a sex: it alone gives 98% of the subjects to their subtype (50% in the "
        "largest), though it was not clustered on; features follow it. To see what else there is, fit one part of the "
        f"subjects at a time, such as those where {IN_WOMEN}."
    ]


def test_features_that_make_the_subtypes_alone_come_with_the_fit_without_them():
    columns, labels = cohort(4)
    rng = np.random.default_rng(1)
    columns |= {f"x{place}": rng.normal(size=labels.size) for place in range(4)}
    findings = findings_of(columns, labels, {})
    (said,) = on_dominant_columns(findings)
    assert said.startswith("These subtypes are hardly more than The a sex: it alone gives 98% of the subjects to their")
    assert said.endswith("`role: describe` in the schema, or in Python schema.with_roles({'a sex': 'describe'}).")
    (row,) = findings.dominant.to_dict("records")
    assert fit_without(row) == ("describe", ["a sex"])
    pair = row | {"column": "-a", "second": "b,c"}
    assert fit_without(pair) == ("describe", ["-a", "b,c"])


def test_a_shared_report_names_a_column_only_if_every_count_of_it_is_shown():
    for n_mistaken, is_said in ((4, False), (15, True)):
        columns, labels = cohort(n_mistaken)
        assert on_dominant_columns(findings_of(columns, labels, {"a sex": "describe"}))
        shared = findings_of(columns, labels, {"a sex": "describe"}, suppress=10)
        assert bool(on_dominant_columns(shared)) == is_said
        assert not on_dominant_columns(findings_of(columns, labels, {"a sex": "describe"}, suppress=10, round_to=5))
        assert not on_dominant_columns(findings_of(columns, labels, {}, suppress=10))
