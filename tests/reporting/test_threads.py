"""Reports and figures on several threads at once: the bytes of each alone, and no setting of the process changed."""

import io
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import matplotlib as mpl
import pytest
from cohorts import mixed_cohort

from clinclust import compare_subtypes, write_report
from clinclust.methods import PublishedMAPDP
from clinclust.plots import plot_effects, plot_profile, plot_restarts, plot_tree


@pytest.fixture(scope="module")
def findings():
    frame, schema, _, _ = mixed_cohort(4, n=60)
    model = PublishedMAPDP(schema, n_restarts=2, random_state=0).fit(frame)
    return model, frame, compare_subtypes(frame, model.labels_, schema)


def report(findings, path):
    model, frame, comparisons = findings
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    write_report(model, frame, path, comparisons=comparisons, associations=None, generated=moment)
    return path.read_bytes()


def figure(draw, *about):
    written = io.BytesIO()
    draw(*about).figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()


@pytest.mark.simulation
def test_eight_threads_write_what_one_writes(findings, tmp_path):
    model, _, comparisons = findings
    with mpl.rc_context({"svg.hashsalt": "ours"}):  # else the ids of a figure are random
        tasks = [
            lambda number: report(findings, tmp_path / f"{number}.html"),
            lambda number: figure(plot_profile, model, comparisons),
            lambda number: figure(plot_effects, model, comparisons),
            lambda number: figure(plot_restarts, model) + figure(plot_tree, model),
        ]
        expected = [task("alone") for task in tasks]
        settings, filters = dict(mpl.rcParams), list(warnings.filters)
        with ThreadPoolExecutor(8) as pool:
            futures = [pool.submit(tasks[number % len(tasks)], number) for number in range(2 * len(tasks))]
        for number, future in enumerate(futures):
            assert future.result() == expected[number % len(tasks)], f"task {number % len(tasks)}"
        assert dict(mpl.rcParams) == settings
        assert warnings.filters == filters
