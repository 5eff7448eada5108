"""What the README tells of the field: who is among the best in how many cases, where ours is not, and ours against
each of the others."""

from pathlib import Path

import pandas as pd

from harness import plots
from harness.field_page import NOTION_NAMES, titles
from harness.field_pairs import ALONE, BETTER, MISSED, NEITHER, OURS, SAME, WORSE, counted
from harness.field_streams import STREAMS
from harness.field_table import CLASSES, STREAM, read, won

SHOWN = 6  # methods of a class


def standings(results: Path) -> str:
    """The methods of each class that are most often among the best, ours and the paper's beside them."""
    found = read(results / "field.csv")
    counts, lines = won(found), ["| | kept | best | among the best | of cases |", "|---|---|---|---|---|"]
    for needed, title in CLASSES.items():
        own = counts[(counts["group_needed"] == "to predict") == needed].reset_index(drop=True)
        shown = own[(own.index < SHOWN) | own["method"].isin([OURS[needed], "aranyani"])]
        lines.append(f"| *{title}* | | | | |")
        for row in shown.itertuples():
            name = plots.label_of(row.method)
            name = f"**{name}**" if row.method == OURS[needed] else name
            lines.append(f"| {name} | {row.kept} | {row.best} | {row.among_best} | {row.cases} |")
    return "\n".join([*lines, "", *(told_of(found, needed) for needed in CLASSES)])


def told_of(found: pd.DataFrame, needed: bool) -> str:
    """Where the recommended learner of a class is not among the best, and by how much."""
    own = found[found["method"] == OURS[needed]]
    behind, missed = own[own["keeps"] & ~own["among_best"]], own[~own["keeps"]]
    told = (f"`{'ar.recommended(…, group_decides=True)' if needed else 'ar.recommended'}` kept the gap in "
            f"{own['keeps'].sum()} of {len(own)} cases and was among the best of its class in "
            f"{own['among_best'].sum()}.")
    if len(behind):
        worst = behind.loc[behind["to_best"].idxmin()]
        told += (f" In {len(behind)} it kept the gap and was beaten, by {-100 * behind['to_best'].mean():.2f} points "
                 f"in the mean and {-100 * worst['to_best']:.2f} at most ({case_of(worst)}, by "
                 f"{plots.label_of(worst['best'])}).")
    if len(missed):
        streams = ", ".join(f"{name} ({count})" for name, count in
                            missed.apply(stream_of, axis=1).value_counts().items())
        told += f" It missed the gap on {streams}."
    return told


def rivals(results: Path) -> str:
    """Ours against every other of its class, in how many cases it is better or worse by paired differences."""
    found = pd.read_csv(results / "paired.csv")
    found = found[found["id"].isna()]
    if found.empty:
        return ("`make field` has not been run since every method has a knob and is set by the first tenth: until then "
                "nobody here is called better than another.")
    titles = {BETTER: "better", WORSE: "worse", SAME: "not told apart", ALONE: "it alone keeps the gap",
              MISSED: "the other alone", NEITHER: "neither"}
    lines = []
    for ours, own in found.groupby("first", sort=False):
        counts = counted(own)
        counts = counts.sort_values([MISSED, WORSE], ascending=False, kind="stable")
        lines += [f"| **{plots.label_of(ours)}** against | {' | '.join(titles.values())} | points where both keep it |",
                  "|---" * (len(titles) + 2) + "|"]
        for row in counts.to_dict("records"):
            mean = row["difference"]
            lines.append(f"| {plots.label_of(row['second'])} | {' | '.join(str(row[told]) for told in titles)} | "
                         f"{'' if pd.isna(mean) else f'{100 * mean:+.2f}'} |")
        lines.append("")
    return "\n".join(lines[:-1])


def stream_of(row: pd.Series) -> str:
    return titles(STREAMS).get(tuple(row[STREAM]), row["dataset"])


def case_of(row: pd.Series) -> str:
    return f"{stream_of(row)}, {NOTION_NAMES[row['notion']]} at most {row['target']:g}"
