"""Runs of the field in, `results/field.csv` out: which setting is judged, what it has, and who is best.

The rule is one for all. A method with a grid of λ has the λ that was best on the first tenth of the stream: the most
accurate of those whose gap was at most the target there, or else the one with the smallest gap. A steered method is
told the target. One without a knob is what it is. Judged are the rows behind the first tenth.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from harness.field_measures import named
from harness.intervals import Interval
from harness.registry import NOTIONS, TARGETS, Method, method

WITHIN = 1.2  # times the target is kept
ENOUGH = 0.8  # of the seeds have to keep it
STREAM = ["dataset", "preprocessing", "groups"]
CASE = [*STREAM, "notion", "target"]
GAPS = {"gap": "", "late_gap": "late", "window_gap": "window"}  # column → part of the judged rows
CLASSES = {False: "group not needed to predict", True: "group needed to predict"}


def setting_of(how: Method) -> str:
    """What is tuned, in words."""
    told = " for this notion" if how.notions else ""
    if how.steered:
        return f"told the target{told}"
    if len(how.fairness_weights) > 1:
        return f"λ of {len(how.fairness_weights)}{told}, chosen on the first tenth"
    return "nothing"


def chosen(runs: pd.DataFrame, how: Method, notion: str, target: float) -> pd.DataFrame:
    """One run for each seed, by the rule above; columns are those of `FieldRun.run`."""
    if how.notions:
        runs = runs[runs["told"] == notion]
    if how.steered:
        return runs[np.isclose(runs["fairness_weight"], target)]
    gap, found = named("first", notion), []
    for _, own in runs.groupby("seed"):
        allowed = own[own[gap] <= target]
        if len(own) == 1:
            found.append(own)
        elif len(allowed):
            found.append(allowed.sort_values(["first_accuracy", gap], ascending=[False, True], kind="stable")[:1])
        else:
            found.append(own.sort_values([gap, "fairness_weight"], kind="stable")[:1])
    return pd.concat(found)


def cases(records: pd.DataFrame) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Every stream, notion and target, with the chosen runs of all methods."""
    for key, here in records.groupby(STREAM, sort=False):
        for notion in NOTIONS:
            for target in TARGETS:
                runs = [chosen(own, method(name), notion, target) for name, own in here.groupby("method", sort=False)]
                yield dict(zip(STREAM, key, strict=True)) | {"notion": notion, "target": target}, pd.concat(runs)


def table(records: pd.DataFrame) -> pd.DataFrame:
    """`results/field.csv`: a row for each stream, notion, target and method, the best of each class first."""
    found = []
    for case, runs in cases(records):
        by_method = {name: own.set_index("seed") for name, own in runs.groupby("method", sort=False)}
        rows = [case | judged(own, method(name), case["notion"], case["target"]) for name, own in by_method.items()]
        found += compared(rows, by_method)
    return pd.DataFrame(found)


def judged(runs: pd.DataFrame, how: Method, notion: str, target: float) -> dict:
    """What a method has in one case."""
    accuracy = Interval.of(runs["accuracy"])
    row = {"method": how.name, "group_needed": how.group_needed, "accuracy": accuracy.mean, "low": accuracy.low,
           "high": accuracy.high}
    for column, part in GAPS.items():
        gaps = runs[named(part, notion)]
        row |= {column: gaps.mean(), f"{column}_kept": (gaps <= WITHIN * target).mean()}
    weights = [f"{weight:g}" for weight in runs["fairness_weight"]]
    tuned = setting_of(how) + ("" if how.steered or len(how.fairness_weights) < 2 else f": {', '.join(weights)}")
    return row | {"keeps": bool(row["gap_kept"] >= ENOUGH), "seeds": len(runs), "rows": int(runs["rows"].iloc[0]),
                  "state_bytes": runs["bytes"].iloc[0], "rows_per_second": runs["speed"].iloc[0], "setting": tuned}


def compared(rows: list[dict], runs: dict[str, pd.DataFrame]) -> list[dict]:
    """The rows of one case with their differences to the best of their class that keeps the gap, seed by seed.

    `among_best`: it keeps the gap, and the 95 % interval of its difference to the best reaches 0.
    """
    ordered = []
    for needed in CLASSES:
        own = [row for row in rows if (row["group_needed"] == "to predict") == needed]
        own.sort(key=lambda row: (not row["keeps"], -row["accuracy"] if row["keeps"] else row["gap"]))
        best = own[0]["method"] if own and own[0]["keeps"] else None
        for row in own:
            row |= {"best": best, "to_best": np.nan, "to_best_low": np.nan, "to_best_high": np.nan,
                    "among_best": row["method"] == best}
            if best is not None and row["method"] != best:
                lost = Interval.of_difference(runs[row["method"]]["accuracy"], runs[best]["accuracy"])
                row |= {"to_best": lost.mean, "to_best_low": lost.low, "to_best_high": lost.high,
                        "among_best": bool(row["keeps"] and not lost.below_zero)}
        ordered += own
    return ordered


def with_costs(records: pd.DataFrame) -> pd.DataFrame:
    """The records with what a method costs on a stream: the median speed of its runs, and its state."""
    by = records.groupby([*STREAM, "method"])
    # Of runs that share a learner the first alone has made it learn: the slowest of each seed is what it takes.
    slowest = records.groupby([*STREAM, "method", "seed", "told"])["rows_per_second"].min()
    speed = slowest.groupby([*STREAM, "method", "seed"]).min().groupby([*STREAM, "method"]).median().rename("speed")
    size = by["state_bytes"].max().rename("bytes")
    return records.merge(pd.concat([speed, size], axis=1).reset_index(), on=[*STREAM, "method"], how="left")


def won(found: pd.DataFrame) -> pd.DataFrame:
    """For each method: cases in which it took part, kept the gap, was the best of its class, or among the best."""
    by = found.assign(first=found["method"] == found["best"]).groupby("method", sort=False)
    counts = pd.DataFrame({"group_needed": by["group_needed"].first(), "cases": by.size(), "kept": by["keeps"].sum(),
                           "best": by["first"].sum(), "among_best": by["among_best"].sum()})
    return counts.sort_values(["among_best", "best", "kept"], ascending=False, kind="stable").reset_index()
