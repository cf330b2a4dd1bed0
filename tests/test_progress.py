"""The stages of long work: what is told of them, when, and to whom."""

import logging
import time

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust import progress
from clinclust.progress import SILENT, Progress, reporting_stages


@pytest.fixture
def at_once(monkeypatch):
    """Tell every stage, however short."""
    monkeypatch.setattr(progress, "_REPORTED_AFTER", 0.0)


def lines_of(work):
    lines = []
    with reporting_stages(lines.append):
        work()
    return lines


def stage(name, total=None, shown=True, seconds=0.05):
    def work():
        with Progress(shown).stage(name, total) as advance:
            advance()
            time.sleep(seconds)

    return work


def test_a_stage_is_told_when_it_runs_and_when_it_has_ended(at_once):
    assert lines_of(stage("restarts", 10)) == ["restarts: running, at most 10", "restarts: done in 0 s"]
    assert lines_of(stage("comparisons"))[0] == "comparisons: running"


def test_a_long_stage_is_told_again_with_how_far_it_is(at_once, monkeypatch):
    monkeypatch.setattr(progress, "_REPORTED_AGAIN", (0.1, 0.2, 0.3))
    _, first, *_, last = lines_of(stage("drafting columns", 4, seconds=0.5))
    assert first == "drafting columns: 1 of at most 4 in 0 s; up to about 0 s left"
    assert last == "drafting columns: done in 1 s"
    lines = lines_of(stage("report", seconds=0.25))
    assert lines == ["report: running", "report: running for 0 s", "report: running for 0 s", "report: done in 0 s"]


def test_stages_of_a_part_of_the_work_say_so(at_once):
    def work():
        with Progress().within("fold 1 of 5").within("concentration 3").stage("restarts"):
            time.sleep(0.05)

    assert lines_of(work)[0] == "fold 1 of 5, concentration 3: restarts: running"


def test_the_searches_for_block_weights_are_named_as_such(monkeypatch):
    told = []
    inner = Progress.stage

    def noted(self, name, total=None):
        told.append(f"{self.about}: {name}" if self.about else name)
        return inner(self, name, total)

    monkeypatch.setattr(Progress, "stage", noted)
    rng = np.random.default_rng(1)
    shared = rng.normal(size=(100, 1))
    frame = pd.DataFrame(shared + 0.3 * rng.normal(size=(100, 3)), columns=list("abc")).assign(d=rng.normal(size=100))
    features = [cc.Feature(name=name, likelihood="gaussian", block=None if name == "d" else "one") for name in frame]
    cc.methods.PublishedMAPDP(cc.FeatureSchema(features), block_weights="auto", random_state=0, n_restarts=4).fit(frame)
    *rounds, restarts, refinement = told
    assert (restarts, refinement) == ("restarts", "refinement, in batches")
    assert rounds == [f"block weights, round {number}: restarts" for number in range(1, len(rounds) + 1)]
    assert rounds


def test_the_stages_of_drafting_are_told_unless_nobody_asks(monkeypatch):
    told = []
    inner = Progress.stage

    def noted(self, name, total=None):
        if self.shown:
            told.append((name, total))
        return inner(self, name, total)

    monkeypatch.setattr(Progress, "stage", noted)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=list("abc"))
    cc.draft_schema(frame)
    assert told == [("reading columns", 3), ("drafting columns", 3), ("comparing columns", None)]
    told.clear()
    cc.draft_schema(frame, progress=False)
    assert told == []


def test_short_and_silent_stages_are_not_told(monkeypatch):
    assert lines_of(stage("restarts")) == []
    monkeypatch.setattr(progress, "_REPORTED_AFTER", 0.0)
    assert lines_of(stage("restarts", shown=False)) == []
    with SILENT.stage("restarts") as advance:
        advance()


def test_a_stage_that_fails_is_not_called_done(at_once):
    def failing():
        with pytest.raises(KeyError):
            fail_in_a_stage()

    assert lines_of(failing) == ["restarts: running"]


def fail_in_a_stage():
    with Progress().stage("restarts"):
        time.sleep(0.05)
        raise KeyError


def test_listening_leaves_the_logger_as_it_was():
    logger = logging.getLogger("clinclust.progress")
    before = logger.level, list(logger.handlers)
    lines_of(stage("restarts"))
    assert (logger.level, logger.handlers) == before


def test_the_stages_of_a_fit_and_of_a_report_are_told_in_their_order(tmp_path, monkeypatch, capsys):
    told = []
    inner = Progress.stage

    def noted(self, name, total=None):
        if self.shown:
            told.append(name)
        return inner(self, name, total)

    monkeypatch.setattr(Progress, "stage", noted)
    rng = np.random.default_rng(1)
    values = np.vstack([rng.normal(0, 1, (60, 3)), rng.normal(6, 1, (40, 3))])
    model = cc.methods.PublishedMAPDP(random_state=0, coarsening="auto").fit(values)
    frame = pd.DataFrame(values, columns=list(model.schema_.names))
    cc.write_report(model, frame, tmp_path / "report.html")
    assert told == ["restarts", "refinement, in batches", "coarsening", "comparisons", "associations", "report .html"]
    told.clear()
    cc.methods.PublishedMAPDP(random_state=0, progress=False).fit(values)
    cc.write_report(model, frame, tmp_path / "report.html", progress=False)
    assert told == []
    assert capsys.readouterr() == ("", "")
