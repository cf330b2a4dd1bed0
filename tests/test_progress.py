"""The stages of long work: what is told of them, when, and to whom."""

import logging
import time

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust import progress
from clinclust.progress import SILENT, Progress, stages_told


@pytest.fixture
def at_once(monkeypatch):
    """Tell every stage, however short."""
    monkeypatch.setattr(progress, "_TOLD_AFTER", 0.0)


def lines_of(work):
    lines = []
    with stages_told(lines.append):
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


def test_short_and_silent_stages_are_not_told(monkeypatch):
    assert lines_of(stage("restarts")) == []
    monkeypatch.setattr(progress, "_TOLD_AFTER", 0.0)
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
    model = cc.MAPDP(random_state=0, coarsening="auto").fit(values)
    frame = pd.DataFrame(values, columns=list(model.schema_.names))
    cc.write_report(model, frame, tmp_path / "report.html")
    assert told == ["restarts", "refinement, in batches", "coarsening", "comparisons", "associations", "report .html"]
    told.clear()
    cc.MAPDP(random_state=0, progress=False).fit(values)
    cc.write_report(model, frame, tmp_path / "report.html", progress=False)
    assert told == []
    assert capsys.readouterr() == ("", "")
