"""Figure 8: the spread of accuracy and demographic parity over five seeds, along the stream of Adult."""

import matplotlib.pyplot as plt

from harness import grids, plots
from harness.figure import Figure

PANELS = {"accuracy": ("Accuracy (%)", 100), "demographic_parity": ("Demographic parity", 1)}


def chosen(records):
    """The smallest λ above 0, which is 0.1 in the full grid."""
    runs = plots.select(records, method="aranyani")
    return plots.select(runs, fairness_weight=runs.loc[runs["fairness_weight"] > 0, "fairness_weight"].min())


def draw(records):
    runs = chosen(records)
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
        for axes, (column, (name, factor)) in zip(panels, PANELS.items(), strict=True):
            plots.along(axes, runs, column, factor=factor, color="#C0392B")
            plots.finish_stream(axes, name, xscale="log")
        figure.suptitle(f"Adult, λ = {runs['fairness_weight'].iloc[0]:g}, mean ± standard deviation over "
                        f"{runs['seed'].nunique()} seeds")
    return figure


def read(records):
    runs = chosen(records)
    deviations = runs.groupby("step")[list(PANELS)].std()
    near = deviations.index[abs(deviations.index - 1000).argmin()]
    told = [f"{name.removesuffix(' (%)').lower()} {deviations[column].iloc[0]:.4f} after {deviations.index[0]} "
            f"samples, {deviations.loc[near, column]:.4f} after {near}, {deviations[column].iloc[-1]:.4f} at the end"
            for column, (name, _) in PANELS.items()]
    return f"Standard deviation over the seeds: {'; '.join(told)} (the paper: minimal after about 1,000)."


FIGURE = Figure("figure8", __doc__, grids.figure8, draw, read)

if __name__ == "__main__":
    FIGURE.main()
