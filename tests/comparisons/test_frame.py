"""One rule for the decimals of means, whoever prints or judges them."""

from __future__ import annotations

import math

import pytest
from reporting.stand_in import fitted_cohort, gathered

from clinclust.comparisons.frame import decimals_of_mean
from clinclust.disclosure.counts import feature_counts
from clinclust.reporting.compared import Compared, decimals_of


@pytest.mark.parametrize(
    ("spreads", "step", "decimals"),
    [
        ([14.9], None, 1),
        ([1.94], None, 2),
        ([5.0], None, 2),
        ([0.0018], None, 5),
        ([250.0], None, 0),
        ([math.nan, 14.9, 0.1], None, 1),  # the first that is shown
        ([math.nan], None, 2),
        ([], None, 2),
        ([0.0], None, 2),
        ([250.0], 0.5, 2),
        ([0.0056], 0.005, 4),
    ],
)
def test_the_rule(spreads, step, decimals):
    assert decimals_of_mean(spreads, step) == decimals


def test_subtype_table_and_audit_agree_on_every_feature():
    findings = gathered(*fitted_cohort())
    audited = {counts.name: counts.decimals for counts in feature_counts(findings.comparisons)}
    compared = Compared(findings.comparisons)
    printed = {name: decimals_of(feature, "mean") for name, feature in compared.features.items()}
    assert printed == audited
    assert len(set(printed.values())) > 2
