"""The plan of a search: what it says of itself."""

from threading import Event

import pytest

from clinclust.engine.search import plan
from clinclust.engine.search.plan import Budget, Either, n_threads


def test_no_number_of_threads_and_minus_one_stand_for_all_processors():
    assert n_threads(None) == n_threads(-1) >= 1
    assert n_threads(3) == 3


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that stands still until it is moved."""
    now = [0.0]
    monkeypatch.setattr(plan.time, "monotonic", lambda: now[0])
    return now


def test_a_budget_is_used_up_when_its_seconds_have_passed(clock):
    budget = Budget(10.0)
    clock[0] = 9.9
    assert not budget.used_up()
    assert not budget.cut_short
    clock[0] = 10.0
    assert not budget.cut_short  # nobody has asked, so nothing was left out
    assert budget.used_up()
    assert budget.cut_short


def test_no_limit_is_never_used_up(clock):
    budget = Budget()
    clock[0] = 1e12
    assert not budget.used_up()
    assert not budget.part(0.01).used_up()


def test_a_part_ends_earlier_and_tells_the_whole(clock):
    budget = Budget(10.0)
    clock[0] = 2.0
    part = budget.part(0.5)
    clock[0] = 6.0
    assert part.used_up()
    assert budget.cut_short
    assert not budget.used_up()
    clock[0] = 11.0
    assert budget.part(0.5).used_up()


def test_either_is_set_by_itself_by_the_other_and_by_the_time(clock):
    other = Event()
    assert not Either(other, Budget(1.0)).is_set()
    own = Either(other)
    own.set()
    assert own.is_set()
    assert not other.is_set()
    other.set()
    assert Either(other).is_set()
    timed = Either(Event(), Budget(1.0))
    clock[0] = 1.0
    assert timed.is_set()
