"""Figure 9: two adversarial streams of Adult, one label after the other."""

import matplotlib.pyplot as plt
import numpy as np

from harness import grids, plots
from harness.figure import Figure

METRICS = ["demographic_parity", "accuracy"]
TITLES = {"majority_first": "Majority label first", "minority_first": "Minority label first"}


def draw(records):
    ends = plots.last_records(records)
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
        for (trade_off, curves), (order, title) in zip(panels, TITLES.items(), strict=True):
            here = plots.select(ends, order=order)
            plots.majority_line(trade_off, here)
            plots.trade_off(trade_off, here, method="aranyani")
            plots.finish_trade_off(trade_off, f"Adult: {title.lower()}")
            trade_off.legend()
            runs = plots.select(records, method="aranyani", order=order)
            weights = sorted(runs["fairness_weight"].unique())
            for weight, color in zip(weights, plots.shades(len(weights)), strict=True):
                plots.along(curves, plots.select(runs, fairness_weight=weight), "accuracy", factor=100, color=color,
                            label=f"λ = {weight:g}")
            plots.finish_stream(curves, "Accuracy so far (%)", title=f"Adult: {title.lower()}")
            curves.legend(fontsize=9, ncols=2)
    return figure


def read(records):
    ends, sentences = plots.last_records(records), []
    for order, title in TITLES.items():
        ours, line = (plots.select(ends, order=order, method=method).groupby(setting)[METRICS].mean()
                      for method, setting in (("aranyani", "fairness_weight"), ("majority", "probability")))
        line = line.sort_values("demographic_parity")
        same = np.interp(ours["demographic_parity"], line["demographic_parity"], line["accuracy"])
        above = ", ".join(f"{points:+.1f} (λ={weight:g})" for weight, points in
                          (100 * (ours["accuracy"] - same)).items() if weight > 0)
        runs = plots.select(records, method="aranyani", order=order)
        late = runs[runs["step"] > runs["step"].max() / 2].groupby(["fairness_weight", "step"])["accuracy"].mean()
        lowest = 100 * late.groupby("fairness_weight").min()
        sentences.append(
            f"{title}: mean accuracy against Majority's at the same demographic parity {above} points, the smallest "
            f"mean gap {ours['demographic_parity'].min():.3f}; in the second half accuracy so far falls to "
            f"{lowest.iloc[0]:.1f} % with λ={lowest.index[0]:g} and to {lowest.iloc[-1]:.1f} % with "
            f"λ={lowest.index[-1]:g}.")
    return " ".join(sentences)


FIGURE = Figure("figure9", __doc__, grids.figure9, draw, read)

if __name__ == "__main__":
    FIGURE.main()
