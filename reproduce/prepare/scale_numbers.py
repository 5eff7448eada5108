"""What docs/scale.md tells of results/scale.csv."""

from pathlib import Path

import pandas as pd

TIMES = {"ray_start_seconds": "start of Ray, s",
         "workers_start_seconds": "until each worker has imported the package, s",
         "one_process_seconds": "the grid in one process, s", "seconds": "on the workers, s",
         "speed_up": "times as fast",
         "seconds_with_a_kill": "with a worker killed, s", "same_bytes": "the same bytes",
         "same_bytes_with_a_kill": "the same with a worker killed", "ray_megabytes": "Ray's own processes, MB",
         "worker_megabytes": "a worker, MB"}
STREAMS = {"rows_per_second": "rows learned per second, 100 of each site at a time",
           "predict_p50_microseconds": "`predict` of one row, median, µs",
           "predict_p99_microseconds": "99 of 100 within, µs",
           "learn_p50_microseconds": "`learn` of one row, median, µs",
           "learn_p99_microseconds": "99 of 100 within, µs", "acknowledged": "rows acknowledged, an actor being killed",
           "lost": "of them lost", "recovery_seconds": "until the killed actor's sites went on, s",
           "same_bits_with_a_kill": "the same bits as never killed"}


def by_workers(results: Path, part: str, told: dict[str, str]) -> str:
    """A table with a column for each number of workers."""
    found = pd.read_csv(results / "scale.csv").query("part == @part")
    wide = found.pivot_table(index="measure", columns="workers", values="value")
    lines = ["| | " + " | ".join(f"{workers:.0f} {'actors' if part == 'many streams' else 'workers'}"
                                 for workers in wide) + " |", "|---|" + "---|" * len(wide.columns)]
    return "\n".join([*lines, *(f"| {name} | " + " | ".join(shown(measure, value) for value in wide.loc[measure]) + " |"
                                for measure, name in told.items())])


def shown(measure: str, value: float) -> str:
    if measure.startswith("same_"):
        return "yes" if value == 1 else "**no**"
    return f"{value:,.0f}" if value >= 100 or measure == "lost" else f"{value:.1f}"


def grid(results: Path) -> str:
    return by_workers(results, "grid", TIMES)


def streams(results: Path) -> str:
    return by_workers(results, "many streams", STREAMS)


def one_model(results: Path) -> str:
    """Accuracy and gap by split and period, means over the seeds with their spread."""
    found = pd.read_csv(results / "scale.csv").query("part == 'one model'")
    found["every"] = found["every"].fillna(0).astype(int)
    num_rows = found["every"].max()
    lines = ["| Adult by | sites | one model again after | accuracy % | in all but the largest site % | gap |",
             "|---|---|---|---|---|---|"]
    for (split, every), rows in found.groupby(["split", "every"], sort=True):
        cells = rows.groupby("measure")["value"].agg(["mean", "std"])
        told = {0: "one central stream", num_rows: "never: each alone"}.get(every, f"{every:,} rows")
        numbers = [f"{100 * cells.loc[name, 'mean']:.2f} ± {100 * cells.loc[name, 'std']:.2f}"
                   for name in ("accuracy", "accuracy_of_smaller_sites")]
        gap = f"{cells.loc['demographic_parity', 'mean']:.3f} ± {cells.loc['demographic_parity', 'std']:.3f}"
        lines.append(f"| {split} | {rows['num_sites'].iloc[0]:.0f} | {told} | {' | '.join(numbers)} | {gap} |")
    return "\n".join(lines)
