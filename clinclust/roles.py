"""The roles of features: what each column is for."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["cluster", "adjust", "arm", "outcome", "time", "site", "describe", "id", "ignore"]
ROLES: tuple[Role, ...] = get_args(Role)
REASONS: dict[str, str] = {
    "arm": "allocation to treatment",
    "outcome": "an outcome or follow-up event",
    "time": "a time of follow-up, a date or a visit",
    "site": "a centre, staff, device or administration",
}
"""Roles with a reason not to form subtypes."""
NEEDS_LIKELIHOOD = ("cluster", "adjust", "describe")


def is_described(role: str, likelihood: object) -> bool:
    """Return whether a feature is reported and tested, but not clustered on; it may be adjusted for."""
    return role in ("adjust", "describe") or (role in REASONS and likelihood is not None)


def is_ignored(role: str, likelihood: object) -> bool:
    """Return whether the column is not read, and need not be in the table."""
    return role == "ignore" or (role in REASONS and likelihood is None)
