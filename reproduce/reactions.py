"""Beyond the paper: what to do when a stream changes. Forgetting, a target, or ADWIN as a trigger, on three streams."""

import matplotlib.pyplot as plt

from harness import plots
from harness.figure import Figure
from harness.reaction_measures import LEVEL, WIDE
from harness.reaction_runs import REACTIONS, reactions
from harness.reaction_table import here, table, told

LINES = {"react_without": {"linestyle": ":", "linewidth": 1.6}, "react_never": {"linewidth": 2.2}}
ROOM = 1.25  # the panel's height over the highest of the fair ones
BEFORE = 10_000  # rows before the first change that are drawn


def draw(records):
    """A panel a stream: the gap in sliding windows, the mean over the seeds."""
    streams = here(records)
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(1, len(streams), figsize=(5.2 * len(streams), 5.4), layout="constrained",
                                      squeeze=False)
        for axes, (title, rows) in zip(panels[0], streams.items(), strict=True):
            draw_stream(axes, rows)
            plots.finish_stream(axes, "", title=title)
        panels[0][0].set_ylabel(f"Demographic parity in windows of {WIDE:,} rows")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def draw_stream(axes, rows):
    chance = rows.groupby("step")["wide_by_chance"].mean().dropna()
    axes.fill_between(chance.index, 0, chance, color="#BBBBBB", alpha=0.4, linewidth=0, label="by chance", zorder=1)
    axes.axhline(LEVEL, color="#888888", linewidth=0.8)
    begin = max(rows["change"].min() - BEFORE, 0)
    known = rows[rows["step"] >= max(begin, min(WIDE, rows["step"].max()))]
    for name in REACTIONS:
        own = plots.select(known, method=name)
        plots.along(axes, own, "wide_gap", band=0, color=plots.style_of(name)["color"], label=plots.label_of(name),
                    **{"linewidth": 1.6} | LINES.get(name, {}))
    for change in rows["change"].dropna().unique():
        axes.axvline(change, color="#444444", linewidth=1, linestyle="--")
    fair = known[known["method"] != REACTIONS[0]].groupby(["method", "step"])["wide_gap"].mean()
    unfair = known[known["method"] == REACTIONS[0]].groupby("step")["wide_gap"].mean()
    top = ROOM * fair.max()
    axes.set(ylim=(0, top), xlim=(begin, rows["step"].max()))
    if unfair.median() > top:
        axes.annotate(f"λ = 0 lies above, at {unfair.median():.2f}", (0.5, 0.96), xycoords="axes fraction",
                      ha="center", fontsize=9, color="#666666",
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})
    return axes


def read(records):
    return "\n\n".join([told(records), "\n".join(table(records))])


FIGURE = Figure("reactions", __doc__, reactions, draw, read, in_all=False)

if __name__ == "__main__":
    FIGURE.main()
