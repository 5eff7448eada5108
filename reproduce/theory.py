"""Theory: the paper's bounds, as printed and as they hold, beside what one tree does on Adult."""

import quiet  # noqa: F401

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from tqdm import tqdm

import aranyani_tf as ar
from aranyani_tf.files import whole_file
from harness import RESULTS, plots
from harness.provenance import Clock, write_environment
from harness.readings import write_reading
from harness.theory_descent import FAIRNESS_WEIGHT, HEIGHT, descent
from harness.theory_measures import along_stream, by_height

HEIGHTS = range(2, 7)
COLUMNS = ["panel", "height", "seed", "step", "node", "quantity", "value", "bound_printed", "bound_corrected",
           "bound_of_data"]
MEASURED, PRINTED, CORRECTED, OF_DATA = (plots.SERIES[number] for number in (2, 1, 0, 3))
LINES = {"value": {"color": MEASURED, "linewidth": 2.2},
         "bound_of_data": {"color": OF_DATA, "linestyle": "-.", "linewidth": 1.6},
         "bound_corrected": {"color": CORRECTED, "linestyle": "--", "linewidth": 1.6},
         "bound_printed": {"color": PRINTED, "linestyle": ":", "linewidth": 2.0}}


def measure(rows, heights=HEIGHTS):
    """All four panels' records."""
    stream, found = ar.datasets.load("adult")[:rows], []
    with tqdm(total=len(heights) + 2, desc="theory", unit="run") as bar:
        for height in heights:
            found += along_stream(stream, height)
            bar.update()
        found += by_height(pd.read_csv(RESULTS / "figure7.csv"))
        bar.update()
        found += descent(stream)
        bar.update()
    return pd.DataFrame(found, columns=COLUMNS).astype({"node": "Int64"})


def of(records, panel, quantity, **where):
    return plots.select(records, panel=panel, quantity=quantity, **where)


def line(axes, x, y, column, label, **style):
    axes.plot(x, y, label=label, **(LINES[column] | style))


def draw(records):
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(2, 2, figsize=(13, 9.4), layout="constrained")
        draw_parity(panels[0, 0], of(records, "a", "soft_demographic_parity"))
        draw_errors(panels[0, 1], of(records, "b", "fairness_gradient_error", height=4))
        draw_heights(panels[1, 0], records)
        draw_descent(panels[1, 1], records)
    return figure


def draw_parity(axes, found):
    """Every height: where the stream ends, and a band for the gap at its checkpoints."""
    by_height, ends = found.groupby("height"), plots.select(found, step=found["step"].max())
    for column, label in (("bound_printed", "Lemma 1 as printed, h·2$^h$·ε"),
                          ("bound_corrected", "tightened, R$_θ$·min{Σ E|Δn|, 2h·ε}"),
                          ("bound_of_data", "nodes weighted by reach"), ("value", "soft demographic parity")):
        line(axes, ends["height"], ends[column], column, label, marker="o")
    axes.fill_between(by_height["value"].min().index, by_height["value"].min(), by_height["value"].max(),
                      color=MEASURED, alpha=0.15, linewidth=0)
    axes.axhline(1, color="#444444", linewidth=0.9)
    axes.annotate("no gap is above 1", (found["height"].max(), 1), xytext=(0, -12), textcoords="offset points",
                  ha="right", fontsize=9, color="#444444")
    axes.set(yscale="log", xlabel="Height", xticks=sorted(found["height"].unique()), ylabel="Gap",
             ylim=(0.01, 3000), title="a. Parity of one tree on Adult\n(end of the stream; band: along it)")
    axes.legend(fontsize=9, loc="upper left")


def draw_errors(axes, found):
    for number, (_, node) in enumerate(found.groupby("node")):
        line(axes, node["step"], node["value"], "value", "nodes of a tree of height 4" if number == 0 else None,
             linewidth=0.9, alpha=0.6)
    bound = found.drop_duplicates("step")
    for column, label in (("bound_printed", "Lemma 3 as printed, sB/2"), ("bound_corrected", "corrected, sB"),
                          ("bound_of_data", "corrected, mean norm for B")):
        line(axes, bound["step"], bound[column], column, label)
    axes.set(xscale="log", yscale="log", ylim=(1e-3, 500),
             title="b. Error of the stale fairness gradient\n(released rule, slope s = 1)")
    plots.finish_stream(axes, "‖∇H(F) − ∇H(F̂)‖")
    axes.legend(fontsize=9, loc="upper left", ncols=2)


def draw_heights(axes, records):
    ends, largest = (of(records, "c", name) for name in (
        "fairness_gradient_norm_at_the_end", "largest_fairness_gradient_norm"))
    bound = ends.drop_duplicates("height")
    line(axes, bound["height"], bound["bound_printed"], "bound_printed", "Lemma 5 as printed, 2$^{h−2}$·λsB")
    line(axes, bound["height"], bound["bound_corrected"], "bound_corrected", "tightened, √(2$^h$ − 1)·λsB/2")
    for found, label, style in ((largest, "largest along the stream", {"marker": "^", "linestyle": "-"}),
                                (ends, "end of the stream", {"marker": "o", "linestyle": "-"})):
        mean = found.groupby("height")["value"].mean()
        line(axes, mean.index, mean, "value", label, **style)
    axes.set(yscale="log", xlabel="Height", xticks=sorted(bound["height"]), ylabel="Norm of the fairness gradient",
             title="c. Fairness gradient by height\n(runs of Figure 7, Wikipedia toxicity, λ = 0.1)")
    axes.legend(fontsize=9, loc="upper left")


