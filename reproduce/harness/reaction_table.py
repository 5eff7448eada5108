"""What `make reactions` tells of its records: a row for each stream and reaction, over changes and seeds."""

import numpy as np
import pandas as pd

from harness import plots
from harness.intervals import Interval
from harness.reaction_measures import BEHIND, LEVEL, NEAR, WIDE, WINDOW
from harness.reaction_runs import REACTIONS, STREAMS

PLAIN, STEADY = "react_never", "react_decay_3"  # what the others are compared with
HEAD = ("stream", "reaction", "accuracy, %", "gap of all rows", f"gap in windows of {WINDOW} behind a change",
        "the same less plain means'", f"share of the time behind a change above {LEVEL:g}",
        f"rows to recover, windows of {WINDOW}", f"windows of {WIDE:,}", "alarms (false)")


def here(records: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The records of each stream that there is, by its title."""
    found = {title: plots.select(records, dataset=settings["dataset"]) for title, settings in STREAMS.items()}
    return {title: rows for title, rows in found.items() if len(rows)}


def behind(rows: pd.DataFrame) -> pd.DataFrame:
    """The records of whole windows within `BEHIND` rows behind a change."""
    return rows[rows["change"].notna() & (rows["since"] <= BEHIND) & (rows["since"] % WINDOW == 0)]


def by_seed(rows: pd.DataFrame) -> pd.DataFrame:
    """(seed, measure) of one reaction on one stream; what is told of changes is the mean over them."""
    ends = rows.sort_values("step").groupby("seed").last()
    found = ends[["accuracy", "demographic_parity", "alarms", "false_alarms"]].copy()
    found["window_gap"] = behind(rows).groupby("seed")["window_gap"].mean()
    found["share_above"] = rows.groupby(["seed", "change"])["share_above"].first().groupby("seed").mean()
    return found


def recoveries(rows: pd.DataFrame, column: str) -> str:
    """The median over seeds and changes, where never is later than all; and how many never came back."""
    each = rows[rows["change"].notna()].drop_duplicates(["seed", "change"])[column]
    never, median = int(each.isna().sum()), float(each.fillna(np.inf).median())
    told = "never" if np.isinf(median) else f"{median:,.0f}"
    return told + (f" ({never} of {len(each)} never)" if never else "")


def written(found: Interval, digits: int = 3, sign: str = "") -> str:
    text = f"{found.mean:{sign}.{digits}f}"
    return text if np.isnan(found.low) else f"{text} ({found.low:{sign}.{digits}f} to {found.high:{sign}.{digits}f})"


def table(records: pd.DataFrame) -> list[str]:
    """Markdown: means over the seeds with their 95 % intervals; a difference to plain means is taken seed by seed."""
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for title, rows in here(records).items():
        plain = by_seed(plots.select(rows, method=PLAIN))["window_gap"]
        for name in REACTIONS:
            own = plots.select(rows, method=name)
            seeds = by_seed(own)
            against = Interval.of_difference(seeds["window_gap"], plain)
            marked = written(against, sign="+")
            watched = "adwin" in name
            lines.append("| " + " | ".join([
                title, plots.label_of(name), written(Interval.of(seeds["accuracy"]).times(100), 1),
                written(Interval.of(seeds["demographic_parity"])), written(Interval.of(seeds["window_gap"])),
                "–" if name == PLAIN else f"**{marked}**" if against.above_zero or against.below_zero else marked,
                written(Interval.of(seeds["share_above"]), 2), recoveries(own, "recovered"),
                recoveries(own, "recovered_wide"),
                f"{seeds['alarms'].mean():.1f} ({seeds['false_alarms'].mean():.1f})" if watched else "–"]) + " |")
    return lines


def about(records: pd.DataFrame) -> str:
    """How the numbers of the table are to be read, stream by stream."""
    told = []
    for title, rows in here(records).items():
        some = behind(rows)
        rows_behind = ", ".join(f"{row:,.0f}" for row in sorted(rows["change"].dropna().unique()))
        told.append(f"{title}: {rows['step'].max():,} rows, changes at {rows_behind}; by chance alone the gap is "
                    f"{some['window_by_chance'].mean():.3f} in windows of {WINDOW} rows and "
                    f"{some['wide_by_chance'].mean():.3f} in those of {WIDE:,}")
    return ". ".join(told) + (f". An alarm is false unless it comes within {NEAR:,} rows behind a change. Differences "
                              "in bold are beyond their 95 % interval.")


def verdict(records: pd.DataFrame, other: str = PLAIN) -> str:
    """Which reactions have a smaller or a larger gap behind a change than another one, beyond the paired interval."""
    found = []
    for title, rows in here(records).items():
        theirs = by_seed(plots.select(rows, method=other))
        smaller, larger = [], []
        for name in REACTIONS:
            own = by_seed(plots.select(rows, method=name))
            gap = Interval.of_difference(own["window_gap"], theirs["window_gap"])
            cost = Interval.of_difference(own["accuracy"], theirs["accuracy"]).times(100)
            if name != other and (gap.below_zero or gap.above_zero):
                (smaller if gap.below_zero else larger).append(
                    (gap.mean, f"{plots.label_of(name)} {gap.mean:+.3f} ({cost.mean:+.1f} points of accuracy)"))
        named = [f"{word} with " + ", ".join(text for _, text in sorted(each))
                 for word, each in (("smaller", smaller), ("larger", larger)) if each]
        found.append(f"- {title}: " + ("; ".join(named) or "no other differs") + ".")
    return "\n".join([f"Gap behind a change against {plots.label_of(other)}, seed by seed, where the difference is "
                      "beyond its 95 % interval:", "", *found])


def told(records: pd.DataFrame) -> str:
    """All of it but the table."""
    return "\n\n".join([verdict(records), verdict(records, STEADY), about(records)])
