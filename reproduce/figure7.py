"""Figure 7: fairness gradients along a stream of texts, and at its end for trees of several heights."""

import matplotlib.pyplot as plt
import numpy as np

from harness import grids, plots
from harness.figure import Figure
from harness.gradient_plots import draw_norms, in_pieces

NORMS = {"fairness_node_kernel": "W", "fairness_node_bias": "B"}


def along_stream(records):
    """The runs that the first two panels show."""
    return plots.select(records, height=4)


def final_norms(records):
    """The norm of every run, over the last tenth of the stream."""
    late = records[records["step"] > 0.9 * records["step"].max()]
    return late.groupby(["height", "seed"], as_index=False)[["fairness_node_kernel", "demographic_parity"]].mean()


def draw(records):
    runs, ends = along_stream(records), final_norms(records)
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
        for axes, (column, weight) in zip(panels, NORMS.items(), strict=False):
            draw_norms(axes, runs, {column: f"fairness gradient of {weight}"})
            axes.set_title(f"{plots.text_title(runs['dataset'].iloc[0])}: {weight}")
            parity = axes.twinx()
            plots.along(parity, runs, "demographic_parity", color=plots.SERIES[1], label="demographic parity")
            parity.set_ylabel("Demographic parity", color=plots.SERIES[1])
            lines = [line for each in (axes, parity) for line in each.get_lines()]
            axes.legend(lines, [line.get_label() for line in lines], fontsize=9, loc="upper right")
            parity.grid(False)
        axes = panels[2]
        plots.against(axes, ends, "height", "fairness_node_kernel", color=plots.SERIES[0], linestyle="none")
        slope, offset = fit(ends)
        heights = np.array(sorted(ends["height"].unique()))
        axes.plot(heights, offset + slope * heights, color="#444444", linestyle="--", label="linear fit")
        axes.set(xlabel="Height", ylabel="Norm at the end of the stream (W)", xticks=heights,
                 title=f"One tree, λ = 0.1, {ends.groupby('height')['seed'].nunique().min()} seeds each")
        axes.legend(fontsize=9)
    return figure


def fit(ends):
    """Slope and offset of the line through the means of each height."""
    means = ends.groupby("height")["fairness_node_kernel"].mean()
    return np.polyfit(means.index, means, 1)


def read(records):
    runs, ends = along_stream(records), final_norms(records)
    sentences = []
    pieces = in_pieces(runs, list(NORMS)).groupby("step").median()
    for column, weight in NORMS.items():
        sentences.append(f"In pieces of a fiftieth of the stream the norm of the fairness gradient of {weight} is "
                         f"{pieces[column].iloc[0]:.3g} in the first, {pieces[column].max():.3g} at most and "
                         f"{pieces[column].iloc[-1]:.3g} in the last (λ = 0.1).")
    parity = runs.groupby("step")["demographic_parity"].mean()
    together = np.corrcoef(np.log(pieces["fairness_node_kernel"]), parity[pieces.index.astype(int)])[0, 1]
    sentences.append(
        f"Demographic parity is {parity.min():.3f} at its lowest and {parity.iloc[-1]:.3f} at the end; its correlation "
        f"with the logarithm of the norm of W's gradient is {together:+.2f} (the paper: well correlated).")
    means = ends.groupby("height")[["fairness_node_kernel", "demographic_parity"]].mean()
    correlation = np.corrcoef(means.index, means["fairness_node_kernel"])[0, 1]
    slope, offset = fit(ends)
    sentences.append(
        f"At the end of the stream the norms (W) fit {offset:.3g} {slope:+.3g}·height, correlation "
        f"{correlation:+.2f} (the paper: linear, growing), with DP between {means['demographic_parity'].min():.3f} and "
        f"{means['demographic_parity'].max():.3f}.")
    seeds = ends.groupby("height")["seed"].nunique()
    fewer = [f"height {height} has {count}" for height, count in seeds.items() if count < seeds.max()]
    if fewer:
        sentences.append(f"Of {seeds.max()} seeds, {', '.join(fewer)}.")
    return " ".join(sentences)


FIGURE = Figure("figure7", __doc__, grids.figure7, draw, read)

if __name__ == "__main__":
    FIGURE.main()
