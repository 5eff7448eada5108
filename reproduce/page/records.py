"""What else is in results/: the paper's tables, memory, speed, bounds, and which run made what."""

import json
from pathlib import Path

import pandas as pd

from page.commands import command
from page.elements import Cell, Column, Html, joined, missing, table, tag, words
from page.markdown import first_table

# Of the benchmark: the measures that are told, with their columns.
SPEEDS = {"throughput": ("rows a second", ("contender", "engine", "level", "num_features", "rows_per_second",
                                           "ratio_to_hoeffding_tree")),
          "latency": ("one row at a time", ("contender", "operation", "num_features", "p50_microseconds",
                                            "p99_microseconds", "ratio_to_hoeffding_tree"))}


def frame_table(caption: str, frame: pd.DataFrame) -> Html:
    """A frame as it is; columns without any value are left out."""
    frame = frame.dropna(axis="columns", how="all")
    values = frame.astype(object).where(frame.notna(), None)
    return table(caption, [words(name) for name in frame.columns], values.to_numpy().tolist())


def tables(folder: Path) -> Html:
    """Tables 1 and 2 of the paper beside ours, peak memory, and the benchmark's main measures."""
    parts = []
    for name, caption in (("table1", "Table 1: the datasets, beside the paper's numbers"),
                          ("table2", "Table 2: seconds for one pass, beside the paper's minutes")):
        path = folder / f"{name}.csv"
        parts.append(frame_table(caption, pd.read_csv(path)) if path.is_file()
                     else missing(f"results/{name}.csv", command(name)))
    return joined([*parts, memory(folder), benchmark(folder)])


def memory(folder: Path) -> Html:
    path = folder / "memory.csv"
    if not path.is_file():
        return missing("results/memory.csv", command("memory"))
    peaks = pd.read_csv(path).groupby("contender", sort=False)["peak_megabytes"]
    return frame_table("Memory: the most that a process has held while it learned Adult, in megabytes", pd.DataFrame({
        "contender": list(peaks.groups), "processes": peaks.size().to_numpy(), "mean": peaks.mean().round(1).to_numpy(),
        "standard_deviation": peaks.std().round(1).to_numpy()}))


def benchmark(folder: Path) -> Html:
    path = folder / "benchmark.csv"
    if not path.is_file():
        return missing("results/benchmark.csv", command("benchmark"))
    found = pd.read_csv(path)
    found = found[found["level"].isna() | (found["level"] == "node")]
    parts = []
    for measure, (title, columns) in SPEEDS.items():
        rows = found.loc[found["measure"] == measure, list(columns)]
        is_first = rows["num_features"] == rows["num_features"].min()
        parts.append(frame_table(f"Speed: {title}", rows[is_first]))
        if not is_first.all():
            parts.append(tag("details", tag("summary", f"{title[0].upper()}{title[1:]}, with more features"),
                             frame_table(f"Speed: {title}, with more features", rows[~is_first])))
    return joined(parts)


def bounds(folder: Path) -> Html:
    """The summary of docs/theory.md, which is its first table."""
    path = folder.parent / "docs" / "theory.md"
    found = first_table(path.read_text(encoding="utf-8"), "The paper's bounds", "../docs/") if path.is_file() else None
    if found is None:
        return missing("docs/theory.md", command("theory"))
    return joined([found, tag("p", "Proofs, counter-examples and measurements: ",
                              tag("a", "docs/theory.md", href="../docs/theory.md"), ".")])


def duration(seconds: float) -> str:
    """
    >>> duration(7.5), duration(1383.6), duration(8000)
    ('7.5 s', '23 min', '2.2 h')
    """
    return (f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.0f} min" if seconds < 5400
            else f"{seconds / 3600:.1f} h")


def environment(folder: Path) -> Html:
    """A row for each run whose results are still here: what it made, by which command, commit and versions."""
    path = folder / "environment.json"
    if not path.is_file():
        return missing("results/environment.json", "make figures")
    runs = [run for run in json.loads(path.read_text(encoding="utf-8")) if run["made"]]
    packages = list(dict.fromkeys(name for run in runs for name in run.get("versions", {})))
    rows = []
    for run in runs:
        commands = joined((tag("code", command(name)) for name in run["made"]), ", ")
        commit = tag("code", str(run.get("commit"))[:10])
        seconds, machine = run.get("duration_seconds"), run.get("machine", {})
        rows.append([commands,
                     joined([commit, " with changes"]) if run.get("uncommitted_changes") else commit,
                     "" if seconds is None else Cell(duration(seconds), seconds), seeds(run.get("seeds")),
                     run.get("experiments"), machine.get("cores"),
                     *(run.get("versions", {}).get(name, "") for name in packages)])
    columns = [Column("Made by", long=True), "Commit", "Took", "Seeds", "Experiments", "Cores", *packages]
    return table("Runs whose results are in this folder", columns, rows, class_="prose")


def seeds(found: list[int] | int | None) -> str:
    """
    >>> seeds([0, 1, 2]), seeds([3]), seeds(None)
    ('0 to 2', '3', '')
    """
    if not isinstance(found, list) or not found:
        return "" if found is None else str(found)
    is_run = found == list(range(found[0], found[-1] + 1)) and len(found) > 2
    return f"{found[0]} to {found[-1]}" if is_run else ", ".join(map(str, found))
