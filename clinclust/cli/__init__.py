"""The `clinclust` command: draft a schema, check a table, fit subtypes, report them, assign new subjects."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; Ctrl-C during imports leaves no traceback."""
    try:
        from clinclust.cli.entry import main as run
    except KeyboardInterrupt:
        sys.stderr.write("clinclust: stopped\n")
        return _INTERRUPTED
    return run(arguments)
