"""The `clinclust` command: draft a schema, check a table, fit subtypes, tabulate them, assign new subjects.

`entry` reads the arguments and runs the command, `failures` says what went wrong, `options` holds what commands share,
and each command has a module of its own. Nothing heavy is imported before a command needs it, so that
``clinclust --help`` answers at once.
"""

from __future__ import annotations

from clinclust.cli.entry import main

__all__ = ["main"]
