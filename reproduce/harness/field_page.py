"""`results/field.md`: who is best at which gap, in words and tables."""

from collections.abc import Iterable

import pandas as pd

from harness import plots
from harness.field_measures import FEW
from harness.field_streams import BLOCK, LONG, MOST_ROWS, FieldStream
from harness.field_table import CLASSES, CLOSE, ENOUGH, STREAM, WITHIN, won

NOTION_NAMES = {"demographic_parity": "demographic parity", "equalized_odds": "equalized odds"}
RULE = f"""The same for all. A stream is taken in five orders, in which rows are shuffled among {BLOCK:,} neighbours; a
method's seed is the order's number. Streams of more than {LONG:,} rows are thinned by every k-th row to at most
{MOST_ROWS:,}. A method has one knob of four values (a learning rate, α, ε, …) and, if it has a λ, its grid
of λ; every pair of both learns the first tenth and nothing else. The second half of that tenth counts: the most
accurate pair whose gap is at most the target there is chosen, or else the one with the smallest gap. What can
be told a target is told it, and its knob alone is chosen. The chosen begin again and learn the whole stream;
judged are the rows behind the first tenth, each predicted before it is learned. *constant* has no knob, nor has
*recommended*: on each dataset it has the recipe that did best on all *other* datasets, over their whole
streams, where everybody else is set by some hundred rows ([recipes.md](recipes.md)). What this rule does not
undo: constants inside `ParityTarget` and `GroupThresholds` were found on some of these streams, and the rule
itself was changed once a run of the field by another had been looked at. *Gap*: the
largest difference between two groups of at least {FEW} rows, of all judged rows / their second half / the mean
over twenty windows. A method *keeps* a target if in {ENOUGH:.0%} of the orders the gap of all judged rows is at
most {WITHIN} times the target. Accuracy is the mean over the orders with its 95 % interval by Student's t, and
the difference to the best of its class is taken order by order; [paired.csv](paired.csv) has those of ours to
every other method. All orders have the same rows: other people would differ by more than these intervals say,
each of which stands by itself; and cases are related, since three streams are Adult's and three ACS's. Rows
a second and bytes of state are measured, and differ from run to run; everything else is the same in every run."""


def titles(streams: Iterable[FieldStream]) -> dict[tuple, str]:
    return {each.key: each.title for each in streams}


def written(found: pd.DataFrame, streams: Iterable[FieldStream], left_out: list[str]) -> str:
    """The whole page."""
    parts = ["# The field", RULE, "## Cases won", cases_won(found)]
    if left_out:
        parts += ["## Left out, and what to mind", "\n".join(f"- {each}" for each in left_out)]
    names = titles(streams)
    for key, here in found.groupby(STREAM, sort=False):
        parts.append(f"## {names.get(key, key[0])}")
        for (notion, target), rows in here.groupby(["notion", "target"], sort=False):
            parts += [f"### {names.get(key, key[0])}: {NOTION_NAMES[notion]} at most {target:g}", ranking(rows)]
    return "\n\n".join(parts) + "\n"


def cases_won(found: pd.DataFrame) -> str:
    """One row a method, by class."""
    lines = ["A case is a stream, a notion and a target. *Among the best*: the target is kept, the interval of the "
             f"difference to the best of the class reaches 0, and its mean is at most {100 * CLOSE:g} point.", "",
             "| method | group needed | cases | kept | best | among the best |",
             "|---|---|---|---|---|---|"]
    counts = won(found)
    for needed in CLASSES:
        own = counts[(counts["group_needed"] == "to predict") == needed]
        lines += [f"| {plots.label_of(row.method)} | {row.group_needed} | {row.cases} | {row.kept} | {row.best} | "
                  f"{row.among_best} |"
                  for row in own.itertuples()]
    return "\n".join(lines)


def ranking(rows: pd.DataFrame) -> str:
    """The methods that keep the gap, by accuracy, then the others by their gap; each class by itself."""
    lines = ["| | method | accuracy % | gap: all / late / windows | points to the best | rows a second | state |",
             "|---|---|---|---|---|---|---|"]
    for needed, title in CLASSES.items():
        own, rank = rows[(rows["group_needed"] == "to predict") == needed], 0
        if own.empty:
            continue
        lines.append(f"| | *{title}* | | | | | |")
        for row in own.itertuples():
            rank += bool(row.keeps)
            place = f"{rank}" + ("=" if row.among_best and row.method != row.best else "") if row.keeps else "–"
            name = f"**{plots.label_of(row.method)}**" if row.method == row.best else plots.label_of(row.method)
            lines.append(f"| {place} | {name} | {accuracy(row)} | {gaps(row)} | {behind(row)} | "
                         f"{speed(row.rows_per_second)} | {size(row.state_bytes)} |")
    return "\n".join(lines)


def accuracy(row) -> str:
    around = f" ({100 * row.low:.2f} to {100 * row.high:.2f})" if row.low == row.low else ""
    return f"{100 * row.accuracy:.2f}{around}"


def gaps(row) -> str:
    told = f"{row.gap:.3f} / {row.late_gap:.3f} / {row.window_gap:.3f}"
    return told if row.keeps else f"{told}, kept by {row.gap_kept:.0%}"


def behind(row) -> str:
    if row.to_best != row.to_best:
        return "best" if row.method == row.best else ""
    low, high = 100 * row.to_best_low, 100 * row.to_best_high
    return f"{100 * row.to_best:+.2f}" + (f" ({low:+.2f} to {high:+.2f})" if low == low else "")


def speed(rows: float) -> str:
    return f"{rows:,.0f}" if rows == rows else ""


def size(count: float) -> str:
    """
    >>> size(103996.0), size(12618434.0), size(float("nan"))
    ('104 kB', '12.6 MB', '')
    """
    if count != count:
        return ""
    if count >= 1e6:
        return f"{count / 1e6:.1f} MB"
    return f"{count / 1e3:.0f} kB" if count >= 1e4 else f"{count / 1e3:.1f} kB"
