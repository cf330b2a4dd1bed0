"""The stages of long work: what is told of them, when, and to whom."""

import logging
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust import progress
from clinclust.progress import SILENT, Progress, reporting_stages


class Clock:
    """A clock that only `run` moves; at each moment until which a thread waits, it stops for the thread."""

    def __init__(self):
        self.now, self.changed, self.until = 0.0, threading.Condition(), None

    def run(self, seconds):
        end = self.now + seconds
        with self.changed:
            while self.changed.wait_for(lambda: self.until is not None) and self.until <= end:
                self.now, self.until = self.until, None
                self.changed.notify_all()
            self.now = end

    def event(self):
        """Return an event whose `wait` ends by this clock."""
        is_set = threading.Event()

        def wait(seconds):
            with self.changed:
                until = self.until = self.now + seconds
                self.changed.notify_all()
                self.changed.wait_for(lambda: is_set.is_set() or self.now >= until)
            return is_set.is_set()

        def set_it():
            with self.changed:
                is_set.set()
                self.until = None
                self.changed.notify_all()

        return SimpleNamespace(wait=wait, set=set_it)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(progress, "Event", clock.event)
    return clock


def lines_of(work):
    lines = []
    with reporting_stages(lines.append):
        work()
    return lines


def stage(clock, seconds, name="restarts", total=None, shown=True):
    def work():
        with Progress(shown).stage(name, total) as advance:
            advance()
            if shown:
                clock.run(seconds)

    return work


def test_a_stage_is_told_when_it_has_run_for_a_second_and_when_it_has_ended(clock):
    assert lines_of(stage(clock, 1.2, total=10)) == ["restarts: running, at most 10", "restarts: done in 1 s"]
    assert lines_of(stage(clock, 9.9, "comparisons")) == ["comparisons: running", "comparisons: done in 10 s"]


def test_a_long_stage_is_told_again_with_how_far_it_is(clock):
    assert lines_of(stage(clock, 200.0, "drafting columns", 4)) == [
        "drafting columns: running, at most 4",
        "drafting columns: 1 of at most 4 in 10 s; up to about 30 s left",
        "drafting columns: 1 of at most 4 in 30 s; up to about 90 s left",
        "drafting columns: 1 of at most 4 in 60 s; up to about 3 min left",
        "drafting columns: 1 of at most 4 in 2 min; up to about 6 min left",
        "drafting columns: 1 of at most 4 in 3 min; up to about 9 min left",
        "drafting columns: done in 3 min",
    ]
    again = [f"report: running for {seconds}" for seconds in ("10 s", "30 s")]
    assert lines_of(stage(clock, 31.0, "report")) == ["report: running", *again, "report: done in 31 s"]


def test_stages_of_a_part_of_the_work_say_so(clock):
    def work():
        with Progress().within("fold 1 of 5").within("concentration 3").stage("restarts"):
            clock.run(2.0)

    assert lines_of(work)[0] == "fold 1 of 5, concentration 3: restarts: running"


@pytest.fixture
def stages(monkeypatch):
    """Note each stage that is shown, with its number of steps."""
    stages, inner = [], Progress.stage

    def stage(self, name, total=None):
        if self.shown:
            stages.append((f"{self.about}: {name}" if self.about else name, total))
        return inner(self, name, total)

    monkeypatch.setattr(Progress, "stage", stage)
    return stages


def test_the_stages_of_drafting_are_told_unless_nobody_asks(stages):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=list("abc"))
    cc.draft_schema(frame)
    assert stages == [("reading columns", 3), ("drafting columns", 3), ("comparing columns", None)]
    stages.clear()
    cc.draft_schema(frame, progress=False)
    assert stages == []


def test_short_and_silent_stages_are_not_told(clock):
    assert lines_of(stage(clock, 0.9)) == []
    assert lines_of(stage(clock, 2.0, shown=False)) == []
    with SILENT.stage("restarts") as advance:
        advance()


def test_a_stage_that_fails_is_not_called_done(clock):
    def fail():
        with Progress().stage("restarts"):
            clock.run(2.0)
            raise KeyError

    lines = []
    with reporting_stages(lines.append), pytest.raises(KeyError):
        fail()
    assert lines == ["restarts: running"]


def test_listening_leaves_the_logger_as_it_was(clock):
    logger = logging.getLogger("clinclust.progress")
    before = logger.level, list(logger.handlers)
    lines_of(stage(clock, 2.0))
    assert (logger.level, logger.handlers) == before


def test_the_stages_of_a_fit_and_of_a_report_are_told_in_their_order(stages, tmp_path, capsys):
    rng = np.random.default_rng(1)
    values = np.vstack([rng.normal(0, 1, (60, 3)), rng.normal(6, 1, (40, 3))])
    model = cc.methods.PublishedMAPDP(random_state=0, coarsening="auto").fit(values)
    frame = pd.DataFrame(values, columns=list(model.schema_.names))
    cc.write_report(model, frame, tmp_path / "report.html")
    assert [name for name, _ in stages] == [
        *("restarts", "refinement, in batches", "coarsening", "comparisons", "associations", "report .html")
    ]
    stages.clear()
    cc.methods.PublishedMAPDP(random_state=0, progress=False).fit(values)
    cc.write_report(model, frame, tmp_path / "report.html", progress=False, overwrite=True)
    assert stages == []
    assert capsys.readouterr() == ("", "")
