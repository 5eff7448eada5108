"""The table and the score that open the README."""

from pathlib import Path

import pandas as pd

from ledger.claim import score
from ledger.results_data import Results
from prepare.inline_numbers import matched_row

COLUMNS = (("adult", "0.05"), ("adult", "0.1"), ("census", "0.02"), ("compas", "0.05"))
NAMES = {"adult": "Adult", "census": "Census", "compas": "COMPAS"}
ROWS = {("aranyani",): "**Aranyani, the paper's node level**", ("leaf",): "Leaf level", ("output",): "output level",
        ("output", "intime"): "output level, as recommended below", ("mlp",): "MLP", ("mlp", "intime"): "MLP, likewise",
        ("fermi_forest",): "FERMI on the same forest", ("ht",): "Hoeffding tree", ("aht",): "adaptive Hoeffding tree",
        ("faht",): "FAHT", ("majority",): "Majority"}


def cell(accuracy: float, low: float, high: float) -> str:
    return f"{100 * accuracy:.1f}" + (f" ({100 * low:.1f} to {100 * high:.1f})" if low == low else "")


def headline(folder: Path) -> str:
    """Accuracy of every method at some gaps."""
    results = Results(folder)
    titles = " | ".join(f"{NAMES[dataset]} {gap}" for dataset, gap in COLUMNS)
    lines = [f"| accuracy %, with a gap of at most | {titles} |", "|---|" + "---|" * len(COLUMNS)]
    for (method, *variants), told in ROWS.items():
        rows = [matched_row(results, dataset, gap, method, *variants) for dataset, gap in COLUMNS]
        lines.append(f"| {told} | " + " | ".join(cell(row["accuracy"], row["low"], row["high"]) for row in rows) + " |")
    return "\n".join(lines)


def told_score(folder: Path) -> str:
    return score(pd.read_csv(folder / "claims.csv"))
