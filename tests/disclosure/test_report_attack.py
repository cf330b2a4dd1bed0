"""The attacker of `benchmarks/disclosure.py` finds nothing in a few shared reports, and something where it should."""

import runpy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scored import few

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return SimpleNamespace(**runpy.run_path(str(BENCHMARKS / "disclosure.py")))


@pytest.mark.parametrize("design", few(["one rare", "rare counts", "several rare", "small subtype"], 1))
def test_no_withheld_count_is_narrowed(benchmark, tmp_path, design):
    found = benchmark.attacked(design, 7, tmp_path)
    assert found["the report"]["tried"] > 10
    assert found["the report"]["narrowed"] == 0


@pytest.mark.simulation
def test_the_attacker_finds_counts_if_q_is_adjusted_over_withheld_tests(benchmark, tmp_path, monkeypatch):
    from clinclust.disclosure import counts as released

    monkeypatch.setattr(released, "q_of_shown", lambda comparisons: comparisons["q"].to_numpy(dtype=float))
    monkeypatch.setattr("clinclust.reporting.report.as_printed", lambda sheet: sheet)
    sums = [benchmark.attacked("one rare", seed, tmp_path)["the report"]["narrowed"] for seed in (1, 7, 9, 11)]
    assert sum(sums) > 0


@pytest.mark.simulation
def test_the_attacker_finds_counts_if_features_stand_by_true_relevance(benchmark, tmp_path, monkeypatch):
    from clinclust.reporting.findings import Profiles

    monkeypatch.setattr(Profiles, "withheld_features", frozenset())
    assert benchmark.attacked("one rare", 2, tmp_path)["the report"]["narrowed"] > 0


@pytest.mark.simulation
def test_no_word_condition_or_exact_size_is_found(benchmark, tmp_path, some):
    found = [benchmark.leaks_found(seed, tmp_path) for seed in some(range(11), few=3)]
    sums = {leak: sum((each[leak] for each in found), Counter()) for leak in benchmark.LEAKS}
    assert {leak: counts["found"] for leak, counts in sums.items()} == dict.fromkeys(benchmark.LEAKS, 0)
    assert min(counts["tried"] for counts in sums.values()) > 2


@pytest.mark.simulation
def test_every_word_and_condition_is_found_in_a_report_that_is_not_for_sharing(benchmark, tmp_path):
    *found, _ = benchmark.leaks_found(0, tmp_path, suppress=None).values()
    assert all(counts["found"] == counts["tried"] > 0 for counts in found)


@pytest.mark.simulation
def test_exact_sizes_are_found_if_means_have_the_usual_decimals(benchmark, tmp_path, monkeypatch):
    from sizes_attacker import sizes_found

    monkeypatch.setattr("clinclust.disclosure.counts._decimals_for_every_n", lambda *_: 2)
    exact, narrowed, groups = np.sum([sizes_found(seed, tmp_path) for seed in (2, 3)], axis=0)
    assert exact > 0
    assert narrowed > groups / 2
