"""What a soak has shown: pure functions of its table."""

import numpy as np
import pandas as pd
from scipy.stats import theilslopes

WARM_UP = 0.1  # of the soak: how old a process is when its memory is looked at
FIRST_ROWS = 5_000  # feedbacks, after which the gap is looked at: before that there is not much that was learned
LEVEL = 0.95
LARGEST_GROWTH = 0.01  # of the memory, from the first line of the longest life to its last


def longest_life(records):
    """The lines of the process that lived longest, without its first tenth of the soak."""
    life = records.loc[records["life_seconds"].idxmax(), "life"]
    warm = records["life_seconds"] >= 60 * WARM_UP * records["minute"].max()
    return records[(records["life"] == life) & warm]


def slope(records, column="resident_mb"):
    """(MB an hour, low, high) by Theil and Sen, and the value in the middle; NaN of less than five lines."""
    if len(records) < 5:
        return (np.nan,) * 4
    found = theilslopes(records[column], records["minute"] / 60, alpha=LEVEL)
    return found.slope, found.low_slope, found.high_slope, records[column].median()


def verdict(records):
    """One line a criterion: what was found, what was asked for, and whether it holds."""
    last, life = records.iloc[-1], longest_life(records)
    grown, low, high, middle = slope(life)
    steepest = LARGEST_GROWTH * middle / ((life["minute"].max() - life["minute"].min()) / 60)
    learned = records[records["learned"] >= FIRST_ROWS]
    target, given, files = last["target"], learned["gap_given"].dropna(), life["open_files"]
    below = (given < last["limit"]).mean()
    found = [
        ("it ran to its end", f"{last['minute']:.0f} of {last['planned_minutes']:.0f} minutes, {last['kills']:.0f} of "
         f"{last['planned_kills']:.0f} kills, {last['bad']:,.0f} bad requests", "all minutes, half of the kills, some",
         last["minute"] >= 0.99 * last["planned_minutes"] and last["kills"] >= last["planned_kills"] / 2
         and last["bad"] > 0),
        ("memory is flat", f"{grown:+.1f} MB/h ({low:+.1f} to {high:+.1f}) of {middle:.0f} MB, "
         f"{life['life_seconds'].max() / 60:.0f} minutes in one process", f"upper end below {steepest:.1f} MB/h: 1 % "
         "in the time that was looked at", high < steepest),
        ("no feedback is lost", f"{last['lost']:.0f} of {last['acknowledged']:,.0f} acknowledged, {last['kills']:.0f} "
         "kills", "0", last["lost"] == 0),
        ("none is learned twice", f"{last['twice']:.0f}; {last['sent_twice']:,.0f} were sent twice", "0",
         last["twice"] == 0),
        ("bad requests are refused", f"{last['refused']:,.0f} of {last['bad']:,.0f}", "all",
         last["refused"] == last["bad"]),
        ("no answer is wrong", f"{last['server_errors']:.0f} of 500 and more, {last['problems']:.0f} other", "0",
         last["server_errors"] == last["problems"] == 0),
        ("the gap is held", f"at most {learned['gap'].max():.3f}, {last['gap']:.3f} at the end; that of the "
         f"labels went from {records['gap_of_labels'].max():+.2f} to {records['gap_of_labels'].min():+.2f}",
         f"at most {target:g} after {FIRST_ROWS:,} feedbacks", learned["gap"].max() <= target),
        ("the gap of late is held", f"median {learned['recent_gap'].median():.3f}, at most "
         f"{learned['recent_gap'].max():.3f}", f"median at most {target:g}",
         learned["recent_gap"].median() <= target),
        ("the gap that clients got is held", f"median {given.median():.3f}, {100 * below:.0f} % of the lines below "
         f"{last['limit']:g}", f"median at most {target:g}, 90 %", given.median() <= target and below >= 0.9),
        ("there is no alarm", f"{last['alarms']:.0f}", "0", last["alarms"] == 0),
        ("the disk is bounded", f"at most {records['disk_mb'].max():.1f} MB, {last['disk_mb']:.1f} MB at the end",
         f"{last['disk_allowed_mb']:.1f} MB by its settings", records["disk_mb"].max() <= last["disk_allowed_mb"]),
        ("files are closed", f"up to {files.head(5).max():.0f} open in the first five lines, {files.tail(5).min():.0f} "
         "and more in the last", "no more than 2 more", files.tail(5).min() <= files.head(5).max() + 2),
    ]
    return pd.DataFrame(found, columns=["what", "found", "asked for", "holds"])
