"""Tidy data in, axes out: nothing here reads a file or runs a model."""

import quiet  # noqa: F401

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # pictures go to files, also on a machine without a screen

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from aranyani_tf.files import whole_path
from harness.registry import methods
from harness.settings import RUN

MAJORITY = {"label": "Majority", "marker": "o", "color": "#7F7F7F"}  # the methods' own are in the registry
SERIES = ("#009E73", "#D55E00", "#0072B2", "#E69F00", "#CC79A7", "#000000")  # for settings that have no order
DATASETS = {"adult": "Adult", "census": "Census", "compas": "COMPAS", "celeba": "CelebA",
            "civil_comments": "CivilComments", "wiki_toxicity": "Wikipedia toxicity", "synthetic": "Synthetic"}
STYLE = {"font.size": 11, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
         "grid.color": "#E5E5E5", "axes.axisbelow": True, "legend.frameon": False, "pdf.fonttype": 42,
         "svg.hashsalt": "aranyani"}


def style_of(method: str) -> dict[str, str]:
    """Label, marker and colour of a method. The paper's have its markers, and its hues in the shades of Okabe and Ito,
    which colour-blind eyes can tell apart; records of one that is no longer here are drawn in grey by its name."""
    if method == "majority":
        return MAJORITY
    known = methods().get(method)
    return ({"label": known.label, "marker": known.marker, "color": known.color} if known
            else MAJORITY | {"label": method})


def label_of(method: str) -> str:
    return style_of(method)["label"]


def title_of(dataset: str) -> str:
    """What a picture calls a dataset, or any other title: its own name if there is no better."""
    return DATASETS.get(dataset, dataset)


def text_title(dataset: str) -> str:
    """The text that an analysis was run on, and what it stands in for."""
    return "CivilComments" if dataset == "civil_comments" else f"{title_of(dataset)} (for CivilComments)"


def last_records(frame: pd.DataFrame) -> pd.DataFrame:
    """The records at the end of each run."""
    run = [name for name in RUN if name in frame]
    return frame[frame["step"] == frame.groupby(run, dropna=False)["step"].transform("max")]


