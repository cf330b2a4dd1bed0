from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

import pytest

from clinclust.reporting import write_report

from .stand_in import fitted_cohort

GENERATED = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@cache
def _fitted():
    return fitted_cohort()


@pytest.fixture
def model():
    return _fitted()[0]


@pytest.fixture
def frame():
    return _fitted()[1]


@pytest.fixture(scope="session")
def workbook_path(tmp_path_factory):
    return write_report(*_fitted(), tmp_path_factory.mktemp("report") / "subtypes.xlsx", generated=GENERATED)


@pytest.fixture(scope="session")
def page_path(tmp_path_factory):
    return write_report(*_fitted(), tmp_path_factory.mktemp("report") / "subtypes.html", generated=GENERATED)
