"""Run the command as ``python -m clinclust``."""

from __future__ import annotations

import sys

from clinclust.cli import main

if __name__ == "__main__":
    sys.exit(main())
