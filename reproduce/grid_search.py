"""The grid search behind "3 trees of height 4": number of trees × height, on Adult and COMPAS."""

import matplotlib.pyplot as plt

from harness import grids, plots
from harness.figure import Figure
from harness.tracking import FAIR_ENOUGH, with_fair_accuracy

SIZE = ["dataset", "fairness_weight", "num_trees", "height"]


def scores(records):
    """What the sweeps rank their runs by, for every size and seed."""
    ends = plots.select(plots.last_records(records), method="aranyani")
    return with_fair_accuracy(ends).rename(columns={"fair_accuracy": "score"})[[*SIZE, "seed", "score"]]


def draw(records):
    found = scores(records)
    panels = list(found.groupby(["dataset", "fairness_weight"]))
    with plt.rc_context(plots.STYLE | {"axes.grid": False}):
        figure, axes = plt.subplots(1, len(panels), figsize=(3.7 * len(panels), 3.9), layout="constrained",
                                    squeeze=False)
        for here, ((dataset, weight), rows) in zip(axes[0], panels, strict=True):
            wide = 100 * rows.pivot_table(index="height", columns="num_trees", values="score")
            here.imshow(wide, cmap="viridis", aspect="auto", origin="lower")
            middle = (wide.to_numpy().max() + wide.to_numpy().min()) / 2
            for i, height in enumerate(wide.index):
                for j, trees in enumerate(wide.columns):
                    value = wide.loc[height, trees]
                    here.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=9,
                              color="white" if value < middle else "black",
                              fontweight="bold" if (trees, height) == (3, 4) else "normal")
            here.set(xticks=range(len(wide.columns)), xticklabels=wide.columns, yticks=range(len(wide.index)),
                     yticklabels=wide.index, xlabel="Trees", ylabel="Height",
                     title=f"{plots.title_of(dataset)}, λ = {weight:g}")
        figure.suptitle("Accuracy (%) less what demographic parity is beyond 0.05; bold: the paper's choice",
                        fontsize=11)
    return figure


def read(records):
    sentences = []
    for (dataset, weight), rows in scores(records).groupby(["dataset", "fairness_weight"]):
        means = rows.groupby(["num_trees", "height"])["score"].mean().sort_values(ascending=False)
        (trees, height), best = means.index[0], means.iloc[0]
        told = f"{plots.title_of(dataset)}, λ={weight:g}: the best is {trees} × {height} with {100 * best:.2f}"
        if (3, 4) in means.index:
            told += f", 3 × 4 has {100 * means[3, 4]:.2f}, rank {list(means.index).index((3, 4)) + 1} of {len(means)}"
        sentences.append(told)
    return f"Accuracy % less what the gap is beyond {FAIR_ENOUGH}, trees × height. {'; '.join(sentences)}."


FIGURE = Figure("grid_search", __doc__, grids.grid_search, draw, read, ends=True)

if __name__ == "__main__":
    FIGURE.main()
