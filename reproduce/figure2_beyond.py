"""Figure 2 and beyond: the output level, forgetting, and FERMI on the same forest."""

import matplotlib.pyplot as plt

from harness import grids, plots, readings
from harness.figure import Figure
from harness.matching import at_gap, constant_answer


def draw(records):
    """Above the plain running means at every level and FERMI; below the same levels with forgetting."""
    ends = plain(plots.last_records(records))
    with plt.rc_context(plots.STYLE):
        figure, rows = plt.subplots(2, 3, figsize=(12.5, 8.5), layout="constrained")
        for decay, panels in zip((None, 0.01), rows, strict=True):
            for axes, dataset in zip(panels, grids.TABULAR, strict=True):
                forgets = ends["decay"].isna() if decay is None else ends["decay"] == decay
                has_none = ends["method"].isin(["majority", "fermi_linear", "fermi_forest"])  # the same in both rows
                here = ends[(ends["dataset"] == dataset) & (forgets | has_none)]
                plots.majority_line(axes, here)
                for method in ("mlp", "leaf", "output", "aranyani"):
                    plots.trade_off(axes, here, method=method, decay=decay,
                                    crowded=dataset == "compas" or (method, dataset) == ("mlp", "census"))
                for method in ("fermi_linear", "fermi_forest"):
                    plots.trade_off(axes, here, method=method, rule="none", crowded=dataset == "compas")
                plots.look_at_the_top(axes, here)
                plots.finish_trade_off(axes, dataset)
                axes.set_title(f"{plots.title_of(dataset)}, " + ("plain means" if decay is None else f"decay {decay}"))
        figure.legend(*rows[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    return figure


def plain(ends):
    """The runs that the picture shows: in the file's order, with the group among the features, by rows."""
    return plots.select(ends, order="file", drop_group=False, forget="rows")


def read(records, gap=0.05):
    ends = plots.select(plots.last_records(records), dataset="adult", order="file")
    constant, found = constant_answer(ends), []
    settings = ["method", "decay", "forget", "drop_group"]
    for (method, decay, forget, dropped), runs in ends[ends["method"] != "majority"].groupby(
            settings, dropna=False, sort=False):
        accuracies = at_gap(runs, gap, constant)["accuracy"]
        name = plots.label_of(method) + ("" if decay != decay else f" with decay {decay:g}") + (
            " in time, chance 2" if forget == "time" else "") + (", no group among the features" if dropped else "")
        found.append((accuracies.mean(), f"{name} {readings.percent_interval(accuracies)}"))
    return (f"Adult, accuracy at a demographic parity of {gap} (mixes chosen on half of the seeds, judged on the "
            "others; 95 % intervals), the best first: "
            + ", ".join(text for _, text in sorted(found, reverse=True)) + ".")


FIGURE = Figure("figure2_beyond", __doc__, grids.figure2_beyond, draw, read, in_all=False, ends=True)

if __name__ == "__main__":
    FIGURE.main()
