"""Which runs of `make targets` kept their target, and what it cost them against the best fixed λ."""

from itertools import pairwise

import numpy as np
import pandas as pd

from aranyani_tf.evaluation.records import NUM_WINDOWS
from harness import plots
from harness.experiment_streams import load
from harness.intervals import Interval
from harness.matching import at_gap, constant_answer

STREAMS = {("adult", "released"): "Adult", ("adult", "one_hot"): "Adult, one-hot", ("census", "released"): "Census",
           ("compas", "standardized"): "COMPAS", ("bank", "one_hot"): "Bank by date"}
STEERED = ("target_node", "target_output", "thresholds", "target_and_thresholds")
FIXED = {"target_node": "aranyani"}  # whose λ is compared with; the output level's where nothing is said
GAPS = {"demographic_parity": "all rows", "late_demographic_parity": "second half",
        "window_demographic_parity": "windows"}
WITHIN = 1.2  # times the target
FORGETS = {"decay": 0.01, "forget": "time"}  # with a fixed λ as with a target


def by_chance(dataset, preprocessing, rows, draws=20):
    """The mean gap in windows of decisions that know no group, made at random as often as the label is 1 there."""
    stream, random = load(dataset, preprocessing)[:rows], np.random.default_rng(0)
    ends = np.unique(np.round(np.linspace(0, len(stream), NUM_WINDOWS + 1)).astype(int))
    gaps = []
    for start, end in pairwise(ends):
        groups, rate = stream.groups[start:end], (stream.labels[start:end] == 1).mean()
        if len(set(groups)) > 1:
            decided = random.random((draws, end - start)) < rate
            gaps.append(np.abs(decided[:, groups == 1].mean(axis=1) - decided[:, groups == 0].mean(axis=1)).mean())
    return float(np.mean(gaps)) if gaps else np.nan


def kept(records):
    """One row a stream, way and target: accuracy, gaps, shares of runs that kept them, points lost to a fixed λ."""
    ends, found = plots.last_records(records), []
    for (dataset, preprocessing), title in STREAMS.items():
        here = plots.select(ends, dataset=dataset, preprocessing=preprocessing)
        if here.empty:
            continue
        constant, chance = constant_answer(here), by_chance(dataset, preprocessing, int(here["step"].max()))
        for method in STEERED:
            fixed = plots.select(here, method=FIXED.get(method, "output"), **FORGETS)
            for target, runs in plots.select(here, method=method).groupby("fairness_weight"):
                gap = runs["demographic_parity"].mean()
                best = at_gap(fixed, gap, constant)["accuracy"]
                lost = Interval.of_difference(runs.set_index("seed")["accuracy"], best).times(100)
                row = {"dataset": dataset, "preprocessing": preprocessing, "stream": title, "method": method,
                       "target": target, "runs": len(runs), "accuracy": runs["accuracy"].mean()}
                row |= {column: runs[column].mean() for column in GAPS}
                row |= {f"kept_{column}": (runs[column] <= WITHIN * target).mean() for column in GAPS}
                found.append(row | {"window_by_chance": chance, "points_to_best_fixed": lost.mean, "low": lost.low,
                                    "high": lost.high})
    return pd.DataFrame(found)


def shares(rows):
    """How often the target was kept, (what is told of it → share of runs), of rows of `kept`.

    In windows also of those cases alone in which decisions that know no group would keep it: the others are up to
    chance, unless the group decides.
    """
    possible = rows[rows["window_by_chance"] <= WITHIN * rows["target"]]
    return {name: share(rows, column) for column, name in GAPS.items()} | {
        "windows, where chance allows it": share(possible, "window_demographic_parity")}


def share(rows, column):
    return np.average(rows[f"kept_{column}"], weights=rows["runs"]) if len(rows) else np.nan
