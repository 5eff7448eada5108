"""Figure 4: Aranyani against Reservoir, gradients along the stream, and the height of the trees."""

import matplotlib.pyplot as plt

from harness import grids, plots, readings
from harness.figure import Figure
from harness.gradient_plots import draw_norms, in_pieces

METRICS = ("accuracy", "demographic_parity")


def parts_of(records):
    """The records of the three panels: trade-off (at the end of the stream), gradients, heights (at the end)."""
    ends = plots.last_records(records)
    of_adult = ends[(ends["dataset"] == "adult")]
    most_common = of_adult["height"].mode()[0]
    heights = of_adult[(of_adult["fairness_weight"] == 0.1) & (of_adult["method"] == "aranyani")]
    return (of_adult[of_adult["height"] == most_common], records[records["total_node_kernel"].notna()],
            heights.drop_duplicates(["height", "seed"]))


def costs(trade_off):
    """Time and state of each Reservoir as a multiple of Aranyani's, run by run."""
    runs = trade_off[trade_off["seconds"].notna()]
    return runs.assign(time_ratio=runs["seconds"] / runs["aranyani_seconds"],
                       memory_ratio=runs["state_bytes"] / runs["aranyani_state_bytes"]).groupby("method", sort=False)


def draw(records):
    trade_off, gradients, heights = parts_of(records)
    with plt.rc_context(plots.STYLE):
        figure, (left, center, right) = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
        for method in ("reservoir_500", "reservoir", "aranyani"):
            plots.trade_off(left, trade_off, method=method)
        plots.finish_trade_off(left, "Adult: means or samples")
        lines = [f"{plots.label_of(method)}: {runs['time_ratio'].mean():.0f} × the time, "
                 f"{runs['memory_ratio'].mean():.0f} × the state" for method, runs in costs(trade_off)]
        left.annotate("\n".join(lines), (0.02, 0.02), xycoords="axes fraction", fontsize=9, color="#444444")
        left.margins(y=0.2)
        left.legend(fontsize=9, loc="upper right")
        draw_norms(center, gradients, {"total_node_kernel": "task + fairness", "fairness_node_kernel": "fairness"})
        center.set_title(f"{plots.text_title(gradients['dataset'].iloc[0])}: ∇W, one tree")
        plots.against(right, heights, "height", "accuracy", factor=100, color=plots.SERIES[0])
        right.set(xlabel="Height", title="Adult, λ = 0.1")
        right.set_ylabel("Accuracy (%)", color=plots.SERIES[0])
        parity = right.twinx()
        plots.against(parity, heights, "height", "demographic_parity", color=plots.SERIES[1], marker="s")
        parity.set_ylabel("Demographic parity (inverted)", color=plots.SERIES[1])
        parity.invert_yaxis()
        parity.grid(False)
    return figure


def read(records):
    trade_off, gradients, heights = parts_of(records)
    ours = trade_off[trade_off["method"] == "aranyani"].groupby("fairness_weight")[list(METRICS)].mean()
    sentences = [told_cost(method, runs, ours) for method, runs in costs(trade_off)]
    by_step = in_pieces(gradients, ["total_node_kernel", "fairness_node_kernel"]).groupby("step").median()
    first, last = by_step["total_node_kernel"].iloc[[0, -1]]
    fair = by_step["fairness_node_kernel"].iloc[[0, -1]].tolist()
    sentences.append(f"The norm of the total gradient of W goes from {first:.3g} to {last:.3g} along the stream "
                     f"(the paper: it converges), that of the fairness gradient from {fair[0]:.3g} to {fair[1]:.3g}.")
    by_height = heights.groupby("height")
    low, high = (by_height.get_group(height) for height in (min(by_height.groups), max(by_height.groups)))
    sentences.append(
        f"From height {min(by_height.groups)} to {max(by_height.groups)} accuracy goes from "
        f"{readings.percent(low['accuracy'])} to {readings.percent(high['accuracy'])} and DP from "
        f"{readings.spread(low['demographic_parity'])} to {readings.spread(high['demographic_parity'])}.")
    return " ".join(sentences)


def told_cost(method, runs, ours):
    """A Reservoir's time, state and trade-off beside Aranyani's."""
    pairs = []
    for weight, theirs in runs.groupby("fairness_weight")[list(METRICS)].mean().iterrows():
        told = f"λ={weight:g}: {100 * theirs['accuracy']:.1f} % / {theirs['demographic_parity']:.3f}"
        if weight in ours.index:
            accuracy, gap = ours.loc[weight]
            told += f" (Aranyani {100 * accuracy:.1f} % / {gap:.3f})"
        pairs.append(told)
    grid = f"{runs['fairness_weight'].nunique()} λ, seeds: {runs['seed'].nunique()}"
    room = ", with room for the whole stream in each group" if method == "reservoir" else ""
    return (f"{plots.label_of(method)} ({grid}) takes {runs['time_ratio'].mean():.0f} times Aranyani's time "
            f"(the paper: about 3) and {runs['state_bytes'].mean() / 1000:,.0f} kB of state{room}; Aranyani's "
            f"{runs['aranyani_state_bytes'].mean() / 1000:.0f} kB are "
            f"{100 * (1 - 1 / runs['memory_ratio'].mean()):.1f} % less (the paper: 23 % of all memory). "
            f"Accuracy / DP at {'; '.join(pairs)}.")


FIGURE = Figure("figure4", __doc__, grids.figure4, draw, read)

if __name__ == "__main__":
    FIGURE.main()
