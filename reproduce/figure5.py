"""Figure 5: accuracy and demographic parity along the stream of Adult, for several λ."""

import matplotlib.pyplot as plt

from harness import grids, plots, readings
from harness.figure import Figure


def draw(records):
    runs = plots.select(records, method="aranyani")
    weights = sorted(runs["fairness_weight"].unique())
    with plt.rc_context(plots.STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
        for weight, color in zip(weights, plots.shades(len(weights)), strict=True):
            here = plots.select(runs, fairness_weight=weight)
            plots.along(left, here, "accuracy", factor=100, band=0, color=color, label=f"λ = {weight:g}")
            plots.along(right, here, "demographic_parity", band=0, color=color)
        for axes, name in ((left, "Accuracy so far (%)"), (right, "Demographic parity so far")):
            plots.finish_stream(axes, name, xscale="log", title=f"Adult, mean of {runs['seed'].nunique()} seeds")
        figure.legend(*left.get_legend_handles_labels(), loc="outside right center")
    return figure


def read(records):
    runs = plots.select(records, method="aranyani")
    means = runs.groupby(["step", "fairness_weight"])[["accuracy", "demographic_parity"]].mean().unstack()
    falls = (means.diff(axis=1).drop(columns=means.columns[means.columns.get_level_values(1) == 0]) <= 0).mean()
    ends = plots.last_records(runs).groupby("fairness_weight")
    told = "; ".join(f"λ={weight:g} {readings.percent(end['accuracy'])}, DP "
                     f"{readings.spread(end['demographic_parity'])}" for weight, end in ends)
    return (f"At the end: {told}. From one λ to the next larger one accuracy does not rise at "
            f"{100 * falls['accuracy'].mean():.0f} % of the checkpoints, DP at "
            f"{100 * falls['demographic_parity'].mean():.0f} % (the paper: consistently).")


FIGURE = Figure("figure5", __doc__, grids.figure5, draw, read)

if __name__ == "__main__":
    FIGURE.main()
