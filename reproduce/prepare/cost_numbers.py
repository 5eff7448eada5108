"""What docs/scale.md tells of results/cost.csv: how well runs were predicted, and what large ones cost on paper."""

from pathlib import Path

import pandas as pd

from aranyani_tf.command.cost_command import spelled
from aranyani_tf.command.cost_model import ENGINES, REFERENCE, TERMS, CostModel
from trials.cost_fit import CLOSE, fitted

LARGE, SETTINGS, CORES = 10**9, 100, 16  # rows, settings on them, and cores of a machine
SHAPES = (  # features, level, engine, groups
    (14, "node", "numba", 2), (40, "node", "numba", 2), (40, "node", "numba", 5), (40, "leaf", "numba", 2),
    (40, "output", "numba", 2), (40, "node", "xla", 2), (768, "node", "numba", 2))


def model_of(results: Path) -> CostModel:
    return fitted(pd.read_csv(results / "cost.csv"), "")


def costs(results: Path) -> str:
    """Accuracy of the predictions, and the table of 10⁹ rows × 100 settings."""
    table = pd.read_csv(results / "cost.csv")
    model = fitted(table, "")
    lines = [f"| {LARGE:,} rows, {REFERENCE.trees} trees of height {REFERENCE.height} | one setting, one core "
             f"| rows a second | {SETTINGS} settings, core-hours | machines of {CORES} cores, done in 24 hours "
             "| in 4 hours |",
             "|---|---|---|---|---|---|"]
    for features, level, engine, groups in SHAPES:
        job = REFERENCE._replace(rows=LARGE, features=features, level=level, engine=engine, groups=groups)
        seconds = model.run_seconds(job)
        lines.append(f"| {features} features, {level} level, {groups} groups{', by XLA' if engine == 'xla' else ''} "
                     f"| {spelled(seconds)} | {LARGE / seconds:,.0f} | {SETTINGS * seconds / 3600:,.0f} "
                     f"| {machines(seconds, 24)} | {machines(seconds, 4)} |")
    return "\n".join([*accuracy(table), "", *lines])


def accuracy(table: pd.DataFrame) -> list[str]:
    """A sentence for each engine, and what failed."""
    lines = []
    for engine in ENGINES:
        rows = table[(table["kind"] == "held_out") & (table["engine"] == engine)]
        sizes = rows["error"].abs()
        told = "the engine" if engine == "numba" else "XLA"
        lines.append(f"By {told} {(sizes <= CLOSE).sum()} of {len(rows)} held-out runs were predicted within 20 %; the "
                     f"median error was {100 * sizes.median():.0f} %, the worst {100 * sizes.max():.0f} %.")
        for row in rows[sizes > CLOSE].itertuples():
            lines.append(f"Missed: {row.features} features, {row.trees} trees of height {row.height}, "
                         f"{row.groups} groups, {row.level} level ({row.seconds:.2f} s, predicted "
                         f"{row.predicted_seconds:.2f} s).")
    return lines


def machines(seconds: float, hours: float) -> str:
    """How many are needed for all settings, or that time does not suffice for one."""
    rounds = int(hours * 3600 // seconds)
    return f"{-(-SETTINGS // (rounds * CORES)):,}" if rounds else "never"


def coefficients(results: Path) -> str:
    """Seconds of each term, by both engines."""
    seconds = model_of(results).seconds
    lines = ["| term | the engine, ns | XLA, ns |", "|---|---|---|"]
    lines += [f"| {term} | " + " | ".join(nanoseconds(seconds[engine][term]) for engine in ENGINES) + " |"
              for term in TERMS]
    return "\n".join(lines)


def nanoseconds(seconds: float) -> str:
    """To three digits.

    >>> nanoseconds(7.8876e-3), nanoseconds(3.5e-10)
    ('7,890,000', '0.35')
    """
    return f"{float(f'{1e9 * seconds:.3g}'):,.10g}"
