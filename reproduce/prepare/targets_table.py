"""The table of results/targets.csv in docs/live.md, and the sentence about it in the README."""

from functools import cache
from pathlib import Path

import pandas as pd

from harness import kept_targets as targets
from harness import plots


@cache  # three blocks of the pages are written from it
def frame(results: Path) -> pd.DataFrame:
    return targets.kept(pd.read_csv(results / "targets.csv"))


def kept_table(results: Path) -> str:
    """A row a stream and target; accuracy and the gaps of each way to keep it."""
    table, lines = frame(results), [
        "| stream | target | " + " | ".join(f"{plots.label_of(method)}" for method in targets.STEERED) + " |",
        "|---|---|" + "---|" * len(targets.STEERED)]
    for (stream, target), rows in table.groupby(["stream", "target"], sort=False):
        cells = []
        for method in targets.STEERED:
            (run,) = plots.select(rows, method=method).to_dict("records")
            gaps = " / ".join(marked(run[column], run[f"kept_{column}"]) for column in targets.GAPS)
            cells.append(f"{100 * run['accuracy']:.1f} %, {gaps}, {run['points_to_best_fixed']:+.1f}")
        lines.append(f"| {stream} | {target:g} | " + " | ".join(cells) + " |")
    chance = table.drop_duplicates("stream")
    told = ", ".join(f"{row.stream} {row.window_by_chance:.3f}" for row in chance.itertuples())
    return "\n".join([*lines, "", f"Mean gap in windows that decisions without any group have by chance: {told}."])


def marked(gap: float, kept: float) -> str:
    """A gap, in bold where not every run kept it."""
    return f"{gap:.3f}" if kept == 1 else f"**{gap:.3f}**"


def shares(results: Path) -> str:
    """How often each way kept the target, over all streams, targets and seeds."""
    table, lines = frame(results), []
    for method in targets.STEERED:
        rows = plots.select(table, method=method)
        found = targets.shares(rows)
        if not lines:
            lines = [f"| | {' | '.join(found)} | points to the best fixed λ |", "|---|" + "---|" * (len(found) + 1)]
        parts = " | ".join(f"{share:.0%}" for share in found.values())
        lines.append(f"| {plots.label_of(method)} | {parts} | {rows['points_to_best_fixed'].mean():+.2f} |")
    return "\n".join(lines)
