"""Beyond the paper: small groups and streams that change, by how the method forgets and what it takes for chance."""

import quiet  # noqa: F401

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats

from aranyani_tf.files import whole_file
from harness import RESULTS, ROOT, plots
from harness.figure import Figure, parsed
from harness.group_changes import COUNTS, GAPS, changes, paired, runs
from harness.group_study import EVERYWHERE, LEVEL_WEIGHTS, STREAMS, small_groups
from harness.scales import FULL

PAGE = ROOT / "docs" / "small_groups.md"
LOST = 0.05  # of accuracy: fairness may cost something, but a setting that costs more than this somewhere is not safe

# Titles of the streams, and the share that the smaller group has of its own.
TITLES = {"adult": ("Adult", "33 %"), "adult_drift": ("Adult, one label first", "33 %"),
          "acs_disability": ("ACS, disability", "14 %"), "bank": ("Bank by date, young", "2.6 %"),
          "swap": ("Synthetic, groups swap", "33 %"), "rate_jumps": ("Synthetic, rate jumps", "50 %"),
          "acs_race": ("ACS, nine races", "6 rows")}
LINES = {(None, "rows", 0.0): "plain means", (0.01, "rows", 0.0): "forget 0.01 by rows",
         (None, "rows", 2.0): "plain means, z = 2", (0.001, "time", 0.0): "forget 0.001 in time",
         (0.001, "time", 2.0): "forget 0.001 in time, z = 2"}
STYLES = ({"color": "#0072B2", "marker": "o"}, {"color": "#D55E00", "marker": "s"},
          {"color": "#56B4E9", "marker": "o", "markerfacecolor": "white"},
          {"color": "#009E73", "marker": "^", "markerfacecolor": "white"}, {"color": "#009E73", "marker": "^"})


def name_of(decay, forget, chance):
    way = "plain means" if not decay else f"forget {decay:g} {'in time' if forget == 'time' else 'by rows'}"
    return way + (f", z = {chance:g}" if chance else "")


def place_of(stream, share):
    title, own = TITLES[stream]
    return f"{title} ({own if share == 1 else f'{100 * share:g} %'})"


def draw(records):
    """Output level: a column for each stream, the gap over the whole stream and in windows, and the accuracy."""
    found = plots.select(runs(records), level="output")
    names = [name for name in STREAMS if name in set(found["stream"])]
    widths = [max(found.loc[found["stream"] == name, "share"].nunique(), 2.2) for name in names]
    with plt.rc_context(plots.STYLE | {"font.size": 10}):
        figure, panels = plt.subplots(3, len(names), figsize=(1.2 + 0.7 * sum(widths), 8), layout="constrained",
                                      sharex="col", width_ratios=widths, squeeze=False)
        for column, name in zip(panels.T, names, strict=True):
            here = plots.select(found, stream=name)
            shares = sorted(here["share"].unique(), reverse=True)
            for axes, quantity, factor in zip(column, ("gap", "window", "accuracy"), (1, 1, 100), strict=True):
                draw_panel(axes, here, shares, quantity, factor)
            column[0].set_title(TITLES[name][0].replace(", ", ",\n"))
            column[-1].set_xticks(range(len(shares)), [TITLES[name][1] if share == 1 else f"{100 * share:g} %"
                                                       for share in shares])
            column[-1].set_xlim(-0.5, len(shares) - 0.5)
            if name == "acs_race":
                column[0].set_title("ACS, nine races,\nthe large ones")
                column[1].set_visible(False)
        labels = ("Demographic parity", "… in windows of 5 %", "Accuracy (%)")
        for axes, label in zip(panels[:, 0], labels, strict=True):
            axes.set_ylabel(label)
        panels[-1][len(names) // 2].set_xlabel("Share of the smaller group")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside upper center",
                      ncols=6 if len(names) > 5 else 3)
    return figure


def draw_panel(axes, found, shares, quantity, factor):
    """Mean over the seeds and its 95 % interval: λ = 0 as a line with a band, the settings side by side."""
    fair, positions = found["fairness_weight"] > 0, np.arange(len(shares))
    mean, half = interval(found[~fair], shares, quantity, factor)
    axes.hlines(mean, positions - 0.45, positions + 0.45, color="#444444", linewidth=1.6, label="λ = 0", zorder=2)
    axes.bar(positions, 2 * half, 0.9, mean - half, color="#444444", alpha=0.15, zorder=1)
    for index, ((decay, forget, chance), label) in enumerate(LINES.items()):
        rows = plots.select(found[fair], decay=decay or 0.0, forget=forget, chance=chance)
        mean, half = interval(rows, shares, quantity, factor)
        axes.errorbar(positions + 0.16 * (index - 2), mean, yerr=half, linestyle="none", elinewidth=1.2, markersize=6,
                      label=label, zorder=3, **STYLES[index])
    axes.margins(y=0.12)
    if quantity != "accuracy":
        axes.set_ylim(bottom=0)
    return axes


def interval(rows, shares, quantity, factor):
    """(mean, half of the 95 % interval) at each share."""
    by_share = rows.groupby("share")[quantity].agg(["mean", "sem", "count"]).reindex(shares)
    quantile = stats.t.ppf(0.975, np.maximum(by_share["count"].fillna(2) - 1, 1))
    return factor * by_share["mean"].to_numpy(), factor * quantile * by_share["sem"].fillna(0).to_numpy()


