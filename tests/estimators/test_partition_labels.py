"""Labels that are no partition are refused, all problems at once."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import clinclust as cc

SCHEMA = cc.FeatureSchema([cc.Feature(name="falls", likelihood="poisson")])


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.ma.masked_array([1, 2, 3, 2], mask=[0, 1, 0, 0]), "1 of 4 are missing"),
        ([1.0, np.inf, 2.0], "have decimals, as inf"),
        ([Decimal("1.5"), Decimal(2)], "not Decimal"),
        ([1 + 2j, 2 + 0j], "not complex"),
        ([b"lead", b"follow"], "not bytes"),
        ([1, "1", 2], "1 as text and as number"),
    ],
)
def test_labels_that_are_neither_texts_nor_whole_numbers_are_refused(labels, words):
    with pytest.raises(ValueError, match=words):
        cc.Partition(labels, SCHEMA, made_by="a clinician")


def test_a_group_is_too_small_to_test_only_if_it_is_small(tmp_path):
    frame = SCHEMA.validate(pd.DataFrame({"falls": np.arange(40) % 5}))
    whole = cc.Partition(np.zeros(40, dtype=int), SCHEMA, made_by="nobody")
    page = cc.write_report(whole, frame, tmp_path / "whole.html").read_text(encoding="utf-8")
    assert '<th scope="row">Subtypes of few subjects, untested</th><td>none</td>' in page
    few = cc.Partition([0] * 38 + [1, 2], SCHEMA, made_by="somebody")
    page = cc.write_report(few, frame, tmp_path / "few.html").read_text(encoding="utf-8")
    assert '<th scope="row">Subtypes of few subjects, untested</th><td>2, 3</td>' in page
