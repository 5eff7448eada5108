"""Is a target kept? ParityTarget and GroupThresholds on five streams, beside the best fixed λ of hindsight."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from aranyani_tf.evaluation.records import NUM_WINDOWS
from harness import plots
from harness.experiment_streams import load
from harness.figure import Figure
from harness.intervals import Interval
from harness.matching import at_gap, constant_answer
from harness.scales import FIVE, FULL
from methods.targets import TARGETS

STREAMS = {("adult", "released"): "Adult", ("adult", "one_hot"): "Adult, one-hot", ("census", "released"): "Census",
           ("compas", "standardized"): "COMPAS", ("bank", "one_hot"): "Bank by date"}
STEERED = ("target_node", "target_output", "thresholds", "target_and_thresholds")
FIXED = {"target_node": "aranyani"}  # whose λ is compared with; the output level's where nothing is said
WEIGHTS = (0.0, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0)
GAPS = {"demographic_parity": "all rows", "late_demographic_parity": "second half",
        "window_demographic_parity": "windows"}
WITHIN = 1.2  # times the target
DECAY = 0.01  # of the fixed λ as of the target's own


def experiments(scale=FULL):
    """Every stream by every way to keep a target, and by fixed λ."""
    found = []
    for dataset, preprocessing in STREAMS:
        here = {"preprocessing": preprocessing, "seeds": FIVE}
        found += [scale.experiment(dataset, TARGETS, method=method, **here) for method in STEERED]
        found += [scale.experiment(dataset, WEIGHTS, method=method, decay=DECAY, **here)
                  for method in ("aranyani", "output")]
        found.append(scale.experiment(dataset, (0.0,), **here))  # which brings the constant answer
    return found


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
            fixed = plots.select(here, method=FIXED.get(method, "output"), decay=DECAY)
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


def draw(records):
    """A column a stream: above the gaps by target, below the accuracy, with the best fixed λ as a line."""
    table, ends = kept(records), plots.last_records(records)
    names = list(dict.fromkeys(table["stream"]))
    with plt.rc_context(plots.STYLE | {"font.size": 10}):
        figure, panels = plt.subplots(2, len(names), figsize=(3.1 * len(names) + 0.8, 6.6), layout="constrained",
                                      squeeze=False)
        for (above, below), name in zip(panels.T, names, strict=True):
            here = plots.select(table, stream=name)
            targets = sorted(here["target"].unique())
            above.plot(targets, targets, color="#888888", linewidth=1, label="the target")
            above.fill_between(targets, 0, [WITHIN * t for t in targets], color="#888888", alpha=0.15, linewidth=0)
            for shift, method in enumerate(STEERED):
                runs = plots.select(here, method=method).sort_values("target")
                style: dict = plots.style_of(method) | {"linestyle": "none"}
                places = runs["target"] + 0.002 * (shift - 1.5)  # side by side
                above.plot(places, runs["demographic_parity"], **style)
                above.plot(places, runs["late_demographic_parity"],
                           **style | {"markerfacecolor": "white", "label": None})
                below.plot(runs["demographic_parity"], 100 * runs["accuracy"], **style)
            for method, line in (("output", "-"), ("aranyani", ":")):
                frontier(below, ends, here.iloc[0], method, line)
            above.set(title=name, xticks=targets, yticks=targets, xlabel="target", ylim=(0, 1.5 * max(TARGETS)))
            below.set(xlabel="gap of all rows", xlim=(0, None))
            below.locator_params(axis="x", nbins=4)
        panels[0, 0].set_ylabel("gap (white: second half)")
        panels[1, 0].set_ylabel("accuracy, %")
        handles = [*panels[0, 0].get_legend_handles_labels()[0], *panels[1, 0].get_lines()[-2:]]
        names = [*panels[0, 0].get_legend_handles_labels()[1], "fixed λ, output", "fixed λ, nodes"]
        figure.legend(handles, names, loc="outside lower center", ncols=4)
    return figure


def frontier(axes, ends, stream, method, line):
    """Accuracy over the gap of fixed λ, the means over seeds."""
    runs = plots.select(ends, dataset=stream["dataset"], preprocessing=stream["preprocessing"], method=method,
                        decay=DECAY)
    means = runs.groupby("fairness_weight")[["demographic_parity", "accuracy"]].mean().sort_values(
        "demographic_parity")
    axes.plot(means["demographic_parity"], 100 * means["accuracy"], line, color="#555555", linewidth=1)


def read(records):
    table = kept(records)
    told = []
    for method, rows in table.groupby("method", sort=False):
        shares = "; ".join(f"{name} {np.average(rows[f'kept_{column}'], weights=rows['runs']):.0%}"
                           for column, name in GAPS.items())
        told.append(f"{plots.label_of(method)}: {shares}; {rows['points_to_best_fixed'].mean():+.2f} points against "
                    "the best fixed λ")
    return (f"Share of runs whose gap is at most {WITHIN} × the target, of all streams and targets. "
            + ". ".join(told) + ".")


FIGURE = Figure("targets", __doc__, experiments, draw, read, in_all=False, ends=True)

if __name__ == "__main__":
    FIGURE.main()
