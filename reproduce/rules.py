"""Beyond the paper: the penalty as in the paper, and as in the released code, which also waits for all groups."""

import matplotlib.pyplot as plt
import numpy as np

from harness import grids, plots
from harness.figure import Figure
from harness.weights import SLOPE_RATIO

NAMES = {"released": "released: slope 1", "paper": "paper: slope δ = 0.01"}


def draw(records):
    """Above the trade-off; below demographic parity against λ times the slope, where both rules should meet."""
    ends = plots.select(plots.last_records(records), method="aranyani")
    with plt.rc_context(plots.STYLE):
        figure, rows = plt.subplots(2, 3, figsize=(13, 8), layout="constrained")
        for above, below, dataset in zip(*rows, grids.TABULAR, strict=True):
            here = plots.select(ends, dataset=dataset)
            for (rule, label), color, filled in zip(NAMES.items(), plots.SERIES, (True, False), strict=False):
                plots.trade_off(above, here, method="aranyani", rule=rule, label=label, filled=filled,
                                style={"color": color, "marker": "v" if filled else "o"})
                runs = scaled(plots.select(here, rule=rule))
                plots.against(below, runs[runs["scaled_weight"] > 0], "scaled_weight", "demographic_parity",
                              color=color, label=label)
            plots.finish_trade_off(above, dataset)
            below.set(xscale="log", xlabel="λ × slope", ylabel="Demographic parity")
        figure.legend(*rows[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def scaled(runs):
    """λ times the slope beyond the knee."""
    slope = np.where(runs["rule"] == "paper", 1 / SLOPE_RATIO, 1)
    return runs.assign(scaled_weight=(runs["fairness_weight"] * slope).round(6))


def read(records):
    ends = scaled(plots.select(plots.last_records(records), method="aranyani"))
    sentences = []
    for dataset in grids.TABULAR:
        means = plots.select(ends, dataset=dataset).groupby(["scaled_weight", "rule"])[
            ["accuracy", "demographic_parity"]].mean().unstack()
        apart = (means.xs("paper", axis=1, level=1) - means.xs("released", axis=1, level=1)).abs().mean()
        sentences.append(f"{plots.title_of(dataset)} {100 * apart['accuracy']:.2f} points of accuracy and "
                         f"{apart['demographic_parity']:.4f} of demographic parity")
    at_same = plots.select(ends, dataset="adult")
    common = sorted(set(at_same.loc[at_same["rule"] == "paper", "fairness_weight"])
                    & set(at_same.loc[at_same["rule"] == "released", "fairness_weight"]) - {0.0})
    told = ""
    if common:
        by_rule = plots.select(at_same, fairness_weight=common[0]).groupby("rule")["demographic_parity"].mean()
        told = (f" At the same λ={common[0]:g} they are far apart: Adult has a demographic parity of "
                f"{by_rule['paper']:.3f} with the paper's and {by_rule['released']:.3f} with the released one.")
    return f"At the same λ × slope the two rules differ on average by: {'; '.join(sentences)}.{told}"


FIGURE = Figure("rules", __doc__, grids.rules, draw, read, ends=True)

if __name__ == "__main__":
    FIGURE.main()
