"""Figure 11: L2 in Huber's place on Adult, fractions of COMPAS, and FERMI on Adult."""

import matplotlib.pyplot as plt

from harness import grids, plots, readings
from harness.figure import Figure
from harness.matching import at_gap


def parts_of(records):
    """The runs at the end of the stream, of Adult and of COMPAS."""
    ends = plots.last_records(records)
    return plots.select(ends, dataset="adult"), plots.select(ends, dataset="compas", method="aranyani")


def draw(records):
    adult, compas = parts_of(records)
    with plt.rc_context(plots.STYLE):
        figure, (left, center, right) = plt.subplots(1, 3, figsize=(14, 4.8), layout="constrained")
        plots.trade_off(left, adult, method="aranyani", label="Huber")
        plots.trade_off(left, adult, method="aranyani", rule="l2", label="L2", filled=False,
                        style={"color": plots.SERIES[1], "marker": "s"})
        plots.finish_trade_off(left, "Adult: the penalty")
        fractions = sorted(compas["fraction"].unique())
        for fraction, color in zip(fractions, plots.shades(len(fractions)), strict=True):
            plots.trade_off(center, compas, method="aranyani", fraction=fraction, crowded=True,
                            style={"color": color}, label=f"{100 * fraction:g} % of the rows")
        plots.finish_trade_off(center, "COMPAS: less data")
        plots.trade_off(right, adult, method="aranyani")
        for method in ("fermi_linear", "fermi_forest"):
            plots.trade_off(right, adult, method=method, rule="none")
        plots.finish_trade_off(right, "Adult: FERMI")
        for axes in (left, center, right):
            axes.legend(fontsize=9)
    return figure


def read(records, gap=0.1):
    adult, compas = parts_of(records)
    smallest = {rule: plots.select(adult, method="aranyani", rule=rule).groupby("fairness_weight")[
        "demographic_parity"].mean().min() for rule in ("released", "l2")}
    best = compas.groupby(["fraction", "fairness_weight"])["accuracy"].mean().groupby("fraction").max()
    fractions = ", ".join(f"{100 * accuracy:.1f} % with {100 * fraction:g} %" for fraction, accuracy in best.items())
    methods = {"Aranyani": ("aranyani", "released"), "FERMI on the same forest": ("fermi_forest", "none"),
               "FERMI on a linear model": ("fermi_linear", "none")}
    found = {label: at_gap(plots.select(adult, method=method, rule=rule), gap)
             for label, (method, rule) in methods.items()}
    told = ", ".join(f"{label} {readings.percent(found[label])}" for label in found if len(found[label]))
    return (f"The smallest demographic parity over λ is {smallest['l2']:.3f} with L2 and {smallest['released']:.3f} "
            f"with Huber (the paper: L2 cannot go as low). COMPAS, best accuracy over λ: {fractions} of the rows. "
            f"Adult at a demographic parity of {gap}: {told or 'no method gets there'}.")


FIGURE = Figure("figure11", __doc__, grids.figure11, draw, read)

if __name__ == "__main__":
    FIGURE.main()
