"""Reports of features with a spike or a limit: each part in its table, and nothing of few subjects in a shared one."""

import numpy as np
import pandas as pd
import pytest
from openpyxl import load_workbook
from scored import few

import clinclust as cc
from schemas import stored_schema


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [90, 60])
    crp = np.exp(rng.normal(labels, 1.0)) * (rng.random(150) < np.where(labels, 0.9, 0.4))
    troponin = np.where(rng.random(150) < 0.4, "<5", (5.0 + rng.exponential(9.0, 150)).round(1).astype(str))
    rare = np.where(np.arange(150) % 50 == 0, 77.0, rng.normal(size=150).round(2))
    frame = pd.DataFrame({"crp": crp, "troponin": troponin, "rare": rare, "falls": rng.poisson(1.0, 150)})
    schema = stored_schema("point_masses")
    return cc.Partition(labels, schema, made_by="a clinician"), frame, schema


def texts(path, sheet):
    return [str(cell) for row in load_workbook(path)[sheet].iter_rows(values_only=True) for cell in row if cell]


def test_each_part_is_in_the_table_of_its_kind(groups, tmp_path):
    model, frame, _ = groups
    path = cc.write_report(model, frame, tmp_path / "report.xlsx", progress=False)
    table = texts(path, "Subtype table")
    for title in ("CRP", "CRP, if not 0 (mg/L)", "Troponin", "Troponin, if detected", "Falls, if not 0 or 1"):
        assert any(text.startswith(f"{title}, ") for text in table)
    assert {"0", "1", "other"} <= {text.strip() for text in table}
    assert any("below the limit" in text for text in table)


@pytest.mark.simulation
@pytest.mark.parametrize("options", few([{"round_to": 10}, {}], 1))
def test_a_shared_report_names_no_point_mass_of_few_subjects(groups, tmp_path, options):
    model, frame, _ = groups
    path = cc.write_report(model, frame, tmp_path / "report.xlsx", suppress=10, progress=False, **options)
    everything = [text for sheet in load_workbook(path).sheetnames for text in texts(path, sheet)]
    assert not [text for text in everything if "77" in text.split() or "not 77" in text]
    assert "Troponin, if detected" in everything


def test_figures_draw_both_parts(groups):
    model, frame, schema = groups
    comparisons = cc.compare_subtypes(frame, model.labels_, schema)
    labels = [text.get_text() for text in cc.plots.plot_profile(model, comparisons).get_yticklabels()]
    assert any(label.startswith("CRP: 0") for label in labels)
    assert any(label.startswith("CRP, if not 0") for label in labels)
