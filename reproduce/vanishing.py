"""Do fairness gradients vanish far from the output? Their norm for one unit of each layer, on Adult."""

import matplotlib.pyplot as plt

from harness import plots
from harness.depth_norms import DepthExperiment
from harness.figure import Figure
from harness.scales import FIVE, FULL

METHODS = ("mlp", "leaf", "aranyani")
WEIGHT = 0.1


def experiments(scale=FULL):
    """MLP, Leaf and the node level with λ = 0.1."""
    forest = dict(scale.forest)
    return [DepthExperiment("adult", (WEIGHT,), FIVE[: len(scale.seeds)], method=method, rows=scale.most_rows,
                            **({} if method == "mlp" else forest)) for method in METHODS]


def layers(runs):
    """The columns of the norms that these runs have."""
    return [name for name in runs if name.startswith("norm_") and runs[name].notna().any()]


def draw(records):
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(1, len(METHODS), figsize=(13, 4.4), layout="constrained", sharey=True)
        for axes, method in zip(panels, METHODS, strict=True):
            runs = plots.select(records, method=method)
            columns = layers(runs)
            for column, color in zip(columns, plots.shades(len(columns)), strict=True):
                number = int(column.removeprefix("norm_"))
                part = "layer" if method == "mlp" else "depth"
                far = " (at the input)" if number == 1 else " (next to the output)" if number == len(columns) else ""
                plots.along(axes, runs, column, color=color, band=0.12, label=f"{part} {number}{far}")
            plots.finish_stream(axes, "Norm of the fairness gradient, one unit" if method == METHODS[0] else "",
                                xscale="log", yscale="log", title=f"Adult, λ = {WEIGHT:g}: {plots.label_of(method)}")
            axes.legend(fontsize=9)
    return figure


def ratios(records):
    """First layer ÷ last layer, the mean over the second half of the stream, seed by seed: {method: series}."""
    late = records[records["step"] > records["step"].max() / 2]
    found = {}
    for method in METHODS:
        runs = plots.select(late, method=method)
        means = runs.groupby("seed")[layers(runs)].mean()
        found[method] = means.iloc[:, 0] / means.iloc[:, -1]
    return found


def read(records):
    told = "; ".join(f"{plots.label_of(method)} {ratio.mean():.2f}" for method, ratio in ratios(records).items())
    return (f"Norm at the input ÷ norm next to the output, one unit each, in the second half of the stream: {told}. "
            "The paper: gradients vanish far from the output in MLP and Leaf, and not at the nodes.")


FIGURE = Figure("vanishing", __doc__, experiments, draw, read)

if __name__ == "__main__":
    FIGURE.main()
