"""The first page says how far to trust the subtypes, from what this report found."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.reporting.findings import Findings
from clinclust.reporting.sheets.cautions import cautions
from clinclust.reporting.sheets.overview import overview


def with_doubts(findings, doubtful):
    rows = findings.associations.copy()
    rows["role"], rows["doubtful"] = "cluster", np.resize(np.array(doubtful, dtype=object), len(rows))
    rows["doubtful"] = rows["doubtful"].astype("boolean")
    return replace(findings, associations=rows)


def test_subtypes_are_not_called_kinds_of_a_disease(findings):
    (said,) = cautions(findings)
    assert said in overview(findings).notes
    assert "only other data can tell" in said


def test_dependence_left_inside_subtypes_is_counted(findings):
    n = sum(map(findings.clustered_on, findings.features))
    (said,) = cautions(with_doubts(findings, [True]))
    assert f"{n} of {n} tested features are doubtful (Associations says why); where features depend" in said
    (said,) = cautions(with_doubts(findings, [False]))
    assert "depend on others" not in said
    (said,) = cautions(with_doubts(findings, [None]))
    assert "depend on others" not in said
    (said,) = cautions(replace(findings, associations=None))
    assert "depend on others" not in said


@pytest.mark.parametrize("size", [9, 10])
def test_small_subtypes_are_named(size):
    rng = np.random.default_rng(0)
    values = np.vstack([rng.normal(0, 1, (40, 4)), rng.normal(9, 1, (size, 4))])
    model = cc.MAPDP.as_published(random_state=0, n_restarts=4).fit(values)
    assert model.cluster_sizes_.tolist() == [40, size]
    frame = pd.DataFrame(values, columns=list(model.schema_.names))
    comparisons = cc.compare_subtypes(frame, model.labels_, model.schema_)
    (said,) = cautions(Findings(model, frame, comparisons, 0.01, None, {2: "Rare"}))
    assert ("Fewer than 10 subjects (2 Rare)" in said) == (size < 10)


def test_one_group_is_no_proof_of_no_subtypes():
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 2)), columns=["a", "b"])
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    model = cc.MAPDP.as_published(schema, random_state=0, n_restarts=4, concentration=1e-9).fit(frame)
    assert model.n_clusters_ == 1
    comparisons = cc.compare_subtypes(frame, model.labels_, schema)
    assert cautions(Findings(model, frame, comparisons, 0.01, None, {})) == [
        "One group means that these features give no evidence of subtypes, not that there are none."
    ]