def draw_descent(axes, records):
    exact, noisy = (of(records, "d", f"mean_squared_{name}") for name in ("gradient_norm", "noisy_gradient_norm"))
    line(axes, exact["step"], exact["bound_printed"], "bound_printed", "Theorem 1's three terms as printed")
    line(axes, exact["step"], exact["bound_corrected"], "bound_corrected", "corrected (for ‖G‖²), L in closed form")
    line(axes, exact["step"], exact["bound_of_data"], "bound_of_data", "corrected, L and norms measured")
    line(axes, noisy["step"], noisy["value"], "value", "mean of ‖Ĝ‖², one sample", linestyle="--", linewidth=1.6)
    line(axes, exact["step"], exact["value"], "value", "mean of ‖G‖², exact")
    axes.set(xscale="log", yscale="log",
             title=f"d. SGD on Adult, height {HEIGHT}\n(λ = {FAIRNESS_WEIGHT:g}, the paper's Huber)")
    plots.finish_stream(axes, "Mean squared gradient norm so far")
    axes.legend(fontsize=9, loc="upper right")


def late_gaps(records):
    """The nodes' gaps at the end, exact and as held by the running means, and the share whose sign is held wrong."""
    last = records.loc[records["panel"] == "b", "step"].max()
    exact, held = (of(records, "b", name, step=last).set_index(["height", "node"])["value"] for name in (
        "exact_gap", "held_gap"))
    return exact.abs().mean(), held.abs().mean(), (exact * held < 0).mean()


def read(records):
    """What the numbers say, panel by panel."""
    parity = of(records, "a", "soft_demographic_parity")
    ends = plots.select(parity, step=parity["step"].max())
    low, high = ends.iloc[0], ends.iloc[-1]
    error = of(records, "b", "fairness_gradient_error")
    gap = of(records, "b", "gap_gradient_error")
    largest = of(records, "c", "largest_fairness_gradient_norm").groupby("height")[
        ["value", "bound_printed", "bound_corrected"]].max()
    descent_ = of(records, "d", "mean_squared_gradient_norm").iloc[-1]
    noisy, met = (of(records, "d", name).iloc[-1] for name in (
        "mean_squared_noisy_gradient_norm", "largest_curvature_met"))
    exact, held, wrong = late_gaps(records)
    broken = sum(int((records["value"] > records[column]).sum()) for column in ("bound_corrected", "bound_of_data"))
    sentences = [
        f"a. At the end of Adult the soft gap is {low['value']:.3f} at height {low['height']} and {high['value']:.3f} "
        f"at {high['height']}; Lemma 1 as printed says {low['bound_printed']:.2f} and {high['bound_printed']:.0f}, "
        f"tightened {low['bound_corrected']:.2f} and {high['bound_corrected']:.1f}, with nodes weighted by reach "
        f"{low['bound_of_data']:.2f} and {high['bound_of_data']:.2f}.",
        f"b. The stale fairness gradient of a node is wrong by {error['value'].median():.3f} in the median and "
        f"{error['value'].max():.2f} at most (heights {error['height'].min()} to {error['height'].max()}); Lemma 3 "
        f"says {error['bound_printed'].iloc[0]:.2f} as printed and {error['bound_corrected'].iloc[0]:.2f} corrected, "
        f"{error['bound_of_data'].iloc[-1]:.2f} with mean norms. ∇F is wrong by {gap['value'].max():.2f} at most "
        f"(Lemma 4: {gap['bound_printed'].iloc[0]:.2f}, {gap['bound_corrected'].iloc[0]:.2f}). At the end a "
        f"node's |F| is {exact:.3f} on average with the present weights, {held:.3f} as held by the running means, with "
        f"the wrong sign at {100 * wrong:.0f} % of the nodes.",
        f"c. From height {largest.index[0]} to {largest.index[-1]} the largest fairness gradient grows by a factor of "
        f"{largest['value'].iloc[-1] / largest['value'].iloc[0]:.0f}, Lemma 5 as printed by "
        f"{largest['bound_printed'].iloc[-1] / largest['bound_printed'].iloc[0]:.0f}, tightened by "
        f"{largest['bound_corrected'].iloc[-1] / largest['bound_corrected'].iloc[0]:.0f}.",
        f"d. By SGD the mean of ‖G‖² is {descent_['value']:.4f} at the end, of one sample's ‖Ĝ‖² {noisy['value']:.2f}; "
        f"the corrected Theorem 1 says {descent_['bound_corrected']:.2f}, and {descent_['bound_of_data']:.2f} with the "
        f"curvature that was met, {met['value']:.2g}, in the place of L ≤ {met['bound_corrected']:.0f}, and mean "
        f"norms; as printed {descent_['bound_printed']:.2f}.",
        f"Numbers above a corrected bound: {broken}."]
    return " ".join(sentences)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="of Adult; default: all")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    options, clock = parser.parse_args(), Clock()
    records = measure(options.rows)
    with whole_file(options.results / "theory.csv", "w") as file:
        records.to_csv(file, index=False, float_format="%.6g")
    pictures, reading = plots.save(draw(records), options.results, "theory"), read(records)
    write_reading(options.results, "theory", __doc__, reading)
    write_environment(options.results / "environment.json", ["theory"], clock, rows=options.rows, seeds=[0])
    print(f"\n{reading}\n")
    for path in (options.results / "theory.csv", *pictures):
        print(f"→ {path}")


if __name__ == "__main__":
    main()
