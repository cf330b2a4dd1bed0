"""The `clinclust` command: draft a schema, check a table, fit subtypes, report and tabulate them, assign new subjects.

`entry` runs the command that `parser` understood, `failures` reports errors, `options`, `search_options` and
`report_options` hold the options that several commands share, `outputs` guards what exists, `results` writes the folder
of a fit, and each command has its own module. A slow package is imported only when a command needs it, so that
``clinclust --help`` answers at once.
"""

from __future__ import annotations

from clinclust.cli.entry import main

__all__ = ["main"]
