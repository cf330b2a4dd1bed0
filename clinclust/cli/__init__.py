"""The `clinclust` command: draft a schema, check a table, fit subtypes, report and tabulate them, assign new subjects.

`entry` runs the command that `parser` understood, `failures` reports errors, `options`, `search_options` and
`report_options` hold the options that several commands share, `outputs` guards what exists, `results` writes the folder
of a fit, and each command has its own module. A slow package is imported only when a command needs it, so that
``clinclust --help`` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; see `clinclust.cli.entry.main`.

    Ctrl-C while the command is still imported ends it like any other, without a traceback.
    """
    try:
        from clinclust.cli.entry import main as run
    except KeyboardInterrupt:
        sys.stderr.write("clinclust: stopped\n")
        return _INTERRUPTED
    return run(arguments)