def read(records):
    found = runs(records)
    told = changes(paired(found))
    seeds = found["seed"].nunique()
    everywhere = [(decay or 0.0, forget, chance) for (decay, forget), chance in EVERYWHERE]
    paragraphs = [
        f"Each setting against λ = 0 on the same stream, {seeds} seeds, paired. A gap is worse or better where the "
        f"difference is beyond its 95 % interval and larger than {COUNTS}; a place is a stream with a share of the "
        "smaller group, worse if one of its gaps is (over the whole stream, in its second half, in windows), better if "
        "one is and none is worse."]
    for level, weight in LEVEL_WEIGHTS.items():
        here = plots.select(told, level=level)
        rows = [line for setting in everywhere if (line := table_line(here, *setting))]
        if rows:
            paragraphs.append("\n".join([
                f"**{'Output' if level == 'output' else 'Node'} level, λ = {weight:g}**\n",
                "| | worse | better | places | mean change of the gap | worst | accuracy, mean / worst (points) |",
                "|---|---|---|---|---|---|---|", *rows]))
    paragraphs.append(verdict(told, everywhere))
    paragraphs.append(by_chance(told))
    return "\n\n".join(filter(None, paragraphs))


def at(told, decay, forget, chance):
    return plots.select(told, decay=decay, forget=forget, chance=chance)


def places(gaps):
    """The worst verdict of each place, +1 worse, −1 better."""
    verdicts = gaps.groupby(["stream", "share"], sort=False)["verdict"]
    return verdicts.max().where(verdicts.max() > 0, verdicts.min())


def table_line(told, decay, forget, chance):
    here = at(told, decay, forget, chance)
    gaps, accuracy = here[here["quantity"] != "accuracy"], here[here["quantity"] == "accuracy"]
    if gaps.empty:
        return ""
    by_place, worst = places(gaps), gaps.loc[gaps["mean"].idxmax()]
    return (f"| {name_of(decay, forget, chance)} | {(by_place > 0).sum()} | {(by_place < 0).sum()} | {len(by_place)} | "
            f"{gaps['mean'].mean():+.3f} | {worst['mean']:+.3f} {place_of(worst['stream'], worst['share'])}, "
            f"{GAPS[worst['quantity']]} | {100 * accuracy['mean'].mean():+.1f} / {100 * accuracy['mean'].min():+.1f} |")


def verdict(told, everywhere):
    """Which settings are nowhere worse than λ = 0, and cost little; where the others are worse or cost more."""
    safe, sentences = {}, []
    for level in LEVEL_WEIGHTS:
        for setting in everywhere:
            here = at(plots.select(told, level=level), *setting)
            gaps = here[here["quantity"] != "accuracy"]
            name = f"{'output' if level == 'output' else 'node'} level, {name_of(*setting)}"
            if gaps.empty:
                continue
            less_fair = gaps[gaps["verdict"] > 0].drop_duplicates(["stream", "share"])
            costs = here[here["quantity"] == "accuracy"]
            costly = costs[costs["mean"] < -LOST]
            if less_fair.empty and costly.empty:
                safe[name] = gaps["mean"].mean(), costs["mean"].min()
            told_places = [place_of(*place) for place in less_fair[["stream", "share"]].itertuples(index=False)]
            told_costs = [f"{place_of(stream, share)} ({100 * mean:+.1f} points)" for stream, share, mean in
                          costly[["stream", "share", "mean"]].itertuples(index=False)]
            found = (["less fair on " + "; ".join(told_places)] if told_places else []) + (
                ["costs accuracy on " + "; ".join(told_costs)] if told_costs else [])
            if found:
                sentences.append(f"- {name}: {', and '.join(found)}")
    best_first = "; ".join(f"{name} ({gap:+.3f} of the gap on average, accuracy {100 * cost:+.1f} points at worst)"
                           for name, (gap, cost) in sorted(safe.items(), key=lambda item: item[1]))
    lines = [f"Nowhere less fair than λ = 0, and nowhere more than {100 * LOST:.0f} points less accurate: "
             f"{best_first or 'none'}."]
    return "\n".join([*lines, "The others:\n", *sentences] if sentences else lines)


def by_chance(told):
    """What z does, where every way to forget meets every z."""
    here = plots.select(told, level="output", decay=0.001, forget="time")
    full = here.groupby(["stream", "share"])["chance"].transform("nunique") == here["chance"].nunique()
    here = here[full & (here["chance"].nunique() > 2)]
    sentences = []
    for (stream, share), rows in here.groupby(["stream", "share"], sort=False):
        wide = rows.pivot(index="chance", columns="quantity", values="mean")
        sentences.append(f"{place_of(stream, share)} " + ", ".join(
            f"z = {z:g} {line['gap']:+.3f} / {line['window']:+.3f} / {100 * line['accuracy']:+.1f}"
            for z, line in wide.iterrows()))
    if not sentences:
        return ""
    return ("Output level, forget 0.001 in time, by z, change of the gap over the whole stream / in windows / of the "
            f"accuracy in points: {'; '.join(sentences)}.")


def write_page(reading, page=PAGE):
    """Puts the reading into the page of the study."""
    text = re.sub(r"(<!-- begin: .*? -->\n).*(<!-- end -->)", lambda ends: f"{ends[1]}{reading}\n{ends[2]}",
                  page.read_text(encoding="utf-8"), flags=re.DOTALL)
    with whole_file(page, "w") as file:
        file.write(text)


FIGURE = Figure("small_groups", __doc__, small_groups, draw, read, in_all=False)

if __name__ == "__main__":
    FIGURE.main()
    options = parsed(__doc__)
    if options.scale is FULL and options.results == RESULTS:
        write_page(read(pd.read_csv(RESULTS / "small_groups.csv")))
