"""Figure 12: a tenth of Adult held out, and the trade-off as it converges."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from harness import grids, plots, readings
from harness.figure import Figure

PANELS = {"held_out_accuracy": ("Accuracy, held out (%)", 100),
          "held_out_demographic_parity": ("Demographic parity, held out", 1)}


def parts_of(records):
    """The runs with rows held out, and those on the whole stream."""
    return records[records["held_out"] > 0], records[records["held_out"] == 0]


def steps_shown(runs, count=8):
    """A few checkpoints, evenly spaced on a logarithmic axis, the last one included."""
    steps = np.sort(runs.loc[(runs["method"] == "aranyani") & (runs["step"] >= min(1000, runs["step"].max())),
                             "step"].unique())
    return steps[np.unique(np.linspace(0, len(steps) - 1, count).round().astype(int))]


def curve(aside, step):
    """Held-out gap and accuracy of every λ after so many samples, the means over seeds."""
    return plots.select(aside, step=step).groupby("fairness_weight")[
        ["held_out_demographic_parity", "held_out_accuracy"]].mean()


def above_majority(aside):
    """Held-out accuracy less Majority's at the same gap, for λ above 0 at every checkpoint, the means over seeds.

    Majority mixes the answers of λ = 0 with the more frequent label: a line from (0, its share) to λ = 0.
    """
    found = {}
    for step in np.sort(aside["step"].unique()):
        points, share = curve(aside, step), aside["held_out_majority"].iloc[0]
        gap, accuracy = points.loc[0.0]
        line = share + (accuracy - share) * (points["held_out_demographic_parity"] / max(gap, 1e-12)).clip(upper=1)
        found[step] = (points["held_out_accuracy"] - line).drop(0.0)
    return pd.DataFrame(found).T


def draw(records):
    aside, _ = parts_of(records)
    weights = sorted(aside["fairness_weight"].unique())
    with plt.rc_context(plots.STYLE):
        figure, (left, center, right) = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
        for axes, (column, (name, factor)) in zip((left, center), PANELS.items(), strict=True):
            for weight, color in zip(weights, plots.shades(len(weights)), strict=True):
                plots.along(axes, plots.select(aside, fairness_weight=weight), column, factor=factor, color=color,
                            label=f"λ = {weight:g}")
            plots.finish_stream(axes, name, title="Adult, a tenth held out")
            axes.legend(fontsize=9)
        steps = steps_shown(aside)
        colors = matplotlib.colormaps["viridis_r"](np.linspace(0.1, 1, len(steps)))
        for step, color in zip(steps, colors, strict=True):
            points = curve(aside, step)
            right.plot(points["held_out_demographic_parity"], 100 * points["held_out_accuracy"], marker="v",
                       color=color, linewidth=1.4, label=f"after {step:,}")
            gap, accuracy = points.loc[0.0]
            right.plot([0, gap], [100 * aside["held_out_majority"].iloc[0], 100 * accuracy], color=color, linewidth=0.9,
                       linestyle=":", label="Majority, likewise" if step == steps[-1] else None)
        plots.finish_trade_off(right, "Adult, held out: the trade-off over time")
        right.legend(fontsize=8)
    return figure


def read(records):
    aside, whole = parts_of(records)
    ends, sentences = aside[aside["step"] == aside["step"].max()], []
    for weight, end in ends.groupby("fairness_weight"):
        sentences.append(f"λ={weight:g} {readings.percent(end['held_out_accuracy'])}, DP "
                         f"{readings.spread(end['held_out_demographic_parity'])}")
    late = aside[aside["step"] > aside["step"].max() / 2]
    wobble = late.groupby(["fairness_weight", "seed"])[list(PANELS)].std().mean()
    steps = steps_shown(whole)
    middle, end = (plots.select(whole, method="aranyani", step=step, rule="released").groupby("fairness_weight")[
        ["accuracy", "demographic_parity"]].mean() for step in (steps[len(steps) // 2], steps[-1]))
    moved = (end - middle).abs().mean()
    above = above_majority(aside)
    later = above[above.index >= min(3000, above.index.max())]
    return (f"Held out, at the end: {'; '.join(sentences)}. Within a run's second half they vary by "
            f"{100 * wobble['held_out_accuracy']:.1f} points and {wobble['held_out_demographic_parity']:.3f} (standard "
            f"deviation). From {steps[len(steps) // 2]:,} samples to the end the trade-off so far moves by "
            f"{100 * moved['accuracy']:.1f} points and {moved['demographic_parity']:.3f} on average over λ. On the "
            f"held-out rows {100 * (above > 0).to_numpy().mean():.0f} % of the means at a λ above 0 lie above "
            f"Majority's line, from 3,000 samples on {100 * (later > 0).to_numpy().mean():.0f} % (the paper: "
            "consistently).")


FIGURE = Figure("figure12", __doc__, grids.figure12, draw, read)

if __name__ == "__main__":
    FIGURE.main()
