"""Figure 2 to be touched: a point for each method and λ, drawn as SVG; page.js tells what a point is."""

import math
from functools import cache
from pathlib import Path

import pandas as pd
from matplotlib.markers import MarkerStyle
from matplotlib.ticker import MaxNLocator

from harness import plots
from page.commands import command
from page.elements import Html, joined, missing, tag
from page.headline import is_usual, place

GAP, ACCURACY = "demographic_parity", "accuracy"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 440, 340, 58, 12, 10, 44
PAPERS_RULE = "Aranyani, the paper's penalty"


@cache
def outline(marker: str) -> str:
    """A marker of Matplotlib's as an SVG path about 0, some ten units wide: the page has the signs of the pictures."""
    style = MarkerStyle(marker)
    polygons = style.get_path().transformed(style.get_transform()).to_polygons(closed_only=False)
    size = max(abs(polygon).max() for polygon in polygons)
    return "".join("M" + "L".join(f"{5 * x / size:.1f} {-5 * y / size:.1f}" for x, y in polygon) + "Z"
                   for polygon in polygons)


def series(ends: pd.DataFrame) -> pd.DataFrame:
    """Means and deviations over the seeds, a row for each method, rule and λ; Majority's are by its probability."""
    ends = ends[is_usual(ends)].assign(weight=lambda runs: runs["probability"].where(
        runs["method"] == "majority", runs["fairness_weight"]))
    grouped = ends.groupby(["method", "rule", "weight"], sort=False)[[ACCURACY, GAP]]
    found = grouped.mean().join(grouped.std().add_suffix("_std")).join(grouped.size().rename("seeds")).reset_index()
    return found.sort_values(["method", "rule", "weight"])


def look(method: str, rule: str) -> dict:
    """Name, sign and colour of a series; what is hollow in Figure 2 is so here."""
    style = plots.style_of(method)
    is_papers = (method, rule) == ("aranyani", "paper")
    return {"name": PAPERS_RULE if is_papers else style["label"], "marker": style["marker"], "color": style["color"],
            "hollow": is_papers or method.endswith("_released")}


class Scale:
    """From numbers to places along an axis, and round numbers along it."""

    def __init__(self, low: float, high: float, begin: float, end: float):
        margin = 0.05 * ((high - low) or 1e-3)
        self.low, self.high, self.begin, self.end = low - margin, high + margin, begin, end

    def __call__(self, value: float) -> float:
        return round(self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin), 1)

    def ticks(self) -> list[float]:
        return [value for value in MaxNLocator(5).tick_values(self.low, self.high) if self.low <= value <= self.high]


def tell(row: pd.Series, name: str) -> str:
    """What a point says: "Aranyani, λ = 0.1: accuracy 82.91 ± 0.18 %, gap 0.122 ± 0.008, 5 seeds"."""
    symbol = "p" if row["method"] == "majority" else "λ"
    accuracy, gap = ((f" ± {each:.{digits}f}" if each == each else "") for each, digits in (
        (100 * row[f"{ACCURACY}_std"], 2), (row[f"{GAP}_std"], 3)))
    seeds = int(row["seeds"])
    return (f"{name}, {symbol} = {row['weight']:g}: accuracy {100 * row[ACCURACY]:.2f}{accuracy} %, "
            f"gap {row[GAP]:.3f}{gap}, {seeds} {'seed' if seeds == 1 else 'seeds'}")


