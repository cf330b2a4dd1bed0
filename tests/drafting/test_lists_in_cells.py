"""Cells that hold several drugs are told, with the columns to make of them; other texts with signs are levels."""

import numpy as np
import pandas as pd
from scored import scored

import clinclust as cc

DRUGS = ["metformin", "insulin", "ramipril", "aspirin", "apixaban"]
LEVELS = {
    "genotype": ["A/A", "A/G", "G/G"],
    "ethnicity": ["Asian/Pacific Islander", "White", "Black/African", "Other"],
    "severity": ["mild", "mild/moderate", "moderate", "moderate/severe", "severe"],
    "grade": ["1+", "2+", "3+"],
    "ward": ["medicine, acute", "surgery", "geriatrics"],
    "bp": ["120/80", "130/90", "140/90", "110/70"],
}


def drafted(name, values, n=300):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: values, "hb": rng.normal(13, 1, n).round(1).astype(str)})
    return cc.draft_schema(frame, progress=False)


@scored(["; ", ";", ", ", " + ", " / ", "/", "\n"])
def test_lists_are_ignored_with_the_columns_to_make_of_them(separator):
    rng = np.random.default_rng(1)
    lists = [separator.join(rng.permutation(DRUGS)[: rng.integers(1, 4)]) for _ in range(300)]
    schema = drafted("Current meds", lists)
    assert schema["Current meds"].role == "ignore"
    said = schema.comments["Current meds"]
    assert "yes/no column" in said
    assert all(drug in said for drug in DRUGS)


@scored(LEVELS)
def test_levels_with_signs_are_no_lists(name):
    schema = drafted(name, np.random.default_rng(2).choice(LEVELS[name], 300))
    assert "lists" not in schema.comments[name]
