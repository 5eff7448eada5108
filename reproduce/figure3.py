"""Figure 3: accuracy against demographic parity on CivilComments and CelebA, or on what stands in for them."""

import matplotlib.pyplot as plt

from harness import grids, plots, readings
from harness.figure import Figure
from harness.matching import at_gap, constant_answer

PAPERS = {"civil_comments": "CivilComments", "celeba": "CelebA"}
ENCODERS = {"civil_comments": "Instructor", "celeba": "CLIP", "wiki_toxicity": "MPNet"}


def title_of(here):
    """A stand-in is called one."""
    dataset, rows = here["dataset"].iloc[0], int(here["step"].max())
    if "stands_in_for" not in here or here["stands_in_for"].isna().all():
        return f"{plots.title_of(dataset)} by {ENCODERS[dataset]}"
    if dataset == "celeba":
        return f"Stand-in for CelebA: {rows:,} of its images, features of a file"
    return f"Stand-in for {PAPERS[here['stands_in_for'].iloc[0]]}: {plots.title_of(dataset)} by {ENCODERS[dataset]}"


def draw(records):
    everything = plots.last_records(records)
    ends, shuffled = plots.select(everything, order="file"), plots.select(everything, order="shuffled")
    datasets = list(ends["dataset"].unique())
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(1, len(datasets), figsize=(max(6 * len(datasets), 7), 5), layout="constrained",
                                      squeeze=False)
        for axes, dataset in zip(panels[0], datasets, strict=True):
            here = plots.select(ends, dataset=dataset)
            plots.majority_line(axes, here)
            for method in ("ht", "aht", "faht"):
                plots.trade_off(axes, plots.select(shuffled, dataset=dataset), method=method, rule="none")
            for method in ("mlp_released", "leaf_released"):
                plots.trade_off(axes, here, method=method, filled=False)
            for method in ("mlp", "leaf", "aranyani"):
                plots.trade_off(axes, here, method=method)
            plots.look_at_the_top(axes, here)
            plots.finish_trade_off(axes, title_of(here))
        stand_ins = any("Stand-in" in axes.get_title() for axes in panels[0])
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center",
                      ncols=7 if len(datasets) > 1 else 4,
                      title="on stand-ins for the paper's data" if stand_ins else None)
    return figure


def read(records, gap=0.05):
    ends = plots.last_records(records)
    sentences = []
    for _, here in ends.groupby("dataset", sort=False):
        constant, learned = constant_answer(here), here[here["method"] != "majority"]
        found = {method: at_gap(runs, gap, constant)["accuracy"]
                 for (method, order), runs in learned.groupby(["method", "order"], sort=False)
                 if order == ("shuffled" if method in ("ht", "aht", "faht") else "file")}
        unfair = plots.select(here, method="aranyani", fairness_weight=0.0)
        found["majority"] = at_gap(unfair, gap, constant)["accuracy"]
        told = ", ".join(f"{plots.label_of(method)} {readings.percent_interval(accuracies)}"
                         for method, accuracies in found.items())
        sentences.append(f"{title_of(here)}: {told}.")
    if "celeba" not in set(ends["dataset"]):
        sentences.append("CelebA is not here: `make embeddings` encodes it (with a network), or "
                         "`make figure3 CELEBA=FILE` takes an .npz file with features, labels and groups.")
    if "civil_comments" not in set(ends["dataset"]):
        sentences.append("CivilComments is not here: `make embeddings` encodes it (with a network).")
    seeds = ", ".join(f"{plots.label_of(method)} {runs['seed'].nunique()}"
                      for method, runs in ends.groupby("method", sort=False) if method != "majority")
    return f"Accuracy at a demographic parity of {gap} (95 % intervals). {' '.join(sentences)} Seeds: {seeds}."


FIGURE = Figure("figure3", __doc__, grids.figure3, draw, read, ends=True)

if __name__ == "__main__":
    FIGURE.main()
