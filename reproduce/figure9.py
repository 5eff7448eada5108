"""Figure 9: two adversarial streams of Adult, one label after the other."""

import matplotlib.pyplot as plt

import grids
import plots
import readings
from command import Figure
from matched import at_gap

TITLES = {"majority_first": "Majority label first", "minority_first": "Minority label first"}


def draw(records):
    ends = plots.last_records(records)
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
        for (trade_off, curves), (order, title) in zip(panels, TITLES.items(), strict=True):
            here = plots.select(ends, order=order)
            plots.majority_line(trade_off, here)
            plots.trade_off(trade_off, here, method="aranyani")
            plots.finish_trade_off(trade_off, title)
            trade_off.legend()
            runs = plots.select(records, method="aranyani", order=order)
            weights = sorted(runs["fairness_weight"].unique())
            for weight, color in zip(weights, plots.shades(len(weights)), strict=True):
                plots.along(curves, plots.select(runs, fairness_weight=weight), "accuracy", factor=100, color=color,
                            label=f"λ = {weight:g}")
            plots.finish_stream(curves, "Accuracy so far (%)", title=title)
            curves.legend(fontsize=9, ncols=2)
    return figure


def read(records):
    ends, sentences = plots.last_records(records), []
    for order, title in TITLES.items():
        here, runs = plots.select(ends, order=order), plots.select(records, method="aranyani", order=order)
        gaps = here.loc[here["method"] == "aranyani"].groupby("fairness_weight")["demographic_parity"].mean()
        gap = gaps.median()
        ours, theirs = (at_gap(plots.select(here, method=method), gap) for method in ("aranyani", "majority"))
        lowest = runs[runs["step"] > runs["step"].max() / 2].groupby("fairness_weight")["accuracy"].min()
        sentences.append(
            f"{title}: at a demographic parity of {gap:.3f} Aranyani has {readings.percent(ours)} and Majority "
            f"{readings.percent(theirs)}; in the second half accuracy so far falls to {100 * lowest.iloc[0]:.1f} % "
            f"with λ={lowest.index[0]:g} and to {100 * lowest.iloc[-1]:.1f} % with λ={lowest.index[-1]:g}.")
    return " ".join(sentences)


FIGURE = Figure("figure9", __doc__, grids.figure9, draw, read)

if __name__ == "__main__":
    FIGURE.main()
