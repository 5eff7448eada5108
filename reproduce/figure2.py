"""Figure 2: accuracy against demographic parity on Adult, Census and COMPAS."""

import matplotlib.pyplot as plt

import grids
import plots
from command import run_figure


def draw(records):
    """Three panels; the released rule filled, the paper's rule hollow where it was run."""
    ends = plots.last_records(records)
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(1, 3, figsize=(12, 4.1), layout="constrained")
        for axes, dataset in zip(panels, ("adult", "census", "compas"), strict=True):
            here = ends[ends["dataset"] == dataset]
            plots.majority_line(axes, here)
            plots.trade_off(axes, here, method="aranyani", rule="paper", filled=False,
                            label="Aranyani, the paper's penalty (λ × 100)")
            plots.trade_off(axes, here, method="aranyani", rule="released", label="Aranyani, the released penalty")
            plots.finish_trade_off(axes, dataset)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


if __name__ == "__main__":
    run_figure("figure2", __doc__, grids.figure2, draw)
