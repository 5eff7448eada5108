"""Beyond the paper: a stream whose groups change places half-way, with and without forgetting."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from harness import grids, plots, readings
from harness.figure import Figure


def windows(records):
    """The gap within each window, from the means over the windows so far: w_k = k·mean_k − (k − 1)·mean_(k−1)."""
    runs = plots.select(records, method="aranyani").copy()
    runs["decay"] = runs["decay"].fillna(0)
    ends = np.round(np.linspace(0, runs["step"].max(), 21)).astype(int)[1:]
    runs = runs[runs["step"].isin(ends)].sort_values("step")
    frames = []
    for _, run in runs.groupby(["decay", "fairness_weight", "seed"]):
        sums = run["window_demographic_parity"] * np.arange(1, len(run) + 1)
        frames.append(run.assign(window_gap=np.diff(sums, prepend=0)))
    return pd.concat(frames)


def middle_weight(runs):
    """The λ that is drawn along the stream: the middle one of the grid."""
    return sorted(runs["fairness_weight"].unique())[len(runs["fairness_weight"].unique()) // 2]


def name_of(decay):
    return "plain means" if not decay > 0 else f"decay {decay:g}"


def draw(records):
    gaps, ends = windows(records), plots.last_records(records)
    weight = middle_weight(gaps)
    with plt.rc_context(plots.STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
        unfair = plots.select(gaps, fairness_weight=0.0, decay=0.0)
        plots.along(left, unfair, "window_gap", color="#7F7F7F", linestyle=":", label="λ = 0")
        for decay, color in zip(sorted(gaps["decay"].unique()), plots.SERIES, strict=False):
            here = plots.select(gaps, fairness_weight=weight, decay=decay)
            plots.along(left, here, "window_gap", color=color, label=f"λ = {weight:g}, {name_of(decay)}")
            plots.trade_off(right, ends, method="aranyani", decay=decay if decay > 0 else None,
                            gap="window_demographic_parity", label=name_of(decay), style={"color": color})
        left.axvline(gaps["step"].max() / 2, color="#444444", linewidth=1, linestyle="--")
        plots.finish_stream(left, "Demographic parity in windows of 5 %",
                            title="Synthetic: groups swap at the dashed line")
        left.set_ylim(top=1.35 * left.get_ylim()[1])  # room for the legend
        left.legend(fontsize=9, ncols=2, loc="upper center", framealpha=1, frameon=True, edgecolor="none")
        plots.finish_trade_off(right, "Synthetic: mean over windows", gap_name="Demographic parity, mean over windows")
        right.legend(fontsize=9)
    return figure


def read(records):
    gaps = windows(records)
    weight, half = middle_weight(gaps), gaps["step"].max() / 2
    here = plots.select(gaps, fairness_weight=weight)
    sentences = []
    for decay, runs in here.groupby("decay"):
        before, after = (part.groupby("seed")["window_gap"].mean() for part in (
            runs[runs["step"] <= half], runs[runs["step"] > half]))
        sentences.append(f"{name_of(decay)} {readings.spread(before)} before and {readings.spread(after)} after")
    return (f"Demographic parity within windows with λ={weight:g}, before and after the groups change places: "
            f"{'; '.join(sentences)}.")


FIGURE = Figure("drift", __doc__, grids.drift, draw, read)

if __name__ == "__main__":
    FIGURE.main()
