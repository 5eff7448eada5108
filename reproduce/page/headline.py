"""Accuracy at the same fairness, from results/matched.csv: a card for each dataset, and the whole file below."""

from dataclasses import fields
from pathlib import Path

import pandas as pd

from harness import plots
from harness.settings import Settings
from page.commands import command
from page.elements import Cell, Html, is_empty, joined, missing, table, tag, words

GAP, GAPS = "demographic_parity", (0.05, 0.10)
DEFAULTS = {each.name: each.default for each in fields(Settings)}
TREES = ("ht", "aht", "faht")  # draw nothing at random: their seeds are orders of the stream
SAID = {"decay": "decay {}", "forget": "forgets by {}", "chance": "z = {}", "order": "order: {}",
        "drop_group": "without the group", "rule": "rule: {}"}


def usual_order(method: str) -> str:
    return "shuffled" if method in TREES else "file"


def is_usual(frame: pd.DataFrame) -> pd.Series:
    """Rows in the order that is a method's own, with the group among the features."""
    usual = pd.Series(True, frame.index)
    if "order" in frame:
        usual &= frame["order"] == frame["method"].map(usual_order)
    return usual & ~frame["drop_group"].astype(bool) if "drop_group" in frame else usual


def place(dataset: str, preprocessing: str) -> str:
    """What a dataset is called, with its preparation unless that is the usual one."""
    return plots.title_of(dataset) + ("" if preprocessing == DEFAULTS["preprocessing"] else f", {preprocessing}")


def named(row: pd.Series, settings: list[str]) -> str:
    """A method, and what else it is set to where that is not usual."""
    usual = DEFAULTS | {"order": usual_order(row["method"])}
    others = [SAID.get(name, f"{words(name)} {{}}").format(row[name]) for name in settings
              if not is_empty(row[name]) and row[name] != usual[name] and (name, row[name]) != ("rule", "none")]
    return ", ".join([plots.label_of(row["method"]), *others])


def settings_of(frame: pd.DataFrame) -> list[str]:
    """The columns of settings that follow dataset, preprocessing and method."""
    return [name for name in frame.columns[: frame.columns.get_loc(GAP)]
            if name not in ("dataset", "preprocessing", "method")]


def accuracy_cell(row: pd.Series | None, low: float, high: float) -> Cell | str:
    """Accuracy in percent, its interval, and where both lie between the ends of the column."""
    if row is None:
        return ""
    mean, left, right = (100 * row.get(name, float("nan")) for name in ("accuracy", "low", "high"))
    is_free = "bound" in row and not row["bound"]
    parts = [tag("b", f"{mean:.2f}"), tag("sup", "†", title="the gap asks for nothing") if is_free else ""]
    has_interval = left == left and right == right
    if has_interval:
        parts += [" ", tag("small", f"{left:.2f} to {right:.2f}")]

    def across(value: float) -> float:
        return round(100 * (value - low) / ((high - low) or 1), 1)
    span = (across(left), across(right)) if has_interval else (across(mean), across(mean))
    strip = tag("span", tag("i", style=f"left:{span[0]}%;width:{span[1] - span[0]:.1f}%"),
                tag("b", style=f"left:{across(mean)}%"), class_="strip", aria_hidden="true")
    return Cell(joined([*parts, strip]), mean)


def ends_of(rows: pd.DataFrame) -> tuple[float, float]:
    """The least and the largest number that a column shows, in percent, and a little room beside them."""
    shown = 100 * rows[[name for name in ("accuracy", "low", "high") if name in rows]]
    return shown.min(axis=None) - 0.1, shown.max(axis=None) + 0.1


def card(dataset: str, rows: pd.DataFrame, settings: list[str]) -> Html:
    """One dataset: every method at both gaps, the best at the smaller one first."""
    at = {gap: rows[(rows[GAP] - gap).abs() < 1e-9] for gap in GAPS}
    ends = {gap: ends_of(found) for gap, found in at.items()}
    by_name = {gap: {named(row, settings): row for _, row in found.iterrows()} for gap, found in at.items()}
    names = list(dict.fromkeys(name for found in by_name.values() for name in found))
    names.sort(key=lambda name: -by_name[GAPS[0]].get(name, pd.Series({"accuracy": 0}))["accuracy"])
    marked = [index for index, name in enumerate(names) if name == plots.label_of("aranyani")]
    body = [(Cell(joined([name, tag("em", " the paper's method") if index in marked else ""]), name),
             *(accuracy_cell(by_name[gap].get(name), *ends[gap]) for gap in GAPS)) for index, name in enumerate(names)]
    return tag("section", tag("h3", dataset),
               table(f"{dataset}: accuracy % at a demographic parity of",
                     ["Method", *(f"{gap:.2f}" for gap in GAPS)], body, marked=marked, class_="card"))


def headline(folder: Path) -> Html:
    """A card for each dataset; the file, with all settings and gaps, in a table that is closed at first."""
    path = folder / "matched.csv"
    if not path.is_file():
        return missing("results/matched.csv", command("matched"))
    found = pd.read_csv(path)
    settings = settings_of(found)
    shown = found[is_usual(found) & (found["rule"] != "paper") & (found["method"] != "majority")]
    cards = [card(place(*key), rows, settings)
             for key, rows in shown.groupby(["dataset", "preprocessing"], sort=False)]
    legend = tag("p", "Accuracy in percent, its 95 % interval over seeds beside it and as a line (Hoeffding trees: "
                 "over orders of the stream). † the gap asks for nothing: the method's most accurate setting has a "
                 "smaller one.", class_="legend")
    whole = table("results/matched.csv", [words(name) for name in found.columns],
                  found.astype(object).where(found.notna(), None).to_numpy().tolist())
    return joined([legend, tag("div", *cards, class_="cards"),
                   tag("details", tag("summary", f"All {len(found)} rows: other orders, rules, gaps and measures"),
                       whole)])
