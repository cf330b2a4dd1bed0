from datetime import UTC, datetime
from functools import cache

import pytest

from .stand_in import associations_of, compared, fitted_cohort, write_report

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


@pytest.fixture(scope="session")
def findings():
    """Everything a report can show, with a name for the first subtype."""
    model, frame = _fitted()
    frame = model.schema_.validate(frame, warn=False)
    return compared(model, frame, associations=associations_of(model), names={1: "Tremor dominant"})


@pytest.fixture(scope="session")
def comparisons(findings):
    return findings.comparisons


@pytest.fixture(scope="session")
def full_workbook_path(findings, tmp_path_factory):
    return write_report(
        findings.cohort.model,
        findings.cohort.table,
        tmp_path_factory.mktemp("report") / "full.xlsx",
        associations=findings.associations,
        names=findings.names,
        generated=GENERATED,
    )
