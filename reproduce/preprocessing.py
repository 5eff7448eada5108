"""Beyond the paper: how a table is prepared, on Adult and COMPAS."""

import matplotlib.pyplot as plt

from harness import grids, plots, readings
from harness.figure import Figure
from harness.matching import at_gap, constant_answer

WAYS = {"standardized": "standardized", "released": "as released", "one_hot": "one-hot", "online": "scaled online"}
MARKERS = "svD^"


def draw(records):
    ends = plots.last_records(records)
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
        for axes, dataset in zip(panels, ("adult", "compas"), strict=True):
            for (way, label), color, marker in zip(WAYS.items(), plots.SERIES, MARKERS, strict=False):
                plots.trade_off(axes, plots.select(ends, dataset=dataset), method="aranyani", preprocessing=way,
                                label=label, filled=way != "standardized", style={"color": color, "marker": marker})
            plots.finish_trade_off(axes, dataset)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def read(records, gap=0.05):
    ends, sentences = plots.last_records(records), []
    for dataset in ("adult", "compas"):
        here = plots.select(ends, dataset=dataset)
        constant, runs = constant_answer(here), plots.select(here, method="aranyani")
        found = {label: at_gap(plots.select(runs, preprocessing=way), gap, constant)["accuracy"]
                 for way, label in WAYS.items()}
        told = ", ".join(f"{label} {readings.percent_interval(accuracies)}" for label, accuracies in found.items())
        sentences.append(f"{plots.title_of(dataset)}: {told}")
    return f"Accuracy at a demographic parity of {gap} (95 % intervals). {'; '.join(sentences)}."


FIGURE = Figure("preprocessing", __doc__, grids.preprocessing, draw, read, ends=True)

if __name__ == "__main__":
    FIGURE.main()
