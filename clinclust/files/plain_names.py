"""Names of files that stay in their folder."""

from __future__ import annotations

import re

__all__ = ["is_plain_name"]

_SEPARATOR_OR_CONTROL = re.compile(r"[/\\:\x00-\x1f\x7f]")


def is_plain_name(name: str) -> bool:
    """Return whether this is the name of a file in the folder itself, on every system."""
    return name not in ("", ".", "..") and not _SEPARATOR_OR_CONTROL.search(name) and len(name) <= 255
