"""The modules of examples/service, which trials of it import by their names."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "service"))
