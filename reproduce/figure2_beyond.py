"""Figure 2 and beyond: the output level, forgetting, and FERMI on the same forest."""

import matplotlib.pyplot as plt

from harness import grids, plots, readings
from harness.figure import Figure
from harness.matching import at_gap


def draw(records):
    """Above the plain running means at every level and FERMI; below the same levels with forgetting."""
    ends = plots.last_records(records)
    with plt.rc_context(plots.STYLE):
        figure, rows = plt.subplots(2, 3, figsize=(12.5, 8.5), layout="constrained")
        for decay, panels in zip((None, 0.01), rows, strict=True):
            for axes, dataset in zip(panels, grids.TABULAR, strict=True):
                forgets = ends["decay"].isna() if decay is None else ends["decay"] == decay
                has_none = ends["method"].isin(["majority", "fermi_linear", "fermi_forest"])  # the same in both rows
                here = ends[(ends["dataset"] == dataset) & (forgets | has_none)]
                plots.majority_line(axes, here)
                for method in ("mlp", "leaf", "output", "aranyani"):
                    plots.trade_off(axes, here, method=method, decay=decay)
                for method in ("fermi_linear", "fermi_forest"):
                    plots.trade_off(axes, here, method=method, rule="none")
                plots.look_at_the_top(axes, here)
                plots.finish_trade_off(axes, dataset)
                axes.set_title(f"{plots.title_of(dataset)}, " + ("plain means" if decay is None else f"decay {decay}"))
        figure.legend(*rows[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    return figure


def read(records, gap=0.05):
    ends = plots.last_records(records).query("dataset == 'adult' and method != 'majority'")
    found = []
    for (method, decay), runs in ends.groupby(["method", "decay"], dropna=False, sort=False):
        accuracies = at_gap(runs, gap)
        if len(accuracies):
            name = plots.label_of(method) + ("" if decay != decay else f" with decay {decay:g}")
            found.append((accuracies.mean(), f"{name} {readings.percent(accuracies)}"))
    return (f"Adult, accuracy at a demographic parity of {gap} or less, the best first: "
            + ", ".join(text for _, text in sorted(found, reverse=True)) + ".")


FIGURE = Figure("figure2_beyond", __doc__, grids.figure2_beyond, draw, read, in_all=False)

if __name__ == "__main__":
    FIGURE.main()
