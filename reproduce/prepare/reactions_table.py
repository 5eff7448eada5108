"""What docs/drift.md tells of results/reactions.csv."""

from pathlib import Path

import pandas as pd

from harness.reaction_table import table, told


def reactions_told(results: Path) -> str:
    """Which reactions differ, and how to read the table."""
    return told(pd.read_csv(results / "reactions.csv"))


def reactions_table(results: Path) -> str:
    """A row a stream and reaction."""
    return "\n".join(table(pd.read_csv(results / "reactions.csv")))