def panel(title: str, points: pd.DataFrame) -> Html:
    """One dataset: the fairer the further right, the more accurate the further up; fronts of the means are lines."""
    majority = points.loc[points["method"] == "majority", ACCURACY]
    lowest = majority.min() if len(majority) else points[ACCURACY].min()
    floor = lowest - 0.5 * (points[ACCURACY].max() - lowest)
    shown, below = points[points[ACCURACY] >= floor], points[points[ACCURACY] < floor]
    across = Scale(shown[GAP].min(), shown[GAP].max(), WIDTH - RIGHT, LEFT)
    up = Scale(100 * shown[ACCURACY].min(), 100 * shown[ACCURACY].max(), HEIGHT - BOTTOM, TOP)
    parts = [axes(across, up)]
    for (method, rule), rows in shown.groupby(["method", "rule"], sort=False):
        style = look(method, rule)
        front = plots.pareto_front(rows[[GAP, ACCURACY]].to_numpy())
        line = " ".join(f"{across(gap)},{up(100 * accuracy)}" for gap, accuracy in front)
        drawn = [Html(f'<polyline points="{line}" />')]
        for _, row in rows.iterrows():
            drawn.append(Html(f'<path class="point" tabindex="-1" role="img" d="{outline(style["marker"])}" '
                              f'transform="translate({across(row[GAP])} {up(100 * row[ACCURACY])})" '
                              f'aria-label="{tag("i", tell(row, style["name"]))[3:-4]}" />'))
        parts.append(tag("g", *drawn, class_="series hollow" if style["hollow"] else "series",
                         style=f"--color:{style['color']}", data_series=style["name"]))
    svg = tag("svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="group",
              aria_label=f"{title}: accuracy against the gap. Arrow keys go from point to point.")
    note = tag("p", f"{len(below)} more below, down to {100 * below[ACCURACY].min():.0f} %.", class_="note") \
        if len(below) else Html("")
    return tag("figure", tag("h3", title), tag("div", svg, tag("output", class_="tip", hidden=True), class_="plot"),
               note, class_="panel")


def axes(across: Scale, up: Scale) -> Html:
    """Lines of a grid, their numbers, and what is along the sides."""
    bottom, right, ticks = HEIGHT - BOTTOM, WIDTH - RIGHT, up.ticks()
    digits = max(0, math.ceil(-math.log10(ticks[1] - ticks[0]) - 1e-9)) if len(ticks) > 1 else 1
    parts = [Html(f'<path class="grid" d="M{across(x)} {TOP}V{bottom}" /><text class="x" x="{across(x)}" '
                  f'y="{bottom + 17}">{max(x, 0):.3g}</text>') for x in across.ticks() if x >= -1e-9]
    parts += [Html(f'<path class="grid" d="M{LEFT} {up(y)}H{right}" /><text class="y" x="{LEFT - 6}" '
                   f'y="{up(y) + 4}">{y:.{digits}f}</text>') for y in ticks]
    middle = (TOP + bottom) / 2
    parts += [Html(f'<text class="x" x="{(LEFT + right) / 2}" y="{HEIGHT - 6}">Demographic parity (fairer →)</text>'),
              Html(f'<text class="x" transform="translate(13 {middle}) rotate(-90)">Accuracy (%)</text>')]
    return tag("g", *parts, class_="axes", aria_hidden="true")


def figure2(folder: Path) -> Html:
    """A panel for each dataset, and a button for each method, which hides and shows it."""
    path = folder / "figure2.csv"
    if not path.is_file():
        return missing("results/figure2.csv", command("figure2"))
    ends = plots.last_records(pd.read_csv(path))
    datasets = {place(*key): series(runs) for key, runs in ends.groupby(["dataset", "preprocessing"], sort=False)}
    looks = {style["name"]: style for points in datasets.values()
             for style in (look(*key) for key in points[["method", "rule"]].drop_duplicates().to_numpy())}
    buttons = [tag("button", Html(f'<svg viewBox="-7 -7 14 14" aria-hidden="true"><g class="series'
                                  f'{" hollow" if style["hollow"] else ""}" style="--color:{style["color"]}">'
                                  f'<path d="{outline(style["marker"])}" /></g></svg>'), name, type="button",
                   aria_pressed="true", data_series=name)
               for name, style in sorted(looks.items(), key=lambda each: (not each[0].startswith("Aranyani"), each[0]))]
    intro = tag("p", "A point is one method with one λ at the end of the stream, the mean over seeds. Hover, touch, or "
                "use Tab and the arrow keys: a point tells what it is. The buttons hide and show methods.")
    return joined([intro, tag("div", *buttons, class_="filters methods", role="group", aria_label="Methods"),
                   tag("div", *(panel(name, points) for name, points in datasets.items()),
                       class_=f"panels of{2 if len(datasets) % 3 else 3}")])
