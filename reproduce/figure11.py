"""Figure 11: L2 in Huber's place on Adult, fractions of COMPAS, and FERMI on Adult."""

import matplotlib.pyplot as plt

from harness import grids, plots, readings
from harness.figure import Figure
from harness.matching import at_gap, constant_answer

WAYS = {"released": "unscaled, as released", "standardized": "standardized"}


def parts_of(records):
    """The runs at the end of the stream, of Adult and of COMPAS."""
    ends = plots.last_records(records)
    return plots.select(ends, dataset="adult"), plots.select(ends, dataset="compas", method="aranyani")


def draw(records):
    adult, compas = parts_of(records)
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(2, 2, figsize=(11.5, 9), layout="constrained")
        left, right = panels[0]
        plots.trade_off(left, adult, method="aranyani", label="Huber")
        plots.trade_off(left, adult, method="aranyani", rule="l2", label="L2", filled=False,
                        style={"color": plots.SERIES[1], "marker": "s"})
        plots.finish_trade_off(left, "Adult: the penalty")
        fractions = sorted(compas["fraction"].unique())
        for axes, (way, told) in zip(panels[1], WAYS.items(), strict=True):
            for fraction, color in zip(fractions, plots.shades(len(fractions)), strict=True):
                plots.trade_off(axes, compas, method="aranyani", preprocessing=way, fraction=fraction, crowded=True,
                                style={"color": color}, label=f"{100 * fraction:g} % of the rows")
            plots.finish_trade_off(axes, f"COMPAS: less data ({told})")
        plots.trade_off(right, adult, method="aranyani")
        for method in ("fermi_linear", "fermi_forest"):
            plots.trade_off(right, adult, method=method, rule="none")
        plots.finish_trade_off(right, "Adult: FERMI")
        for axes in panels.ravel():
            axes.legend(fontsize=9)
    return figure


def read(records, gap=0.1):
    adult, compas = parts_of(records)
    smallest = {rule: plots.select(adult, method="aranyani", rule=rule).groupby("fairness_weight")[
        "demographic_parity"].mean().min() for rule in ("released", "l2")}
    best = compas.groupby(["preprocessing", "fraction", "fairness_weight"])["accuracy"].mean().groupby(
        ["preprocessing", "fraction"]).max()
    fractions = "; ".join(f"{told}: " + ", ".join(f"{100 * accuracy:.1f} % with {100 * fraction:g} %"
                                                  for fraction, accuracy in best[way].items())
                          for way, told in WAYS.items())
    methods = {"Aranyani": ("aranyani", "released"), "FERMI on the same forest": ("fermi_forest", "none"),
               "FERMI on a linear model": ("fermi_linear", "none")}
    found = {label: at_gap(plots.select(adult, method=method, rule=rule), gap, constant_answer(adult))["accuracy"]
             for label, (method, rule) in methods.items()}
    told = ", ".join(f"{label} {readings.percent_interval(accuracies)}" for label, accuracies in found.items())
    return (f"The smallest demographic parity over λ is {smallest['l2']:.3f} with L2 and {smallest['released']:.3f} "
            f"with Huber (the paper: L2 cannot go as low). COMPAS, best accuracy over λ by the share of the rows, "
            f"{fractions}. "
            f"Adult at a demographic parity of {gap}: {told}.")


FIGURE = Figure("figure11", __doc__, grids.figure11, draw, read, ends=True)

if __name__ == "__main__":
    FIGURE.main()
