"""Runs of the field in, `results/field.csv` out: what the chosen settings have, and who is best.

What is judged was chosen before, by the first tenth of the stream (`field_choice`).
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from harness.field_choice import BETWEEN, case_name
from harness.field_measures import named
from harness.intervals import Interval
from harness.registry import NOTIONS, TARGETS, Method, method

WITHIN = 1.2  # times the target is kept
ENOUGH = 0.8  # of the seeds have to keep it
CLOSE = 0.01  # of accuracy behind the best is among the best, at most: a wide interval is no merit
STREAM = ["dataset", "preprocessing", "groups", "drop_group"]
CASE = [*STREAM, "notion", "target"]
GAPS = {"gap": "", "late_gap": "late", "window_gap": "window"}  # column → part of the judged rows
CLASSES = {False: "group not needed to predict", True: "group needed to predict"}


def read(path: Path) -> pd.DataFrame:
    """`field.csv` as it was written; one of an earlier version has no stream without its group's column."""
    found = pd.read_csv(path)
    return found.assign(groups=found["groups"].astype(object).fillna(""),
                        drop_group=found.get("drop_group", False))


def as_numbers(texts: pd.DataFrame) -> pd.DataFrame:
    """Texts of parts as what they stand for; a knob's value may be a word."""
    words = [*STREAM, "method", "told", "chosen_for", "knob_value"]
    return texts.assign(**{name: pd.to_numeric(texts[name]) for name in texts if name not in words},
                        drop_group=texts["drop_group"] == "True")


def setting_of(how: Method, runs: pd.DataFrame) -> str:
    """What was tuned, in words, and what was chosen for each seed."""
    tuned, columns = [], []
    if len(how.fairness_weights) > 1 and not how.steered:
        tuned.append(f"λ of {len(how.fairness_weights)}")
        columns.append("fairness_weight")
    values = how.values_for(runs["dataset"].iloc[0])
    if len(values) > 1:
        tuned.append(f"{how.knob} of {len(values)}")
        columns.append("knob_value")
    told = [*(["told the target"] if how.steered else []), *(["told this notion"] if how.notions else [])]
    if columns:
        by_seed = [" / ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in row)
                   for row in runs[columns].itertuples(index=False)]
        told.append(f"{' and '.join(tuned)}, chosen on the first tenth: {', '.join(by_seed)}")
    elif values:
        told.append(f"{how.knob} {runs['knob_value'].iloc[0]}")
    return "; ".join(told) or "nothing"


def cases(records: pd.DataFrame) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Every stream, notion and target, with the chosen runs of all methods."""
    chosen = records.assign(case=records["chosen_for"].str.split(BETWEEN)).explode("case")
    for key, here in chosen.groupby(STREAM, sort=False):
        for notion in NOTIONS:
            for target in TARGETS:
                own = here[here["case"] == case_name(notion, target)]
                yield dict(zip(STREAM, key, strict=True)) | {"notion": notion, "target": target}, own


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
    accuracy = Interval.student(runs["accuracy"])
    row = {"method": how.name, "group_needed": how.group_needed, "accuracy": accuracy.mean, "low": accuracy.low,
           "high": accuracy.high}
    for column, part in GAPS.items():
        gaps = runs[named(part, notion)]
        row |= {column: gaps.mean(), f"{column}_kept": (gaps <= WITHIN * target).mean()}
    whole = bool(runs["accuracy"].notna().all())  # one that has diverged keeps nothing
    return row | {"keeps": whole and bool(row["gap_kept"] >= ENOUGH), "seeds": len(runs),
                  "rows": int(runs["rows"].iloc[0]), "state_bytes": runs["bytes"].iloc[0],
                  "rows_per_second": runs["speed"].iloc[0], "setting": setting_of(how, runs)}


def compared(rows: list[dict], runs: dict[str, pd.DataFrame]) -> list[dict]:
    """The rows of one case with their differences to the best of their class that keeps the gap, seed by seed.

    `among_best`: it keeps the gap, is at most `CLOSE` behind, and the 95 % interval of its difference reaches 0.
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
                lost = Interval.student_difference(runs[row["method"]]["accuracy"], runs[best]["accuracy"])
                row |= {"to_best": lost.mean, "to_best_low": lost.low, "to_best_high": lost.high,
                        "among_best": bool(row["keeps"] and lost.mean >= -CLOSE and not lost.below_zero)}
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
