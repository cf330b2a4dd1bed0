"""The `clinclust` command: draft a schema, check a table, fit subtypes, tabulate them, assign new subjects.

`entry` parses the arguments and runs the command, `failures` reports errors, `options` holds the options that several
commands share, and each command has its own module. A slow package is imported only when a command needs it, so that
``clinclust --help`` answers at once.
"""

from __future__ import annotations

from clinclust.cli.entry import main

__all__ = ["main"]
