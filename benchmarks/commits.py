"""The commit of the package that a benchmark measures."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import clinclust as cc

__all__ = ["commit_of_package", "describe_commit"]


def commit_of_package() -> str:
    """Return the commit, with "+" if files differ from it; "unknown" of a package that is installed elsewhere."""

    def git(*command: str) -> str:
        call = ["git", "-C", str(Path(cc.__file__).parents[1]), *command]
        return subprocess.run(call, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603

    changed = "+" if git("status", "--porcelain", "--", "clinclust") else ""
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + changed


def describe_commit() -> str:
    """Return the commit and the day, as the pages of results write them."""
    return f"Measured on {datetime.now(UTC):%d %B %Y} with the package at commit {commit_of_package()}."
