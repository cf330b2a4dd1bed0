"""Let the tests import the example scripts as the scripts import each other."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "parkinsonism"))
