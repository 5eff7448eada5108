"""Two pictures of the field: accuracy against the gap on every stream, and the cases that each method won."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness import plots
from harness.field_page import NOTION_NAMES
from harness.field_table import CLASSES, STREAM, WITHIN, won
from harness.registry import methods

SHOWN = ("demographic_parity", 0.05)  # notion and target of the first picture


def trade_offs(found: pd.DataFrame, names: dict[tuple, str]) -> Figure:
    """A panel a stream, a mark a method at one target; hollow marks need the group to predict."""
    notion, target = SHOWN
    shown = found[(found["notion"] == notion) & (found["target"] == target)]
    streams = list(shown.groupby(STREAM, sort=False))
    columns = min(len(streams), 5)
    lines = -(-len(streams) // columns)
    height = 3.1 * lines + 0.7 + 0.2 * (shown["method"].nunique() // columns + 1)  # with the legend
    with plt.rc_context(plots.STYLE | {"font.size": 10}):
        figure, panels = plt.subplots(lines, columns, squeeze=False, layout="constrained",
                                      figsize=(3.1 * columns + 0.6, height))
        for axes, (key, rows) in zip(panels.flat, streams, strict=False):
            panel(axes, rows, target)
            axes.set_title(names.get(key, key[0]))
        for axes in list(panels.flat)[len(streams):]:
            axes.axis("off")
        for axes in panels[:, 0]:
            axes.set_ylabel("accuracy, %")
        figure.suptitle(f"Accuracy against the gap in {NOTION_NAMES[notion]} of all judged rows.\nAsked for: "
                        f"{target:g} (line), kept up to {WITHIN} times that (grey); black edge: told the target",
                        fontsize=10)
        handles: dict[str, object] = {}
        for axes in panels.flat:
            handles |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=columns, fontsize=9)
    return figure


def panel(axes: Axes, rows: pd.DataFrame, target: float) -> None:
    """One stream; what is far below the others is cut off, and counted."""
    axes.axvspan(0, WITHIN * target, color="#888888", alpha=0.12, linewidth=0)
    axes.axvline(target, color="#888888", linewidth=1)
    floor = min(rows["accuracy"].median() - 0.04, rows.loc[rows["keeps"], "accuracy"].median() - 0.02
                if rows["keeps"].any() else 1.0)
    for row in rows[rows["accuracy"] >= floor].itertuples():
        style = plots.style_of(row.method)
        hollow, known = row.group_needed == "to predict", methods().get(row.method)
        edge = "black" if known and known.steered and not hollow else style["color"]
        axes.errorbar(row.gap, 100 * row.accuracy, fmt="none", ecolor=style["color"], elinewidth=0.8, alpha=0.6,
                      yerr=None if row.low != row.low else [[100 * (row.accuracy - row.low)],
                                                            [100 * (row.high - row.accuracy)]])
        axes.plot(row.gap, 100 * row.accuracy, marker=style["marker"], color=style["color"], linestyle="none",
                  markersize=7, markerfacecolor="white" if hollow else style["color"], markeredgecolor=edge,
                  markeredgewidth=1.4,
                  label=style["label"] + (" (group needed)" if hollow else ""))
    below = rows[rows["accuracy"] < floor]
    if len(below):
        axes.annotate(f"{len(below)} more below, down to {100 * below['accuracy'].min():.0f} %", (0.03, 0.02),
                      xycoords="axes fraction", fontsize=8, color="#444444")
    axes.set_xlim(0, None)
    axes.locator_params(axis="x", nbins=4)


def cases_won(found: pd.DataFrame) -> Figure:
    """Bars: of all cases of a method those it kept, and of these those in which it is among the best of its class."""
    counts = won(found)
    classes = [counts[(counts["group_needed"] == "to predict") == needed] for needed in CLASSES]
    heights = [max(len(own), 1) for own in classes]
    with plt.rc_context(plots.STYLE | {"font.size": 10}):
        figure, panels = plt.subplots(2, 1, sharex=True, layout="constrained", height_ratios=heights,
                                      figsize=(8, 0.32 * sum(heights) + 1.8))
        for axes, own, title in zip(panels, classes, CLASSES.values(), strict=True):
            own = own[::-1]
            names = [plots.label_of(name) for name in own["method"]]
            share = 100 / own["cases"]
            axes.barh(names, own["kept"] * share, color="#C9CDD2", label="keeps the target")
            axes.barh(names, own["among_best"] * share, color="#009E73", label="… and is among the best of its class")
            axes.set_title(title[0].upper() + title[1:], fontsize=10, loc="left")
            axes.grid(visible=False, axis="y")
        panels[1].set_xlabel("% of the cases: streams × notions × targets")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
