"""Figure 6: the number of trees, Adult, λ = 0.1."""

import matplotlib.pyplot as plt
import numpy as np

from harness import grids, plots, readings
from harness.figure import Figure

PANELS = {"accuracy": ("Accuracy (%)", 100), "demographic_parity": ("Demographic parity", 1)}


def draw(records):
    ends = plots.last_records(records)
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
        for axes, (column, (name, factor)) in zip(panels, PANELS.items(), strict=True):
            plots.against(axes, ends, "num_trees", column, factor=factor, color=plots.SERIES[0])
            axes.set(xlabel="Number of trees", ylabel=name, xticks=sorted(ends["num_trees"].unique()),
                     title="Adult, λ = 0.1")
    return figure


def read(records):
    by_trees = plots.last_records(records).groupby("num_trees")
    few, many = (by_trees.get_group(count) for count in (min(by_trees.groups), max(by_trees.groups)))
    sentences = []
    for column, (name, _) in PANELS.items():
        means, deviations = by_trees[column].mean(), by_trees[column].std()
        told = readings.percent if column == "accuracy" else readings.spread
        trend = np.corrcoef(means.index, means)[0, 1]
        sentences.append(f"{name.removesuffix(' (%)')} goes from {told(few[column])} with {min(by_trees.groups)} to "
                         f"{told(many[column])} with {max(by_trees.groups)} trees (correlation of the means with the "
                         f"number {trend:+.2f}; the deviation over seeds goes from {deviations.iloc[0]:.4f} to "
                         f"{deviations.iloc[-1]:.4f})")
    return "; ".join(sentences) + ". The paper: a slight drop in both, and less deviation with more trees."


FIGURE = Figure("figure6", __doc__, grids.figure6, draw, read)

if __name__ == "__main__":
    FIGURE.main()