def select(frame: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """The rows with these values; None stands for an empty cell."""
    for name, value in where.items():
        frame = frame[frame[name].isna() if value is None else frame[name] == value]
    return frame


def shades(count: int) -> list[tuple]:
    """Colours for settings that have an order, such as λ: from light to dark."""
    return [matplotlib.colormaps["viridis_r"](position) for position in np.linspace(0.15, 1, count)]


def pareto_front(points: np.ndarray) -> np.ndarray:
    """The points that no other beats in both: (gap, accuracy), sorted by the gap."""
    front = []
    for gap, accuracy in sorted(map(tuple, points), key=lambda point: (point[0], -point[1])):
        if not front or accuracy > front[-1][1]:
            front.append((gap, accuracy))
    return np.array(front)


def trade_off(axes: Axes, frame: pd.DataFrame, *, method: str, rule: str = "released",
              gap: str = "demographic_parity", filled: bool = True, label: str | None = None,
              style: dict | None = None, crowded: bool = False, **where: Any) -> Axes:
    """Mean ± standard deviation for each λ, the Pareto front of the means, and every run a faint point.

    `where` selects further settings; `decay=None` is the default, no forgetting. In a `crowded` panel the
    points of the runs are left out, and the bars too.
    """
    style = style_of(method) | (style or {})
    runs = select(frame, method=method, rule=rule, **({"decay": None} | where))
    if runs.empty:
        return axes
    by_weight = runs.groupby("fairness_weight")[[gap, "accuracy"]]
    means, spreads = by_weight.mean(), by_weight.std().fillna(0)
    face = style["color"] if filled else "white"
    if not crowded:
        axes.scatter(runs[gap], 100 * runs["accuracy"], marker=style["marker"], s=14, alpha=0.35, linewidths=0.6,
                     facecolors=face if filled else "none", edgecolors=style["color"], zorder=2)
        axes.errorbar(means[gap], 100 * means["accuracy"], xerr=spreads[gap], yerr=100 * spreads["accuracy"],
                      fmt="none", ecolor=style["color"], elinewidth=0.8, alpha=0.7, zorder=2)
    axes.plot(means[gap], 100 * means["accuracy"], marker=style["marker"], color=style["color"], markerfacecolor=face,
              markersize=6 if crowded else 8, linestyle="none", zorder=4, label=label or style["label"])
    front = pareto_front(means.to_numpy())
    axes.plot(front[:, 0], 100 * front[:, 1], color=style["color"], linewidth=1.4,
              linestyle="-" if filled else "--", zorder=3)
    return axes


def along(axes: Axes, frame: pd.DataFrame, column: str, *, factor: float = 1, band: float = 0.2, **line: Any) -> Axes:
    """Mean over the seeds along the stream, with a band of one standard deviation, not below 0 where nothing is."""
    by_x = frame.groupby("step")[column]
    mean, spread = factor * by_x.mean(), factor * by_x.std().fillna(0)
    (drawn,) = axes.plot(mean.index, mean, **({"linewidth": 1.8} | line))
    if not band:
        return axes
    low = (mean - spread).clip(lower=0) if (frame[column].dropna() >= 0).all() else mean - spread
    axes.fill_between(mean.index, low, mean + spread, color=drawn.get_color(), alpha=band, linewidth=0)
    return axes


def against(axes: Axes, frame: pd.DataFrame, setting: str, column: str, *, factor: float = 1, **line: Any) -> Axes:
    """Every seed a faint point, mean ± standard deviation for each value of a setting."""
    by_value = frame.groupby(setting)[column]
    mean, spread = factor * by_value.mean(), factor * by_value.std().fillna(0)
    drawn = axes.errorbar(mean.index, mean, yerr=spread, **({"marker": "o", "capsize": 3, "linewidth": 1.6} | line))
    axes.scatter(frame[setting], factor * frame[column], s=10, alpha=0.3, color=drawn[0].get_color(), linewidths=0)
    return axes


def majority_line(axes: Axes, frame: pd.DataFrame, *, gap: str = "demographic_parity") -> Axes:
    """Majority for p from 0 to 1: a line with a band of one standard deviation over the seeds."""
    style = style_of("majority")
    by_probability = select(frame, method="majority").groupby("probability")[[gap, "accuracy"]]
    means, spreads = by_probability.mean(), by_probability.std().fillna(0)
    axes.plot(means[gap], 100 * means["accuracy"], color=style["color"], marker=style["marker"], markersize=4,
              linewidth=1, zorder=1, label=style["label"])
    axes.fill_between(means[gap], 100 * (means["accuracy"] - spreads["accuracy"]),
                      100 * (means["accuracy"] + spreads["accuracy"]), color=style["color"], alpha=0.15, linewidth=0)
    return axes


def published_point(axes: Axes, method: str, gap: float, accuracy: float, *, label: str) -> Axes:
    """A number from another paper: hollow, and said to be so."""
    style = style_of(method)
    axes.plot(gap, accuracy, marker=style["marker"], markersize=9, markerfacecolor="none", linestyle="none",
              markeredgecolor=style["color"], markeredgewidth=1.6, label=label, zorder=5)
    return axes


def look_at_the_top(axes: Axes, frame: pd.DataFrame) -> Axes:
    """Cuts off what is far below Majority, so that the rest can be told apart, and says how many runs that hides."""
    lowest, best = (frame.loc[frame["method"] == "majority", "accuracy"].min(), frame["accuracy"].max())
    floor = lowest - 0.5 * (best - lowest)
    hidden = frame[frame["accuracy"] < floor]
    if len(hidden):
        axes.set_ylim(100 * floor, 100 * (best + 0.1 * (best - lowest)))
        names = ", ".join(map(label_of, hidden["method"].unique()))
        runs = f"{len(hidden)} {'run' if len(hidden) == 1 else 'runs'}"
        axes.annotate(f"{runs} of {names} below, down to {100 * hidden['accuracy'].min():.0f} %",
                      (0.02, 0.02), xycoords="axes fraction", fontsize=9, color="#444444", zorder=6,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})
    return axes


def finish_trade_off(axes: Axes, title: str, *, gap_name: str = "Demographic parity") -> Axes:
    """Titles and directions as in the paper: the better, the further up and to the right."""
    axes.set_title(title_of(title))
    axes.set_xlabel(gap_name)
    axes.set_ylabel("Accuracy (%)")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.invert_xaxis()
    return axes


def finish_stream(axes: Axes, name: str, **settings: Any) -> Axes:
    """The axes of something along the stream."""
    axes.set(xlabel="Samples seen", ylabel=name, **settings)
    if axes.get_xscale() == "linear":
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter("{x:,.0f}")
    return axes


def save(figure: plt.Figure, folder: Path, name: str) -> list[Path]:
    """PNG and PDF, without dates in them: the same numbers give the same bytes."""
    paths = [folder / f"{name}.png", folder / f"{name}.pdf"]
    for path, options in zip(paths, ({"dpi": 200, "metadata": {"Software": None}},
                                     {"metadata": {"CreationDate": None}}), strict=True):
        with whole_path(path) as part:
            figure.savefig(part, **options)
    plt.close(figure)
    return paths
