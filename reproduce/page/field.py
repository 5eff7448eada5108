"""The field to be asked: one picks a stream, a notion and a gap, and sees the ranking; page.js fills the table."""

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd

from harness import plots
from harness.field_page import NOTION_NAMES, titles
from harness.field_streams import STREAMS
from harness.field_table import CLASSES, STREAM, read, won
from page.commands import command
from page.elements import Html, joined, missing, table, tag

FIRST = ("demographic_parity", 0.05)  # what is shown at first, of the first stream
HEADINGS = ("Rank", "Method", "Accuracy %", "Gap", "Late", "Windows", "Points to the best", "Rows a second",
            "State, kB")


def field(folder: Path) -> Html:
    """Three choices, the table that they fill, and the cases won by each method."""
    path = folder / "field.csv"
    if not path.is_file():
        return missing("results/field.csv", command("field"))
    found = read(path)
    names = {key: titles(STREAMS).get(key, key[0]) for key in map(tuple, found[STREAM].drop_duplicates().to_numpy())}
    picks = tag("div", pick("stream", "Stream", list(names.values()), next(iter(names.values()))),
                pick("notion", "Notion", list(NOTION_NAMES.values()), NOTION_NAMES[FIRST[0]]),
                pick("target", "Gap at most", [f"{each:g}" for each in sorted(found["target"].unique(), reverse=True)],
                     f"{FIRST[1]:g}"), class_="picks")
    head = joined(tag("th", each, scope="col") for each in HEADINGS)
    ranking = tag("div", tag("table", tag("caption", role="status"), tag("thead", tag("tr", head)), tag("tbody"),
                             class_="ranking"), class_="scroll", tabindex="0", role="region", aria_label="The ranking")
    intro = tag("p", "Every method is run over every stream in five orders; λ and a knob are chosen "
                "on the first tenth, by one rule for all, and the rest is judged. Methods that keep the gap are "
                "ranked by accuracy, with its 95 % interval over the orders; = is at most a point behind the "
                "best, and no worse as far as five orders tell. Paler ones do not keep it. ",
                tag("a", "field.md", href="field.md"), " has the rule in full, and all tables.")
    data = json.dumps(as_data(found, names), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return joined([intro, picks, ranking, Html(f'<script type="application/json" id="field-data">{data}</script>'),
                   tag("h3", "Cases won"), summary(found)], "\n")


def pick(name: str, label: str, choices: list[str], first: str) -> Html:
    options = [tag("option", each, selected=each == first) for each in choices]
    return tag("label", label, " ", tag("select", *options, data_pick=name))


def as_data(found: pd.DataFrame, names: dict[tuple, str]) -> dict[str, Any]:
    """The file as the script takes it: rows of [case, method, numbers …], in the order of the ranking."""
    methods = list(dict.fromkeys(found["method"]))
    rows = []
    for row in found.itertuples():
        case = "|".join([names[row.dataset, row.preprocessing, row.groups, row.drop_group], NOTION_NAMES[row.notion],
                         f"{row.target:g}"])
        rows.append([case, methods.index(row.method), *(rounded(value, digits) for value, digits in (
            (100 * row.accuracy, 2), (100 * row.low, 2), (100 * row.high, 2), (row.gap, 3), (row.late_gap, 3),
            (row.window_gap, 3), (100 * row.to_best, 2), (row.rows_per_second, 0), (row.state_bytes / 1e3, 1))),
            int(row.keeps), int(row.among_best)])
    needed = found.drop_duplicates("method").set_index("method")["group_needed"]
    return {"methods": [[plots.label_of(name), int(needed[name] == "to predict")] for name in methods],
            "classes": list(CLASSES.values()), "rows": rows}


def rounded(value: float, digits: int) -> float | None:
    return None if math.isnan(value) else round(value) if digits == 0 else round(value, digits)


def summary(found: pd.DataFrame) -> Html:
    counts = won(found)
    return table("Of all cases, a stream, a notion and a gap each: how often a method keeps the gap, and is the best, "
                 "or among the best, of those that need the group to predict or of those that do not",
                 ["Method", "Group needed", "Cases", "Kept", "Best", "Among the best"],
                 [[plots.label_of(row.method), row.group_needed, row.cases, row.kept, row.best, row.among_best]
                  for row in counts.itertuples()])
